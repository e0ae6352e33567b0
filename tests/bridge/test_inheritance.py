"""Classes of Python that inherit from classes of Simple: Simple calls the methods that Python overrides."""

from __future__ import annotations

import abc
import copy
import functools
import gc
import os
import pickle
import sys
import weakref
from pathlib import Path

import pytest

if os.environ.get("SIMPLE_TORCH") == "off":
    pytest.skip("there is no PyTorch", allow_module_level=True)
torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from simple_torch import run, view  # noqa: E402

MODULE = run(
    '''
trait Sounding:
    fn sound(): "none"
    fn twice(): self.sound() + self.sound()
class Animal(Sounding):
    """Something that lives."""
    legs: i64 = 4
    tricks: [text] = []
    fn init(legs: i64 = 4):
        self.legs = legs
        self.learn("sit")
    fn name(): "animal"
    fn speak(): "{self.name()}: {self.twice()}"
    fn greet(first, *, second = "b", **more): "{first} {second} {more}"
    fn greeted(): self.greet(1, second: 2, third: 3)
    me learn(trick: text): self.tricks.push(trick)
    fn len(): self.legs
    fn __getitem__(at): at * 10
    fn __call__(x): x + 1
    @property
    fn double(): self.legs * 2
    static fn create(): Animal(1)
class Point:
    x: f64
    y: f64 = 0.5
    fn norm(): self.scale(self.x) + self.y
    fn scale(by): by
struct Pair:
    a: i64 = 1
enum Color:
    Red
class Keeper:
    held: any = nil
fn report(a: Animal): "{a.speak()}, {a.len()} legs, {a.double}, {a[1]}, {a(1)}, {len(a)}"
fn is_animal(a): a is Animal
'''
)


class Dog(MODULE.Animal):
    """A dog."""

    def __init__(self, legs=3, owner=None):
        super().__init__(legs)
        self.owner = owner

    def name(self):
        return f"dog of {self.owner}, a {super().name()}"

    def sound(self):
        return "wuff"

    def __len__(self):
        return super().__len__() + 100

    def __getitem__(self, at):
        return super().__getitem__(at) + 1

    def __call__(self, x):
        return super().__call__(x) * 2

    @property
    def double(self):
        return super().double + 1


class Cat(MODULE.Animal):
    pass


class Puppy(Dog):
    def sound(self):
        return super().sound()[:2]


def test_simple_calls_the_methods_of_python():
    dog = Dog(owner="Ann")
    assert dog.speak() == "dog of Ann, a animal: wuffwuff"
    assert MODULE.report(dog) == "dog of Ann, a animal: wuffwuff, 103 legs, 7, 11, 4, 103"
    assert (len(dog), dog[2], dog(4), dog.double, dog.legs) == (103, 21, 10, 7, 3)
    assert MODULE.report(Cat()) == "animal: nonenone, 4 legs, 8, 10, 2, 4"


def test_levels_of_classes_follow_pythons_order():
    assert Puppy(2, "Bob").speak() == "dog of Bob, a animal: wuwu"
    assert [one.__name__ for one in Puppy.__mro__[:3]] == ["Puppy", "Dog", "Animal"]


def test_the_object_is_one_of_simples_class():
    dog = Dog()
    assert isinstance(dog, MODULE.Animal)
    assert issubclass(Puppy, MODULE.Animal)
    assert MODULE.is_animal(dog)
    assert (Dog.__name__, Dog.__doc__, type(dog)) == ("Dog", "A dog.", Dog)
    assert not isinstance(MODULE.Animal(), Dog)
    dog.learn("roll")
    view(dog, "tricks").append("jump")
    assert dog.tricks == ["sit", "roll", "jump"]


def test_an_override_in_the_constructor_is_called():
    learned = []

    class Noting(MODULE.Animal):
        def learn(self, trick):
            learned.append(trick)
            super().learn(trick.upper())

    assert Noting().tricks == ["SIT"]
    assert learned == ["sit"]


