"""Which certificates are trusted: the system's, or those of a file that the environment names."""

from __future__ import annotations

import http.server
import os
import re
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from programs import host

OWN = Path(__file__).parents[1] / "support" / "localhost.pem"  # a certificate and its key, for tests only
REQUEST = 'use std.http\nprint http.get("{url}").text\n'
DOWNLOAD = """use std.fs
use vision.datasets.utils.{{download_url}}
print fs.read_text(download_url("{url}data", "{folder}"))
"""


class Content(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Content)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(OWN)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://localhost:{server.server_port}/"
    server.shutdown()


@pytest.fixture(params=["request", "download"])
def fetch(request, url, tmp_path):
    """Runs a program that fetches the content."""
    if request.param == "download" and os.environ.get("SIMPLE_TORCH") == "off":
        pytest.skip("there is no PyTorch")
    program = tmp_path / "fetch.spl"
    text = {"request": REQUEST, "download": DOWNLOAD}[request.param]
    program.write_text(text.format(url=url, folder=tmp_path))

    def run(**named: str) -> subprocess.CompletedProcess[str]:
        variables = {name: value for name, value in os.environ.items() if not re.search("CERT|CA_BUNDLE", name)}
        return subprocess.run(
            [host(), "run", program],
            env={**variables, "no_proxy": "localhost", **named},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_an_unknown_certificate_is_rejected(fetch):
    done = fetch()
    assert (done.stdout, done.returncode) == ("", 1)
    assert "certificate" in done.stderr


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "CURL_CA_BUNDLE"])
def test_a_file_of_certificates_is_used(fetch, variable):
    done = fetch(**{variable: str(OWN)})
    assert (done.stdout, done.stderr, done.returncode) == ("hello\n", "", 0)


def test_the_variable_of_curl_comes_first(fetch):
    assert fetch(CURL_CA_BUNDLE=str(OWN), SSL_CERT_FILE="/etc/passwd").stdout == "hello\n"


def test_a_file_that_cannot_be_read_is_an_error(fetch, tmp_path):
    done = fetch(SSL_CERT_FILE=str(tmp_path / "missing.pem"))
    assert done.returncode == 1
    assert "missing.pem" in done.stderr
