"""torch.hub: repositories in the cache and in folders, trust, and files from a local server."""

from __future__ import annotations

import hashlib
import io
import os
import pty
import subprocess

import pytest
from embedded_simple import run, torch
from file_server import served

from programs import has_terminals, host, is_sanitized
from programs import run as run_host

os.environ["no_proxy"] = "127.0.0.1"  # libcurl uses a configured proxy

HUBCONF = '''
dependencies = ["torch"]
import torch

def linear(width, bias=True):
    """A linear layer."""
    return torch.nn.Linear(2, width, bias=bias)

def pair():
    return torch.nn.ReLU(), {"mean": 0.5}

def weights(url):
    return torch.hub.load_state_dict_from_url(url, progress=False, check_hash=True)

def _private():
    pass
'''

OURS = run(
    """
    use torch
    use torch.nn
    fn reported(work):
        match torch.attempt(work):
            case Ok(value): value
            case Err(torch.TorchError.Io(message)): "Io: " + message
            case Err(torch.TorchError.InvalidArgument(message)): "InvalidArgument: " + message
            case Err(other): "another: " + other.message()
    fn set_dir(folder): torch.hub.set_dir(folder)
    fn get_dir(): torch.hub.get_dir()
    fn load_linear(repo, trust):
        reported(\\: torch.hub.load(repo, "linear", 3, trust_repo: trust, verbose: false, bias: false).weight.shape)
    fn load_pair(repo):
        val (module, values) = torch.hub.load(repo, "pair", trust_repo: true, verbose: false)
        [module is nn.Module, module._get_name(), values["mean"]]
    fn load_local(folder, model, args): reported(\\: torch.hub.load(folder, model, *args, source: "local"))
    fn load_from(source): reported(\\: torch.hub.load("a/b", "linear", source: source))
    fn list(repo, trust): reported(\\: torch.hub.list(repo, trust_repo: trust, verbose: false))
    fn help(repo, model): reported(\\: torch.hub.help(repo, model, trust_repo: true))
    fn download(url, path, prefix): reported(\\: torch.hub.download_url_to_file(url, path, hash_prefix: prefix))
    fn state(url, check): reported(\\: torch.hub.load_state_dict_from_url(url, check_hash: check))
    fn state_in(url, folder, name):
        reported(\\: torch.hub.load_state_dict_from_url(url, model_dir: folder, file_name: name))
    """
)


@pytest.fixture
def folder(tmp_path):
    """A cache with the repository owner/repo at main, which is not trusted."""
    before = torch.hub.get_dir()
    repository = tmp_path / "hub" / "owner_repo_main"
    repository.mkdir(parents=True)
    (repository / "hubconf.py").write_text(HUBCONF)
    OURS.set_dir(str(tmp_path / "hub"))
    yield tmp_path / "hub"
    OURS.set_dir(before)


@pytest.fixture
def site():
    file = io.BytesIO()
    torch.save({"weight": torch.arange(3.0)}, file)
    content = file.getvalue()
    digits = hashlib.sha256(content).hexdigest()
    with served({"net.pth": content, f"net-{digits[:8]}.pth": content, "net-00000000.pth": content}) as running:
        running.good = f"net-{digits[:8]}.pth"
        running.sha256 = digits
        yield running


UNTRUSTED = (
    "InvalidArgument: torch.hub.load: the repository 'owner/repo:main' is not trusted, and its code would run in this "
    "process; read it, then pass trust_repo: true"
)


def test_the_code_of_a_repository_runs_only_after_it_is_trusted(folder):
    assert OURS.load_linear("owner/repo:main", "check") == UNTRUSTED
    assert OURS.load_linear("owner/repo:main", False) == UNTRUSTED
    assert not (folder / "trusted_list").exists()
    assert OURS.load_linear("owner/repo:main", True) == [3, 2]
    assert (folder / "trusted_list").read_text().split() == ["owner_repo"]
    assert OURS.load_linear("owner/repo:main", "check") == [3, 2]
    assert OURS.load_linear("owner/repo:main", False) == UNTRUSTED
    assert "trust_repo must be true, false or" in OURS.load_linear("owner/repo:main", "always")


def test_no_owner_is_trusted_by_itself(folder):
    (folder / "owner_repo_main").rename(folder / "pytorch_vision_main")
    assert OURS.load_linear("pytorch/vision:main", "check") == UNTRUSTED.replace("owner/repo", "pytorch/vision")


@pytest.mark.skipif(not has_terminals(), reason="there are no pseudo-terminals")
@pytest.mark.skipif(is_sanitized(), reason="Python of the host asks, which needs the plain build")
@pytest.mark.parametrize(("answer", "status"), [("y", 0), ("n", 1), ("", 1)])
def test_trust_is_asked_on_a_terminal(folder, tmp_path, answer, status):
    program = tmp_path / "ask.spl"
    program.write_text(
        f'use torch\ntorch.hub.set_dir("{folder}")\nprint torch.hub.load("owner/repo:main", "linear", 3).weight.shape\n'
    )
    ours, its = pty.openpty()
    os.write(ours, f"{answer}\n".encode())
    done = subprocess.run([host(), program], stdin=its, capture_output=True, text=True, timeout=120, check=False)
    os.close(ours)
    os.close(its)
    assert "The code of the repository owner/repo:main would run in this process. Do you trust it? (y/N)" in done.stdout
    assert done.returncode == status and ("[3, 2]" in done.stdout) == (status == 0), done


