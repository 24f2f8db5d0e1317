"""Compiles functions by Numba, and keeps them for later runs.

Numba renews what it has kept when the file of a function changes, but not when that of
a function it calls does. So they are kept by the content of all files here: in the
user's cache, or for this process only where that cannot be written.

Compiled functions make no arrays; callers hand them in. So nothing has to count who
holds an array (`_nrt`, which made up half of all time), and nothing can fail
(`error_model`): a replay takes a third of the time that it took.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Return the function compiled; its first call in a new version takes seconds."""
    return _kept(function, inline="never")


def inlined(function: Function) -> Function:
    """Return the function compiled into each that calls it."""
    return _kept(function, inline="always")


def _kept(function: Function, inline: Any) -> Function:
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, FOLDER  # looked at while decorating
    try:
        compiler = cast(Any, numba.njit)  # whose stubs do not know `_nrt`
        options = {"error_model": "numpy", "_nrt": False}
        return cast(Function, compiler(cache=True, inline=inline, **options)(function))
    finally:
        config.CACHE_DIR = before


def _folder() -> str:
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(here.glob("*.py")):
        digest.update(path.read_bytes())
    home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    folder = Path(home) / "defrag" / digest.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return str(folder)
    except OSError:
        pass
    return tempfile.mkdtemp(prefix="defrag-")  # of this process only


FOLDER = _folder()
