"""CSVDataset and TextDataset match pandas.read_csv and Python's open() on the same files."""

from __future__ import annotations

import random

import pytest
from embedded_simple import run, torch

pandas = pytest.importorskip("pandas", reason="this Python has no pandas")
pytestmark = pytest.mark.filterwarnings("ignore:.*float_precision")

OURS = run(
    """
    use torch
    use torch.utils.data.{CSVDataset, DataLoader, TextDataset}
    fn plain(value): if type_of(value) == "Object": value.to_value() else: value
    fn table(path, columns, target, header, delimiter):
        val d = CSVDataset(path, columns: plain(columns), target: target, header: header, delimiter: delimiter,
            dtype: torch.float64)
        (d.features, d.targets, d.columns, d.classes, len(d))
    fn samples(path):
        val d = CSVDataset(path, target: "y")
        ([for i in 0..len(d): d[i]], d[-1])
    fn batches(path):
        val d = CSVDataset(path, target: "y")
        [for (x, y) in DataLoader(d, batch_size: 4, num_workers: 2): (x, y)]
    fn dtypes(path):
        val d = CSVDataset(path, target: "k", target_dtype: torch.float32)
        "{d.features.dtype()} {d.targets.dtype()} {d[0][1].shape()}"
    fn encoded(path, encoding):
        val d = CSVDataset(path, target: "kind", encoding: encoding)
        (d.features, d.targets, d.columns, d.classes)
    fn encoding_failure(path, encoding):
        message_of(torch.attempt(\\: CSVDataset(path, encoding: encoding)).unwrap_err())
    fn failure(path, columns, target):
        val outcome = torch.attempt(\\: CSVDataset(path, columns: plain(columns), target: target))
        if outcome.is_ok(): "" else: message_of(outcome.unwrap_err())
    fn whole(path, name):
        val dtypes = {"uint8": torch.uint8, "int32": torch.int32, "int64": torch.int64, "bool": torch.bool}
        val outcome = torch.attempt(\\: CSVDataset(path, target: "y", dtype: dtypes[name], target_dtype: dtypes[name]))
        if outcome.is_err(): return message_of(outcome.unwrap_err())
        (outcome.unwrap().features, outcome.unwrap().targets)
    fn message_of(error):
        match error:
            case torch.TorchError.Io(message): "Io: " + message
            case torch.TorchError.InvalidArgument(message): "InvalidArgument: " + message
            case other: "another: " + other.message()
    fn lines(paths, skip):
        val d = TextDataset(plain(paths), skip_empty: skip)
        [for i in 0..len(d): d[i]]
    fn lengths(path):
        val d = TextDataset(path, transform: \\line: line.len())
        [for batch in DataLoader(d, batch_size: 3): batch.tolist()]
    fn outside(path): TextDataset(path)[2]
    fn missing(path): message_of(torch.attempt(\\: TextDataset(path)).unwrap_err())
    """
)


def written(folder, content: str, name: str = "table.csv") -> str:
    path = folder / name
    path.write_bytes(content.encode())
    return str(path)


def same_numbers(features, frame) -> None:
    expected = torch.from_numpy(frame.to_numpy(dtype="float64", copy=True))
    assert features.shape == expected.shape
    assert torch.equal(features.nan_to_num(7e77), expected.nan_to_num(7e77))


MISSING = [
    "#N/A",
    "#N/A N/A",
    "#NA",
    "<NA>",
    "-NaN",
    "-nan",
    "1.#IND",
    "-1.#IND",
    "1.#QNAN",
    "-1.#QNAN",
    "None",
    "NULL",
]
TABLES = {
    "line ends of CR": "a,b,y\r1,2,3\r\r4,5,6\r",
    "mixed line ends": "a,b,y\r1,2,3\n4,5,6\r\n7,8,9",
    "a CR between quotes": '"a","the\rsecond",y\r1,2,3\r"4","5",6\r',
    "every missing number": "a,b,y\n" + "".join(f"{mark},1,2\n" for mark in MISSING),
    "plain": "a,b,y\n1,2.5,0\n-3,1e-3,2\n4,,1\n",
    "quotes and CR LF": '"a","b, c",y\r\n"1","2",3\r\n 4 ,NA,-5\r\n',
    "no end, empty lines and a mark": "\ufeffa,b,y\n1,2,3\n\n4,5,6",
    "line ends between quotes": '"a","the\nsecond",y\n1,2,3\n"4","5",6\n',
}


