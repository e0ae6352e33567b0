"""Values of Python as what the declared types of Simple's parameters accept.

A type is described by an array: its name, then the descriptions of the types inside, as in functions.annotation().
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

from simple_torch_helpers.conversions import array_items

Convert = Callable[[Any], Any]
BUILTINS = (bool, int, float, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, type(None))
ARRAYS = ("__dlpack__", "__array__", "__array_interface__")
BUFFERS = {"array", "bytearray", "bytes", "memoryview", "mmap"}
MOST_CHARACTERS = 60  # of a value in a message


class Misfit(Exception):
    """A value that a type does not accept, and the subscripts that lead to it."""

    def __init__(self, expected: str, value: Any, hint: str = "") -> None:
        super().__init__(expected, value)
        self.requirement = f"be {expected}"
        self.value = value
        self.hint = hint
        self.place = ""

    def below(self, key: Any) -> Misfit:
        self.place = f"[{key!r}]{self.place}"
        return self


class OutOfRange(Misfit):
    """An integer that a type of fewer bits cannot hold."""


class Type:
    """A declared type.

    Attributes:
        name: as Simple spells it.
        convert: returns a value of the type, or raises Misfit.
        is_natural: whether a value is of the type before any conversion.
        exact: the class of Python whose objects need no conversion, or None.
        parts: the types of the items of a collection, the last one that of the values.
    """

    def __init__(
        self,
        name: str,
        convert: Convert,
        is_natural: Callable[[Any], bool],
        exact: type | None = None,
        parts: tuple[Type | None, ...] = (),
    ) -> None:
        self.name = name
        self.convert = convert
        self.is_natural = is_natural
        self.exact = exact
        self.parts = parts


def type_of(described: list[Any] | None) -> Type | None:
    """The type of a description; None for one that accepts every value."""
    if described is None:
        return None
    name, *parts = described
    if name in CONTAINERS:
        return CONTAINERS[name](parts)
    if name[0] in "iu" and name[1:].isdigit():
        return integer(name)
    if name.rpartition(".")[2] == "Tensor":
        return Type(name, to_tensor(name), is_tensor)
    return SCALARS[name](name) if name in SCALARS else None


def name_of(one: Type | None) -> str:
    return "any" if one is None else one.name


# ---- scalars


def is_tensor(value: Any) -> bool:
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return tensor is not None and isinstance(value, tensor)


def has(value: Any, method: str) -> bool:
    return getattr(type(value), method, None) is not None


def is_array(value: Any) -> bool:
    """Whether a value is an array, which also has __index__ and __float__."""
    return is_tensor(value) or has(value, "__len__")


def integer(name: str) -> Type:
    low, high = bounds(name)

    def convert(value: Any) -> int:
        if is_bool(value):
            return int(value)
        if not has(value, "__index__"):
            raise Misfit(name, value)
        try:
            number = operator.index(value)
        except (TypeError, ValueError):  # of an array that is not one integer
            if is_array(value):
                raise Misfit(name, value) from None
            raise
        if not low <= number <= high:
            raise OutOfRange(name, value)
        return number

    def is_natural(value: Any) -> bool:
        return has(value, "__index__") and not is_bool(value) and not is_array(value)

    return Type(name, convert, is_natural, int)


def bounds(name: str) -> tuple[int, int]:
    bits = int(name[1:])
    low, high = (0, 2**bits - 1) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return low, min(high, 2**63 - 1)


def real(name: str) -> Type:
    def convert(value: Any) -> float:
        if not has(value, "__float__") and not has(value, "__index__"):
            raise Misfit(name, value)
        require_no_grad(name, value)
        try:
            return float(value)
        except (TypeError, ValueError, RuntimeError):  # of an array that is not one number
            if is_array(value):
                raise Misfit(name, value) from None
            raise

    def is_natural(value: Any) -> bool:
        return has(value, "__float__") and not has(value, "__index__") and not is_bool(value) and not is_array(value)

    return Type(name, convert, is_natural, float)


def require_no_grad(name: str, value: Any) -> None:
    """Reject a tensor whose gradient the conversion would lose."""
    if is_tensor(value) and value.requires_grad:
        raise Misfit(name, value, "which requires grad; detach() it, or leave out the type of the parameter")


def is_bool(value: Any) -> bool:
    of = type(value)
    return of is bool or (of.__module__ == "numpy" and of.__name__ in ("bool", "bool_"))


def boolean(name: str) -> Type:
    return Type(name, checked(name, is_bool, bool), is_bool, bool)


def string(name: str) -> Type:
    def is_natural(value: Any) -> bool:
        return isinstance(value, str)

    return Type(name, checked(name, is_natural, str.__str__), is_natural, str)


def nothing(name: str) -> Type:
    return Type(name, checked(name, is_none), is_none)


def is_none(value: Any) -> bool:
    return value is None


def function(name: str) -> Type:
    return Type(name, checked(name, callable), callable)


def record(name: str) -> Type:
    """A class or struct of Simple. Objects of Python may stand for one; Python's own values do not."""

    def is_natural(value: Any) -> bool:
        return type(value) not in BUILTINS

    return Type(name, checked(name, is_natural), is_natural)


