"""The history of a training: rows, tables, log files that resume after a crash, and plots."""

from __future__ import annotations

import csv
import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from compare_metrics import run, torch

OURS = run(
    """
    use torch
    use torch.training
    use torch.training.{History}
    fn history(): training.History()
    fn from_csv(path): History.from_csv(path)
    fn logger(args..., **named): training.CSVLogger(args..., **named)
    fn plot(args..., **named): training.plot_history(args..., **named)
    fn kind_of(work, args..., **named):
        match torch.attempt(\\: work(args..., **named)):
            case Err(Io(_)): "Io"
            case Err(InvalidArgument(_)): "InvalidArgument"
            case Err(Unavailable(_)): "Unavailable"
            case other: "{other}"
    """,
    name="training",
)
ROWS = [{"loss": 0.5, "val_loss": 0.75}, {"loss": 0.25, "val_loss": 0.5}, {"loss": 0.125, "val_loss": 0.625}]


def history_of(rows):
    history = OURS.history()
    for epoch, row in enumerate(rows):
        history.log(epoch, row)
    return history


def assert_raises(kind, message, work, *args, **named):
    with pytest.raises(Exception, match=message):
        work(*args, **named)
    assert OURS.kind_of(work, *args, **named) == kind


def test_history_prints_as_a_table():
    history = history_of(ROWS)
    history.log(10, {"loss": 1e-5, "steps": 7})
    assert str(history) == (
        "epoch   loss  val_loss  steps\n"
        "-----------------------------\n"
        "    0    0.5      0.75      -\n"
        "    1   0.25       0.5      -\n"
        "    2  0.125     0.625      -\n"
        "   10  1e-05         -      7"
    )


def test_columns_last_and_best():
    history = history_of([*ROWS, {"loss": float("nan")}])
    assert history.column("val_loss") == [0.75, 0.5, 0.625, None]
    assert history.last("val_loss") == 0.625
    assert history.last("other") is None
    assert history.best("loss") == (2, 0.125)
    assert history.best("val_loss") == (1, 0.5)
    assert history.best("val_loss", "max") == (0, 0.75)
    assert len(history) == 4
    assert history_of([{"loss": float("nan")}, *ROWS]).best("loss", "max") == (1, 0.5)


def test_one_element_tensors_are_accepted_as_numbers():
    history = history_of([{"loss": torch.tensor(0.5), "acc": torch.tensor([1])}])
    assert history.rows == [{"acc": 1, "loss": 0.5}]


@pytest.mark.parametrize("values", [{"loss": "low"}, {"loss": torch.ones(2)}, {"loss": None}, {"epoch": 1}])
def test_other_values_are_rejected(values, tmp_path):
    history, logger = OURS.history(), OURS.logger(str(tmp_path / "log.csv"))
    for each in (history, logger):
        assert_raises("InvalidArgument", r"log\(\): expected a (number|dict of numbers)", each.log, 0, values)
        with pytest.raises(TypeError, match=r"log\(\): values must be \{text: any\}, got list"):
            each.log(0, [1.0])
    assert len(history) == 0


def test_missing_columns_are_rejected():
    history = history_of(ROWS)
    for ask, message in [
        (lambda: history.column("f1"), r"no value 'f1'; it has \[loss, val_loss\]"),
        (lambda: history.best("loss", "least"), 'mode must be "min" or "max", got least'),
        (lambda: history_of([{"loss": float("nan")}]).best("loss"), "'loss' has no value that is a number"),
        (lambda: history.load_state_dict({"rows": []}), r"expected a state_dict\(\) of a History, got no key 'epochs'"),
    ]:
        with pytest.raises(Exception, match=message):
            ask()


def test_resumed_training_replaces_repeated_rows():
    history = history_of(ROWS)
    other = OURS.history()
    other.load_state_dict(history.state_dict())
    other.log(1, {"loss": 9.0})
    assert other.epochs == [0, 1]
    assert other.column("loss") == [0.5, 9.0]
    assert history.epochs == [0, 1, 2]


def numbers_of_all_sizes():
    generator = torch.Generator().manual_seed(0)
    words = torch.randint(-(2**63), 2**63 - 1, (400,), generator=generator).tolist()
    patterns = [struct.unpack("<d", struct.pack("<q", word))[0] for word in words]
    return [*patterns, 0.1, -0.0, 5e-324, 1.7976931348623157e308, float("inf"), -float("inf"), float("nan"), 2.0**53]


