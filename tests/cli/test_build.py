"""What configuring does with the Pythons it is given."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def configure(folder: Path, pythons: str) -> subprocess.CompletedProcess:
    command = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", f"-DSIMPLE_TORCH_PYTHONS={pythons}"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_without_a_python_only_host_and_front_are_built(tmp_path):
    done = configure(tmp_path, "")
    assert done.returncode == 0, done.stderr
    targets = subprocess.run(["ninja", "-C", tmp_path, "-t", "targets", "all"], capture_output=True, text=True).stdout
    assert "bin/simple-host:" in targets
    assert "lib/libspl_torch.so:" in targets
    assert "backend" not in targets
    assert not (tmp_path / "lib" / "simple-torch-environment").exists()


def test_a_python_without_torch_is_refused_by_name(tmp_path):
    subprocess.run(["python3", "-m", "venv", "--without-pip", tmp_path / "mine"], check=True)
    python = tmp_path / "mine" / "bin" / "python3"
    done = configure(tmp_path / "build", str(python))
    assert done.returncode != 0
    assert f"SIMPLE_TORCH_PYTHONS names {python}: it has no torch" in " ".join(done.stderr.split())
