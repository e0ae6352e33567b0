"""Simple functions as Python functions: with a signature, a name, annotations, and a frame for each call."""

from __future__ import annotations

import builtins
import keyword
import sys
from collections.abc import Callable, Coroutine
from types import CellType, CodeType, FunctionType
from typing import Any, Union
from weakref import WeakValueDictionary

from simple_torch_helpers.declared_types import ConstructorFits, Fit, Type, inline_test, type_of
from simple_torch_helpers.errors import SIMPLE_FILES

POSITIONAL, REST, NAMED, ONLY_NAMED = range(4)  # the kinds of parameters
OWN_NAMES = ("_call", "_mark", "_shown", "_types", "_call_with_passed", "_drive")  # of the code of a function


class Computed:
    """The default value of a parameter that the Simple function computes at each call. Its copies are itself."""

    def __repr__(self) -> str:
        return "..."

    def __reduce__(self) -> str:
        return "COMPUTED"


COMPUTED = Computed()
_known: WeakValueDictionary[str, FunctionType] = WeakValueDictionary()
_definitions: list[FunctionType] = []  # those of modules, which live as long
_templates: dict[str, Template] = {}


class Template:
    """What all closures of one Simple function share."""

    def __init__(self, signature: list[Any]) -> None:
        self.name, doc, self.path, self.line, self.is_async, self.is_generator, returns, declared = signature
        self.doc = doc or None
        parameters = [Parameter(*parts) for parts in declared]
        rest_at = next((i for i, one in enumerate(parameters) if one.kind == REST), len(parameters))
        self.parameters = parameters
        self.positional = [one for one in parameters[:rest_at] if one.kind == POSITIONAL]
        self.rest = next((one for one in parameters if one.kind == REST), None)
        self.keyword_only = [one for one in parameters if one.kind == ONLY_NAMED]
        self.keyword_only += [one for one in parameters[rest_at:] if one.kind == POSITIONAL]
        self.named = next((one for one in parameters if one.kind == NAMED), None)
        rename_for_python(parameters)
        require_defaults(self.positional)
        self.has_computed = any(one.is_computed() for one in parameters)
        self.is_fixed = not any(one.default and isinstance(one.default[0], list) for one in parameters)
        self.shown: Shown | None = None  # what all its functions show
        self.annotations = annotations_of([*((one.name, one.type) for one in parameters), ("return", returns)])
        self.types = types_of(parameters)
        self.code = self.compiled()
        SIMPLE_FILES.add(self.path)

    def compiled(self) -> CodeType:
        prefix = "async " if self.is_async else ""
        made = "await " if self.is_async else "yield from " if self.is_generator else ""
        # `_mark` is not reached; it makes the function a closure that the bridge recognizes.
        returned = f"{self.conversions()}return ({made}{self.call()}); _mark"
        text = f"def _made(_call, _mark, _shown, _types):\n {prefix}def _function({self.header()}): {returned}\n"
        module: CodeType = compile(text, self.path, "exec", dont_inherit=True)
        made_code = next(constant for constant in module.co_consts if isinstance(constant, CodeType))
        code = next(constant for constant in made_code.co_consts if isinstance(constant, CodeType))
        return renamed(code, self.shown_name()).replace(co_firstlineno=max(self.line, 1))

    def conversions(self) -> str:
        """The statements that convert the arguments of parameters with a declared type."""
        made = ""
        for position, (name, of) in enumerate(self.types):
            test = inline_test(of, name)
            made += f"{name} = {f'{name} if {test} else ' if test else ''}_types[{position}]({name}); "
        return made

    def shown_for(self, varying: list[Any] | None) -> Shown:
        if varying is not None or not self.is_fixed:
            return Shown(self, varying)
        self.shown = self.shown or Shown(self, None)
        return self.shown

    def shown_name(self) -> str:
        return "<lambda>" if self.name == "lambda" else self.name

    def header(self) -> str:
        parts = []
        last_unnamed = max((i for i, one in enumerate(self.positional) if one.is_unnamed), default=-1)
        for i, one in enumerate(self.positional):
            parts += [one.name, "/"] if i == last_unnamed else [one.name]
        if self.rest is not None:
            parts.append(f"*{self.rest.name}")
        elif self.keyword_only:
            parts.append("*")
        parts += [one.name for one in self.keyword_only]
        if self.named is not None:
            parts.append(f"**{self.named.name}")
        return ", ".join(parts)

    def call(self) -> str:
        if not self.has_computed and not self.has_renamed_keywords():
            parts = ["_call"] if self.is_async else []
            parts += [one.name for one in self.positional]
            parts += [f"*{self.rest.name}"] if self.rest else []
            parts += [f"{one.name}={one.name}" for one in self.keyword_only]
            parts += [f"**{self.named.name}"] if self.named else []
            return f"{'_drive' if self.is_async else '_call'}({', '.join(parts)})"
        names = "".join(f"{one.simple_name!r}, " for one in self.positional)
        values = "".join(f"{one.name}, " for one in self.positional)
        keywords = "".join(f"{one.simple_name!r}: {one.name}, " for one in self.keyword_only)
        rest = self.rest.name if self.rest else "()"
        named = f"**{self.named.name}" if self.named else ""
        called = "_drive(_call_with_passed, _call" if self.is_async else "_call_with_passed(_call"
        return f"{called}, ({names}), ({values}), {rest}, {{{keywords}{named}}}, _shown)"

    def has_renamed_keywords(self) -> bool:
        return any(one.name != one.simple_name for one in self.keyword_only)