def test_arguments_and_results_are_those_of_callbacks():
    class Greeter(MODULE.Animal):
        def greet(self, first, *, second, **more):
            return first, second, more

    assert Greeter().greeted() == (1, 2, {"third": 3})
    assert Cat().greet(1, more=2) == "1 b {more: 2}"


def test_an_exception_of_an_override_is_pythons():
    class Failing(MODULE.Animal):
        def name(self):
            raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        Failing().speak()


def test_a_class_without_init_is_constructed_by_its_fields():
    class Scaled(MODULE.Point):
        def scale(self, by):
            return by * 10

    assert Scaled(1, y=2).norm() == 12.0
    assert Scaled(x=3).norm() == 30.5
    with pytest.raises(TypeError, match=r"Point\(\): x must be f64, got str 'a'"):
        Scaled("a")
    with pytest.raises(TypeError, match="Point has no field z"):
        Scaled(1, z=2)
    with pytest.raises(TypeError, match="Point has 2 fields, got more values"):
        Scaled(1, 2, 3)
    with pytest.raises(TypeError, match="Point: the field x is passed twice"):
        Scaled(1, x=2)


def test_the_object_stays_pythons_while_simple_holds_it():
    keeper = MODULE.Keeper()
    keeper.held = Dog(owner="Eve")
    gc.collect()
    assert type(keeper.held) is Dog
    assert keeper.held.owner == "Eve"
    assert keeper.held.speak() == "dog of Eve, a animal: wuffwuff"


def test_properties_with_a_setter_come_before_attributes():
    class Counted(MODULE.Animal):
        @property
        def count(self):
            return self.stored

        @count.setter
        def count(self, value):
            self.stored = value + 1

    counted = Counted()
    counted.count = 1
    assert (counted.count, counted.stored) == (2, 2)


def test_copies_and_pickles_keep_the_class():
    dog = Dog(2, "Zoe")
    for made in (copy.copy(dog), copy.deepcopy(dog), pickle.loads(pickle.dumps(dog))):
        assert (type(made), made.owner, made.legs, made.tricks) == (Dog, "Zoe", 2, ["sit"])
        assert made is not dog


def test_abstract_methods_and_other_parents():
    class Named(abc.ABC):
        __slots__ = ()

        @abc.abstractmethod
        def title(self): ...

        def shown(self):
            return self.title() + self.name()

    class Titled(MODULE.Animal, Named):
        def title(self):
            return "the "

    assert Titled().shown() == "the animal"
    assert isinstance(Titled(), Named)


class Described:
    """A parent whose objects have a dict."""

    def __init__(self, *values, **named):
        super().__init__(*values, **named)
        self.described = True

    def title(self):
        return "the " + self.name()

    @functools.cached_property
    def count(self):
        self.computed = getattr(self, "computed", 0) + 1
        return self.legs


class Famous(Described, MODULE.Animal):
    def name(self):
        return "famous " + super().name()


class Renowned(MODULE.Animal, Described):
    pass


def test_objects_of_other_parents_may_have_a_dict():
    famous = Famous(2)
    assert (famous.title(), famous.speak(), famous.legs) == ("the famous animal", "famous animal: nonenone", 2)
    assert Renowned(3).title() == "the animal"
    assert isinstance(famous, Described)
    assert isinstance(famous, MODULE.Animal)
    assert (famous.count, famous.count, famous.computed) == (2, 2, 1)
    assert (vars(famous)["described"], vars(famous)["count"]) == (True, 2)
    del famous.described
    assert "described" not in vars(famous)
    for made in (copy.copy(famous), copy.deepcopy(famous), pickle.loads(pickle.dumps(famous))):
        assert (type(made), made.legs, made.count) == (Famous, 2, 2)


