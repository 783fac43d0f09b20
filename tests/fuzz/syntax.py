"""
Random Python: every kind of statement and expression of Python 3.8 to 3.14 in any nesting, and sources with damage.

Templates are filled at random: `{e}` is an expression, `{n}` a name, `{t}` a target, `{p}` a pattern, `{b}` a block,
and `~` ends a line. What comes out need not mean anything, and where it is damaged it need not be Python.
"""

from __future__ import annotations

import random
import re

_HOLE = re.compile(r"\{([entpb])\}")
_NAMES = [
    "x",
    "y",
    "h",
    "self",
    "torch",
    "nn",
    "F",
    "loss",
    "net",
    "opt",
    "range",
    "len",
    "super",
    "print",
    "_",
    "kept",
    "cls",
]
_ATOMS = """
    {n}|{n}|{n}|0|1|-1|2.5|1j|True|None|...|'a'|b'b'|()|[]|{}|torch.ones(2, 2, requires_grad=True)|torch.zeros(3)
    x.view(-1)|x.chunk(2)|x.add_(1)|x[0].zero_()|F.relu(x, inplace=True)|nn.ReLU(inplace=True)|self.act|x.data
    x.grad|nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))|loss.backward()|opt.step()|net(x)|torch.no_grad()
    net.parameters()|super().__init__()|x.unbind()|x.detach().numpy()|torch.optim.SGD(net.parameters(), lr=0.1)
    x.shape|x.size(0)|len(x)|nn.Parameter(torch.ones(2))|net.state_dict()|copy.deepcopy(x)
    functools.partial(F.relu, inplace=True)|isinstance(x, list)
"""
_EXPRESSIONS = """
    {e} + {e}|{e} @ {e}|{e} ** {e}|-{e}|not {e}|~{e}|{e} and {e}|{e} or {e}|{e} < {e} <= {e}|{e} is not {e}
    {e} not in {e}|{e} if {e} else {e}|{e}.{n}|{e}.{n}({e})|{e}[{e}]|{e}[{e}:{e}]|{e}[::{e}, ..., None]|{e}[:, {e}]
    {e}({e}, *{e}, k={e}, **{e})|{e}()|({n} := {e})|lambda {n}=1, /, *y, h={e}, **self: {e}|lambda: {e}
    [{e} for {t} in {e} if {e}]|{{e} for {n} in {e}}|{{e}: {e} for {n}, y in {e}}|({e} for {n} in {e} for y in {e})
    [{e}, *{e}]|({e}, {e})|{{e}: {e}, **{e}}|{{e}, {e}}|(await {e})|(yield)|(yield {e})|(yield from {e})
    f'{{e}!r:>{{e}}} {{n}=}'|[{e} async for {n} in {e}]|{e}.{n}.{n}|{e}[*{e}, 1]|x.{n}_({e})|torch.{n}({e}, out={e})
    dict(a={e})|list({e})|zip({e}, {e})|enumerate({e})|map({e}, {e})|getattr({e}, 'a', {e})|sorted({e}, key={e})
"""
_TARGETS = "{n}|{n}|{e}.{n}|{e}[{e}]|({t}, {t})|[{t}, *{n}]|x[0]|x.data|self.a|x[:, 1:]"
_PATTERNS = (
    "_|1|-1|'a'|None|{n}|{n}.y|[{p}, *_]|({p}, {p})|{'a': {p}, **h}|list({p})|dict(a={p})|{p} | 2|{p} as loss|2+3j"
    "|torch.Tensor()"
)
_STATEMENTS = """
    {e}|{t} = {e}|{t} = {t} = {e}|{n} += {e}|{e}[{e}] *= {e}|{e}.{n} @= {e}|x >>= {e}|{n}: {e} = {e}|{e}.{n}: {e}
    pass|break|continue|return {e}|return|raise|raise {e} from {e}|assert {e}, {e}|del {n}, {e}[{e}]|global {n}
    nonlocal {n}|import a.b as {n}|from . import {n}|from .a import y as {n}|from torch import *
    import torch, paddle|if {e}:{b}|if {e}:{b}else:{b}|if {e}:{b}elif {e}:{b}else:{b}|while {e}:{b}
    while {e}:{b}else:{b}|for {t} in {e}:{b}|for {t} in {e}:{b}else:{b}|async for {t} in {e}:{b}
    with {e} as {t}, {e}:{b}|with ({e} as {n}, {e}):{b}|async with {e}:{b}
    try:{b}except {e} as {n}:{b}except:{b}else:{b}finally:{b}|try:{b}finally:{b}|try:{b}except* {e}:{b}
    def {n}({n}, y_={e}, /, *h_, k: {e} = {e}, **kw) -> {e}:{b}|async def {n}(x_):{b}|@{e}~def {n}():{b}
    @torch.no_grad()~def f(x):{b}|class {n}:{b}|class {n}({e}, metaclass={e}):{b}|class Net(nn.Module):{b}
    @{e}~class {n}:{b}|match {e}:~    case {p} if {e}:{b}|match {e}, {e}:~    case {p}:{b}
    class Net(nn.Module):~    def forward(self, x):{b}|class Net(nn.Module):~    def __init__(self):{b}
    if __name__ == '__main__':{b}
"""
_NEW = """
    type {n} = {e}|type {n}[T] = {e}|def {n}[T: int, *Ts, **P](x: T) -> T:{b}|class {n}[T = int]:{b}
    try:{b}except a, b:{b}|x = t'a {{e}}'|f'{x['a']}'
"""


