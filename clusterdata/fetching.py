"""Download public traces from their publishers: resumed, checked, licence shown."""

import hashlib
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

from model.errors import UserError

BLOCK = 2**18  # bytes
TIMEOUT = 30.0  # s without an answer
ALIBABA = "https://raw.githubusercontent.com/alibaba/clusterdata"
CLUSTERDATA = f"{ALIBABA}/7a6c496e4f4b6ce6150be8f881cb051bf2abff42"
OPENB = f"{CLUSTERDATA}/cluster-trace-gpu-v2023/csv"
OSS = "https://aliopentrace.oss-cn-beijing.aliyuncs.com/v2020GPUTraces"
CITE_PAI = "CC-BY-4.0; cite Weng et al., MLaaS in the Wild, NSDI 2022"
CITE_OPENB = "no licence is stated; cite Weng et al., Beware of Fragmentation, ATC 2023"


class Source(NamedTuple):
    """A file that a publisher offers."""

    url: str
    licence: str  # and what to cite
    sha256: str = ""  # of the file; empty if its publisher does not tell


CATALOGUE = {
    "openb-default": Source(
        f"{OPENB}/openb_pod_list_default.csv",
        CITE_OPENB,
        "1ee7ed79c27a3b0861cda8ddba86a004c6aba904caafa329a76ae93ca63834a8",
    ),
    "openb-nodes": Source(
        f"{OPENB}/openb_node_list_gpu_node.csv",
        CITE_OPENB,
        "2beca64b4d3dfa342036a34b56a495c6cef9225db836c81f541282cb1df320b5",
    ),
    "pai-jobs": Source(
        f"{CLUSTERDATA}/cluster-trace-gpu-v2020/simulator/traces/pai/"
        f"pai_job_no_estimate_100K.csv",
        CITE_PAI,
    ),
    "pai-tasks": Source(f"{OSS}/pai_task_table.tar.gz", CITE_PAI),
    "pai-job-table": Source(f"{OSS}/pai_job_table.tar.gz", CITE_PAI),
    "pai-instances": Source(f"{OSS}/pai_instance_table.tar.gz", CITE_PAI),
    "pai-machines": Source(f"{OSS}/pai_machine_spec.tar.gz", CITE_PAI),
    "spot-jobs": Source(
        f"{CLUSTERDATA}/cluster-trace-v2026-spot-gpu/job_info_df.csv",
        "no licence is stated; cite the ASPLOS 2026 paper named there",
    ),
    "spot-nodes": Source(
        f"{CLUSTERDATA}/cluster-trace-v2026-spot-gpu/node_info_df.csv",
        "no licence is stated; cite the ASPLOS 2026 paper named there",
        "1aba161961a5a4a1a61aa581383c5e5abe3400b59f8597ba8c4eef7597bc9d18",
    ),
    "philly-runtimes": Source(
        f"{CLUSTERDATA}/cluster-trace-gpu-v2020/analysis/philly_runtime.csv",
        "CC-BY-4.0; cite Jeon et al., USENIX ATC 2019",
        "e99015baaea66833ebeac68d27c994aa13d83847f73b4a7c7dc71fe94b395247",
    ),
    "elasticflow": Source(
        "https://raw.githubusercontent.com/microsoft/elasticflow-traces/"
        "277ed24d0e908c31a1c98145819e2e3853d8ac00/data/elasticflow-traces.tar.gz",
        "MIT; cite Gu et al., ElasticFlow, ASPLOS 2023",
    ),
}


def fetch(
    source: Source, folder: Path, progress: Callable[[int], object] = lambda size: None
) -> tuple[Path, str]:
    """Download a file into a folder; return its path and SHA-256.

    What came before an interruption is kept in FILE.part and not asked for again. A
    file that is there already and has the right checksum is not asked for at all.

    Parameters
    ----------
    progress : gets the bytes of each block.

    Raises
    ------
    UserError
        If the publisher cannot be reached, or sends something else than it promised.
    """
    path = folder / source.url.rsplit("/", 1)[-1]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (path.is_file() and checksum(path) == source.sha256):
            part = path.with_name(path.name + ".part")
            _download(source.url, part, progress)
            found = checksum(part)
            if source.sha256 and found != source.sha256:
                part.unlink()
                raise UserError(
                    f"{source.url}: has SHA-256 {found}, not {source.sha256}; what was "
                    f"downloaded is thrown away"
                )
            part.replace(path)
    except (OSError, ValueError, HTTPException) as error:
        if isinstance(error, UserError):
            raise
        what = getattr(error, "reason", None) or getattr(error, "strerror", None)
        what = what or str(error)
        raise UserError(
            f"{source.url}: {what}; what came so far is kept, run it again to go on"
        ) from None
    return path, checksum(path)


def _download(url: str, part: Path, progress: Callable[[int], object]) -> None:
    """Append to *part* what is missing."""
    there = part.stat().st_size if part.is_file() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "defrag"})
    if there:
        request.add_header("Range", f"bytes={there}-")
    try:
        answer = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing is missing
            return
        raise
    with answer:
        resumed = answer.status == 206
        promised = int(answer.headers.get("Content-Length") or -1)
        with part.open("ab" if resumed else "wb") as file:
            came = 0
            while block := answer.read(BLOCK):
                file.write(block)
                came += len(block)
                progress(len(block))
    if 0 <= promised != came:
        raise OSError(0, f"{came:,} of {promised:,} bytes came")


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()
