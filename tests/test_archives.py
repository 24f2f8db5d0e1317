"""Packed traces are read as the plain ones; bombs and bundles are refused."""

import gzip
import io
import tarfile

import pytest
import samples

from clusterdata.registry import read_trace
from model.errors import TraceError


@pytest.mark.parametrize("packed", ["gz", "tar.gz", "zst"])
@pytest.mark.parametrize("name", samples.FILES)
def test_packed_files_are_read_as_the_plain_ones(tmp_path, name, packed):
    plain = samples.write_sample(tmp_path, name)
    path = tmp_path / f"{plain.name}.{packed}"
    if packed == "gz":
        path.write_bytes(gzip.compress(plain.read_bytes()))
    elif packed == "zst":
        zstandard = pytest.importorskip("zstandard")
        path.write_bytes(zstandard.compress(plain.read_bytes()))
    else:
        with tarfile.open(path, "w:gz") as archive:
            archive.add(plain, f"folder/{plain.name}")

    assert read_trace(path).jobs == read_trace(plain).jobs


def test_an_archive_with_several_files_is_refused(tmp_path):
    path = tmp_path / "two.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("../a.csv", "b.csv"):
            info = tarfile.TarInfo(name)
            info.size = 3
            archive.addfile(info, io.BytesIO(b"x,y"))

    with pytest.raises(
        TraceError, match=r"must hold one file, not 2 \(../a.csv, b.csv"
    ):
        read_trace(path)


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("clusterdata.source.HARMLESS", 2**16)
    path = tmp_path / "jobs.csv.gz"
    path.write_bytes(gzip.compress(samples.CANONICAL.encode() + b"\n" * 2**24))

    with pytest.raises(TraceError, match="unpacks to more than 200 times its size"):
        read_trace(path)
