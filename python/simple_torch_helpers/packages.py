"""Maps modules to the packages that provide them."""

from __future__ import annotations

import sys

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

    >>> install_command("cv2").endswith(" -m pip install opencv-python")
    True
    """
    return f"{sys.executable} -m pip install {PACKAGES.get(package, package)}"
