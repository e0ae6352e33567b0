"""Maps modules to the packages that provide them."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

# PyPI names that differ from the module's by more than case and dashes.
PACKAGES = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "Crypto": "pycryptodome",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fitz": "PyMuPDF",
    "git": "GitPython",
    "jose": "python-jose",
    "jwt": "PyJWT",
    "Levenshtein": "python-Levenshtein",
    "magic": "python-magic",
    "MySQLdb": "mysqlclient",
    "OpenSSL": "pyOpenSSL",
    "PIL": "pillow",
    "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "usb": "pyusb",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}


def install_command(package: str) -> str:
    """Return the command that installs the module `package`: the mapped PyPI package, or the one of the same name.

    >>> install_command("cv2").endswith(" opencv-python")
    True
    """
    command = installer() or [sys.executable, "-m", "ensurepip", "&&", sys.executable, "-m", "pip", "install"]
    return " ".join([*command, PACKAGES.get(package, package)])


def installer() -> list[str] | None:
    """Return the command that installs packages here: that of pip, or of uv if the environment has no pip.

    None without both.
    """
    if has_module("pip"):
        return [sys.executable, "-m", "pip", "install"]
    uv = shutil.which("uv")
    own = Path(sys.prefix).parent / "tools" / "bin" / "uv"  # of `bin/simple setup`
    if own.exists():
        uv = str(own)
    return None if uv is None else [uv, "pip", "install", "--python", sys.executable]


def has_module(name: str) -> bool:
    """Return whether the module can be imported, without importing it.

    >>> has_module("math"), has_module("no_such.part")
    (True, False)
    """
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # of its parent
        return False
