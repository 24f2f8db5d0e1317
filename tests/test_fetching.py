"""Public traces are fetched whole, checked, and go on where they broke off."""

import hashlib
import http.server
import threading

import pytest

from clusterdata import fetching
from model.errors import UserError

CONTENT = bytes(range(256)) * 4000  # a megabyte


@pytest.fixture
def publisher():
    """Serve CONTENT on this machine; breaks off after `limit` bytes."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        limit = None

        def do_GET(self):
            start = self.headers.get("Range")
            asked.append(start)
            first = int(start[6:-1]) if start else 0
            if self.path.endswith("missing.csv") or first >= len(CONTENT):
                self.send_error(404 if "missing" in self.path else 416)
                return
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(CONTENT) - first))
            self.end_headers()
            self.wfile.write(CONTENT[first:][: Handler.limit])

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", Handler, asked
    server.shutdown()
    server.server_close()


def test_fetch_goes_on_where_it_was_and_checks(publisher, tmp_path):
    address, handler, asked = publisher
    right = hashlib.sha256(CONTENT).hexdigest()
    source = fetching.Source(f"{address}/trace.csv", "free", right)
    handler.limit = 300_000
    with pytest.raises(
        UserError, match="300,000 of 1,024,000 bytes came; what came so"
    ):
        fetching.fetch(source, tmp_path)
    handler.limit = None
    path, found = fetching.fetch(source, tmp_path)

    assert (path.read_bytes(), found) == (CONTENT, right)
    assert asked == [None, "bytes=300000-"]
    fetching.fetch(source, tmp_path)
    assert len(asked) == 2  # there already
    wrong = source._replace(sha256="0" * 64)
    with pytest.raises(UserError, match="has SHA-256 .* is thrown away"):
        fetching.fetch(wrong, tmp_path)
    assert not list(tmp_path.glob("*.part"))
    with pytest.raises(UserError, match="Not Found"):
        fetching.fetch(source._replace(url=f"{address}/missing.csv"), tmp_path)


def test_fetch_on_the_command_line(trace, publisher, tmp_path):
    address, _, _ = publisher
    url = f"{address}/pai_task_table.tar.gz"
    code, out, _ = trace("fetch", "pai-tasks", "--url", url, "--to", tmp_path)

    assert code == 0
    assert "licence: CC-BY-4.0" in out
    assert "its publisher tells none" in out
    assert (tmp_path / "pai_task_table.tar.gz").read_bytes() == CONTENT
    assert "pai-machines" in trace("fetch")[1]
    assert 'did you mean "pai-jobs"' in trace("fetch", "pai-job")[2]