def _choices(text: str) -> tuple[str, ...]:
    # A bar between spaces belongs to a pattern.
    return tuple(part.strip() for line in text.strip().splitlines() for part in re.split(r"(?<! )\|", line.strip()))


_TABLES = {
    "e": _choices(_EXPRESSIONS),
    "t": _choices(_TARGETS),
    "p": _choices(_PATTERNS),
}
_BLOCKS = _choices(_STATEMENTS)
_NEW_BLOCKS = _choices(_NEW)
_NEWER = 0.01  # of statements are such that Python 3.11 does not read them
_LEAST = {"e": _choices(_ATOMS), "t": ("{n}", "x[0]"), "p": ("_", "1", "{n}")}


def module(seed: int) -> str:
    """Write a random module that mentions a framework."""
    chance = random.Random(f"syntax {seed}")
    lines = ["import torch", "from torch import nn", "import torch.nn.functional as F"]
    for _ in range(chance.randint(1, 8)):
        lines += _statement(chance, chance.randint(1, 4))
    return "\n".join(lines) + "\n"


def _statement(chance: random.Random, depth: int) -> list[str]:
    choices = [
        text for text in (_NEW_BLOCKS if chance.random() < _NEWER else _BLOCKS) if depth > 0 or "{b}" not in text
    ]
    text = chance.choice(choices)
    parts = re.split(r"(\{b\}|~)", text)
    lines = [""]
    for part in parts:
        if part == "~":
            lines.append("")
        elif part == "{b}":
            shift = "    " * (1 + lines[-1].startswith("    "))
            for _ in range(chance.randint(1, 3)):
                lines += [shift + line for line in _statement(chance, depth - 1)]
            lines.append("")
        else:
            lines[-1] += _filled(chance, part, depth)
    return [line for line in lines if line.strip()]


def _filled(chance: random.Random, text: str, depth: int) -> str:
    def hole(match: re.Match[str]) -> str:
        kind = match[1]
        if kind == "n":
            return chance.choice(_NAMES)
        deeper = depth > 0 and chance.random() < 0.5
        inner = _filled(chance, chance.choice((_TABLES if deeper else _LEAST)[kind]), depth - 1)
        return f"({inner})" if kind == "e" and not inner.isidentifier() else inner

    return _HOLE.sub(hole, text)


def damaged(text: str, seed: int) -> str:
    """Cut, double, swap or misspell parts of a source."""
    chance = random.Random(f"damage {seed}")
    lines = text.splitlines(keepends=True)
    for _ in range(chance.randint(0, 6)):
        if not lines:
            break
        place = chance.randrange(len(lines))
        kind = chance.randrange(7)
        if kind == 0:
            del lines[place]
        elif kind == 1:
            lines.insert(chance.randrange(len(lines)), lines[place])
        elif kind == 2:
            lines[place] = "    " + lines[place]
        elif kind == 3:
            other = chance.randrange(len(lines))
            lines[place], lines[other] = lines[other], lines[place]
        elif kind == 4:
            at = chance.randrange(len(lines[place]) + 1)
            lines[place] = lines[place][:at] + chance.choice("()[]{}:=,.\"'#\\\t\f\0é@*;") + lines[place][at:]
        elif kind == 5:
            words = re.findall(r"\w+", lines[place])
            if words:
                lines[place] = lines[place].replace(chance.choice(words), chance.choice(_NAMES), 1)
        else:
            lines = lines[:place]
    whole = "".join(lines)
    return whole[: chance.randrange(len(whole))] if whole and chance.random() < 0.2 else whole
