"""Folders that may not be written, or not even entered: one line, nothing lost."""

import os
import re
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

import run as program

SMALL = ("--num-jobs", "40", "--num-node", "4")


@pytest.fixture
def folder(tmp_path):
    """A folder with an earlier run in it, to which others may come."""
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    home = tmp_path / "home"
    home.mkdir()
    words = ["--scheduler", "FGD", *SMALL, "--out", str(home), "--name", "old"]
    assert program.main(words) == 0
    yield home
    home.chmod(0o755)


@contextmanager
def nobody():
    """Be someone for whom permissions count."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


COMMANDS = {
    "simulate": ["--scheduler", "FGD", *SMALL, "--name", "new", "--out", "{}"],
    "compare": ["compare", "--schedulers", "FGD", "--seeds", "1", *SMALL,
                "--workers", "1", "--out", "{}"],
    "generate": ["trace", "generate", "{}/jobs.csv", "--num-jobs", "20"],
    "report": ["report", "{}/old", "--out", "{}/page.html"],
}  # fmt: skip


@pytest.mark.parametrize("mode", [0o555, 0o000], ids=["read-only", "closed"])
@pytest.mark.parametrize("command", COMMANDS)
def test_what_cannot_be_written_is_said_and_nothing_is_lost(
    folder, tmp_path, capsys, monkeypatch, mode, command
):
    monkeypatch.setattr("commands.provenance.version", lambda name: "")  # unread

    def call(place):
        return program.main([word.format(place) for word in COMMANDS[command]])

    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(folder, elsewhere)
    assert call(elsewhere) == 0  # and all is imported that nobody may not read
    before = contents(folder)
    capsys.readouterr()
    folder.chmod(mode)
    with nobody():
        code = call(folder)
    folder.chmod(0o755)

    assert code == 2
    assert re.fullmatch("error: .* [Pp]ermission denied\n", capsys.readouterr().err)
    assert contents(folder) == before