def test_results_are_values_of_simple(folder):
    assert OURS.load_pair("owner/repo:main") == [True, "ReLU", 0.5]


def test_entry_points_are_listed_and_described(folder):
    assert "is not trusted" in OURS.list("owner/repo:main", "check")
    assert OURS.list("owner/repo:main", True) == ["linear", "pair", "weights"]
    assert OURS.help("owner/repo:main", "linear") == "A linear layer."
    assert "Cannot find callable nothing in hubconf" in OURS.help("owner/repo:main", "nothing")


def test_a_local_folder_needs_no_trust(folder):
    loaded = OURS.load_local(str(folder / "owner_repo_main"), "linear", [4])
    assert OURS.load_local(str(folder), "linear", [4]) == f"Io: torch.hub.load: no file hubconf.py in '{folder}'"
    assert loaded.weight.shape == (4, 2)


def test_a_repository_that_is_missing_offline_names_the_cache(folder, monkeypatch):
    from urllib.error import URLError

    import torch.hub

    def unreachable(url, *_):
        raise URLError("no network")

    monkeypatch.setattr(torch.hub, "urlopen", unreachable)
    for name in ("owner/absent:v1", "owner/absent"):
        message = OURS.load_linear(name, True)
        assert message.startswith(
            f"Io: torch.hub.load: the repository '{name}' is not in '{folder}', and cannot be downloaded: "
        )


def test_wrong_names_and_sources_are_errors(folder):
    wanted = "InvalidArgument: torch.hub.load: expected owner/name or owner/name:ref, got '{}'"
    for name in ("repo", "a/b/c", "/b", "a/b:c:d"):
        assert OURS.load_linear(name, True) == wanted.format(name)
    assert (
        OURS.load_from("gitlab") == "InvalidArgument: torch.hub.load: unknown source 'gitlab'; available: github, local"
    )


def test_the_entry_points_use_the_librarys_downloader(folder, site):
    url = site.url("half", site.good)
    message = OURS.load_local(str(folder / "owner_repo_main"), "weights", [url])
    assert message.startswith(
        f"Io: torch.hub.load: the file '{site.good}' is not in '{folder / 'checkpoints'}', and cannot be"
    )
    part = (folder / "checkpoints" / f"{site.good}.part").stat().st_size
    state = OURS.load_local(str(folder / "owner_repo_main"), "weights", [site.url("good", site.good)])
    assert state["weight"].tolist() == [0, 1, 2]
    assert site.ranges()[-1] == f"bytes={part}-" and part > 0


def test_files_are_downloaded_and_verified(tmp_path, site):
    target = tmp_path / "x" / "net.pth"
    assert OURS.download(site.url("good", "net.pth"), str(target), site.sha256[:10]) is None
    assert target.read_bytes() == site.files["net.pth"]
    message = OURS.download(site.url("good", "net.pth"), str(tmp_path / "y"), "abc")
    assert message.startswith(
        f"Io: download_url_to_file: the file 'y' is not in '{tmp_path}', and cannot be downloaded from "
    )
    assert message.endswith(f"expected a sha256 that starts with abc, got {site.sha256}")


def test_a_state_dict_is_downloaded_once(folder, site, tmp_path):
    for _ in range(2):
        assert OURS.state(site.url("good", site.good), True)["weight"].tolist() == [0, 1, 2]
    assert len(site.requests) == 1 and (folder / "checkpoints" / site.good).exists()
    assert OURS.state_in(site.url("good", "net.pth"), str(tmp_path), "mine.pth")["weight"].tolist() == [0, 1, 2]
    assert (tmp_path / "mine.pth").exists()
    assert "expected a sha256 that starts with 00000000" in OURS.state(site.url("good", "net-00000000.pth"), True)
    assert OURS.state(site.url("good", "net-00000000.pth"), False)["weight"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({"TORCH_HOME": "/a"}, "/a/hub"),
        ({"TORCH_HOME": "", "XDG_CACHE_HOME": "/b"}, None),
        ({"XDG_CACHE_HOME": "/b"}, "/b/torch/hub"),
        ({"TORCH_HOME": "~/c"}, "/home/someone/c/hub"),
        ({}, "/home/someone/.cache/torch/hub"),
    ],
)
def test_the_folder_is_pytorchs_also_without_python(tmp_path, monkeypatch, variables, wanted):
    for name in ("TORCH_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "a.spl").write_text(
        "use torch\nuse python as py\nval folder = torch.hub.get_dir()\nassert not py.is_initialized()\nprint folder\n"
        'assert folder == py.import("torch.hub").get_dir().to_text()\n'
    )
    done = run_host(tmp_path / "a.spl", environment={"HOME": "/home/someone", **variables})
    assert done.returncode == 0, done.stderr
    assert wanted is None or done.stdout.strip() == wanted
