"""The small errors that `mutation` puts into a file: one place, one change."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

OPERATORS = {
    "+": "-", "-": "+", "*": "+", "/": "*", "//": "/", "%": "//", "**": "*", "@": "*", "&": "|", "|": "&",
    "<<": ">>", ">>": "<<", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "is not": "is", "is": "is not", "not in": "in", "in": "not in", "and": "or", "or": "and",
}  # fmt: skip
NAMES = {
    "floor": "ceil", "ceil": "floor", "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum",
    "any": "all", "all": "any", "argmin": "argmax", "argmax": "argmin",
}  # fmt: skip
WORDS = {name: NAMES[name] for name in ("floor", "ceil")} | {"left": "right", "right": "left"}


@dataclass(frozen=True)
class Mutant:
    """A file with one change."""

    file: str
    line: int
    before: str
    """The line that changes."""
    after: str
    text: str
    """The whole file, changed."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from others, wherever in the file it stands."""
        return self.file, self.before, self.after


def mutants(file: str, text: str) -> Iterator[Mutant]:
    """Yield every change of a file's text."""
    starts = [0, *accumulate(len(line.encode()) for line in text.splitlines(keepends=True))]
    data = text.encode()
    tree = ast.parse(text)
    for start, end, new in changes(tree, data, starts):
        changed = data[:start] + new.encode() + data[end:]
        line = data.count(b"\n", 0, start)
        first, last = starts[line], data.find(b"\n", end)
        before = data[first:last].decode().strip()
        after = changed[first : last + len(changed) - len(data)].decode().strip()
        yield Mutant(file, line + 1, before, after, changed.decode())


def named(file: str, text: str, before: str, after: str) -> Mutant:
    """Return the change of one line, given without its indentation, into another."""
    lines = text.split("\n")
    numbers = [i for i, line in enumerate(lines) if line.strip() == before]
    if len(numbers) != 1:
        raise SystemExit(f"mutation_map: {file} has {len(numbers)} lines {before!r}: name another")
    (number,) = numbers
    lines[number] = lines[number].replace(before, after)
    return Mutant(file, number + 1, before, after, "\n".join(lines))


def changes(tree: ast.AST, data: bytes, starts: list[int]) -> Iterator[tuple[int, int, str]]:
    """Yield where a change starts and ends, and what stands there instead."""

    def begin(node: ast.expr | ast.stmt) -> int:
        return starts[node.lineno - 1] + node.col_offset

    def end(node: ast.expr | ast.stmt) -> int:
        return starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def between(left: ast.expr, right: ast.expr) -> Iterator[tuple[int, int, str]]:
        gap = data[end(left) : begin(right)].decode()
        sign = gap.strip(" ()\n\t")
        if sign in OPERATORS:
            at = end(left) + gap.index(sign)
            yield at, at + len(sign), OPERATORS[sign]

    for node in statements(tree):
        match node:
            case ast.BinOp(left=left, right=right):
                yield from between(left, right)
            case ast.Compare(left=left, comparators=rest):
                for one, other in pairwise([left, *rest]):
                    yield from between(one, other)
            case ast.BoolOp(values=values):
                for one, other in pairwise(values):
                    yield from between(one, other)
            case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
                yield begin(node), begin(operand), ""
            case ast.Constant(value=bool(value)):
                yield begin(node), end(node), str(not value)
            case ast.Constant(value=int(value)):
                yield begin(node), end(node), str(value + 1)
            case ast.Constant(value=float(value)):
                yield begin(node), end(node), repr(2 * value if value else 1.0)
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in NAMES:
                yield end(node) - len(name), end(node), NAMES[name]
            case ast.Constant(value=str(value)) if value in WORDS:
                yield begin(node), end(node), f'"{WORDS[value]}"'
            case ast.Return(value=ast.BinOp() | ast.Call() as value) if is_number(value):
                yield begin(value), end(value), f"2 * ({data[begin(value) : end(value)].decode()})"
            case ast.Return(value=ast.Compare() | ast.BoolOp() as value):
                yield begin(value), end(value), f"not ({data[begin(value) : end(value)].decode()})"
            case ast.If(test=test) | ast.While(test=test) if not isinstance(test, ast.Compare | ast.UnaryOp):
                yield begin(test), end(test), f"not ({data[begin(test) : end(test)].decode()})"
            case ast.AugAssign(op=ast.Add() | ast.Sub() as op, target=target):
                at = data.index(b"=", end(target)) - 1
                yield at, at + 1, "-" if isinstance(op, ast.Add) else "+"
            case ast.Continue() | ast.Raise():
                yield begin(node), end(node), "pass"
            case ast.Expr(value=ast.Call()) | ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
                yield begin(node), end(node), "pass"


def is_number(value: ast.expr) -> bool:
    """Return whether an expression gives a number or an array, as far as its form tells."""
    match value:
        case ast.Call(func=ast.Name(id=name)):
            return name in ("float", "int", "sum", "min", "max", "len", "abs")
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
            return name in ("np", "math")
    return isinstance(value, ast.BinOp)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs: no docstrings, annotations, decorators, imports or lists of names."""
    yield node
    match node:
        case ast.FunctionDef():
            parts: list[ast.AST | None] = [*node.args.defaults, *node.args.kw_defaults, *node.body]
        case ast.ClassDef():
            parts = [*node.body]
        case ast.AnnAssign():
            parts = [node.value] if node.value else []
        case ast.Expr(value=ast.Constant()) | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            parts = []
        case ast.Assign(targets=[ast.Name(id="__all__" | "Floats" | "Ints")]):
            parts = []
        case _:
            parts = list(ast.iter_child_nodes(node))
    for part in filter(None, parts):
        yield from statements(part)
