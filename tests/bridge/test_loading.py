"""How the library is loaded: relative paths, second copies, folders without Python, a second import."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SIMPLE_BUILD", ROOT / "build" / "release"))
HOST = os.environ.get("SIMPLE_HOST", "")
if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)


WITHOUT_CHOICE = {name: value for name, value in os.environ.items() if name != "SIMPLE_PYTHON"}


def python(source: str, *arguments: str, base: Mapping[str, str] = os.environ, **variables: str) -> str:
    """Run the source in a new Python process; return its output."""
    environment = {**base, "PYTHONPATH": str(ROOT / "python"), **variables}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


OPEN = """
import ctypes, os, sys
def start(path):
    library = ctypes.PyDLL(path)
    library.spt_last_error_message.restype = ctypes.c_char_p
    return library.spt_py_start() and library.spt_last_error_message().decode()
"""


def test_a_relative_path_stays_valid_when_the_directory_changes():
    shown = python(
        OPEN + f"os.chdir({str(BUILD)!r})\nl = ctypes.CDLL('lib/libspl_torch.so')\nos.chdir('/')\n"
        "print(start('libspl_torch.so.0'))"  # its SONAME
    )
    assert shown == "0\n"


def test_a_second_copy_of_the_library_is_rejected(tmp_path):
    for file in (BUILD / "lib").iterdir():
        if file.name.startswith(("libspl_torch", "libsimple_torch_b", "simple-torch-environment")):
            shutil.copy(file, tmp_path)
    copy = str(tmp_path / "libspl_torch.so")
    shown = python(OPEN + f"print(start({str(BUILD / 'lib/libspl_torch.so')!r}))\nprint(start({copy!r}))")
    assert shown.startswith("0\nanother copy of libspl_torch.so in this process has opened ")
    assert shown.endswith("; a process can use one copy: open the same file everywhere\n")


@pytest.fixture
def bare_libtorch(tmp_path):
    """A LibTorch folder as from pytorch.org: it belongs to no Python."""
    folder = tmp_path / "libtorch"
    folder.mkdir()
    (folder / "lib").symlink_to(Path(torch.__file__).parent / "lib")
    (folder / "build-version").write_text(torch.__version__ + "\n")
    return folder


BELONGS = "PyTorch in {} belongs to no Python; set SIMPLE_PYTHON to a Python with PyTorch {}"


def test_a_libtorch_folder_without_python_is_named_in_a_python_process(bare_libtorch):
    message = python(
        "try: import simple_torch\nexcept ImportError as error: print(error)",
        base=WITHOUT_CHOICE,
        SIMPLE_TORCH=str(bare_libtorch),
    )
    assert message == BELONGS.format(bare_libtorch, torch.__version__) + "\n"


@pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
def test_a_libtorch_folder_without_python_is_named_in_a_program(bare_libtorch, tmp_path):
    file = tmp_path / "program.spl"
    file.write_text('use torch\nuse python as py\nprint torch.ones([2]).sum().item()\npy.eval("1")\n')
    done = subprocess.run(
        [HOST, file],
        env={**WITHOUT_CHOICE, "SIMPLE_TORCH": str(bare_libtorch)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (1, "2.0\n")
    assert BELONGS.format(bare_libtorch, torch.__version__) in done.stderr


@pytest.mark.parametrize("kept", ["", "old = simple_torch"])
def test_the_package_can_be_imported_again(kept):
    """As test runners and reloaders do: they remove the package's modules from sys.modules."""
    shown = python(f"""
        import gc, io, sys, contextlib, torch
        import simple_torch
        {kept}
        first = simple_torch.run("fn times(x): x * 2\\nfn show(): print 5")
        tensor = simple_torch.from_dlpack(torch.ones(2))
        for name in [name for name in sys.modules if name.startswith("simple_torch")]:
            del sys.modules[name]
        del simple_torch
        gc.collect()
        import simple_torch
        second = simple_torch.run("fn times(x): x * 3\\nfn show(): print 7")
        print(first.times(2), second.times(2))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            first.show()
            second.show()
        print(out.getvalue().split(), type(tensor) is simple_torch.Tensor)
        print(simple_torch.evaluate("f(20)", f=first.times))
    """)
    assert shown == "4 6\n['5', '7'] True\n40\n"


@pytest.mark.skipif(sys.version_info[:2] == (3, 12), reason="Python 3.12 itself rejects ctypes there")
def test_a_subinterpreter_is_rejected_after_the_start_in_the_main_one():
    shown = python("""
        try:
            import _interpreters as sub
        except ImportError:
            import _xxsubinterpreters as sub
        import simple_torch
        simple_torch.run("val x = 1")
        try:
            print(sub.run_string(sub.create(), "import simple_torch"))
        except sub.RunFailedError as error:
            print(error)
    """)
    assert "simple_torch supports the main interpreter only, not a subinterpreter" in shown


def test_a_free_threaded_python_is_rejected_by_name():
    """None is installed here: only the variable by which one is recognized is its own."""
    shown = python("""
        import sysconfig
        known = sysconfig.get_config_var
        sysconfig.get_config_var = lambda name: 1 if name == "Py_GIL_DISABLED" else known(name)
        try:
            import simple_torch
        except ImportError as error:
            print(error)
    """)
    assert shown == (
        f"simple_torch: {sys.executable} is a free-threaded Python, which is not supported; "
        "use a Python of the same version with the GIL\n"
    )


def test_a_name_with_nul_is_no_attribute():
    shown = python("""
        import simple_torch
        point = simple_torch.run("class Point:\\n    x: i64 = 1").Point()
        for action in (lambda: getattr(point, "x\\0y"), lambda: setattr(point, "x\\0y", 1)):
            try:
                action()
            except AttributeError as error:
                print(error)
        print(hasattr(point, "x\\0y"), point.x)
    """)
    assert shown == "'x\\x00y' contains a NUL character, which no name in Simple has\n" * 2 + "False 1\n"


@pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
@pytest.mark.parametrize("call", ['py.import("ma\\0th")', 'torch.load("a\\0b")'])
def test_the_call_that_receives_a_text_with_nul_is_named(tmp_path, call):
    file = tmp_path / "program.spl"
    file.write_text(f"use torch\nuse python as py\n{call}\n")
    done = subprocess.run([HOST, file], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "must not contain a NUL character" in done.stderr