@pytest.mark.parametrize("content", TABLES.values(), ids=TABLES)
def test_numbers_match_pandas(content, tmp_path):
    path = written(tmp_path, content)
    frame = pandas.read_csv(path, float_precision="round_trip")
    features, targets, columns, classes, count = OURS.table(path, None, "y", True, ",")
    assert count == len(frame)
    assert list(columns) == list(frame.columns[:-1])
    same_numbers(features, frame[frame.columns[:-1]])
    assert targets.dtype == torch.int64
    assert targets.tolist() == frame["y"].tolist()
    assert list(classes) == []


def test_many_rows_with_random_quotes(tmp_path):
    generator = random.Random(5)
    rows = [[generator.uniform(-1e3, 1e3) for _ in range(5)] for _ in range(300)]

    def field(number: float) -> str:
        return generator.choice(["{}", '"{}"', " {}"]).format(repr(number))

    path = written(tmp_path, "".join(";".join(map(field, row)) + "\n" for row in rows))
    features, targets, columns, _, _ = OURS.table(path, None, None, False, ";")
    same_numbers(features, pandas.read_csv(path, header=None, sep=";", float_precision="round_trip"))
    assert targets is None
    assert list(columns) == ["0", "1", "2", "3", "4"]


def test_columns_by_name_and_index_and_string_classes(tmp_path):
    path = written(tmp_path, 'w,kind,h\n1,"rose, red",3\n4,iris,6\n7,iris,9\n')
    frame = pandas.read_csv(path)
    features, targets, columns, classes, _ = OURS.table(path, ["h", 0], "kind", True, ",")
    same_numbers(features, frame[["h", "w"]])
    codes, uniques = pandas.factorize(frame["kind"], sort=True)
    assert list(columns) == ["h", "w"]
    assert targets.tolist() == codes.tolist()
    assert list(classes) == list(uniques)


def test_noninteger_targets(tmp_path):
    path = written(tmp_path, "x,k\n1,2.5\n2,3\n")
    _, targets, _, _, _ = OURS.table(path, None, "k", True, ",")
    assert targets.dtype == torch.float64
    assert targets.tolist() == [2.5, 3.0]
    assert OURS.dtypes(written(tmp_path, "x,k\n1,2\n")) == "torch.float32 torch.float32 []"


def test_samples_and_batches(tmp_path):
    path = written(tmp_path, "a,b,y\n" + "".join(f"{i},{i / 4},{i % 3}\n" for i in range(10)))
    frame = pandas.read_csv(path)
    expected = torch.utils.data.TensorDataset(
        torch.tensor(frame[["a", "b"]].to_numpy(), dtype=torch.float32), torch.tensor(frame["y"].to_numpy())
    )
    samples, last = OURS.samples(path)
    for ours, theirs in zip([*samples, last], [*expected, expected[-1]], strict=True):
        assert torch.equal(ours[0], theirs[0])
        assert torch.equal(ours[1], theirs[1])
    for ours, theirs in zip(OURS.batches(path), torch.utils.data.DataLoader(expected, batch_size=4), strict=True):
        assert torch.equal(ours[0], theirs[0])
        assert torch.equal(ours[1], theirs[1])


@pytest.mark.parametrize(
    ("content", "columns", "target", "message"),
    [
        ("a,b\n1,2\n3\n", None, None, "Io: '{}', row 2: expected 2 fields as in the first row, got 1"),
        ("a,b\n1,x\n", None, None, "Io: '{}', row 1: column 'b': 'x' is not a number"),
        ("a,b\n1,1_0\n", None, None, "Io: '{}', row 1: column 'b': '1_0' is not a number"),
        ("a,b\n1,2\n3,\n", None, "b", "Io: '{}', row 2: column 'b': the target is missing"),
        ("a,b\n1,2\n", ["c"], None, "InvalidArgument: CSVDataset: no column 'c'; the columns are a, b"),
        ("a,b\n1,2\n", [2], None, "InvalidArgument: CSVDataset: no column '2'; the columns are a, b"),
        ('a,b\n1,"2\n', None, None, "Io: CSVDataset: '{}' is broken: it ends inside a quoted field"),
        ("", None, None, "Io: CSVDataset: '{}' has no rows"),
    ],
)
def test_errors_name_the_row(content, columns, target, message, tmp_path):
    path = written(tmp_path, content)
    assert OURS.failure(path, columns, target) == message.format(path)