def bits(number: float) -> bytes:
    return b"nan" if number != number else struct.pack("<d", number)


def test_numbers_read_back_to_the_bit(tmp_path):
    path, numbers = tmp_path / "log.csv", numbers_of_all_sizes()
    logger = OURS.logger(str(path))
    for epoch, number in enumerate(numbers):
        logger.log(epoch, {"value": number, "whole": epoch - 2**40})
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [bits(float(row["value"])) for row in rows] == [bits(number) for number in numbers]
    assert [int(row["whole"]) for row in rows] == [epoch - 2**40 for epoch in range(len(numbers))]
    back = OURS.from_csv(str(path))
    assert [bits(number) for number in back.column("value")] == [bits(number) for number in numbers]


def test_names_are_quoted_as_csv(tmp_path):
    path = tmp_path / "log.csv"
    names = ['a "b", c', "line\nbreak", "ünï", "plain"]
    OURS.logger(str(path)).log(3, {name: float(i) for i, name in enumerate(names)})
    with path.open(newline="", encoding="utf-8") as file:
        header, row = list(csv.reader(file))
    assert dict(zip(header, row)) == {"epoch": "3", **{name: f"{float(i)}" for i, name in enumerate(names)}}
    assert path.read_bytes().endswith(b"\r\n")
    assert OURS.from_csv(str(path)).rows == [{name: float(i) for i, name in enumerate(names)}]


def test_each_row_is_flushed(tmp_path):
    path = tmp_path / "log.csv"
    logger = OURS.logger(str(path))
    for epoch, row in enumerate(ROWS):
        logger.log(epoch, row)
        assert len(path.read_text().splitlines()) == epoch + 2


def test_truncated_log_is_resumed(tmp_path):
    path = tmp_path / "log.csv"
    rows = [{"loss": 0.5**epoch, 'a "b"': 1 / (epoch + 3)} for epoch in range(4)]
    logger = OURS.logger(str(path))
    for epoch, row in enumerate(rows):
        logger.log(epoch, row)
    whole = path.read_bytes()
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        logger = OURS.logger(str(path), append=True)
        for epoch in range(max(0, whole[:cut].count(b"\n") - 1), len(rows)):
            logger.log(epoch, rows[epoch])
        assert path.read_bytes() == whole, cut
    assert [each.name for each in tmp_path.iterdir()] == ["log.csv"]


def test_repeated_epochs_are_replaced(tmp_path):
    path = tmp_path / "log.csv"
    logger = OURS.logger(str(path), columns=["loss", "val_loss"])
    for epoch, row in enumerate(ROWS):
        logger.log(epoch, row)
    OURS.logger(str(path), append=True).log(1, {"loss": 9.0})
    assert path.read_bytes() == b"epoch,loss,val_loss\r\n0,0.5,0.75\r\n1,9.0,\r\n"


def test_old_log_is_replaced_with_the_first_row(tmp_path):
    path = tmp_path / "log.csv"
    OURS.logger(str(path)).log(0, {"loss": 0.5})
    before = path.read_bytes()
    logger = OURS.logger(str(path), columns=["acc", "f1"])
    assert path.read_bytes() == before
    logger.log(0, {"acc": 1.0})
    assert path.read_bytes() == b"epoch,acc,f1\r\n0,1.0,\r\n"
    logger.log(1, {"f1": 0.5})
    assert path.read_bytes() == b"epoch,acc,f1\r\n0,1.0,\r\n1,,0.5\r\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("append", [False, True])
def test_full_disk_keeps_the_old_log(append, tmp_path):
    path, part = tmp_path / "log.csv", tmp_path / "log.csv.part"
    OURS.logger(str(path)).log(0, {"loss": 0.5})
    before = path.read_bytes()
    logger = OURS.logger(str(path), append=append)
    part.symlink_to("/dev/full")
    with pytest.raises(Exception, match=r"CSVLogger: .*log\.csv\.part.*No space left on device"):
        logger.log(0, {"loss": 9.0})
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["log.csv"]
    logger.log(0, {"loss": 0.25})
    assert path.read_bytes() == b"epoch,loss\r\n0,0.25\r\n"


