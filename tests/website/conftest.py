"""The tests in a browser run in the environment of notebooks: bin/simple test --notebooks."""

from __future__ import annotations

import os

collect_ignore = [] if os.environ.get("SIMPLE_TEST_NOTEBOOKS") else ["test_browser.py"]
