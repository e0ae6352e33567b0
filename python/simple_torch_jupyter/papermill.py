"""Parameters of papermill for Simple notebooks; papermill imports this module as an engine's entry point."""

from __future__ import annotations

import math
import re
from typing import Any

from papermill.engines import NBClientEngine
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators

_ASSIGNMENT = re.compile(r"^(?:(?:val|var|let|const)\s+)?([^\W\d]\w*)\s*(?::\s*([^=]+?)\s*)?=\s*(.*?)\s*(?:#\s*(.*))?$")


class SimpleTranslator(Translator):
    """Writes Python values as Simple, and reads the assignments of a parameters cell."""

    @classmethod
    def translate_none(cls, _val: None) -> str:
        return "nil"

    @classmethod
    def translate_escaped_str(cls, text: Any) -> str:
        escaped = str(text).replace("\\", "\\\\").replace('"', '\\"').replace("{", "\\{").replace("}", "\\}")
        return '"' + escaped.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r") + '"'

    @classmethod
    def translate_float(cls, val: float) -> str:
        if math.isfinite(val):
            return repr(val) if "." in repr(val) or "e" in repr(val) else f"{val!r}.0"
        return "0.0 / 0.0" if math.isnan(val) else f"{'-' if val < 0 else ''}1.0 / 0.0"

    @classmethod
    def translate_list(cls, val: list[Any]) -> str:
        return f"[{', '.join(cls.translate(each) for each in val)}]"

    @classmethod
    def translate_dict(cls, val: dict[Any, Any]) -> str:
        return f"{{{', '.join(f'{cls.translate(key)}: {cls.translate(each)}' for key, each in val.items())}}}"

    @classmethod
    def comment(cls, cmt_str: str) -> str:
        return f"# {cmt_str}".strip()

    @classmethod
    def assign(cls, name: str, str_val: str) -> str:
        return f"var {name} = {str_val}"

    @classmethod
    def inspect(cls, parameters_cell: Any) -> list[Parameter]:
        found = (_ASSIGNMENT.match(line.strip()) for line in parameters_cell["source"].splitlines())
        return [
            Parameter(match[1], (match[2] or "None").strip(), match[3], match[4] or "")
            for match in found
            if match is not None
        ]


class SimpleEngine(NBClientEngine):
    """papermill's own engine."""


papermill_translators.register("simple", SimpleTranslator)