def test_such_an_object_keeps_its_attributes_while_only_simple_holds_it():
    keeper = MODULE.Keeper()
    keeper.held = Famous(2)
    keeper.held.nickname = "Rex"
    gc.collect()
    assert (type(keeper.held), keeper.held.nickname, keeper.held.title()) == (Famous, "Rex", "the famous animal")
    assert keeper.held is keeper.held
    alive = weakref.ref(keeper.held)
    keeper.held = None
    gc.collect()
    assert alive() is None


SEVERAL = run(
    """
class Named:
    name: text = "no name"
    fn shown(): "named {self.name}"
    fn described(): self.shown()
class Placed:
    x: f64
    fn init(x): self.x = x
    fn place(): "at {self.place_text()}"
    fn place_text(): "{self.x}"
    fn shown(): "placed"
class Tagged(Named):
    tag: text = "tag"
fn report(o): "{o.described()} {o.place()}"
fn are(o): (o is Named, o is Placed)
"""
)


class Spot(SEVERAL.Placed):
    def place_text(self):
        return "spot " + super().place_text()

    def shown(self):
        return "spot"


class Town(SEVERAL.Named, Spot):
    def __init__(self, name, x):
        SEVERAL.Named.__init__(self, name=name)
        Spot.__init__(self, x)


class City(Town):
    def shown(self):
        return "city, " + super().shown()


def test_fields_have_their_default_values_without_a_call_of_the_constructor():
    class Quiet(SEVERAL.Tagged):
        def __init__(self):
            pass

    assert (Quiet().tag, Quiet().shown()) == ("tag", "named no name")


def test_several_parents_can_be_classes_of_simple():
    town = Town("Ulm", 2.0)
    assert SEVERAL.report(town) == "named Ulm at spot 2.0"
    assert SEVERAL.report(City("Bonn", 3.0)) == "city, named Bonn at spot 3.0"
    assert SEVERAL.are(town) == (True, True)
    assert issubclass(City, SEVERAL.Named)
    assert issubclass(City, SEVERAL.Placed)
    assert not issubclass(City, SEVERAL.Tagged)
    assert (town.name, town.x) == ("Ulm", 2.0)
    assert pickle.loads(pickle.dumps(town)).place() == "at spot 2.0"


def test_the_constructor_of_each_parent_can_be_called():
    class Both(SEVERAL.Named, SEVERAL.Placed):
        def __init__(self, x):
            super().__init__()
            SEVERAL.Placed.__init__(self, x)

    assert SEVERAL.report(Both(1.5)) == "named no name at 1.5"
    with pytest.raises(TypeError, match=r"x must be f64|missing|argument"):
        SEVERAL.Placed.__init__(Both(1.5))


def test_a_class_of_simple_and_its_parent_can_both_be_parents():
    class Plain(SEVERAL.Named):
        def shown(self):
            return "plain " + super().shown()

    class Both(SEVERAL.Tagged, Plain):
        pass

    class Other(Plain, SEVERAL.Tagged):
        pass

    assert (Both().described(), Both().tag) == ("named no name", "tag")
    assert (Other().described(), Other().tag) == ("plain named no name", "tag")


NUMBERS = run(
    """
class Meters:
    x: f64
    fn __add__(other: Meters): Meters(self.x + other.x)
    fn __mul__(by: f64): Meters(self.x * by)
    fn __rmul__(by: f64): Meters(by * self.x)
    fn __div__(by: f64): Meters(self.x / by)
    fn __lt__(other: Meters): self.x < other.x
    fn __neg__(): Meters(0.0 - self.x)
    fn __iter__():
        yield self.x
        yield self.x
    fn __index__(): 3
    fn __format__(spec): "{self.x} m {spec}"
    fn __enter__(): "entered"
    fn __exit__(failure): nil
class Loose:
    x: f64
    fn __add__(other): self.x + other
    fn __eq__(other): self.x == other.x
"""
)


class Length(NUMBERS.Meters):
    pass


