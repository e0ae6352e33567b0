"""Cells of both kernels: shared variables, results, magics, output in order, errors."""

from __future__ import annotations

import base64

import pytest


@pytest.fixture(params=["simple", "python3"])
def simple(request):
    """Runs Simple source in a cell of either kernel."""
    if request.param == "simple":
        return request.getfixturevalue("simple_kernel").run
    kernel = request.getfixturevalue("python_kernel")
    return lambda source, **options: kernel.run(f"%%simple\n{source}", **options)


@pytest.fixture(params=["simple", "python3"])
def both(request):
    """Functions that run Simple and Python source in one kernel."""
    if request.param == "simple":
        kernel = request.getfixturevalue("simple_kernel")
        return kernel.run, lambda source: kernel.run(f"%%python\n{source}")
    kernel = request.getfixturevalue("python_kernel")
    return lambda source, **options: kernel.run(f"%%simple\n{source}", **options), kernel.run


# ---- variables


def test_variables_are_shared_in_both_directions(both):
    simple, python = both
    simple("val one = 1\nfn twice(x): x * 2\nclass P:\n    x: i64 = 5")
    assert python("one + twice(10) + P().x").text == "26"
    python("two = [1, 2]\ndef thrice(x): return x * 3\nclass Q: size = 4")
    assert simple("thrice(two[1]) + Q.size").text == "10"


def test_tensors_and_arrays_keep_their_address(both):
    simple, python = both
    python("import torch, numpy as np\nt = torch.ones(3)\na = np.zeros(3, dtype='float32')")
    simple(
        "use torch\nval shared = torch.from_dlpack(a)\nval addresses = [t.data_ptr(), shared.data_ptr()]\nt[0] = 7.0"
    )
    assert python("addresses == [t.data_ptr(), a.ctypes.data], t[0].item()").text == "(True, 7.0)"


def test_definitions_can_be_repeated_and_old_objects_keep_working(simple):
    simple("class Point:\n    x: i64 = 1\n    fn show(): self.x\nval old = Point()")
    assert simple("class Point:\n    x: i64 = 1\n    fn show(): self.x * 100\n[old.show(), Point().show()]").text == (
        "[1, 100]"
    )


def test_a_python_name_that_ipython_defines_does_not_hide_simples(simple_kernel):
    assert simple_kernel.run("%%python\ntype(exit).__name__").text == "'ZMQExitAutocall'"
    assert simple_kernel.run("type_of(exit)").text == '"function"'


def test_i_and_o_narrow_what_a_cell_shares(python_kernel):
    python_kernel.run("first, second = 1, 2")
    assert python_kernel.run("%%simple -i first -o made\nval made = first + 1\nval other = 0\nmade").text == "2"
    assert python_kernel.run("made, 'other' in globals()").text == "(2, False)"
    assert "'second' is not defined" in python_kernel.run("%%simple -i first\nsecond").traceback
    assert python_kernel.run("%%simple -o total\nval total = first + second").errors == []
    assert python_kernel.run("total").text == "3"
    assert "no variable of that name" in python_kernel.run("%%simple -i nothing\n1").err
    assert "the cell has no variable of that name" in python_kernel.run("%%simple -o nothing\n1").err
    assert "unknown argument" in python_kernel.run("%%simple -x\n1").err


# ---- results


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("true", "true"),
        ('[true, nil, "a", 1.5]', '[true, nil, "a", 1.5]'),
        ('"one\\ntwo"', "one\ntwo"),
        ("(1, 2)", "(1, 2)"),
    ],
)
def test_a_result_is_shown_as_simple_prints_it(simple, source, text):
    assert simple(source).text == text


def test_a_python_cell_shows_python_values_after_a_simple_one(both):
    simple, python = both
    assert simple("true").text == "true"
    assert python("True").text == "True"


def test_a_semicolon_hides_the_value(simple):
    for source in ("1 + 1;", "1 + 1 ;  # a note", "val n = 3", "nil"):
        assert simple(source).data == []
    assert simple("1 + 1  # not hidden;").text == "2"


