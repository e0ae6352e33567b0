"""One pass through JupyterLab in headless Chromium, with the extension and both kernels.

SIMPLE_SCREENSHOTS names a folder that receives the images of docs/images.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import nbformat
import pytest
from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_MILLISECONDS = 120_000
if CHROMIUM is None:
    pytest.fail("Chromium is missing: apt-get install chromium", pytrace=False)

SIMPLE_CELLS = [
    "use torch\n\n# Half steps\nval table = torch.arange(12).reshape([3, 4]) * 0.5\ntable",
    "val ramp = torch.linspace(0.0, 1.0, 160).expand([60, 160])\n"
    "display.image(torch.stack([ramp, ramp.flip([1]), ramp * 0.0 + 0.5]))",
    "%%python\nimport numpy as np\n\nprint(f\"same address: {table.numpy().ctypes.data == table.data_ptr()}\")",
    'fn element(values, i):\n    values[i]\n\nelement([1, 2], 7)',
]  # fmt: skip
PYTHON_CELLS = [
    "import torch\n%load_ext simple_torch\nx = torch.ones(2, 2)",
    "%%simple\nfn twice(t): t * 2  # doubles\ntwice(x)",
]
PROGRAM = """use torch

fn main():
    print "sum {torch.ones([3]).sum().item():.1f}"  # 3
"""
TRAINING = """use torch.nn
val model = nn.Linear(8, 1)
val optimizer = torch.optim.SGD(model.parameters(), lr: 0.01)
val x = torch.randn([16, 8])
print "training"
while true:
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()"""


@pytest.fixture(scope="module")
def server(jupyter, tmp_path_factory):
    """The address of a JupyterLab with two notebooks and a file."""
    folder = tmp_path_factory.mktemp("work")
    write_notebook(folder / "simple.ipynb", "simple", "Simple", SIMPLE_CELLS)
    write_notebook(folder / "python.ipynb", "python3", "Python 3", PYTHON_CELLS)
    (folder / "program.spl").write_text(PROGRAM)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        f"--ServerApp.root_dir={folder}",
    ]
    settings = jupyter / "config" / "labconfig" / "default_setting_overrides.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}')
    environment = {key: value for key, value in os.environ.items() if key != "PYTEST_CURRENT_TEST"}
    with open(folder / "log.txt", "w") as log:
        command = [sys.executable, "-m", "jupyterlab", "--IdentityProvider.token=", *options]
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    address = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 120
    while not answers(address):
        assert process.poll() is None and time.monotonic() < deadline, (folder / "log.txt").read_text()
        time.sleep(0.2)
    yield address
    process.terminate()
    process.wait()


def answers(address: str) -> bool:
    try:
        return urlopen(f"{address}/api", timeout=5).status == 200
    except (URLError, OSError):
        return False


def write_notebook(path: Path, kernel: str, title: str, cells: list[str]) -> None:
    notebook = nbformat.v4.new_notebook()
    language = kernel.rstrip("3")
    notebook.metadata = {
        "kernelspec": {"name": kernel, "display_name": title, "language": language},
        "language_info": {"name": language, "mimetype": f"text/x-{language}"},
    }
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def page(browser, server):
    opened = browser.new_page(viewport={"width": 1100, "height": 900})
    opened.set_default_timeout(_MILLISECONDS)
    expect.set_options(timeout=_MILLISECONDS)
    opened.problems = []
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    yield opened
    assert opened.problems == []
    opened.close()


def keep(page: Page, name: str) -> None:
    """Save a screenshot if a folder is named for it."""
    if folder := os.environ.get("SIMPLE_SCREENSHOTS"):
        page.screenshot(path=str(ROOT / folder / f"{name}.png"))


def open_file(page: Page, server: str, name: str) -> None:
    page.goto(f"{server}/lab/tree/{name}?reset")
    page.locator(".jp-SideBar .lm-mod-current").first.wait_for()
    if page.locator(".jp-SidePanel:visible, .jp-DirListing:visible").count():
        page.keyboard.press("Control+b")  # hides the side bar


def open_notebook(page: Page, server: str, name: str) -> None:
    open_file(page, server, name)
    page.locator(".jp-Notebook .jp-CodeCell .cm-content").first.wait_for()
    wait_for_kernel(page)


def wait_for_kernel(page: Page) -> None:
    page.locator("#jp-bottom-panel").get_by_text("| Idle").wait_for()


def run_all(page: Page) -> None:
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()


def new_cell(page: Page, source: str) -> None:
    """Add a cell below and type into it."""
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    page.keyboard.insert_text(source)


def test_a_simple_notebook(page, server):
    open_notebook(page, server, "simple.ipynb")
    run_all(page)
    cells = page.locator(".jp-CodeCell")
    expect(cells.nth(0).locator("table td").first).to_have_text("0.0000")
    expect(cells.nth(0)).to_contain_text("Tensor [3, 4], float32, cpu")
    expect(cells.nth(1).locator(".jp-OutputArea img")).to_be_visible()
    expect(cells.nth(2).locator(".jp-OutputArea")).to_contain_text("same address: True")
    expect(cells.nth(3).locator(".jp-OutputArea")).to_contain_text("index 7 is out of range")
    expect(cells.nth(0).locator(".cm-line").nth(2).locator("span").first).to_have_css(
        "font-style", "italic"
    )  # a comment
    cells.nth(2).scroll_into_view_if_needed()
    keep(page, "notebook-simple")

    cells.nth(3).locator(".cm-content").click()
    new_cell(page, "table.requires_g")
    page.keyboard.press("Tab")
    expect(page.locator(".jp-Completer")).to_contain_text("requires_grad_")
    keep(page, "notebook-completion")
    page.keyboard.press("Escape")

    new_cell(page, "torch.nn.Linear(2, ")
    page.keyboard.press("Shift+Tab")
    expect(page.locator(".jp-Tooltip")).to_contain_text("in_features: i64")
    keep(page, "notebook-signature")
    page.keyboard.press("Escape")

    new_cell(page, TRAINING)
    page.keyboard.press("Control+Enter")
    expect(cells.last.locator(".jp-OutputArea")).to_contain_text("training")
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.get_by_role("menuitem", name="Interrupt Kernel").click()
    expect(cells.last.locator(".jp-OutputArea")).to_contain_text("KeyboardInterrupt")
    new_cell(page, "model(x).shape()")
    page.keyboard.press("Control+Enter")
    expect(cells.last.locator(".jp-OutputArea")).to_contain_text("[16, 1]")

    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.get_by_role("menuitem", name="Restart Kernel…").click()
    page.get_by_role("button", name="Confirm Kernel Restart").click()
    wait_for_kernel(page)
    new_cell(page, "model")
    page.keyboard.press("Control+Enter")
    expect(cells.last.locator(".jp-OutputArea")).to_contain_text("'model' is not defined")


def test_a_python_notebook_highlights_its_simple_cells(page, server):
    open_notebook(page, server, "python.ipynb")
    run_all(page)
    cell = page.locator(".jp-CodeCell").nth(1)
    expect(cell.locator("table td").first).to_have_text("2.0000")
    comment = cell.locator(".cm-line").nth(1).locator("span", has_text="# doubles").last
    expect(comment).to_have_css("font-style", "italic")
    keep(page, "notebook-magic")


def test_a_file_is_highlighted(page, server):
    open_file(page, server, "program.spl")
    line = page.locator(".jp-FileEditor .cm-line").nth(3)
    expect(line.locator("span", has_text="# 3").last).to_have_css("font-style", "italic")
    expect(page.locator(".jp-FileEditor .cm-line").nth(2).locator("span").first).to_have_css("font-weight", "700")