@pytest.mark.parametrize("of", [NUMBERS.Meters, Length])
def test_operators_and_protocols_are_those_of_simples_class(of):
    two = of(2.0)
    assert [(two + of(1.0)).x, (two * 3).x, (3 * two).x, (two / 4).x, (-two).x] == [3, 6, 6, 0.5, -2]
    assert (two < of(3.0), two > of(3.0)) == (True, False)
    assert (list(two), "abcd"[two], f"{two:short}") == ([2, 2], "d", "2.0 m short")
    with two as entered:
        assert entered == "entered"


class Unit:
    """Knows how it is combined with other objects."""

    def __radd__(self, other):
        return ("radd", other.x)

    def __gt__(self, other):
        return ("gt", other.x)


class Like:
    x = 5.0


@pytest.mark.parametrize("of", [NUMBERS.Meters, Length])
def test_an_operator_leaves_operands_that_its_type_does_not_accept_to_their_class(of):
    two = of(2.0)
    assert (two + Unit(), two < Unit()) == (("radd", 2), ("gt", 2))
    assert (two + Like()).x == 7
    for wrong in (lambda: two + 1, lambda: two * None, lambda: [] + two, lambda: two < None):
        with pytest.raises(TypeError, match=r"unsupported operand type|not supported between|can only concatenate"):
            wrong()
    assert two.__add__(1) is NotImplemented
    assert NUMBERS.Loose(2.0) + 1 == 3


def test_a_class_whose_objects_cannot_be_hashed_can_be_a_key_and_a_parent():
    assert {NUMBERS.Loose: 1}[NUMBERS.Loose] == 1
    assert hash(NUMBERS.Loose) != hash(NUMBERS.Meters)

    class Child(NUMBERS.Loose):
        pass

    assert Child(1.0) == NUMBERS.Loose(1.0)
    with pytest.raises(TypeError, match="unhashable type"):
        hash(NUMBERS.Loose(1.0))


def test_a_class_of_the_library_can_be_a_parent():
    module = run(
        "use torch\nuse torch.utils.data as data\nval Base = data.Dataset\n"
        "fn total(d): [for batch in data.DataLoader(d, batch_size: 2): batch.sum().item()].sum()"
    )

    class Squares(module.Base):
        def __getitem__(self, i):
            return torch.tensor(float(i * i))

        def __len__(self):
            return 4

    assert module.total(Squares()) == 14


def test_methods_that_python_adds_are_methods_in_simple():
    module = run("class Base:\n    x: i64 = 1\nfn use_it(o): (o.added(2), o.shown, o.len(), o(3), len(o))")

    class Adds(module.Base):
        def added(self, y):
            return self.x + y

        @property
        def shown(self):
            return f"x is {self.x}"

        def len(self):
            return 5

        def __call__(self, z):
            return z * 2

        def match(self):
            return "a keyword of Simple"

        helper = 3

    assert module.use_it(Adds()) == (3, "x is 1", 5, 6, 5)
    assert (Adds().match(), Adds.helper) == ("a keyword of Simple", 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: exec("class X(P): pass", {"P": MODULE.Pair}), "cannot inherit from <struct Pair>, a struct of Simple"),
        (lambda: exec("class X(P): pass", {"P": MODULE.Color}), "an enum of Simple"),
        (lambda: exec("class X(P): pass", {"P": MODULE.Sounding}), "a trait of Simple"),
        (lambda: Cat.__mro__[1](), "Animal is a class of Simple: call it by its name in Simple's module"),
    ],
)
def test_other_parents_are_rejected(make, message):
    with pytest.raises(TypeError) as caught:
        make()
    assert message in str(caught.value)


def test_objects_are_released():
    module = run(
        "var dropped = 0\nclass Base:\n    x: any = nil\n    fn drop(): dropped = dropped + 1\nfn count(): dropped"
    )

    class Derived(module.Base):
        def drop(self):
            raise AssertionError("Simple's drop() cannot be overridden")

    for number in range(50):
        made = Derived()
        made.x = [number]
        made.note = object()
    seen = weakref.ref(made)
    del made
    gc.collect()
    assert seen() is None
    assert module.count() == 50