def test_out_holds_the_results(simple_kernel):
    simple_kernel.run("41 + 1")
    assert simple_kernel.run("%%python\n_ + 1").text == "43"
    number = simple_kernel.run('"kept"').reply["execution_count"]
    assert simple_kernel.run(f'Out[{number}] + " it"').text == '"kept it"'


def test_a_tensor_is_a_table_with_its_description(simple):
    outcome = simple("use torch\nval w = torch.ones([2, 3], requires_grad: true)\nw * 0.5")
    assert "Tensor [2, 3], float32, cpu, grad_fn=MulBackward0" in outcome.html
    assert outcome.html.count("<td>0.5000</td>") == 6
    assert outcome.text.startswith("tensor([[0.5000, 0.5000, 0.5000],")


def test_a_large_tensor_is_summarized(simple):
    outcome = simple("torch.arange(3000000).reshape([3, 1000, 1000])")
    assert "<td>2999999</td>" in outcome.html
    assert "<td>1500500</td>" not in outcome.html
    assert len(outcome.html) < 20000


def test_images_are_shown_on_request(simple):
    (shown,) = simple("display.image(torch.zeros([3, 4, 5], dtype: torch.uint8))").data
    assert base64.b64decode(shown["image/png"]).startswith(b"\x89PNG")
    assert shown["text/plain"] == "image of Tensor [3, 4, 5], uint8, cpu"
    assert (
        "values must be in [0, 1], got 0 to 2" in simple("display.image(torch.arange(3.0).reshape([1, 3]))").traceback
    )


def test_summaries_metrics_and_histories_are_tables(simple):
    summary = simple("use torch.nn\nuse torch.nn.{summary}\nsummary(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))")
    assert "<th>Layer (type)</th>" in summary.html and "<td>9</td>" in summary.html
    assert "Parameters: 9" in summary.html
    metrics = simple('{"accuracy": torch.tensor(0.25), "loss": 1.5}')
    assert "<th>accuracy</th>" in metrics.html and "<td>0.2500</td>" in metrics.html
    history = simple('use torch.training.{History}\nval h = History()\nh.log(0, {"loss": 0.5})\nh')
    assert "<th>loss</th>" in history.html and "<td>0.5</td>" in history.html


def test_figures_and_html_of_python_objects_are_shown(simple):
    (figure,) = simple("use torch.training.{plot_history}\nplot_history(h)").data
    assert base64.b64decode(figure["image/png"]).startswith(b"\x89PNG")
    table = simple('use python as py\npy.import("pandas").DataFrame({"a": [1, 2]})')
    assert "<table" in table.html


def test_pyplots_current_figure_is_shown_at_the_end_of_the_cell(simple):
    (figure,) = simple('val plt = py.import("matplotlib.pyplot")\nplt.plot([1, 2, 3]);').data
    assert "image/png" in figure


# ---- output


def test_output_of_simple_python_and_c_appears_in_order(both):
    simple, python = both
    python("import ctypes, os\nlibc = ctypes.CDLL(None)\ndef from_c(text): libc.puts(text.encode())")
    assert simple('print 1\nfrom_c("2")\nprint 3\nfrom_c("4")\nfrom_c("5")').out == "1\n2\n3\n4\n5\n"
    assert python("print('a')\nfrom_c('b')\nprint('c')\nos.write(1, b'd\\n')\nprint('e')").out.startswith(
        "a\nb\nc\nd\ne\n"
    )
    assert simple('eprint "problem"').err == "problem\n"


def test_c_output_larger_than_a_pipe_does_not_block(both):
    simple, python = both
    python("import os\ndef write_much(n):\n    for _ in range(n): os.write(1, b'x' * 999 + b'\\n')")
    assert len(simple("write_much(500)").out) == 500_000


def test_output_precedes_the_result(both):
    simple, _ = both
    outcome = simple('from_c("first")\n3')
    assert (outcome.out, outcome.text) == ("first\n", "3")


def test_input_asks_the_user(simple):
    outcome = simple('val who = input("Who? ")\n"Hello {who}"', answer="Ada")
    assert outcome.questions == ["Who? "]
    assert outcome.text == '"Hello Ada"'


