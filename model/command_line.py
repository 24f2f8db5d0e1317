"""The command line is the settings: one option for each field."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from model.config import Settings, check_recommended, described_options, flag
from model.errors import UserError, suggestion

DEFAULTS = Settings()


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line and suggest the nearest option."""

    def error(self, message: str) -> NoReturn:
        """Raise UserError instead of printing the usage and leaving."""
        raise UserError(message)

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse options spelled with - or _ alike.

        Raises
        ------
        UserError
            If an option is unknown or its value makes no sense.

        Returns
        -------
        The values, and as `given` the names of the options that were spelled out.
        """
        words = [_dashed(word) for word in arguments]
        known, unknown = self.parse_known_args(words)
        if unknown:
            options = [
                name for action in self._actions for name in action.option_strings
            ]
            near = suggestion(unknown[0], options)
            raise UserError(f"unknown argument {unknown[0]}{near}")
        for action in self._actions:  # argparse reads "--seed --" as a list of nothing
            if action.nargs is None and getattr(known, action.dest, None) == []:
                raise UserError(f"{action.option_strings[0]}: expected one argument")
        spelled = {word.partition("=")[0] for word in words}
        known.given = {
            action.dest
            for action in self._actions
            if spelled.intersection(action.option_strings)
        }
        return known


def _dashed(word: str) -> str:
    """Return ``--num_node=8`` as ``--num-node=8``; values stay as they are."""
    if not word.startswith("--"):
        return word
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value


def settings_parser(command: str, description: str | None) -> Parser:
    """Return a parser with an option for each setting, ``--out`` and ``--name``."""
    parser = Parser(
        prog=f"run.py {command}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_settings(parser)
    parser.add_argument("--out", type=Path, default=Path("runs"), help="output folder")
    parser.add_argument("--name", default="", help="what it is called there")
    return parser


def _add_settings(parser: Parser) -> None:
    for option in described_options():
        default = getattr(DEFAULTS, option.name)
        text = option.text.replace("%", "%%")
        if option.allowed and isinstance(option.allowed[0], str):
            text += f": {', '.join(option.allowed)}"
        parser.add_argument(
            flag(option.name),
            dest=option.name,
            type=reader(option.kind),
            default=default,
            metavar=option.kind.__name__.upper(),
            help=f"{text} (default: {default!s:.60})",
        )


def reader(kind: type) -> Callable[[str], Any]:
    """Return what turns a word of the command line into a value of that type."""
    if kind is not bool:
        return kind

    def read(word: str) -> bool:
        values = {"true": True, "1": True, "yes": True, "on": True}
        values |= {"false": False, "0": False, "no": False, "off": False}
        if word.lower() not in values:
            raise argparse.ArgumentTypeError(f"{word!r} is neither True nor False")
        return values[word.lower()]

    return read


def read_settings(options: argparse.Namespace) -> Settings:
    """Return the settings among parsed options."""
    names = [option.name for option in described_options()]
    values = {name: getattr(options, name) for name in names}
    if options.rescheduler == "recommended":
        check_recommended({name: values[name] for name in options.given & {*values}})
    return Settings(**values)
