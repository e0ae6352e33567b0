"""Classes and enums of Simple in Python: what Python's own classes and enums do."""

from __future__ import annotations

import abc
import copy
import functools
import inspect
import os
import pickle
import pydoc
import sys
import typing
from pathlib import Path
from types import GenericAlias

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from simple_torch import run

MODULE = run(
    '''
trait Named:
    fn title(): "a {self.name}"
class Animal(Named):
    """Something that lives."""
    name: text
    legs: i64 = 4
    @property
    fn double_legs() -> i64: self.legs * 2
    fn renamed(name: text, loud: bool = false) -> text:
        """The name in another spelling."""
        name
    static fn kinds() -> i64: 2
class Dog(Animal):
    tricks: [text] = []
class Cage:
    animal: Animal
    fn init(animal: Animal, *, locked: bool = true):
        self.animal = animal
struct Point:
    x: f64
    y: f64 = 0.5
enum Color:
    Red = 1
    Green = 2
    Mixed(weight: f64)
fn red(): Color.Red
fn itself(value): value
fn scaled(x: f64, *, by: f64 = 2.0) -> f64: x * by
fn outer(): scaled(1.0, 2.0)
'''
)


def test_issubclass_knows_classes_traits_and_the_classes_of_objects():
    assert issubclass(MODULE.Dog, MODULE.Animal)
    assert issubclass(MODULE.Dog, MODULE.Dog)
    assert issubclass(MODULE.Dog, MODULE.Named)
    assert not issubclass(MODULE.Animal, MODULE.Dog)
    assert not issubclass(MODULE.Point, MODULE.Animal)
    assert issubclass(type(MODULE.Dog(name="Rex")), MODULE.Animal)
    assert not issubclass(type(MODULE.Point(1.0)), MODULE.Animal)
    assert not issubclass(int, MODULE.Animal)
    with pytest.raises(TypeError, match="arg 1 must be a class"):
        issubclass(MODULE.Dog(name="Rex"), MODULE.Animal)


def test_a_class_has_its_name_its_documentation_and_its_signature():
    assert MODULE.Animal.__name__ == MODULE.Animal.__qualname__ == "Animal"
    assert MODULE.Animal.__doc__ == "Something that lives."
    assert inspect.getdoc(MODULE.Animal) == "Something that lives."
    assert MODULE.Point.__doc__ is None
    assert str(inspect.signature(MODULE.Point)) == "(x: float, y: float = 0.5)"
    assert str(inspect.signature(MODULE.Cage)) == "(animal, *, locked: bool = True)"
    assert list(inspect.signature(MODULE.Dog).parameters) == ["name", "legs", "tricks"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MODULE.Cage(), "the argument animal is missing"),
        (lambda: MODULE.Cage(1, 2), "takes 1 argument, got 2"),
        (lambda: MODULE.Cage(1, open=True), "there is no parameter open"),
        (lambda: MODULE.Point(1, 2, 3), "Point has 2 fields, got more values"),
        (lambda: MODULE.Point(z=1), "Point has no field z"),
        (lambda: MODULE.Color.Mixed(), "Color.Mixed takes 1 values, got 0"),
        (lambda: MODULE.outer(), "takes 1 argument, got 2"),
    ],
)
def test_wrong_arguments_are_a_type_error(call, message):
    with pytest.raises(TypeError) as failure:
        call()
    assert message in str(failure.value)


def helped(thing: object) -> list[str]:
    """What help() prints, without the lines' margins."""
    return [line.strip(" |") for line in pydoc.render_doc(thing, renderer=pydoc.plaintext).splitlines()]


def test_help_shows_the_methods_and_fields_of_a_class_and_of_its_parents():
    lines = helped(MODULE.Dog)
    assert "class Dog(Animal)" in lines
    assert f"Dog{inspect.signature(MODULE.Dog)}" in lines
    inherited = lines[lines.index("Methods inherited from Animal:") :]
    assert inherited[inherited.index("renamed(self, name: str, loud: bool = False) -> str") + 1] == (
        "The name in another spelling."
    )
    for line in ("Static methods inherited from Animal:", "kinds() -> int", "double_legs", "Named"):
        assert line in lines
    assert not any("__ask__" in line or "request" in line for line in lines)
    assert "Something that lives." in helped(MODULE.Animal)


def test_help_of_an_object_a_module_and_an_enum_shows_what_the_program_declares():
    of_object, of_module = helped(MODULE.Dog(name="Rex")), helped(MODULE)
    assert "class Dog(Animal)" in of_object
    assert {
        "class Animal(Named)",
        "class Point(Instance)",
        "scaled(x: float, *, by: float = 2.0) -> float",
    } <= set(of_module)
    assert {"class Color(Instance)", f"Red = {MODULE.Color.Red!r}"} <= set(helped(MODULE.Color))
    assert not any("__ask__" in line for line in [*of_object, *of_module])