class Parameter:
    """A parameter of a Simple function. `default` is empty or holds the default value."""

    def __init__(self, name: str, kind: int, declared: list[Any] | None, default: list[Any] | None) -> None:
        self.simple_name = self.name = name
        self.kind = kind
        self.type = declared
        self.default = [COMPUTED] if default is None else default
        self.is_unnamed = name == "_"

    def is_computed(self) -> bool:
        """Whether the Simple function computes the default value at each call, such as a new array."""
        return bool(self.default) and (self.default[0] is COMPUTED or isinstance(self.default[0], list))


def rename_for_python(parameters: list[Parameter]) -> None:
    """Patterns have no name, and some names are keywords of Python."""
    taken = {*OWN_NAMES, *(one.name for one in parameters)}
    for position, one in enumerate(parameters):
        if one.is_unnamed:
            one.name = f"_{position}"
        if keyword.iskeyword(one.name) or one.name in OWN_NAMES or one.is_unnamed:
            while one.name in taken or keyword.iskeyword(one.name):
                one.name += "_"
            taken.add(one.name)


def require_defaults(parameters: list[Parameter]) -> None:
    """Python's defaults are those of the last parameters: a required one after an optional one gets COMPUTED."""
    first = next((i for i, one in enumerate(parameters) if one.default), len(parameters))
    for one in parameters[first:]:
        one.default = one.default or [COMPUTED]


class Shown:
    """What one function shows of its declaration: default values, and annotations.

    Args:
        template: that of the function.
        varying: where functions of one template differ: the types of the parameters and the result; and the position
            of defaults, their values, and whether a call without the argument passes the value. Else None.
    """

    def __init__(self, template: Template, varying: list[Any] | None) -> None:
        types, defaults = varying or (None, [])
        found = {template.parameters[at].name: (value, is_passed) for at, value, is_passed in defaults}
        self.annotations = dict(template.annotations)
        if types is not None:
            names = [*(one.name for one in template.parameters), "return"]
            self.annotations = annotations_of(list(zip(names, types)))
        self.values: dict[str, Any] = {}
        self.computed: dict[str, Any] = {}  # by the name in Simple: the values that stand for computed ones
        for one in template.parameters:
            if not one.default:
                continue
            value, is_passed = found.get(one.name, (one.default[0], not one.is_computed()))
            self.values[one.name] = [] if value == [] and isinstance(value, list) else value
            if not is_passed:
                self.computed[one.simple_name] = self.values[one.name]
        self.defaults = tuple(self.values[one.name] for one in template.positional if one.default)
        self.keyword_defaults = {one.name: self.values[one.name] for one in template.keyword_only if one.default}

    def fits(self, template: Template, function: str) -> tuple[Fit, ...]:
        """What converts the arguments of one function of the template."""
        by_name = {one.name: one.default for one in template.parameters}
        return tuple(
            Fit(f"{function}(): {name}", of, [*by_name[name], *([self.values[name]] if name in self.values else [])])
            for name, of in template.types
        )


def types_of(parameters: list[Parameter]) -> list[tuple[str, Type]]:
    """The names and types of the parameters whose arguments are converted."""
    single = [one for one in parameters if one.kind in (POSITIONAL, ONLY_NAMED)]
    return [(one.name, of) for one in single if (of := type_of(one.type)) is not None]


_NONE = object()


def call_with_passed(
    call: Callable[..., Any],
    names: tuple[str, ...],
    values: tuple[Any, ...],
    rest: tuple[Any, ...],
    named: dict[str, Any],
    computed: dict[str, Any],
) -> Any:
    """Call with the arguments that were passed: without those that the function computes."""

    count = 0
    for name, value in zip(names, values):
        if computed.get(name, _NONE) is value:
            break
        count += 1
    later = {
        name: value for name, value in zip(names[count:], values[count:]) if computed.get(name, _NONE) is not value
    }
    passed = {name: value for name, value in named.items() if computed.get(name, _NONE) is not value}
    return call(*values[:count], *rest, **later, **passed)


def drive(function: Callable[..., Any], /, *values: Any, **named: Any) -> Coroutine[Any, Any, Any]:
    """Return the coroutine of a call of an async function."""
    from simple_torch_helpers import asynchronous  # importing asyncio takes long

    return asynchronous.drive(function, *values, **named)


GLOBALS: dict[str, Any] = {
    "__name__": "simple_torch",
    "__builtins__": builtins,
    "_call_with_passed": call_with_passed,
    "_drive": drive,
    "_int": int,
    "_float": float,
    "_str": str,
    "_bool": bool,
}


# ---- annotations

SCALARS = {"bool": bool, "text": str, "f64": float, "f32": float, "nil": None, "any": Any}
CONTAINERS = {"array": list, "dict": dict, "set": set, "tuple": tuple}


