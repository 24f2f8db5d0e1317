"""Open a trace as text, compressed or not; nothing is unpacked to disk."""

import gzip
import io
import os
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TextIO, cast

from model.errors import TraceError

ARCHIVES = (".tar.gz", ".tgz", ".tar")
SUFFIXES = (*ARCHIVES, ".gz", ".zst")
HARMLESS = 2**28  # bytes that anything may unpack to
RATIO = 200  # beyond them, how much larger than the file; text shrinks to a tenth
HEAD = 65_536  # characters, enough to tell what a file is


@contextmanager
def opened(path: Path, member: str = "") -> Iterator[TextIO]:
    """Open a file as UTF-8 text: plain, .gz, .zst, or the one file of a .tar.gz.

    Parameters
    ----------
    member : which file of an archive, if there are several.

    Raises
    ------
    TraceError
        If it is missing, empty, damaged, not text, or a compression bomb; also for
        what goes wrong while it is read inside the `with`.
    """
    if not path.is_file():
        raise TraceError(f"{path}: no such file")
    if path.stat().st_size == 0:
        raise TraceError(f"{path}: the file is empty")
    try:
        with ExitStack() as stack:
            stream = stack.enter_context(_bytes(path, member))
            if path.name.endswith(SUFFIXES):
                bounded = _Bounded(stream, path)
                stream = cast("IO[bytes]", io.BufferedReader(bounded, 2**20))
            # no one but the text file may close what it reads
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
            yield stack.enter_context(text)
    except UnicodeDecodeError as error:
        raise TraceError(
            f"{path}: is not UTF-8 text ({error.reason} at byte {error.start})"
        ) from None
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        what = getattr(error, "strerror", None) or str(error) or "is cut short"
        raise TraceError(f"{path}: {what}") from None


def head(path: Path, member: str = "") -> str:
    """Return the first characters of a file, as many as tell what it is."""
    with opened(path, member) as file:
        return file.read(HEAD)


def _bytes(path: Path, member: str) -> IO[bytes]:
    if path.name.endswith(ARCHIVES):
        return _archived(path, member)
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path))
    if path.suffix == ".zst":
        return _zstandard(path)
    return path.open("rb")


def _archived(path: Path, member: str) -> IO[bytes]:
    archive = tarfile.open(path)  # noqa: SIM115 - read from until the end of the text
    files = [
        info
        for info in archive
        if info.isfile() and not Path(info.name).name.startswith(".")
    ]
    named = [info for info in files if Path(info.name).name == member]
    chosen = named if named else files
    if len(chosen) != 1:
        names = ", ".join(info.name for info in files[:5]) or "none"
        raise TraceError(
            f"{path}: must hold one file, not {len(files)} ({names}); unpack the one "
            f"you mean"
        )
    stream = archive.extractfile(chosen[0])
    if stream is None:
        raise TraceError(f"{path}: {chosen[0].name} cannot be read")
    return stream


def _zstandard(path: Path) -> IO[bytes]:
    try:
        import zstandard
    except ImportError:
        raise TraceError(
            f'{path}: .zst needs the package zstandard: pip install "defrag[traces]"'
        ) from None
    try:
        return cast("IO[bytes]", zstandard.open(path))
    except zstandard.ZstdError as error:
        raise TraceError(f"{path}: {error}") from None


class _Bounded(io.RawIOBase):
    """What a file unpacks to; refuses to go on where no trace would.

    Raises
    ------
    TraceError
        Beyond 256 MiB that are also more than 200 times the file.
    """

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path = stream, path
        self._left = max(HARMLESS, RATIO * os.stat(path).st_size)  # noqa: PTH116

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read into *buffer*; return how many bytes; see `io.RawIOBase`."""
        try:
            data = self._stream.read(len(buffer))
        except Exception as error:
            if type(error).__name__ != "ZstdError":  # a package that may be missing
                raise
            raise TraceError(f"{self._path}: {error}") from None
        self._left -= len(data)
        if self._left < 0:
            raise TraceError(
                f"{self._path}: unpacks to more than {RATIO} times its size; this is "
                f"no trace (unpack it yourself if it is)"
            )
        buffer[: len(data)] = data
        return len(data)
