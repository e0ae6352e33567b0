"""Downloads from a local web server that truncates, corrupts, stalls and redirects; no other host is contacted."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
import os
import pty
import random
import re
import resource
import select
import signal
import subprocess
import tarfile
import time
from pathlib import Path

import pytest
from embedded_simple import run, torch
from file_server import served
from image_files import datasets, make_cifar, make_mnist, theirs

from programs import has_terminals, host, is_sanitized

os.environ["no_proxy"] = "127.0.0.1"  # libcurl uses a configured proxy
CONTENT = random.Random(3).randbytes(200_000)
MD5 = hashlib.md5(CONTENT).hexdigest()
SHA256 = hashlib.sha256(CONTENT).hexdigest()

OURS = run(
    """
    use torch
    use vision.datasets as d
    use vision.datasets.utils as u
    fn reported(work):
        val outcome = torch.attempt(work)
        if outcome.is_ok(): return outcome.unwrap()
        match outcome.unwrap_err():
            case torch.TorchError.Io(message): "Io: " + message
            case other: "another: " + other.message()
    fn fetch(url, root): reported(\\: u.download_url(url, root))
    fn fetch_with(url, root, md5, mirrors, timeout = 5, hops = 3):
        val others = if mirrors == "": [] else: mirrors.split(" ")
        reported(\\: u.download_url(url, root, md5: md5, mirrors: others, timeout: timeout, max_redirect_hops: hops))
    fn fetch_named(url, root, name, sha256): reported(\\: u.download_url(url, root, filename: name, sha256: sha256))
    fn md5(path): u.calculate_md5(path)
    fn sha256(path): u.calculate_sha256(path)
    fn is_whole(path, sum): u.check_integrity(path, sum)
    fn extract(path, folder): reported(\\: u.extract_archive(path, folder))
    fn extract_here(path): reported(\\: u.extract_archive(path, remove_finished: true))
    fn of_mnist(root):
        val made = [d.MNIST(root), d.FashionMNIST(root)]
        made.map(\\it: [it.mirrors(), it.resources()])
    fn of_cifar(root):
        val made = [d.CIFAR10(root), d.CIFAR100(root)]
        made.map(\\it: [it.url(), it.tgz_md5(), it.base_folder(), it.train_list(), it.test_list(), it.meta(),
            it.names_key()])
    """
)


@pytest.fixture
def site():
    with served({"data.bin": CONTENT, "empty.bin": b""}) as running:
        yield running


def only(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("size", [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, (1 << 20) - 1, (1 << 20) + 70])
def test_checksums_match_hashlib(size, tmp_path):
    content = random.Random(size).randbytes(size)
    (tmp_path / "x").write_bytes(content)
    assert OURS.md5(str(tmp_path / "x")) == hashlib.md5(content).hexdigest()
    assert OURS.sha256(str(tmp_path / "x")) == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("manner", ["good", "whole", "unsized", "moved", "slow"])
def test_file_is_downloaded(manner, site, tmp_path):
    site.pace_s = 0.005
    path = str(tmp_path / "new" / "data.bin")
    assert OURS.fetch_with(site.url(manner), str(tmp_path / "new"), MD5.upper(), "") == path
    assert only(tmp_path / "new") == {"data.bin": CONTENT}


def test_names_and_queries_and_empty_files(site, tmp_path):
    assert OURS.fetch_named(site.url("good"), str(tmp_path), "other", SHA256) == str(tmp_path / "other")
    assert OURS.fetch(site.url("good", "empty.bin"), str(tmp_path)) == str(tmp_path / "empty.bin")
    assert only(tmp_path) == {"other": CONTENT, "empty.bin": b""}


def test_existing_file_is_not_downloaded_again(site, tmp_path):
    (tmp_path / "data.bin").write_bytes(CONTENT)
    assert OURS.fetch_with(site.url("good"), str(tmp_path), MD5, "") == str(tmp_path / "data.bin")
    assert OURS.fetch(site.url("good"), str(tmp_path)) == str(tmp_path / "data.bin")
    assert site.requests == []
    (tmp_path / "data.bin").write_bytes(b"broken")
    assert not OURS.is_whole(str(tmp_path / "data.bin"), MD5)
    OURS.fetch_with(site.url("good"), str(tmp_path), MD5, "")
    assert only(tmp_path) == {"data.bin": CONTENT}
    assert len(site.requests) == 1


@pytest.mark.parametrize(
    ("manner", "kept", "ranges"),
    [
        ("good", CONTENT[:70_000], ["bytes=70000-"]),
        ("whole", CONTENT[:70_000], ["bytes=70000-"]),  # sends everything again
        ("unsized", CONTENT[:70_000], ["bytes=70000-"]),
        ("good", CONTENT, ["bytes=200000-"]),
        ("good", CONTENT + b"more", ["bytes=200004-", None]),
        ("good", b"another beginning", ["bytes=17-", None]),
        ("moved", CONTENT[:5], ["bytes=5-", "bytes=5-"]),
    ],
)
def test_partial_file_with_a_checksum_is_resumed(manner, kept, ranges, site, tmp_path):
    (tmp_path / "data.bin.part").write_bytes(kept)
    assert OURS.fetch_with(site.url(manner), str(tmp_path), MD5, "") == str(tmp_path / "data.bin")
    assert only(tmp_path) == {"data.bin": CONTENT}
    assert site.ranges() == ranges


def test_partial_file_without_a_checksum_is_restarted(site, tmp_path):
    (tmp_path / "data.bin.part").write_bytes(CONTENT[:10])
    OURS.fetch(site.url("good"), str(tmp_path))
    assert only(tmp_path) == {"data.bin": CONTENT}
    assert site.ranges() == [None]


def test_cut_connection_is_resumed_then_another_mirror_is_used(site, tmp_path):
    assert OURS.fetch_with(site.url("half"), str(tmp_path), MD5, site.url("good")) == str(tmp_path / "data.bin")
    assert only(tmp_path) == {"data.bin": CONTENT}
    assert site.requests == [
        ("/half/data.bin", None),
        ("/half/data.bin", "bytes=100000-"),
        ("/half/data.bin", "bytes=150000-"),
        ("/good/data.bin", "bytes=175000-"),
    ]


def test_another_mirror_restarts_without_a_checksum(site, tmp_path):
    assert OURS.fetch_with(site.url("half"), str(tmp_path), None, site.url("good")) == str(tmp_path / "data.bin")
    assert only(tmp_path) == {"data.bin": CONTENT}
    assert site.ranges() == [None, "bytes=100000-", "bytes=150000-", None]


def test_all_mirrors_are_tried_and_reported_with_reasons(site, tmp_path):
    closed = "http://127.0.0.1:9/data.bin"
    mirrors = [site.url("wrong"), closed, site.url("stalled"), site.url("round"), site.url("local"), "ftp://x/data.bin"]
    begun = time.monotonic()
    reported = OURS.fetch_with(site.url("missing"), str(tmp_path), MD5, " ".join(mirrors), 1)
    assert time.monotonic() - begun < 15
    head, *lines = reported.split("\n")
    assert head == f"Io: download_url: cannot download '{tmp_path / 'data.bin'}':"
    reasons = dict(line.strip().split(": ", 1) for line in lines)
    assert list(reasons) == [site.url("missing"), *mirrors]
    wrong = hashlib.md5(bytes(byte ^ 1 for byte in CONTENT)).hexdigest()
    assert reasons[site.url("missing")] == "HTTP status 404"
    assert reasons[site.url("wrong")] == f"expected the md5 {MD5}, got {wrong}"
    assert "connect" in reasons[closed]
    assert reasons[site.url("stalled")] == "no data for 1 s"
    assert "redirects" in reasons[site.url("round")]
    assert "rotocol" in reasons[site.url("local")]
    assert "rotocol" in reasons["ftp://x/data.bin"]
    assert not (tmp_path / "data.bin").exists()


def test_mirror_with_a_wrong_range_is_skipped(site, tmp_path):
    (tmp_path / "data.bin.part").write_bytes(CONTENT[:50_000])
    assert OURS.fetch_with(site.url("shifted"), str(tmp_path), MD5, site.url("good")) == str(tmp_path / "data.bin")
    assert only(tmp_path) == {"data.bin": CONTENT}
    assert site.ranges() == ["bytes=50000-", "bytes=50000-"]


def test_server_without_ranges_is_tried_last(site, tmp_path):
    (tmp_path / "data.bin.part").write_bytes(CONTENT[:50_000])
    reported = OURS.fetch_with(site.url("shifted"), str(tmp_path), MD5, site.url("missing"))
    assert reported == str(tmp_path / "data.bin")
    assert only(tmp_path) == {"data.bin": CONTENT}
    assert site.requests == [
        ("/shifted/data.bin", "bytes=50000-"),
        ("/missing/data.bin", "bytes=50000-"),
        ("/shifted/data.bin", None),
    ]


@pytest.mark.parametrize("address", ["file:///etc/passwd", "http://127.0.0.1:9/passwd", "no address/passwd"])
def test_failed_download_leaves_no_file(address, tmp_path):
    assert OURS.fetch(address, str(tmp_path)).startswith(f"Io: download_url: cannot download '{tmp_path / 'passwd'}':")
    assert only(tmp_path) == {}


def test_url_without_a_file_name_is_rejected(site, tmp_path):
    reported = OURS.fetch(f"{site.address}/?a=b", str(tmp_path))
    assert "does not end with a file name; pass filename" in reported
    assert site.requests == []
    assert only(tmp_path) == {}


def test_redirects_are_limited(site, tmp_path):
    assert "redirects" in OURS.fetch_with(site.url("moved"), str(tmp_path), MD5, "", 5, 0)
    assert OURS.fetch_with(site.url("moved"), str(tmp_path), MD5, "", 5, 1) == str(tmp_path / "data.bin")


def test_concurrent_downloads_of_one_file_are_rejected(site, tmp_path):
    import fcntl

    with (tmp_path / "data.bin.part").open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        reported = OURS.fetch_with(site.url("good"), str(tmp_path), MD5, site.url("whole"))
    part = tmp_path / "data.bin.part"
    assert reported == f"Io: '{part}' cannot be written: another download writes it; wait until it is complete"
    assert site.requests == []


def test_full_disk_is_reported_without_trying_other_mirrors(site, tmp_path):
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, limit[1]))
    try:
        reported = OURS.fetch_with(site.url("good"), str(tmp_path), MD5, site.url("whole"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, old)
    assert reported == f"Io: '{tmp_path / 'data.bin.part'}' cannot be written: File too large"
    assert len(site.requests) == 1
    OURS.fetch_with(site.url("good"), str(tmp_path), MD5, "")
    assert only(tmp_path) == {"data.bin": CONTENT}
    assert site.ranges()[1] == "bytes=60000-"


def test_folder_that_cannot_be_created_is_reported(site, tmp_path):
    (tmp_path / "file").write_text("")
    reported = OURS.fetch(site.url("good"), str(tmp_path / "file" / "sub"))
    assert reported.startswith("Io: cannot make the folder ")


# ---- as programs: Ctrl-C and progress


def program(folder: Path, url: str) -> list[str]:
    path = folder / "fetch.spl"
    path.write_text(
        f"""
