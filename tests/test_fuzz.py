"""Mutated command lines and config files: read, or refused with an error of ours."""

import json
import random

import pytest

from commands.recorded import recorded_settings
from commands.simulate import make_parser, simulate
from model.command_line import read_settings
from model.config import Settings, described_options, flag
from model.errors import UserError

WORDS = [
    "", "-1", "0", "1", "1e309", "nan", "inf", "True", "maybe", "fifo", "FGD", "a,b",
    "../x", "--", "-", "\x00", "=", "é", "x" * 5000, "native", "60-86400", "40,60",
    "1.2,2", "off", "$(rm)", "%s", "{0}", "None", "[]", "9" * 40,
]  # fmt: skip
OPTIONS = [flag(option.name) for option in described_options()]


def mutated(rng):
    words = []
    for _ in range(rng.randrange(1, 6)):
        option = rng.choice(OPTIONS)
        if rng.random() < 0.15:
            place = rng.randrange(len(option))
            option = option[:place] + rng.choice("x-_=") + option[place + 1 :]
        if rng.random() < 0.3:
            words.append(f"{option}={rng.choice(WORDS)}")
        else:
            words += [option, rng.choice(WORDS)]
    rng.shuffle(words) if rng.random() < 0.1 else None
    return words


def fuzz(number, seed):
    parser, rng = make_parser(), random.Random(seed)
    read = 0
    for _ in range(number):
        words = mutated(rng)
        try:
            options = parser.parse(words)
            read_settings(options)
        except UserError as error:
            assert "\n" not in str(error)[:1]
        except SystemExit as leaving:  # --help
            assert leaving.code == 0
        else:
            read += 1
    assert 0 < read < number


def test_a_thousand_command_lines():
    fuzz(1000, 0)


@pytest.mark.slow
def test_nineteen_thousand_more():
    fuzz(19_000, 1)


def configs(number, seed, path):
    rng = random.Random(seed)
    good = json.dumps({"settings": Settings().as_dict(), "trace_sha256": ""})
    read = 0
    for _ in range(number):
        data = bytearray(good.encode())
        for _ in range(rng.choice([1, 1, 2, 5, 40])):
            place = rng.randrange(len(data))
            data[place : place + rng.choice([0, 1, 5])] = rng.choice(
                [b"", b"x", b'"', b"{", b"1e999", b"null", b"\xff", b"[", b"-"]
            )
        path.write_bytes(data)
        try:
            Settings(**recorded_settings(path))
        except UserError:
            pass
        else:
            read += 1
    assert 0 < read < number


def test_five_hundred_config_files(tmp_path):
    configs(500, 0, tmp_path / "config.json")


@pytest.mark.slow
def test_five_thousand_more_config_files(tmp_path):
    configs(5000, 1, tmp_path / "config.json")


def test_what_is_read_is_also_run_or_refused(tmp_path, capsys):
    """Fifty of them, with few jobs: exit code 0 or 2."""
    parser, rng = make_parser(), random.Random(5)
    codes = []
    while len(codes) < 50:
        words = [*mutated(rng), "--num-jobs", "20", "--num-node", "2",
                 "--scheduler", "FGD", "--out", str(tmp_path)]  # fmt: skip
        try:
            options = parser.parse(words)
            codes.append(simulate(read_settings(options), options))
        except UserError:
            codes.append(2)
        except SystemExit:
            continue
    assert {*codes} <= {0, 2}
    assert 0 in codes