@pytest.mark.parametrize("name", ["uint8", "int32", "int64", "bool"])
def test_integers_are_kept(name, tmp_path):
    path = written(tmp_path, "a,b,y\n1, 0,1\n0.0,1e0,0\n")
    frame = pandas.read_csv(path).astype(name)
    features, targets = OURS.whole(path, name)
    assert torch.equal(features, torch.from_numpy(frame[["a", "b"]].to_numpy(copy=True)))
    assert torch.equal(targets, torch.from_numpy(frame["y"].to_numpy(copy=True)))


def test_integers_beyond_float_precision_are_kept(tmp_path):
    path = written(tmp_path, "a,y\n9007199254740993,-9223372036854775808\n9223372036854775807,0\n")
    features, targets = OURS.whole(path, "int64")
    assert features.tolist() == [[2**53 + 1], [2**63 - 1]]
    assert targets.tolist() == [-(2**63), 0]


@pytest.mark.parametrize(
    ("field", "name"),
    [("", "int64"), ("NaN", "int64"), ("1.5", "int64"), ("inf", "int64"), ("1e300", "int64"), ("1e17", "int64")]
    + [("2147483648", "int32"), ("-1", "uint8"), ("256", "uint8"), ("2", "bool"), ("9223372036854775808", "int64")],
)
def test_integer_overflow_is_reported_with_row_and_column(field, name, tmp_path):
    path = written(tmp_path, f"a,b,y\n1,0,1\n0,{field},1\n")
    assert OURS.whole(path, name) == f"Io: '{path}', row 2: column 'b': torch.{name} cannot represent '{field}'"
    if field not in ("", "NaN"):
        path = written(tmp_path, f"a,b,y\n1,0,1\n0,1,{field}\n")
        expected = f"Io: '{path}', row 2: column 'y': torch.{name} cannot represent '{field}'"
        assert OURS.whole(path, name) == expected


def test_missing_file_is_reported(tmp_path):
    path = str(tmp_path / "none")
    assert OURS.failure(path, None, None).startswith(f"Io: cannot read {path}: ")
    assert OURS.missing(path).startswith(f"Io: cannot read {path}: ")


@pytest.mark.parametrize("content", ["a\nb é\n\nc\n", "a\r\nb\r\n", "", "\n", "a", "\n\na\n \n"])
def test_lines_match_open(content, tmp_path):
    path = written(tmp_path, content)
    with open(path, encoding="utf-8") as file:
        expected = [line.rstrip("\n") for line in file]
    assert OURS.lines(path, False) == expected
    assert OURS.lines(path, True) == [line for line in expected if line.strip()]
    assert OURS.lines([path, path], False) == expected * 2


def test_lines_in_batches_and_out_of_range(tmp_path):
    path = written(tmp_path, "one\nthree\n")
    assert OURS.lengths(path) == [[3, 5]]
    with pytest.raises(Exception, match="index 2 is out of range for 2 lines"):
        OURS.outside(path)


def test_latin1_is_read_as_by_pandas(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("größe,kind\n1.5,rosé\n2,iris\n".encode("latin-1"))
    frame = pandas.read_csv(path, encoding="latin-1")
    features, targets, columns, classes = OURS.encoded(str(path), "latin-1")
    assert columns == ["größe"] == list(frame.columns[:1])
    assert features.reshape(-1).tolist() == frame["größe"].tolist()
    assert [classes[i] for i in targets.tolist()] == frame["kind"].tolist()


def test_another_encoding_is_an_error(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("größe\n1\n".encode("latin-1"))
    with pytest.raises(UnicodeDecodeError):
        pandas.read_csv(path)
    assert OURS.encoding_failure(str(path), "utf-8") == f"Io: cannot read {path}: it is not UTF-8"
    assert OURS.encoding_failure(str(path), "utf-7").startswith("InvalidArgument: CSVDataset: encoding must be")