use torch
use vision.datasets.utils.{{download_url}}
match torch.attempt(\\: download_url("{url}", "{folder / "here"}", md5: "{MD5}")):
    case Ok(path): print path
    case Err(Interrupted(message)): print "Interrupted: " + message
    case Err(other): print other
"""
    )
    return [host(), "run", str(path)]


@pytest.mark.skipif(is_sanitized(), reason="the address sanitizer comes first, and opens no library apart")
def test_another_libcurl_in_the_process_is_not_used(site, tmp_path):
    """TensorFlow's library exports the functions of another version of libcurl, before the system's."""
    tensorflow = importlib.util.find_spec("tensorflow")  # not imported: that takes seconds
    if tensorflow is None:
        pytest.skip("this Python has no TensorFlow")
    folder = Path(tensorflow.origin).parent
    environment = os.environ | {
        "LD_PRELOAD": str(folder / "libtensorflow_framework.so.2"),
        "LD_LIBRARY_PATH": str(folder),
        "LD_DEBUG": "bindings",
        "LD_DEBUG_OUTPUT": str(tmp_path / "bindings"),
    }
    command = program(tmp_path, site.url("good"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert (done.returncode, done.stdout.strip()) == (0, str(tmp_path / "here" / "data.bin")), done.stderr
    log = "".join(each.read_text() for each in tmp_path.glob("bindings.*"))
    targets = re.findall(r"binding file \S*/libcurl\.so\S* \[0\] to (\S+) \[0\]: \S* ?symbol `curl_", log)
    assert {Path(target).name.split(".so")[0] for target in targets} == {"libcurl"}


def test_ctrl_c_keeps_the_partial_file_and_the_next_program_resumes(site, tmp_path):
    part = tmp_path / "here" / "data.bin.part"
    running = subprocess.Popen(program(tmp_path, site.url("slow")), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    end = time.monotonic() + 60
    while not (part.exists() and part.stat().st_size > 30_000) and time.monotonic() < end:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    output = running.communicate(timeout=60)[0].decode()
    size = part.stat().st_size
    kept = f"{size / 1000:.1f} kB" if size < 100_000 else f"{size / 1e6:.1f} MB"
    why = f"the download of data.bin was interrupted after {kept}, which are kept in '{part}'; start it again"
    assert output == f"Interrupted: {why} to resume\n"
    assert running.returncode == 0
    assert 30_000 < size < len(CONTENT)
    assert part.read_bytes() == CONTENT[:size]
    done = subprocess.run(program(tmp_path, site.url("good")), capture_output=True, text=True, check=True)
    assert done.stdout == f"{tmp_path / 'here' / 'data.bin'}\n"  # and nothing else without a terminal
    assert done.stderr == ""
    assert site.ranges() == [None, f"bytes={size}-"]
    assert only(tmp_path / "here") == {"data.bin": CONTENT}


@pytest.mark.skipif(not has_terminals(), reason="this system has no pseudo-terminals")
def test_terminal_shows_progress(site, tmp_path):
    master, slave = pty.openpty()
    running = subprocess.Popen(program(tmp_path, site.url("slow")), stdout=slave, stderr=slave)
    os.close(slave)
    shown = b""
    while select.select([master], [], [], 60)[0]:
        try:
            shown += os.read(master, 65536)
        except OSError:
            break
    assert running.wait(60) == 0
    lines = shown.decode().replace("\r\n", "\r").split("\r")
    bars = [line for line in lines if line.startswith("data.bin [")]
    assert len(bars) > 2
    assert "of 0.2 MB, " in bars[1]
    assert "/s, ETA 0:0" in bars[1]
    assert bars[-1].startswith("data.bin [####################] 0.2 MB of 0.2 MB, ")


# ---- archives


def archive_of(entries, *, mode="w:gz", form=tarfile.PAX_FORMAT) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode, format=form) as archive:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            if content is None:
                info.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
            else:
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content) if isinstance(content, bytes) else None)
    return stream.getvalue()


LONG = "folder/" + "n" * 90 + "/" + "m" * 120 + ".bin"
ENTRIES = [("folder", None), ("folder/a", b"1" * 513), ("./b", b""), (LONG, CONTENT), ("folder/é", b"x"), ("c/d", b"y")]


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT], ids=["pax", "gnu"])
@pytest.mark.parametrize(("name", "mode"), [("x.tar.gz", "w:gz"), ("x.tgz", "w:gz"), ("x.tar", "w:")])
def test_archives_are_extracted_as_by_tarfile(name, mode, form, tmp_path):
    (tmp_path / name).write_bytes(archive_of(ENTRIES, mode=mode, form=form))
    with tarfile.open(tmp_path / name) as archive:
        archive.extractall(tmp_path / "theirs")
    assert OURS.extract(str(tmp_path / name), str(tmp_path / "ours")) == str(tmp_path / "ours")
    expected, found = (
        {p.relative_to(tmp_path / side): p.read_bytes() if p.is_file() else None for p in (tmp_path / side).rglob("*")}
        for side in ("theirs", "ours")
    )
    assert found == expected
    assert len(found) > 6


def test_ustars_prefix_is_part_of_the_name(tmp_path):
    name = "p" * 100 + "/" + "n" * 80
    (tmp_path / "x.tar").write_bytes(archive_of([(name, b"1")], mode="w:", form=tarfile.USTAR_FORMAT))
    OURS.extract(str(tmp_path / "x.tar"), str(tmp_path / "here"))
    assert (tmp_path / "here" / name).read_bytes() == b"1"


@pytest.mark.parametrize("name", ["../out", "a/../../out", "/tmp/h_out", "..", "a/b/../../../out"])
def test_names_outside_of_the_folder_are_rejected(name, tmp_path):
    (tmp_path / "x.tar.gz").write_bytes(archive_of([("good", b"1"), (name, b"2")]))
    reported = OURS.extract(str(tmp_path / "x.tar.gz"), str(tmp_path / "here"))
    assert reported.startswith(
        f"Io: '{tmp_path / 'x.tar.gz'}' cannot be extracted: entry '{name}' is outside of the folder"
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["here", "x.tar.gz"]


def test_links_are_rejected(tmp_path):
    (tmp_path / "x.tar.gz").write_bytes(archive_of([("link", "/etc"), ("link/passwd", b"2")]))
    reported = OURS.extract(str(tmp_path / "x.tar.gz"), str(tmp_path / "here"))
    assert reported.endswith("entry 'link' is neither a file nor a directory")
    assert list((tmp_path / "here").iterdir()) == []


def test_gzip_files_are_decompressed_and_removed(tmp_path):
    (tmp_path / "x.gz").write_bytes(gzip.compress(CONTENT))
    assert OURS.extract_here(str(tmp_path / "x.gz")) == str(tmp_path / "x")
    assert only(tmp_path) == {"x": CONTENT}
    assert "the extension must be one of .tar.gz, .tgz, .tar and .gz" in OURS.extract_here(str(tmp_path / "x"))


@pytest.mark.parametrize("content", [b"", gzip.compress(b"")], ids=["no byte", "packed"])
def test_empty_archive_is_handled_as_by_tarfile(content, tmp_path):
    path = tmp_path / "x.tar"
    path.write_bytes(content)
    with pytest.raises(tarfile.ReadError), tarfile.open(path):
        pass
    reported = OURS.extract(str(path), str(tmp_path / "here"))
    assert reported == f"Io: '{path}' cannot be extracted: this tar archive is empty"


@pytest.mark.parametrize("mode", ["w:gz", "w:"])
def test_truncated_and_flipped_archives_are_reported(mode, tmp_path):
    whole = archive_of([("a/b", CONTENT[:3000]), ("c", b"2" * 700)], mode=mode)
    path = tmp_path / "x.tar"
    generator = random.Random(4)
    for _ in range(200):
        path.write_bytes(whole[: generator.randrange(3000)])
        reported = OURS.extract(str(path), str(tmp_path / "here"))
        assert reported.startswith("Io: ")
    counted = {"read": 0, "reported": 0}
    for _ in range(300):
        changed = bytearray(whole)
        changed[generator.randrange(2600)] ^= 1 << generator.randrange(8)
        path.write_bytes(changed)
        reported = OURS.extract(str(path), str(tmp_path / "here"))
        counted["reported" if reported.startswith("Io: ") else "read"] += 1
        assert reported.startswith("Io: ") or reported == str(tmp_path / "here")
    assert counted["reported"] > 50, counted
    assert sorted(p.name for p in tmp_path.iterdir()) == ["here", "x.tar"]


# ---- datasets


def plain(value):
    """Converts tuples to lists."""
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def test_urls_and_checksums_match_torchvision(tmp_path):
    for name in ("MNIST", "FashionMNIST"):
        make_mnist(tmp_path, name)
    for kind in (10, 100):
        make_cifar(tmp_path, kind)
    mnists = [datasets.MNIST, datasets.FashionMNIST]
    assert plain(OURS.of_mnist(str(tmp_path))) == [[list(it.mirrors), plain(it.resources)] for it in mnists]
    assert plain(OURS.of_cifar(str(tmp_path))) == [
        [
            *(it.url, it.tgz_md5, it.base_folder, plain(it.train_list), plain(it.test_list)),
            *([it.meta["filename"], it.meta["md5"]], it.meta["key"]),
        ]
        for it in (datasets.CIFAR10, datasets.CIFAR100)
    ]


def test_mnist_is_downloaded_once_and_torchvision_reads_it(tmp_path):
    raw = make_mnist(tmp_path / "made")
    files = {f"{path.name}.gz": gzip.compress(path.read_bytes()) for path in raw.iterdir()}
    sums = ", ".join(f'("{name}", "{hashlib.md5(content).hexdigest()}")' for name, content in files.items())
    with served(files) as site:
        made = run(
            f"""
            use vision.datasets as d
            class MNIST(d.MNIST):
                fn mirrors(): ["{site.address}/missing/", "{site.address}/good/"]
                fn resources(): [{sums}]
            fn samples(root):
                val it = MNIST(root, download: true)
                [for i in 0..len(it): it[i]]
            """
        )
        found = made.samples(str(tmp_path / "ours"))
        assert len(site.requests) == 8
        made.samples(str(tmp_path / "ours"))
        assert len(site.requests) == 8
    folder = tmp_path / "ours" / "MNIST" / "raw"
    assert {path.name for path in folder.iterdir()} == {*files, *(name.removesuffix(".gz") for name in files)}
    expected = datasets.MNIST(str(tmp_path / "ours"))
    assert torch.equal(torch.cat([image for image, _ in found]), expected.data)
    assert [target for _, target in found] == expected.targets.tolist()


def cifar_of(site, folder: Path, tgz: bytes):
    """CIFAR10 with the URL and the checksum of a local archive."""

    def listed(*names: str) -> str:
        sums = {name: hashlib.md5((folder / name).read_bytes()).hexdigest() for name in names}
        return ", ".join(f'("{name}", "{each}")' for name, each in sums.items())

    batches = [f"data_batch_{i}" for i in range(1, 6)]
    return run(
        f"""
        use torch
        use vision.datasets as d
        class CIFAR10(d.CIFAR10):
            fn url(): "{site.url("good", "cifar-10-python.tar.gz")}"
            fn tgz_md5(): "{hashlib.md5(tgz).hexdigest()}"
            fn train_list(): [{listed(*batches)}]
            fn test_list(): [{listed("test_batch")}]
            fn meta(): {listed("batches.meta")}
        fn samples(root):
            val it = CIFAR10(root, false, download: true)
            [for i in 0..len(it): it[i]]
        fn failure(root): torch.attempt(\\: CIFAR10(root, download: true)).unwrap_err().message()
        """
    )


def test_incomplete_cifar_is_downloaded(tmp_path):
    (tmp_path / "made").mkdir()
    folder = make_cifar(tmp_path / "made", 10)
    tgz = archive_of([(f"cifar-10-batches-py/{path.name}", path.read_bytes()) for path in folder.iterdir()])
    with served({"cifar-10-python.tar.gz": tgz}) as site:
        made = cifar_of(site, folder, tgz)
        root = tmp_path / "ours"
        found = made.samples(str(root))
        made.samples(str(root))
        assert len(site.requests) == 1
        (root / folder.name / "data_batch_4").write_bytes(b"broken")
        made.samples(str(root))  # from the existing archive
        assert len(site.requests) == 1
        assert (root / folder.name / "data_batch_4").read_bytes() == (folder / "data_batch_4").read_bytes()
        site.files.clear()
        reported = made.failure(str(tmp_path / "never"))
        assert f"cifar-10-python.tar.gz':\n  {site.url('good', 'cifar-10')}" in reported
    expected = theirs("CIFAR10", root, False)
    assert len(found) == len(expected) == 4
    for (ours, our_target), (_, target), pixels in zip(found, expected, expected.data):
        assert our_target == target
        assert torch.equal(ours, torch.from_numpy(pixels).permute(2, 0, 1))
