"""The report of an exception of Python that ends a program: what failed first, then notes, causes and group members."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HOST = os.environ.get("SIMPLE_HOST", "")
if os.environ.get("SIMPLE_TORCH") == "off" or not HOST:
    pytest.skip("there is no host with PyTorch", allow_module_level=True)

PRELUDE = '''use python as py
py.exec("""
class Problem(ValueError):
    pass
def inner(): raise KeyError('missing')
def chained():
    try:
        inner()
    except KeyError as error:
        problem = Problem('cannot load')
        problem.__notes__ = ['try again', 'two\\nlines']
        raise problem from error
def colored(): raise Problem('\\x1b[96mstep 1/3\\x1b[0m of\\n  a[0] \\x1b[unended')
def context():
    try:
        inner()
    except KeyError:
        1 / 0
def suppressed():
    try:
        inner()
    except KeyError:
        raise Problem('alone') from None
def cyclic():
    first, second = Problem('first'), Problem('second')
    first.__cause__, second.__cause__ = second, first
    raise first
def caught(make):
    try:
        make()
    except Exception as error:
        return error
def group():
    members = [caught(inner), caught(chained)] + [Problem(str(i)) for i in range(15)]
    raise ExceptionGroup('several', members)
""")
val main = py.import("__main__")
'''


def report_of(tmp_path, call: str) -> list[str]:
    program = tmp_path / "p.spl"
    program.write_text(f"{PRELUDE}{call}\n")
    done = subprocess.run([HOST, program], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 1
    lines = done.stderr.replace(f"{tmp_path}/", "").splitlines()
    assert lines[1].strip() == call
    return [lines[0].partition(": error: ")[2], *lines[3:]]


def test_notes_and_the_cause_precede_the_stack(tmp_path):
    report = report_of(tmp_path, "main.chained()")
    assert report[:6] == [
        "Problem: cannot load",
        "  note: try again",
        "  note: two",
        "        lines",
        "  caused by: KeyError: 'missing' (inner (<simple>:4))",
        "  stack (most recent call first):",
    ]


def test_colors_of_a_message_are_left_out(tmp_path):
    assert report_of(tmp_path, "main.colored()")[0] == "Problem: step 1/3 of a[0] nended"


def test_the_exception_that_was_handled(tmp_path):
    report = report_of(tmp_path, "main.context()")
    assert report[1] == "  while handling: KeyError: 'missing' (inner (<simple>:4))"
    assert report_of(tmp_path, "main.suppressed()")[1] == "  stack (most recent call first):"


def test_a_cycle_of_causes_ends(tmp_path):
    assert report_of(tmp_path, "main.cyclic()")[1:3] == [
        "  caused by: Problem: second",
        "  stack (most recent call first):",
    ]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="groups are of Python 3.11")
def test_the_members_of_a_group(tmp_path):
    report = report_of(tmp_path, "main.group()")
    assert report[:7] == [
        "ExceptionGroup: several (17 sub-exceptions)",
        "  1 of 17: KeyError: 'missing' (inner (<simple>:4))",
        "  2 of 17: Problem: cannot load (chained (<simple>:11))",
        "    note: try again",
        "    note: two",
        "          lines",
        "    caused by: KeyError: 'missing' (inner (<simple>:4))",
    ]
    assert "  15 of 17: Problem: 12" in report
    assert report[report.index("  15 of 17: Problem: 12") + 1] == "  … 2 more"


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("main.chained()", "Problem cannot load chained"),
        ("panic(main.caught(main.chained))", "Problem cannot load chained"),
        ("[].pop()", "None"),
        ("main.context()", "ZeroDivisionError division by zero context"),
        ("torch.attempt(\\: main.chained())", "None"),
    ],
)
def test_the_last_exception_is_there_at_exit(tmp_path, call, shown):
    program = tmp_path / "p.spl"
    program.write_text(f'''{PRELUDE}use torch
py.exec("""
import atexit, sys
def show():
    value = getattr(sys, 'last_value', None)
    if value is None: return print(None)
    frame = sys.last_traceback
    while frame.tb_next: frame = frame.tb_next
    assert sys.version_info < (3, 12) or sys.last_exc is value
    print(sys.last_type.__name__, value, frame.tb_frame.f_code.co_name)
atexit.register(show)
""")
{call}
''')
    done = subprocess.run([HOST, program], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.stdout.splitlines()[-1:] == [shown], done.stderr


def test_the_cause_after_from(tmp_path):
    program = tmp_path / "p.spl"
    raised = 'except Exception as error: raise ValueError("outer") from error'
    again = 'except Exception as error: raise RuntimeError("outermost") from error'
    program.write_text(f"{PRELUDE}fn f():\n    try: main.inner()\n    {raised}\ntry: f()\n{again}\n")
    done = subprocess.run([HOST, program], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    lines = done.stderr.replace(f"{tmp_path}/", "").splitlines()
    assert done.returncode == 1 and lines[0].endswith(": error: RuntimeError: outermost")
    assert lines[3:5] == [
        "  caused by: ValueError: outer",
        "    caused by: KeyError: 'missing' (inner (<simple>:4))",
    ]