def test_they_are_types():
    for of in (MODULE.Dog, MODULE.Point, MODULE.Color, MODULE.Named):
        assert inspect.isclass(of)
        assert isinstance(of, type)
    dog = MODULE.Dog("Rex")
    assert type(dog) is MODULE.Dog
    assert MODULE.Dog.__mro__[:3] == (MODULE.Dog, MODULE.Animal, MODULE.Named)
    assert type(MODULE.red()) is MODULE.Color
    assert MODULE.itself(MODULE.Dog) is MODULE.Dog
    assert MODULE.Dog != MODULE.Animal
    assert inspect.getmembers(MODULE.Animal, inspect.isfunction)[-1][0] == "title"
    assert repr(MODULE.Dog) == "<class Dog>"


def test_class_patterns_match_their_objects():
    def shown(value):
        match value:
            case MODULE.Dog(name, legs=3):
                return f"{name} has three legs"
            case MODULE.Animal():
                return "an animal"
            case MODULE.Point(x, y):
                return x + y
            case MODULE.Color.Red:
                return "red"
        return "nothing"

    values = [MODULE.Dog("Rex", 3), MODULE.Dog("Ina"), MODULE.Point(1.0), MODULE.red(), MODULE.Color.Green, 3]
    assert [shown(value) for value in values] == ["Rex has three legs", "an animal", 1.5, "red", "nothing", "nothing"]


def test_a_single_dispatch_follows_the_parents():
    @functools.singledispatch
    def kind(value):
        return "other"

    kind.register(MODULE.Animal, lambda value: "animal")
    kind.register(MODULE.Point, lambda value: "point")

    class Puppy(MODULE.Dog):
        pass

    assert [kind(one) for one in (MODULE.Dog("Rex"), MODULE.Point(1.0), 3)] == ["animal", "point", "other"]
    assert kind(Puppy("Bo")) == "animal"


def test_abstract_classes_register_them():
    class Living(abc.ABC):
        @abc.abstractmethod
        def breathe(self): ...

    Living.register(MODULE.Animal)
    assert issubclass(MODULE.Dog, Living)
    assert isinstance(MODULE.Dog("Rex"), Living)
    assert not isinstance(MODULE.Point(1.0), Living)

    class Walker:
        pass

    MODULE.Named.register(Walker)
    assert isinstance(Walker(), MODULE.Named)


STATIC = run("""
class Counter:
    static var count = 0
    static fn register(name: text) -> text: "registered {name}"
    static fn mro() -> i64: 3
    static fn add():
        Counter.count = Counter.count + 1
class Unit:
    size: i64 = 1
    static fn one(): Unit(1)
    fn times(other: Unit = Unit(2)): Unit(self.size * other.size)
""")


def test_class_variables_are_simples():
    STATIC.Counter.add()
    assert STATIC.Counter.count == 1
    STATIC.Counter.count = 5
    STATIC.Counter.add()
    assert STATIC.Counter.count == STATIC.Counter().count == 6
    assert "count" in dir(STATIC.Counter)
    assert not hasattr(STATIC.Counter, "missing")


def test_members_with_the_names_of_pythons_metaclass_win():
    assert STATIC.Counter.register("it") == "registered it"
    assert STATIC.Counter.mro() == 3


def test_default_values_may_be_objects_of_the_class_itself():
    assert STATIC.Unit.one().times().size == 2


def test_types_are_copied_and_compared_as_pythons():
    assert copy.copy(MODULE.Dog) is copy.deepcopy(MODULE.Dog) is MODULE.Dog
    assert {MODULE.Dog: 1}[type(MODULE.Dog("Rex"))] == 1
    with pytest.raises(pickle.PicklingError, match="cannot pickle <class Dog>"):
        pickle.dumps(MODULE.Dog)


def test_subscripts_and_unions_are_those_of_annotations():
    alias = MODULE.Dog[int]
    assert isinstance(alias, GenericAlias)
    assert alias.__origin__ is MODULE.Dog
    assert typing.get_args(MODULE.Dog | None)[1] is type(None)
    assert typing.get_args(int | MODULE.Dog) == (int, MODULE.Dog)


def test_a_property_is_a_value():
    assert MODULE.Dog(name="Rex").double_legs == 8
    assert MODULE.Animal("Kiwi", legs=2).double_legs == 4


