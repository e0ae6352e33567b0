"""Translates Python statements to Simple: literals, keyword arguments, lambdas, slices, functions and classes."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable

# Words that name no variable in Simple.
WORDS = """
fn me val var let const static struct class enum trait impl mixin extern use import export mod pub
type alias if elif else for while loop match case return break continue pass in is not and or xor as
true false nil self super async await yield spawn with defer unsafe move mut where new gen exists
actor
"""
RESERVED = set(WORDS.split())
OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "xor", ast.LShift: "<<", ast.RShift: ">>",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in",
    ast.NotIn: "not in",
}  # fmt: skip
IMPORTS = {"torch": "torch", "torch.nn": "nn", "torch.nn.functional": "F", "torch.optim": "optim"}
PYTHON_MODULES = ("numpy", "math", "random", "copy", "io", "itertools", "os", "collections", "functools", "operator")


class Untranslatable(Exception):
    """Simple has no form of this construct; the message names it."""


def name_of(name: str) -> str:
    if name == "_":  # a placeholder of a lambda in Simple
        return "ignored"
    return f"{name}_" if name in RESERVED else name


def text_of(value: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "{": "\\{", "}": "\\}"}
    return "".join(escapes.get(letter, letter) for letter in value)


def number(value: complex) -> str:
    if isinstance(value, complex):
        return f"torch.Complex({value.real!r}, {value.imag!r})"
    if isinstance(value, float) and not math.isfinite(value):
        return {"inf": "torch.inf", "-inf": "(-torch.inf)", "nan": "torch.nan"}[repr(value)]
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise Untranslatable("an integer of more than 64 bits")
    text = repr(value)
    return f"{text.replace('e', '.0e')}" if "e" in text and "." not in text else text


def is_number(node: ast.expr) -> bool:
    """Whether the expression is arithmetic of literal numbers of which one is complex."""
    parts = list(ast.walk(node))
    kinds = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.USub, ast.Add, ast.Sub, ast.Mult)
    values = [part.value for part in parts if isinstance(part, ast.Constant)]
    return all(isinstance(part, kinds) for part in parts) and any(isinstance(value, complex) for value in values)


def assigned(statements: Iterable[ast.stmt]) -> list[str]:
    """The names that the statements assign in their own scope, without loop variables."""
    names: dict[str, None] = {}

    def visit_target(target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            names[target.id] = None
        elif isinstance(target, (ast.Tuple, ast.List)):
            for item in target.elts:
                visit_target(item)
        elif isinstance(target, ast.Starred):
            visit_target(target.value)

    def visit(statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=targets):
                for target in targets:
                    visit_target(target)
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                visit_target(target)
            case ast.For() | ast.While() | ast.If() | ast.With():
                for item in getattr(statement, "items", []):
                    if item.optional_vars is not None:
                        visit_target(item.optional_vars)
                for inner in [*statement.body, *getattr(statement, "orelse", [])]:
                    visit(inner)

    for statement in statements:
        visit(statement)
    return list(names)


class Expressions:
    """Expressions of Python as text of Simple."""

    def __init__(self) -> None:
        self.parents: list[str] = []
        self.modules: set[str] = set()

    def __call__(self, node: ast.expr) -> str:
        method = getattr(self, f"of_{type(node).__name__.lower()}", None)
        if method is None:
            raise Untranslatable(type(node).__name__)
        return method(node)

    def all(self, nodes: Iterable[ast.expr]) -> str:
        return ", ".join(map(self, nodes))

    def of_constant(self, node: ast.Constant) -> str:
        match node.value:
            case None:
                return "nil"
            case bool():
                return str(node.value).lower()
            case str():
                return f'"{text_of(node.value)}"'
            case int() | float() | complex():
                return number(node.value)
            case _ if node.value is ...:
                return "Ellipsis"
        raise Untranslatable(f"a literal of {type(node.value).__name__}")

    def of_name(self, node: ast.Name) -> str:
        if node.id in PYTHON_MODULES:
            self.modules.add(node.id)
        elif node.id == "np":
            self.modules.add("numpy")
        return "self" if node.id == "self" and self.parents else name_of(node.id)

    def of_attribute(self, node: ast.Attribute) -> str:
        is_math = isinstance(node.value, ast.Name) and node.value.id in ("math", "np", "numpy")
        if is_math and node.attr in ("pi", "e", "inf", "nan"):
            return number(getattr(math, node.attr))
        return f"{self(node.value)}.{node.attr}"

    def of_tuple(self, node: ast.Tuple) -> str:
        return f"({self.all(node.elts)}{',' if len(node.elts) == 1 else ''})"

    def of_list(self, node: ast.List) -> str:
        return f"[{self.all(node.elts)}]"

    def of_set(self, node: ast.Set) -> str:
        return f"set([{self.all(node.elts)}])"

    def of_dict(self, node: ast.Dict) -> str:
        pairs = zip(node.keys, node.values)
        items = [f"**{self(value)}" if key is None else f"{self(key)}: {self(value)}" for key, value in pairs]
        return "{" + ", ".join(items) + "}"

    def of_starred(self, node: ast.Starred) -> str:
        return f"*{self(node.value)}"

    def of_unaryop(self, node: ast.UnaryOp) -> str:
        if is_number(node):
            return number(ast.literal_eval(node))
        if isinstance(node.op, ast.Not):
            return f"(not ({self(node.operand)}))"
        if isinstance(node.op, ast.UAdd):
            return self(node.operand)
        sign = "-" if isinstance(node.op, ast.USub) else "~"
        operand = self(node.operand)
        return f"{sign}{operand}" if isinstance(node.operand, ast.Constant) else f"({sign}{operand})"

    def of_binop(self, node: ast.BinOp) -> str:
        if is_number(node):
            return number(eval(compile(ast.Expression(node), "literal", "eval")))
        left, right = self(node.left), self(node.right)
        constants = [side.value for side in (node.left, node.right) if isinstance(side, ast.Constant)]
        if isinstance(node.op, ast.Mod) and any(isinstance(value, str) for value in constants[:1]):
            raise Untranslatable("% of a string")
        if isinstance(node.op, ast.Div) and not any(isinstance(value, float) for value in constants):
            return f"true_division({left}, {right})"
        left = f"({left})" if isinstance(node.op, ast.Pow) and left.startswith("-") else left
        return f"({left} {OPERATORS[type(node.op)]} {right})"

    def of_boolop(self, node: ast.BoolOp) -> str:
        word = " and " if isinstance(node.op, ast.And) else " or "
        return f"({word.join(map(self, node.values))})"

    def of_compare(self, node: ast.Compare) -> str:
        match node:
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="type"), args=[value]), ops=[ast.Eq() | ast.Is()], comparators=[kind]
            ):
                return f"({self(value)} is {self(kind)})"
        parts = []
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators):
            if isinstance(operator, (ast.Is, ast.IsNot)):
                same = f"({self(left)} == {self(right)})" if isinstance(right, ast.Constant) else None
                same = same or f"is_same({self(left)}, {self(right)})"
                parts.append(same if isinstance(operator, ast.Is) else f"(not {same})")
            else:
                parts.append(f"({self(left)} {OPERATORS[type(operator)]} {self(right)})")
        return parts[0] if len(parts) == 1 else f"({' and '.join(parts)})"

    def of_ifexp(self, node: ast.IfExp) -> str:
        return f"(if {self(node.test)}: {self(node.body)} else: {self(node.orelse)})"

    def of_lambda(self, node: ast.Lambda) -> str:
        parameters = self.parameters(node.args)
        is_plain = all(word.isidentifier() for word in parameters)
        return f"(\\{', '.join(parameters) if is_plain else '(' + ', '.join(parameters) + ')'}: {self(node.body)})"

    def parameters(self, arguments: ast.arguments, skips_first: bool = False) -> list[str]:
        plain = [*arguments.posonlyargs, *arguments.args]
        defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
        named = [*zip(plain, defaults)][1 if skips_first else 0 :]
        words = [name_of(item.arg) + (f" = {self(value)}" if value is not None else "") for item, value in named]
        if arguments.vararg is not None:
            words.append(f"{name_of(arguments.vararg.arg)}...")
        for item, value in zip(arguments.kwonlyargs, arguments.kw_defaults):
            words.append(name_of(item.arg) + (f" = {self(value)}" if value is not None else ""))
        if arguments.kwarg is not None:
            words.append(f"**{name_of(arguments.kwarg.arg)}")
        return words

    def generators(self, generators: list[ast.comprehension]) -> str:
        words = []
        for part in generators:
            conditions = "".join(f" if {self(test)}" for test in part.ifs)
            words.append(f"for {self(part.target)} in {self(part.iter)}{conditions}")
        return " ".join(words)

    def of_listcomp(self, node: ast.ListComp) -> str:
        return f"[{self(node.elt)} {self.generators(node.generators)}]"

    of_generatorexp = of_listcomp

    def of_setcomp(self, node: ast.SetComp) -> str:
        return f"set([{self(node.elt)} {self.generators(node.generators)}])"

    def of_dictcomp(self, node: ast.DictComp) -> str:
        return "{" + f"{self(node.key)}: {self(node.value)} {self.generators(node.generators)}" + "}"

    def of_joinedstr(self, node: ast.JoinedStr) -> str:
        words = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                words.append(text_of(part.value))
                continue
            inner = self(part.value)
            if '"' in inner:
                raise Untranslatable("a string within an f-string")
            spec = part.format_spec
            words.append(f"{{{inner}{':' + ''.join(item.value for item in spec.values) if spec else ''}}}")
        return f'"{"".join(words)}"'

    def of_slice(self, node: ast.Slice) -> str:
        bounds = f"{self(node.lower) if node.lower else ''}:{self(node.upper) if node.upper else ''}"
        return f"{bounds}:{self(node.step)}" if node.step else bounds

    def of_subscript(self, node: ast.Subscript) -> str:
        index = node.slice
        if isinstance(index, ast.Constant) and index.value is ...:
            return f"{self(node.value)}[...]"
        is_list = isinstance(index, ast.Tuple) and len(index.elts) > 1
        return f"{self(node.value)}[{self.all(index.elts) if is_list else self(index)}]"

    def of_yield(self, node: ast.Yield) -> str:
        return f"yield {self(node.value) if node.value else 'nil'}"

    def of_call(self, node: ast.Call) -> str:
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[value, ast.Name() | ast.Attribute() as kind]):
                return f"({self(value)} is {self(kind)})"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math")), args=arguments):
                return f"float({self.of_plain_call(node)})" if arguments else self.of_plain_call(node)
            case ast.Call(func=ast.Name(id="type"), args=[value]):
                return f"type_of({self(value)})"
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=method)):
                return self.of_super(method, node)
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="format")):
                raise Untranslatable("str.format")
        return self.of_plain_call(node)

    def of_plain_call(self, node: ast.Call) -> str:
        arguments = list(map(self, node.args))
        for keyword in node.keywords:
            value = self(keyword.value)
            arguments.append(f"**{value}" if keyword.arg is None else f"{keyword.arg}: {value}")
        return f"{self(node.func)}({', '.join(arguments)})"

    def of_super(self, method: str, node: ast.Call) -> str:
        if not self.parents or not self.parents[-1]:
            raise Untranslatable("super() outside a class")
        parent = self.parents[-1]
        if method == "__init__" and not node.args and not node.keywords:
            return "nil"
        call = ast.Call(func=ast.Name(id="parent_method"), args=node.args, keywords=node.keywords)
        arguments = self(call).removeprefix("parent_method(")
        return f"{parent}.{'init' if method == '__init__' else method}(self, {arguments}".replace("(self, )", "(self)")


class Statements:
    """Statements of Python as lines of Simple."""

    def __init__(self) -> None:
        self.expression = Expressions()

    def __call__(self, node: ast.stmt) -> list[str]:
        method = getattr(self, f"of_{type(node).__name__.lower()}", None)
        if method is None:
            raise Untranslatable(f"a statement of type {type(node).__name__}")
        return method(node)

    def block(self, body: list[ast.stmt]) -> list[str]:
        lines = [f"    {line}" for statement in body for line in self(statement)]
        return lines or ["    pass"]

    def of_expr(self, node: ast.Expr) -> list[str]:
        is_comment = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return [] if is_comment else [self.expression(node.value)]

    def target(self, node: ast.expr) -> str:
        if any(isinstance(part, ast.Starred) for part in ast.walk(node)):
            raise Untranslatable("a starred target")
        if isinstance(node, (ast.Tuple, ast.List)):
            return f"({', '.join(map(self.target, node.elts))})"
        return self.expression(node)

    def of_assign(self, node: ast.Assign) -> list[str]:
        first = self.target(node.targets[0])
        lines = [f"{first} = {self.expression(node.value)}"]
        return lines + [f"{self.target(target)} = {first}" for target in node.targets[1:]]

    def of_annassign(self, node: ast.AnnAssign) -> list[str]:
        return [f"{self.target(node.target)} = {self.expression(node.value)}"] if node.value else []

    def of_augassign(self, node: ast.AugAssign) -> list[str]:
        target, value = self.target(node.target), self.expression(node.value)
        if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod)):
            return [f"{target} {OPERATORS[type(node.op)]}= {value}"]
        return [f"{target} = {self.expression(ast.BinOp(node.target, node.op, node.value))}"]

    def of_for(self, node: ast.For) -> list[str]:
        if node.orelse:
            raise Untranslatable("else of a loop")
        return [f"for {self.target(node.target)} in {self.expression(node.iter)}:", *self.block(node.body)]

    def of_while(self, node: ast.While) -> list[str]:
        return [f"while {self.expression(node.test)}:", *self.block(node.body)]

    def of_if(self, node: ast.If) -> list[str]:
        lines = [f"if {self.expression(node.test)}:", *self.block(node.body)]
        return lines + (["else:", *self.block(node.orelse)] if node.orelse else [])

    def of_with(self, node: ast.With) -> list[str]:
        lines: list[str] = []
        for depth, item in enumerate(node.items):
            name = f" as {self.target(item.optional_vars)}" if item.optional_vars else ""
            lines.append("    " * depth + f"with {self.expression(item.context_expr)}{name}:")
        return lines + ["    " * (len(node.items) - 1) + line for line in self.block(node.body)]

    def of_return(self, node: ast.Return) -> list[str]:
        return [f"return {self.expression(node.value)}" if node.value else "return"]

    def of_assert(self, node: ast.Assert) -> list[str]:
        return [f"assert {self.expression(node.test)}"]

    def of_raise(self, node: ast.Raise) -> list[str]:
        return ['panic("raised")']

    def of_pass(self, node: ast.Pass) -> list[str]:
        return ["pass"]

    def of_break(self, node: ast.Break) -> list[str]:
        return ["break"]

    def of_continue(self, node: ast.Continue) -> list[str]:
        return ["continue"]

    def of_delete(self, node: ast.Delete) -> list[str]:
        return [f"{self.expression(target)} = nil" for target in node.targets if isinstance(target, ast.Name)]

    def of_import(self, node: ast.Import) -> list[str]:
        lines = []
        for item in node.names:
            if item.name.split(".")[0] != "torch":
                self.expression.modules.add("python")
                name = item.asname or item.name.split(".")[0]
                lines.append(f'{name_of(name)} = py.import("{item.name if item.asname else name}")')
            elif item.asname and IMPORTS.get(item.name) != item.asname:
                lines.append(f"{name_of(item.asname)} = {item.name}")
        return lines

    def of_importfrom(self, node: ast.ImportFrom) -> list[str]:
        root = node.module or ""
        if root.split(".")[0] != "torch":
            self.expression.modules.add("python")
            return [f'{name_of(item.asname or item.name)} = py.import("{root}").{item.name}' for item in node.names]
        found = []
        for item in node.names:
            name = item.asname or item.name
            if IMPORTS.get(f"{root}.{item.name}") != name:
                found.append(f"{name_of(name)} = {root}.{item.name}")
        return found

    def of_functiondef(self, node: ast.FunctionDef, is_method: bool = False) -> list[str]:
        words = [self.expression(item) for item in node.decorator_list]
        is_static = any(word in ("staticmethod", "classmethod") for word in words)
        parameters = self.expression.parameters(node.args, skips_first=is_method and not is_static)
        name = "init" if is_method and node.name == "__init__" else name_of(node.name)
        arguments = node.args
        known = [item.arg for item in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
        outer = [name for part in ast.walk(node) if isinstance(part, ast.Nonlocal) for name in part.names]
        local = [f"    var {name_of(item)} = nil" for item in assigned(node.body) if item not in (*known, *outer)]
        body = self.block(node.body)
        lines = [f"@{word}" for word in words]
        return [*lines, f"fn {name}({', '.join(parameters)}):", *local, *body]

    def of_nonlocal(self, node: ast.Nonlocal) -> list[str]:
        return []

    of_global = of_nonlocal

    def of_classdef(self, node: ast.ClassDef) -> list[str]:
        bases = [word for word in map(self.expression, node.bases) if word != "object"]
        if len(bases) > 1 or node.keywords:
            raise Untranslatable("a class with several parents")
        self.expression.parents.append(bases[0] if bases else "")
        lines = [f"class {node.name}{'(' + bases[0] + ')' if bases else ''}:"]
        for item in node.body:
            match item:
                case ast.FunctionDef():
                    inner = self.of_functiondef(item, is_method=True)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    inner = [f"{name_of(name)}: any = {self.expression(value)}"]
                case ast.AnnAssign(target=ast.Name(id=name), value=value):
                    inner = [f"{name_of(name)}: any" + (f" = {self.expression(value)}" if value else "")]
                case ast.Expr() | ast.Pass():
                    inner = []
                case _:
                    raise Untranslatable(f"a statement of type {type(item).__name__} in a class")
            lines += [f"    {line}" for line in inner]
        self.expression.parents.pop()
        return lines if len(lines) > 1 else [*lines, "    fn unused(): nil"]
