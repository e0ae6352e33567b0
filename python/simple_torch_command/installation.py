"""What is installed: the host and its libraries, and the PyTorch of this Python."""

from __future__ import annotations

import importlib.util
import os
import re
import site
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from simple_torch_command.troubleshooting import Fault

NOT_BUILT = "a-part-that-is-not-built"


@dataclass(frozen=True)
class Installation:
    """The folder with bin/, lib/ and share/."""

    folder: Path

    @property
    def host(self) -> Path:
        return self.folder / "bin" / "simple-host"

    @property
    def troubleshooting(self) -> Path:
        return self.folder / "share" / "docs" / "troubleshooting.md"

    @property
    def examples(self) -> Path:
        return self.folder / "share" / "examples"

    def backends(self) -> list[str]:
        """Return the minor versions of torch that have a backend, oldest first."""
        found = [_after(file.name, "libsimple_torch_backend-", ".so") for file in (self.folder / "lib").glob("*.so")]
        return sorted(filter(None, found), key=lambda minor: [int(part) for part in minor.split(".")])

    def has_bridge(self, torch_minor: str) -> bool:
        tag = f"cpython-{sys.version_info[0]}{sys.version_info[1]}"
        return (self.folder / "lib" / f"libsimple_torch_bridge-{torch_minor}.{tag}.so").exists()


@dataclass(frozen=True)
class Torch:
    """The torch package of this Python, found without importing it."""

    folder: Path
    version: str

    @property
    def minor(self) -> str:
        return ".".join(self.version.split(".")[:2])


def installation() -> Installation:
    """Return that of the package simple_torch, or the folder that SIMPLE_BUILD names."""
    named = os.environ.get("SIMPLE_BUILD")
    return Installation(Path(named) if named else Path(__file__).resolve().parents[1] / "simple_torch")


FREE_THREADED = (
    f"{sys.executable} is a free-threaded Python, which is not supported; use a Python of the same version with the GIL"
)


def is_free_threaded() -> bool:
    """Return whether this Python was built without the GIL: its C API has other structs."""
    return bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def find_torch() -> Torch | None:
    try:
        spec = importlib.util.find_spec("torch")
    except ValueError:  # sys.modules has an object of that name that was not imported
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0])
    version = folder / "version.py"
    found = re.search(r"^__version__ = '([^']+)'", version.read_text(), re.MULTILINE) if version.exists() else None
    return Torch(folder, found[1]) if found else None


def fault_of(installed: Installation, torch: Torch | None) -> Fault | None:
    """Return why programs cannot use PyTorch; None if they can."""
    backends = " and ".join(installed.backends())
    if is_free_threaded():
        return Fault(FREE_THREADED, NOT_BUILT)
    if torch is None:
        return Fault(
            f"{sys.executable} has no PyTorch; install one of {backends}: {sys.executable} -m pip install torch",
            "no-pytorch",
        )
    if torch.minor not in installed.backends():
        return Fault(
            f"PyTorch {torch.version} in {torch.folder} has no backend in this installation, which has those of "
            f"{backends}; install one of these: {sys.executable} -m pip install 'torch=={installed.backends()[-1]}.*'",
            NOT_BUILT,
        )
    if not installed.has_bridge(torch.minor):
        minor = "{}.{}".format(*sys.version_info)
        return Fault(
            f"this installation was built for another Python than {minor}; install the wheel of Python {minor}",
            NOT_BUILT,
        )
    return None


def variables_for_host(torch: Torch | None) -> dict[str, str]:
    """Return the environment of the host, which uses this Python and its torch, unless the user names others."""
    variables = {**os.environ, **choice_of_python(torch)}
    use_system_certificates(variables)
    return variables


def choice_of_python(torch: Torch | None) -> dict[str, str]:
    """Return the variables by which the library uses this Python and its torch; empty if the user names others."""
    if "SIMPLE_PYTHON" in os.environ or "SIMPLE_TORCH" in os.environ or not sys.executable:
        return {}
    chosen = {"SIMPLE_PYTHON": sys.executable}
    if torch is not None and not _is_in_prefix(torch.folder):
        chosen["SIMPLE_TORCH"] = str(torch.folder)  # the library looks for torch only below the prefix
    return chosen


def _is_in_prefix(folder: Path) -> bool:
    return Path(sys.prefix) in folder.parents and Path(site.getusersitepackages()) not in folder.parents


def use_system_certificates(variables: dict[str, str]) -> None:
    """Name the file of certificates for the bundled libcurl, which looks for it where its own system has it."""
    known = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem")
    found = next((file for file in known if Path(file).exists()), None)
    if found and not {"SSL_CERT_FILE", "CURL_CA_BUNDLE"} & variables.keys():
        variables["SSL_CERT_FILE"] = found


def _after(name: str, prefix: str, suffix: str) -> str:
    fits = name.startswith(prefix) and name.endswith(suffix)
    return name[len(prefix) : -len(suffix)] if fits else ""