def test_input_of_a_module_asks_the_user(both, tmp_path):
    simple, python = both
    (tmp_path / "asking.spl").write_text('fn ask(): input("Name? ").upper()\n')
    python(f"import os\nbefore = os.getcwd()\nos.chdir({str(tmp_path)!r})")
    outcome = simple("use asking\nasking.ask()", answer="ada")
    python("os.chdir(before)")
    assert (outcome.questions, outcome.text) == (["Name? "], '"ADA"')


def test_the_progress_bar_is_one_output_that_is_updated(simple):
    outcome = simple(
        "use torch.training.{ProgressBar, Trainer}\nval net = nn.Linear(1, 1)\n"
        "val batch = (torch.ones([2, 1]), torch.ones([2, 1]))\n"
        "val sgd = torch.optim.SGD(net.parameters(), lr: 0.1)\n"
        "val trainer = Trainer(net, sgd, nn.MSELoss(), callbacks: [ProgressBar()])\n"
        "trainer.fit([batch, batch], epochs: 3);"
    )
    lines = outcome.text.split("\n")
    assert [line.split(":")[0] for line in lines] == ["epoch 1/3", "epoch 2/3", "epoch 3/3"]
    assert all("2 batches" in line and "loss" in line for line in lines)
    assert outcome.out == ""


# ---- magics


def test_ipythons_magics_run_their_cell_as_simple(simple_kernel):
    assert "Wall time" in simple_kernel.run("%%time\nval n = 6\nn * 7").out
    simple_kernel.run('%%capture caught\nprint "quiet"')
    assert simple_kernel.run("%%python\ncaught.stdout").text == "'quiet\\n'"
    assert simple_kernel.run("%pwd\n\nval after = 3\nafter").data[-1]["text/plain"] == "3"
    assert simple_kernel.run("!echo shell").out.strip() == "shell"
    assert simple_kernel.run("%%bash\necho script").out == "script\n"


def test_magics_around_simple_cells_of_python_notebooks(python_kernel):
    outcome = python_kernel.run("%%time\n%%simple\n6 * 7")
    assert "Wall time" in outcome.out
    assert python_kernel.run("value = %simple 6 * 7\nvalue").text == "42"
    python_kernel.run('%%capture caught\n%simple print "quiet"')
    assert python_kernel.run("caught.stdout").text == "'quiet\\n'"


# ---- errors


def test_a_failure_names_the_cell_and_marks_the_line(simple_kernel):
    simple_kernel.run("fn third(xs):\n    xs[2]")
    outcome = simple_kernel.run("val xs = [1, 2]\nthird(xs)")
    assert outcome.error == "IndexError"
    first, second = outcome.traceback.split("Cell In[")[1:]
    assert "line 2\n" in first and "----> 2 third(xs)\n        ^" in first
    assert "line 2, in third\n" in second and "----> 2     xs[2]" in second
    assert second.rstrip().endswith("IndexError: index 2 is out of range for array of length 2")


def test_a_failure_that_crosses_the_languages_shows_the_calls_of_both(both):
    simple, python = both
    python("def divide(x):\n    return 1 / x")
    simple("fn half(x): divide(x)")
    shown = simple("half(0)").traceback
    assert shown.index("half(0)") < shown.index("divide(x)") < shown.index("return 1 / x")
    assert shown.endswith("ZeroDivisionError: division by zero")
    from_python = python("half(0)").traceback
    assert "fn half(x): divide(x)" in from_python and "ZeroDivisionError" in from_python


def test_tracebacks_show_nothing_of_the_package(both):
    simple, python = both
    for outcome in (simple('panic("no")'), simple("val ="), simple("divide(0)"), python("half(0)")):
        for internal in ("simple_torch/", "embedded.spl", "sessions.spl", "run_cell", "notebook/"):
            assert internal not in outcome.traceback


def test_a_syntax_error_shows_the_invalid_line(simple):
    outcome = simple("val x = 1\nval y = = 2")
    assert outcome.error == "SyntaxError"
    assert "val y = = 2" in outcome.traceback
    assert simple("x").error == "NameError"


def test_repeated_calls_are_shown_once(simple):
    shown = simple("fn deeper(n): deeper(n + 1)\ndeeper(0)").traceback
    assert shown.count("----> ") == 2
    assert "the same call" in shown
