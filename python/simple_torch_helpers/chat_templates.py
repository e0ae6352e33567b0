"""Chat templates of Hugging Face: Jinja2 in its sandbox, with the functions that the templates use."""

from __future__ import annotations

import json
from datetime import datetime
from functools import lru_cache
from typing import Any

FIRST_SAFE_VERSION = (3, 1, 6)


def render(template: str, variables: str) -> tuple[str, str]:
    """Render a template with the variables of a JSON object.

    Returns:
        ("text", what the template renders), ("missing", the reason) if there is no Jinja2, or ("error", a message).

    >>> render("{{ greeting }}, {{ name }}!", '{"greeting": "Hello", "name": "World"}')
    ('text', 'Hello, World!')
    >>> render("{{ raise_exception('no roles') }}", "{}")
    ('error', 'no roles')
    """
    try:
        import jinja2
    except ModuleNotFoundError as error:
        return "missing", str(error)
    if tuple(int(part) for part in jinja2.__version__.split(".")[:3] if part.isdigit()) < FIRST_SAFE_VERSION:
        return "missing", f"version {jinja2.__version__} is installed, whose sandbox is not safe"
    try:
        return "text", _compiled(template).render(**json.loads(variables))
    except jinja2.exceptions.TemplateSyntaxError as error:
        return "error", f"line {error.lineno} of the template: {error.message}"
    except (jinja2.exceptions.TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        return "error", str(error)


@lru_cache(maxsize=16)
def _compiled(template: str) -> Any:
    from jinja2.exceptions import TemplateError
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    def tojson(value: Any, **options: Any) -> str:
        return json.dumps(value, **{"ensure_ascii": False, **options})

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _generation_blocks()]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    return environment.from_string(template)


def _generation_blocks() -> Any:
    """Return the extension for {% generation %} … {% endgeneration %}, which renders the block itself."""
    from jinja2 import nodes
    from jinja2.ext import Extension

    class GenerationBlocks(Extension):
        tags = {"generation"}  # noqa: RUF012 (Jinja2's own form)

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return nodes.Scope(body, lineno=line)

    return GenerationBlocks