def checked(name: str, fits: Callable[[Any], bool], conversion: Convert | None = None) -> Convert:
    def convert(value: Any) -> Any:
        if not fits(value):
            raise Misfit(name, value)
        return value if conversion is None else conversion(value)

    return convert


def to_tensor(name: str) -> Convert:
    """Arrays of other libraries are left to Simple, which shares their memory. A number of NumPy is no array."""

    def fits(value: Any) -> bool:
        if is_tensor(value):
            return True
        if type(value).__module__ == "numpy" and not has(value, "__setitem__"):
            return False
        return any(has(value, one) for one in ARRAYS) or type(value).__name__ in BUFFERS

    return checked(name, fits)


# ---- containers


def array(parts: list[Any]) -> Type:
    item = type_of(parts[0]) if parts else None
    name = f"[{name_of(item)}]"

    def convert(value: Any) -> Any:
        items = items_of(name, value)
        return items if item is None else converted_items(item, items)

    def is_natural(value: Any) -> bool:
        return isinstance(value, Iterable) and not isinstance(value, (str, Mapping))

    return Type(name, convert, is_natural, parts=(item,))


def items_of(name: str, value: Any) -> Any:
    if type(value) in (list, tuple):
        return value
    if isinstance(value, (str, Mapping)):
        raise Misfit(name, value)
    require_no_grad(name, value)
    if has(value, "tolist"):  # of arrays, also of one dimension less: a number
        items = array_items(value)
        if not isinstance(items, list):
            raise Misfit(name, value)
        return items
    if (not isinstance(value, Iterable) and not has(value, "__getitem__")) or isinstance(value, type):
        raise Misfit(name, value)
    return list(value)


def converted_items(item: Type, items: Any) -> Any:
    from simple_torch._core import first_misfit  # the bridge creates it before this module is used

    start = 0 if item.exact is None else first_misfit(items, item.exact, *limits(item))
    if item.exact is not None and start < 0:
        return items
    return [*items[:start], *(converted_at(item, at, items[at]) for at in range(start, len(items)))]


def limits(item: Type) -> tuple[int, int]:
    return bounds(item.name) if item.exact is int else (0, 0)


def converted(of: Type | None, value: Any) -> Any:
    return value if of is None else of.convert(value)


def converted_at(item: Type | None, key: Any, value: Any) -> Any:
    try:
        return converted(item, value)
    except Misfit as misfit:
        raise misfit.below(key) from None