def test_invalid_log_calls_are_rejected(tmp_path):
    path = tmp_path / "log.csv"
    logger = OURS.logger(str(path))
    logger.log(0, {"loss": 1.0})
    other = tmp_path / "other.csv"
    other.write_text("name,score\n")
    torn = tmp_path / "short.csv"
    torn.write_text("epoch,loss\n1\n")
    header = r"expected the columns \[epoch, …\] in .*, got \[name, score\]"
    others = r"expected the columns \[epoch, acc\] in .*, got \[epoch, loss\]"
    short = "record 2: expected an epoch and 1 values, got 1 fields"
    column = r"has no column f1, only \[loss\]; pass all names"
    assert_raises("InvalidArgument", column, logger.log, 1, {"f1": 1.0})
    assert_raises("Io", header, OURS.logger, str(other), append=True)
    assert_raises("Io", others, OURS.logger, str(path), append=True, columns=["acc"])
    assert_raises("Io", "CSVLogger: cannot append to .*: Not a directory", OURS.logger, f"{other}/log.csv")
    assert_raises("Io", "other.csv' is not a CSVLogger's file", OURS.from_csv, str(other))
    assert_raises("Io", short, OURS.from_csv, str(torn))
    assert_raises("Io", "nothing.csv: No such file", OURS.from_csv, str(tmp_path / "nothing.csv"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_full_disk_is_reported(tmp_path):
    path = tmp_path / "log.csv"
    logger = OURS.logger(str(path))
    logger.log(0, {"loss": 1.0})
    path.unlink()
    path.symlink_to("/dev/full")
    with pytest.raises(Exception, match=r"CSVLogger: cannot append to .*log\.csv: No space left on device"):
        logger.log(1, {"loss": 0.5})
    path.unlink()
    path.write_bytes(b"epoch,loss\r\n0,1.0\r\n1,0.")
    logger.log(1, {"loss": 0.5})
    assert path.read_bytes() == b"epoch,loss\r\n0,1.0\r\n1,0.5\r\n"


# ---- plots

SVG = "{http://www.w3.org/2000/svg}"


def plot_file(tmp_path, name="plot_file.svg", rows=(), **options):
    pytest.importorskip("matplotlib", reason="this Python has no matplotlib")
    OURS.plot(history_of(rows or ROWS), str(tmp_path / name), **options)
    assert [each.name for each in tmp_path.iterdir()] == [name]
    return tmp_path / name


def test_png_has_the_requested_size(tmp_path):
    for options, size in [({}, (480, 360)), ({"size": (640, 200)}, (640, 200))]:
        content = plot_file(tmp_path, "plot_file.png", **options).read_bytes()
        assert content.startswith(b"\x89PNG\r\n\x1a\n")
        assert content.endswith(b"IEND\xaeB`\x82")
        assert struct.unpack(">II", content[16:24]) == size
        (tmp_path / "plot_file.png").unlink()


@pytest.mark.parametrize(("panels", "size"), [(2, (2 * 480, 360)), (5, (3 * 480, 2 * 360))])
def test_panels_are_laid_out_in_three_columns(panels, size, tmp_path):
    rows = [{f"m{k}": float(k + epoch) for k in range(panels)} for epoch in range(2)]
    content = plot_file(tmp_path, "plot_file.png", rows).read_bytes()
    assert struct.unpack(">II", content[16:24]) == size


def test_curves_are_labeled_and_contain_the_data(tmp_path):
    rows = [{**row, "lr": 0.1, **({"f1": 0.5} if epoch else {})} for epoch, row in enumerate(ROWS)]
    root = ET.parse(plot_file(tmp_path, rows=rows, title="A title")).getroot()
    texts = [text.text for text in root.iter(f"{SVG}text")]
    for label in ("epoch", "loss", "val_loss", "lr", "f1", "A title"):
        assert label in texts
    assert texts.count("epoch") == 3  # one panel each for loss with val_loss, lr, f1
    curves = {name: points_of(root, name) for name in ("loss", "val_loss", "f1", "lr")}
    assert {name: len(points) for name, points in curves.items()} == {"loss": 3, "val_loss": 3, "f1": 2, "lr": 3}
    # On one axis heights are proportional: 0.25 of loss is half of 0.5 of loss and val_loss.
    drawn = [y for _, y in curves["loss"] + curves["val_loss"]]
    values_of = [row[name] for name in ("loss", "val_loss") for row in ROWS]
    scale = (drawn[1] - drawn[0]) / (values_of[1] - values_of[0])
    assert drawn == pytest.approx([drawn[0] + scale * (value - values_of[0]) for value in values_of], abs=1e-3)
    assert scale < 0


def points_of(root, name):
    group = next(group for group in root.iter(f"{SVG}g") if group.get("id") == name)
    path = group.find(f"{SVG}path").get("d")
    return [tuple(map(float, pair)) for pair in re.findall(r"[ML] (\S+) (\S+)", path)]


def test_panels_can_be_chosen(tmp_path):
    root = ET.parse(plot_file(tmp_path, rows=[{**row, "lr": 0.1} for row in ROWS], names=["loss"])).getroot()
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert "val_loss" in texts
    assert "lr" not in texts


def test_invalid_plots_are_rejected(tmp_path):
    pytest.importorskip("matplotlib", reason="this Python has no matplotlib")
    history, path = history_of(ROWS), str(tmp_path / "h.png")
    names = r"no value 'f1'; it has \[loss, val_loss\]"
    assert_raises("InvalidArgument", r"extension must be \.png or \.svg, got h\.jpg", OURS.plot, history, "h.jpg")
    assert_raises("InvalidArgument", "the history is empty", OURS.plot, OURS.history(), path)
    assert_raises("InvalidArgument", names, OURS.plot, history, path, names=["f1"])
    assert_raises("InvalidArgument", "names must not be empty", OURS.plot, history, path, names=[])
    missing = r"plot_history\(\): cannot write /nowhere/h.png: .*No such file"
    assert_raises("Io", missing, OURS.plot, history, "/nowhere/h.png")
    (tmp_path / "folder.png").mkdir()
    assert_raises("Io", "cannot write .*folder.png", OURS.plot, history, str(tmp_path / "folder.png"))
    assert [each.name for each in tmp_path.iterdir()] == ["folder.png"]
    if Path("/dev/full").exists():
        (tmp_path / "h.png.part").symlink_to("/dev/full")
        with pytest.raises(Exception, match=r"cannot write .*h\.png: .*No space left on device"):
            OURS.plot(history, path)
        assert [each.name for each in tmp_path.iterdir()] == ["folder.png"]


@pytest.mark.skipif(not os.environ.get("SIMPLE_HOST"), reason="SIMPLE_HOST is not set")
def test_log_to_a_pipe(tmp_path):
    program = tmp_path / "log.spl"
    program.write_text(
        "use torch.training.{CSVLogger}\n"
        'val log = CSVLogger("/dev/stdout")\n'
        'for epoch in 0..2: log.log(epoch, {"loss": 0.5})\n'
    )
    done = subprocess.run([os.environ["SIMPLE_HOST"], program], capture_output=True, check=False)
    assert (done.stdout, done.stderr) == (b"epoch,loss\r\n0,0.5\r\n1,0.5\r\n", b"")


class WithoutMatplotlib:
    """Hides matplotlib from the import system."""

    def find_spec(self, name, path=None, target=None):
        if name == "matplotlib":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_error_without_matplotlib_names_the_install_command(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [WithoutMatplotlib(), *sys.meta_path])
    message = r"plot_history\(\): needs Python's matplotlib.*pip install .*matplotlib"
    assert_raises("Unavailable", message, OURS.plot, history_of(ROWS), "h.png")


@pytest.mark.skipif(not os.environ.get("SIMPLE_HOST"), reason="SIMPLE_HOST is not set")
def test_plots_without_a_display(tmp_path):
    pytest.importorskip("matplotlib", reason="this Python has no matplotlib")
    program = tmp_path / "draw.spl"
    program.write_text(
        "use torch.training.{History, plot_history}\n"
        "val history = History()\n"
        'for epoch in 0..3: history.log(epoch, {"loss": 1.0 / (epoch + 1)})\n'
        'plot_history(history, "loss.png")\n'
    )
    variables = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "MPLBACKEND")}
    done = subprocess.run(
        [os.environ["SIMPLE_HOST"], program], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")


def test_a_loggers_missing_folder_is_created(tmp_path):
    path = tmp_path / "runs" / "first" / "log.csv"
    OURS.logger(str(path)).log(0, {"loss": 0.5})
    assert path.read_text() == "epoch,loss\n0,0.5\n"