def test_parameters_after_a_star_are_keyword_only():
    signature = inspect.signature(MODULE.scaled)
    assert str(signature) == "(x: float, *, by: float = 2.0) -> float"
    assert signature.parameters["by"].kind is inspect.Parameter.KEYWORD_ONLY
    assert MODULE.scaled(3.0) == 6.0
    assert MODULE.scaled(3.0, by=3.0) == 9.0
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        MODULE.scaled(3.0, 3.0)


def test_an_enum_is_a_collection_of_its_members():
    color = MODULE.Color
    assert [member.name for member in color] == ["Red", "Green"]
    assert [member.name for member in reversed(color)] == ["Green", "Red"]
    assert len(color) == 2
    assert list(color.__members__) == ["Red", "Green"]
    assert color["Green"] is color.Green
    assert color(2) is color.Green
    assert color(color.Red) is color.Red
    assert MODULE.red() is color.Red
    assert color.Red in color
    assert 1 not in color
    assert {color.Red: "stop"}[MODULE.red()] == "stop"


def test_an_absent_member_is_pythons_error():
    with pytest.raises(KeyError, match="Blue"):
        MODULE.Color["Blue"]
    with pytest.raises(ValueError, match="7 is not a valid Color"):
        MODULE.Color(7)
    with pytest.raises(TypeError):
        MODULE.Color.__members__["Blue"] = 1


def test_classes_of_the_same_name_in_two_modules_differ():
    first, second = (run(f"class Pet:\n    legs: i64 = {legs}\nfn legs_of(p: Pet): p.legs") for legs in (4, 2))
    assert (type(first.Pet()).__name__, type(second.Pet()).__name__) == ("Pet", "Pet")
    assert not isinstance(first.Pet(), second.Pet)
    assert not issubclass(first.Pet, second.Pet)
    assert first.Pet != second.Pet
    assert (first.legs_of(second.Pet()), second.legs_of(first.Pet())) == (2, 4)


CLASS_METHODS = run("""
fn counted(f): \\values..., **named: f(values..., **named)
class Maker:
    x: i64
    @classmethod
    fn pair(cls, a: [i64], b = 5, *, c: i64 = 7): [cls.__name__, a, b, c]
    @classmethod
    fn zero(cls): cls(0)
    @classmethod
    @counted
    fn decorated(cls, a): [cls.__name__, a]
class Child(Maker):
    y: i64 = 1
""")


def test_class_methods_receive_the_class():
    made = CLASS_METHODS
    assert made.Maker.pair((3,)) == ["Maker", [3], 5, 7]
    assert made.Child.pair([3], c=2, b=1) == ["Child", [3], 1, 2]
    assert made.Child(3).pair(a=[4]) == ["Child", [4], 5, 7]
    assert (made.Maker.zero().x, made.Child.zero().y, made.Child(8).zero().x) == (0, 1, 0)
    assert made.Child.decorated(2) == ["Child", 2]
    assert str(inspect.signature(made.Maker.pair)) == "(a: list[int], b=5, *, c: int = 7)"
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
        made.Maker.pair()


def test_classes_of_python_inherit_class_and_static_methods():
    class Grandchild(CLASS_METHODS.Child):
        pass

    class Puppy(MODULE.Dog):
        pass

    assert Grandchild.pair([3]) == Grandchild(1).pair([3]) == ["Grandchild", [3], 5, 7]
    assert type(Grandchild.zero()) is type(Grandchild(1).zero()) is Grandchild
    assert Puppy.kinds() == Puppy("Rex").kinds() == 2


def test_the_class_of_an_object_creates_objects():
    dog = MODULE.Dog("Rex")
    assert (dog.__class__("Ina", 3).legs, type(dog)(name="Bo").name) == (3, "Bo")
    assert MODULE.Point(1.0).__class__(2.0, y=3.0).y == 3.0
    assert MODULE.Color.Red.__class__(2).name == "Green"

    class Puppy(MODULE.Dog):
        pass

    assert type(Puppy("Rex").__class__("Ina")) is Puppy


CALLED = run("""
class Scaled:
    by: i64
    fn __call__(x: i64, *, add = 1): x * self.by + add
    fn run(x: i64 = 2): x
""")


def test_the_signature_of_a_callable_object_and_of_inherited_methods():
    class Child(CALLED.Scaled):
        pass

    class Other(CALLED.Scaled):
        def __call__(self, only):
            return only

    assert str(inspect.signature(CALLED.Scaled(2))) == "(x: int, *, add=1)"
    assert str(inspect.signature(Child(2))) == "(x: int, *, add=1)"
    assert str(inspect.signature(Child(2).run)) == "(x: int = 2)"
    assert str(inspect.signature(Other(2))) == "(only)"
    assert not hasattr(MODULE.Dog("Rex"), "__signature__")
