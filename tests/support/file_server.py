"""A local web server with correct and faulty behaviors, for tests of downloads."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """`files` by name. `/MANNER/NAME` serves the file NAME with that behavior; `requests` are the received requests."""

    address: str
    files: dict[str, bytes]
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    pace_s: float = 0.05

    def url(self, manner: str, name: str = "data.bin") -> str:
        return f"{self.address}/{manner}/{name}"

    def ranges(self) -> list[str | None]:
        return [given for _, given in self.requests]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        manner, _, name = self.path.lstrip("/").partition("/")
        self.site.requests.append((self.path, self.headers["Range"]))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            getattr(self, f"send_{manner}")(self.site.files.get(name, b""))
        self.close_connection = True

    def begin(self, content: bytes) -> bytes:
        """Sends the headers and returns the content to be sent."""
        requests = re.fullmatch(r"bytes=(\d+)-", self.headers["Range"] or "")
        start = int(requests.group(1)) if requests else 0
        if requests and start >= len(content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.send_header("Content-Length", "9")
            self.end_headers()
            self.wfile.write(b"no range!")
            return b""
        self.send_response(206 if requests else 200)
        if requests:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        return content[start:]

    def send_good(self, content: bytes) -> None:
        self.wfile.write(self.begin(content))

    def send_whole(self, content: bytes) -> None:
        """Ignores ranges."""
        del self.headers["Range"]
        self.send_good(content)

    def send_unsized(self, content: bytes) -> None:
        """Omits the length."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n0\r\n\r\n")

    def send_half(self, content: bytes) -> None:
        """Closes the connection after half of the requested bytes."""
        rest = self.begin(content)
        self.wfile.write(rest[: len(rest) // 2])

    def send_wrong(self, content: bytes) -> None:
        self.send_good(bytes(byte ^ 1 for byte in content))

    def send_shifted(self, content: bytes) -> None:
        """Sends a range that starts at another offset than requested."""
        if self.headers["Range"]:
            self.send_response(206)
            self.send_header("Content-Range", f"bytes 1-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(content) - 1))
            self.end_headers()
            self.wfile.write(content[1:])
        else:
            self.send_good(content)

    def send_slow(self, content: bytes) -> None:
        rest = self.begin(content)
        for at in range(0, len(rest), 10_000):
            self.wfile.write(rest[at : at + 10_000])
            self.wfile.flush()
            time.sleep(self.site.pace_s)

    def send_stalled(self, content: bytes) -> None:
        self.wfile.write(self.begin(content)[:10])
        self.wfile.flush()
        time.sleep(4)

    def send_missing(self, _content: bytes) -> None:
        self.send_response(404)
        self.send_header("Content-Length", "9")
        self.end_headers()
        self.wfile.write(b"not here!")

    def redirect(self, to: str) -> None:
        self.send_response(302)
        self.send_header("Location", to)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"there")

    def send_moved(self, _content: bytes) -> None:
        self.redirect(self.path.replace("/moved/", "/good/"))

    def send_round(self, _content: bytes) -> None:
        self.redirect(self.path)

    def send_local(self, _content: bytes) -> None:
        self.redirect("file:///etc/passwd")


@contextlib.contextmanager
def served(files: dict[str, bytes]) -> Iterator[Site]:
    """Serves the site until the block ends."""
    site = Site("", files)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": site}))
    server.daemon_threads = True
    site.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