def annotations_of(declared: list[tuple[str, list[Any] | None]]) -> dict[str, Any]:
    """Without those of types that Python does not have."""
    found = {}
    for name, type_ in declared:
        if type_ is not None and (of := annotation(type_)) is not _UNKNOWN:
            found[name] = of
    return found


def annotations_of_fields(fields: list[tuple[str, list[Any]]]) -> dict[str, Any]:
    """Return the annotations of a class: Any for a type that Python does not have."""
    return {name: Any if (of := annotation(declared)) is _UNKNOWN else of for name, declared in fields}


_UNKNOWN = object()


def annotation(declared: list[Any]) -> Any:
    """The Python type of `declared`: a Simple type's name and its parts, of the same form."""
    name, *parts = declared
    if name == "object":
        return subscripted(*parts)
    inner = [Any if part is None or (of := annotation(part)) is _UNKNOWN else of for part in parts]
    if name in CONTAINERS:
        return CONTAINERS[name][tuple(inner)] if inner else CONTAINERS[name]
    if name == "union":
        return union_of(parts)
    if name == "function":
        return Callable
    if name.rpartition(".")[2] == "Tensor":
        return getattr(sys.modules.get("torch"), "Tensor", _UNKNOWN)
    if name == "record":
        return _UNKNOWN
    if name[0] in "iu" and name[1:].isdigit():
        return int
    return SCALARS.get(name, _UNKNOWN)


def subscripted(of: Any, arguments: list[Any]) -> Any:
    """A class of Python, with its type arguments if there are any, whose description follows an empty name."""
    inner = tuple(Any if one is None or (found := annotation(one)) is _UNKNOWN else found for one in arguments[1:])
    return of if not inner else of[inner if len(inner) > 1 else inner[0]]


def union_of(parts: list[Any]) -> Any:
    found = [annotation(part) for part in parts]
    if _UNKNOWN in found:
        return _UNKNOWN
    return Union[tuple(found)]  # noqa: UP007 (a number of types that is not known)


# ---- functions


def known(identity: str) -> FunctionType | None:
    """The Python function of a Simple one that Python still holds."""
    return _known.get(identity)


def add_template(code: str, signature: list[Any]) -> None:
    _templates[code] = Template(signature)


def python_function(
    call: Any,
    identity: str,
    code: str,
    name: str | None,
    module: str,
    varying: list[Any] | None,
    is_definition: bool = False,
) -> FunctionType:
    """Create the function. `call` is the bridge's object, which calls Simple.

    Args:
        identity: equal for the same Simple function; "" if that is not known.
        code: names the template.
        name: the name to show instead of the declared one.
        module: its `__module__`; "" for that of all.
        varying: as in Shown.
        is_definition: a module defines the function. It lives as long as the process, also for weak references.
    """
    template = _templates[code]
    made = function_of(template, template.shown_for(varying), call, name)
    made.__doc__ = template.doc
    made.__module__ = module or "simple_torch"
    if identity:
        _known[identity] = made
        if is_definition:
            _definitions.append(made)
    return made


def function_of(template: Template, shown: Shown, call: Any, name: str | None) -> FunctionType:
    shown_name = name or template.shown_name()
    code = template.code if name is None else renamed(template.code, shown_name)
    in_cells = {"_call": call, "_mark": type(call), "_shown": shown.computed}
    if template.types:
        in_cells["_types"] = shown.fits(template, shown_name)
    cells = tuple(CellType(in_cells[variable]) for variable in code.co_freevars)  # sorted: the bridge reads two
    made = FunctionType(code, GLOBALS, shown_name, shown.defaults or None, cells)
    made.__kwdefaults__ = dict(shown.keyword_defaults) or None  # type: ignore[assignment]
    made.__annotations__ = dict(shown.annotations)
    return made


def signature_of(path: str, line: int, declared: list[Any]) -> Any:
    """Return the inspect.Signature of a constructor, whose parameters Simple describes as those of functions."""
    import inspect  # importing it takes long

    template = constructor_template(path, line, declared)
    return inspect.signature(function_of(template, Shown(template, None), None, None))


def constructor_template(path: str, line: int, declared: list[Any]) -> Template:
    return Template(["constructor", "", path or "<Simple>", line, False, False, None, declared])


def constructor_fits(name: str, path: str, line: int, declared: list[Any]) -> ConstructorFits:
    """Return what converts the arguments of the constructor of the class `name`."""
    template = constructor_template(path, line, declared)
    names = [parameter for parameter, _ in template.types]
    fits = dict(zip(names, Shown(template, None).fits(template, name)))
    positional = [] if template.rest else [one.name for one in template.positional]
    return ConstructorFits(positional, [one.name for one in template.keyword_only], fits)


def renamed(code: CodeType, name: str) -> CodeType:
    if sys.version_info >= (3, 11):
        return code.replace(co_name=name, co_qualname=name)
    return code.replace(co_name=name)


add_template(
    "", ["function", "", "<Simple>", 1, False, False, None, [["args", REST, None, []], ["named", NAMED, None, []]]]
)
