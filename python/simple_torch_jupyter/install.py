"""Installs the Simple kernel and the JupyterLab extension where Jupyter looks for them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

NAME = "simple"
_HERE = Path(__file__).parent
_PACKAGES = _HERE.parent
_NBCONVERT = {"HighlightMagicsPreprocessor": {"enabled": True, "languages": {f"%%{NAME}": NAME}}}


def install(prefix: Path) -> list[Path]:
    """Install into `prefix`/share/jupyter, replacing an earlier installation, and return the folders.

    A configuration of nbconvert, which makes it highlight %%simple cells, is added unless there is one.

    Raises:
        OSError: a folder cannot be written.
    """
    share = prefix / "share" / "jupyter"
    kernel = _fresh(share / "kernels" / NAME)
    (kernel / "kernel.json").write_text(json.dumps(specification(), indent=1) + "\n")
    shutil.copy(_HERE / "logo-svg.svg", kernel)
    extension = _fresh(share / "labextensions" / "simple-torch")
    shutil.copytree(_HERE / "labextension", extension, dirs_exist_ok=True)
    config = prefix / "etc" / "jupyter" / "jupyter_nbconvert_config.json"
    if not config.exists():
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(json.dumps(_NBCONVERT, indent=1) + "\n")
    return [kernel, extension]


def specification() -> dict[str, object]:
    """Return the content of kernel.json: the kernel runs in this Python."""
    made: dict[str, object] = json.loads((_HERE / "kernel.json").read_text())
    made["argv"][0] = sys.executable  # type: ignore[index]
    if not _is_installed():
        made["env"] = {"PYTHONPATH": str(_PACKAGES)}
    return made


def _is_installed() -> bool:
    """Whether this Python finds the package without PYTHONPATH and the current folder."""
    query = "import importlib.util as u, sys; sys.exit(u.find_spec('simple_torch') is None)"
    return subprocess.run([sys.executable, "-I", "-c", query], check=False).returncode == 0


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