def dictionary(parts: list[Any]) -> Type:
    key, item = (type_of(part) for part in (parts if len(parts) == 2 else [None, None]))
    name = "{" + f"{name_of(key)}: {name_of(item)}" + "}"

    def convert(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise Misfit(name, value)
        if key is None and item is None:
            return value
        return {converted_key(key, k): converted_at(item, k, v) for k, v in value.items()}

    return Type(name, convert, lambda value: isinstance(value, Mapping), parts=(key, item))


def converted_key(key: Type | None, value: Any) -> Any:
    try:
        return converted(key, value)
    except Misfit as misfit:
        misfit.requirement = "have keys that are" + misfit.requirement.removeprefix("be")
        raise


def collection(parts: list[Any]) -> Type:
    item = type_of(parts[0]) if parts else None
    name = "{" + name_of(item) + "}"

    def convert(value: Any) -> Any:
        if not isinstance(value, Set):
            raise Misfit(name, value)
        return value if item is None else {item.convert(one) for one in value}

    return Type(name, convert, lambda value: isinstance(value, Set), parts=(item,))


def sequence(parts: list[Any]) -> Type:
    items = [type_of(part) for part in parts]
    name = "(" + ", ".join(map(name_of, items)) + ")" if parts else "tuple"

    def convert(value: Any) -> Any:
        if not isinstance(value, (list, tuple)) or (parts and len(value) != len(items)):
            raise Misfit(name, value)
        return (
            tuple(converted_at(item, at, one) for at, (item, one) in enumerate(zip(items, value))) if parts else value
        )

    return Type(name, convert, lambda value: isinstance(value, (list, tuple)))


def union(parts: list[Any]) -> Type | None:
    """The first type of which the value is one before any conversion, or else the first that converts it."""
    found = [type_of(part) for part in parts]
    types = [one for one in found if one is not None]
    if len(types) < len(found):
        return None
    names = [one.name for one in types if one.name != "nil"]
    name = f"{names[0]}?" if len(names) == 1 and len(types) == 2 else " | ".join(one.name for one in types)

    def convert(value: Any) -> Any:
        natural = [one for one in types if one.is_natural(value)]
        last = Misfit(name, value)
        for one in natural or types:
            try:
                return one.convert(value)
            except Misfit as misfit:  # that of the only type which could fit has the place
                last = misfit if len(natural) == 1 else last
        raise last

    return Type(name, convert, lambda value: any(one.is_natural(value) for one in types))


CONTAINERS: dict[str, Callable[[list[Any]], Type | None]] = {
    "array": array,
    "dict": dictionary,
    "set": collection,
    "tuple": sequence,
    "union": union,
    "record": lambda parts: record(parts[0][0]),
}
SCALARS: dict[str, Callable[[str], Type]] = {
    "bool": boolean,
    "text": string,
    "f64": real,
    "f32": real,
    "nil": nothing,
    "function": function,
}


# ---- parameters


class Fit:
    """Converts what is assigned to a parameter or a field."""

    __slots__ = ("passed", "place", "type")

    def __init__(self, place: str, of: Type, passed: list[Any]) -> None:
        self.place = place  # its name, for messages
        self.type = of
        self.passed = passed  # default values, which the function receives as they are

    def __call__(self, value: Any) -> Any:
        """Return a value of the type.

        Raises:
            TypeError: no conversion fits.
            OverflowError: an integer does not fit into the bits of the type.
        """
        if any(value is one for one in self.passed):
            return value
        try:
            return self.type.convert(value)
        except Misfit as misfit:
            raise self.error(misfit) from None

    def error(self, misfit: Misfit) -> Exception:
        hint = misfit.hint and f", {misfit.hint}"
        kind = OverflowError if isinstance(misfit, OutOfRange) else TypeError
        return kind(f"{self.place}{misfit.place} must {misfit.requirement}, got {shown(misfit.value)}{hint}")


def shown(value: Any) -> str:
    """The type and the beginning of the value."""
    if value is None:
        return "None"
    try:
        text = repr(value)
    except Exception:  # an error of the value's own must not hide ours
        return type(value).__name__
    line = text.splitlines()[0] if text else ""
    if len(line) > MOST_CHARACTERS or line != text:
        line = line[:MOST_CHARACTERS] + "…"
    return f"{type(value).__name__} {line}"


class ConstructorFits:
    """Converts the arguments of a constructor, of which Simple reports a wrong number or an unknown name."""

    def __init__(self, positional: list[str], only_named: list[str], fits: dict[str, Fit]) -> None:
        self.positional = positional
        self.names = {*positional, *only_named}
        self.fits = fits

    def converted(self, values: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if len(values) > len(self.positional) or not self.names.issuperset(named):
            return values, named
        found = tuple(self.fit(name, value) for name, value in zip(self.positional, values))
        return found, {name: self.fit(name, value) for name, value in named.items()}

    def fit(self, name: str, value: Any) -> Any:
        return self.fits[name](value) if name in self.fits else value


def inline_test(of: Type, name: str) -> str:
    """An expression that is true for the commonest values which need no conversion; "" if there is none."""
    if of.exact is int:
        low, high = bounds(of.name)
        return f"{name}.__class__ is _int and {low} <= {name} <= {high}"
    return f"{name}.__class__ is _{of.exact.__name__}" if of.exact in (float, str, bool) else ""
