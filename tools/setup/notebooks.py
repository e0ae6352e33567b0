"""bin/simple notebook: installs what notebooks need, and opens JupyterLab."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from console import log, run, step
from layout import ROOT, Build, Environment

_PACKAGES = ROOT / "python"
# What Pygments and papermill look for. A wheel has the same entry points in its own metadata.
_ENTRY_POINTS = """[pygments.lexers]
simple = simple_torch_jupyter.lexer:SimpleLexer

[papermill.engine]
simple = simple_torch_jupyter.papermill:SimpleEngine
"""


def prepare(env: Environment) -> None:
    """Makes the packages of this checkout importable in the environment, and installs the kernel and the extension.

    The result is that of an editable installation: the packages are not copied.
    """
    with step(f"Simple kernel and JupyterLab extension, into {env.folder}"):
        link_packages(env)
        variables = {**os.environ, "PYTHONPATH": str(_PACKAGES)}
        run([env.python, "-m", "simple_torch_jupyter", "install", "--prefix", env.folder], env=variables)


def link_packages(env: Environment) -> None:
    """Writes the .pth file and the metadata of an editable installation, so that pip can remove it."""
    (site,) = (env.folder / "lib").glob("python3*/site-packages")
    version = _version()
    link, metadata = site / "simple_torch.pth", site / f"simple_torch-{version}.dist-info"
    metadata.mkdir(exist_ok=True)
    files = {
        link: f"{_PACKAGES}\n",
        metadata / "METADATA": f"Metadata-Version: 2.1\nName: simple-torch\nVersion: {version}\n",
        metadata / "entry_points.txt": _ENTRY_POINTS,
        metadata / "INSTALLER": "bin/simple\n",
    }
    for file, content in files.items():
        file.write_text(content)
    record = metadata / "RECORD"
    record.write_text("".join(f"{file.relative_to(site)},,\n" for file in [*files, record]))


def is_prepared(env: Environment) -> bool:
    """Whether the environment has the kernel and the extension of this checkout."""
    found = list((env.folder / "lib").glob("python3*/site-packages/simple_torch.pth"))
    share = env.folder / "share" / "jupyter"
    source = _PACKAGES / "simple_torch_jupyter" / "labextension"
    copy = share / "labextensions" / "simple-torch"
    is_current = all(
        (copy / file.relative_to(source)).is_file()
        and (copy / file.relative_to(source)).read_bytes() == file.read_bytes()
        for file in source.rglob("*")
        if file.is_file()
    )
    is_linked = bool(found) and found[0].read_text().strip() == str(_PACKAGES)
    return is_linked and is_current and (share / "kernels" / "simple" / "kernel.json").is_file()


def open_lab(env: Environment, tree: Build, arguments: Sequence[str]) -> int:
    """Replaces this process by JupyterLab, in the current folder."""
    options = ["--allow-root"] if os.geteuid() == 0 else []  # JupyterLab asks root for it
    log(f"JupyterLab with the Simple kernel; examples are in {ROOT / 'examples' / 'notebooks'}")
    os.execve(env.python, [str(env.python), "-m", "jupyterlab", *options, *arguments], lab_variables(tree))


def lab_variables(tree: Build) -> dict[str, str]:
    """The variables of JupyterLab and its kernels: each kernel uses the torch of its own Python."""
    variables = {name: value for name, value in os.environ.items() if name not in ("SIMPLE_PYTHON", "SIMPLE_TORCH")}
    variables["SIMPLE_BUILD"] = str(tree.folder)
    return variables


def _version() -> str:
    found = re.search(r'__version__ = "([^"]+)"', (_PACKAGES / "simple_torch" / "__init__.py").read_text())
    assert found is not None, "simple_torch has no __version__"
    return found[1]
