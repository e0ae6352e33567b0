"""jupyter_kernel_test: the messages of the Simple kernel, as any front end expects them."""

from __future__ import annotations

import jupyter_kernel_test


class SimpleKernelTests(jupyter_kernel_test.KernelTests):
    kernel_name = "simple"
    language_name = "simple"
    file_extension = ".spl"

    code_hello_world = 'print "hello, world"'
    code_stderr = 'eprint "problem"'
    code_page_something = "?print"
    code_generate_error = "[1, 2][5]"
    code_execute_result = [  # noqa: RUF012 (as in the base class)
        {"code": "6 * 7", "result": "42"},
        {"code": "val x = [1, 2]\nx.map(\\n: n * 2)", "result": "[2, 4]"},
        {"code": "%%python\n'text'", "result": "'text'"},
    ]
    code_display_data = [{"code": "use torch\ndisplay.image(torch.zeros([2, 2]))", "mime": "image/png"}]  # noqa: RUF012
    completion_samples = [  # noqa: RUF012
        {"text": "whil", "matches": {"while"}},
        {"text": "use torch.trai", "matches": {"training"}},
    ]
    complete_code_samples = ["1 + 1", "fn f(x):\n    x\n", "val x = 3"]  # noqa: RUF012
    incomplete_code_samples = ["fn f(x):", "f(1,", 'val text = """begin']  # noqa: RUF012
    code_inspect_sample = "use torch\ntorch.manual_seed"
    code_history_pattern = "6?*7"
    supported_history_operations = ("tail", "range", "search")
    code_clear_output = "%%python\nfrom IPython.display import clear_output\nclear_output()"
