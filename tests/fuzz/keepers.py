"""
Statements of random programs that keep tensors in things, hand them around, and train on them.

Dicts and objects, names that change places, closures, modes of functions, `while`, networks with an optimizer that
takes steps between backwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.fuzz.dialects import Shape
from tests.fuzz.drafts import SQUARE, Draft, Tensor

_CARRIED = 0.4  # of trainings go on with what a turn before made
_TURNS = (1, 3)
_BINDS = re.compile(r"\s*(\w+) (?:[^\w\s(\[.=]{1,2})?= ")


class Keeper(Draft):
    """Writes statements about what holds tensors, and about turns of training."""

    def keeping(self) -> list[tuple[int, Callable[[], None]]]:
        """Give the statements of this module with their weights; those of blocks only where blocks may stand."""
        kinds = [
            (2, self._dict),
            (1, self._box),
            (1, self._chosen),
            (1, self._swapped),
            (1, self._matrix_product),
        ]
        if self._held():
            kinds += [(3, self._kept_anew)]
        if self.nested < 2:
            kinds += [(2, self._while), (1, self._mode), (1, self._closure), (1, self._over_dict), (1, self._tried)]
        if self.scope.bends and not self.nested:
            kinds += [(1, self._training)]
            if self.words.name == "torch":
                kinds += [(1, self._penalty)]
        if self.words.name == "torch":
            kinds += [(1, self._out_recorded)]  # Paddle gives `out` the history of the call, which is told as missed
        return kinds

    def _held(self) -> list[str]:
        return list(self.scope.held)

    # Holders

    def _dict(self) -> None:
        name = self._fresh("table")
        paths = [self._any() for _ in range(self.chance.randint(1, 3))]
        items = {key: path for key, path in zip("abc", paths, strict=False) if not self._tensor(path).leaf}
        items = items or {"a": self._plain(SQUARE)}
        values = {key: path if self.chance.random() < 0.7 else self._expression(path, 0) for key, path in items.items()}
        if self.chance.random() < 0.3:
            self._line(f"{name} = dict({', '.join(f'{key}={value}' for key, value in values.items())})")
        else:
            inside = ", ".join(f'"{key}": {value}' for key, value in values.items())
            self._line(f"{name} = {{{inside}}}")
        for key, path in items.items():
            old = self._tensor(path)
            self.scope.held[f'{name}["{key}"]'] = old if values[key] == path else Tensor(old.shape)
        self.scope.dicts.append(name)

    def _box(self) -> None:
        name = self._fresh("box")
        kind = name.capitalize()
        self.above += [f"class {kind}:", "    pass", "", ""]
        self._line(f"{name} = {kind}()")
        path = self._any()
        if self._tensor(path).leaf:
            path = self._plain(SQUARE)
        self._line(f"{name}.value = {path}")
        self.scope.held[f"{name}.value"] = self._tensor(path)

    def _kept_anew(self) -> None:
        path = self.chance.choice(self._held())
        shape = self._tensor(path).shape
        self._line(f"{path} = {self._expression(path if self.chance.random() < 0.5 else self._pick(shape), 1)}")
        self.scope.held[path] = Tensor(shape)

    def _over_dict(self) -> None:
        names = [name for name in self.scope.dicts if len(self._shapes(name)) == 1]
        if names:
            name = self.chance.choice(names)
            each = self._fresh("t")
            head = self.chance.choice([f"for {each} in {name}.values():", f"for _, {each} in {name}.items():"])
            with self._block(head, bends=False):
                self.scope.tensors[each] = Tensor(next(iter(self._shapes(name))))
                self._statements(2)

    def _shapes(self, name: str) -> set[Shape]:
        return {tensor.shape for path, tensor in self.scope.held.items() if path.startswith(f"{name}[")}

    # Names

    def _chosen(self) -> None:
        path = self._any()
        shape = self._tensor(path).shape
        others = [name for name in self._among(lambda given: given == shape) if not self._tensor(name).leaf]
        if len(others) > 1:
            first, second = self.chance.sample(others, 2)
            holds = self.chance.random() < 0.5
            flag = self._fresh("flag")
            self._line(f"{flag} = {holds}")
            name = self._fresh("a")
            self._line(f"{name} = {first} if {flag} else {second}")
            self.scope.tensors[name] = self._tensor(first if holds else second)

    def _swapped(self) -> None:
        names = [n for n, t in self.scope.tensors.items() if t.kind == "float" and not t.leaf and t.shape == SQUARE]
        if len(names) > 1 and self.scope.bends and not self.nested:
            first, second = self.chance.sample(names, 2)
            self._line(f"{first}, {second} = {second}, {first}")
            held = self.scope.tensors
            held[first], held[second] = held[second], held[first]

    def _matrix_product(self) -> None:
        names = [n for n, t in self.scope.tensors.items() if t.kind == "float" and not t.leaf and t.shape == SQUARE]
        if names:
            name = self.chance.choice(names)
            self._line(f"{name} @= {self._pick(SQUARE)}")
            self.scope.tensors[name] = Tensor(SQUARE)

    def _out_recorded(self) -> None:
        path = self._target(lambda shape: shape == SQUARE)
        if path is not None and self.chance.random() < 0.3:
            text = self.chance.choice(self.words.out).replace("{x}", path).replace("{o}", self._pick(SQUARE))
            self._line(text)

    # Blocks

    def _while(self) -> None:
        turn = self._fresh("k")
        self._line(f"{turn} = 0")
        with self._block(f"while {turn} < {self.chance.randint(2, 3)}:", bends=False):
            self._statements(2)
            self._line(f"{turn} += 1")

    def _mode(self) -> None:
        with self._block(self.chance.choice(self.words.modes), keeps=True):
            self._statements(3)

    def _tried(self) -> None:
        with self._block("try:", keeps=True):
            self._statements(2)
        with self._block("finally:", keeps=True):
            self._statements(1)

    def _closure(self) -> None:
        name = self._fresh("inner")
        outer = {*self.scope.tensors, *self.scope.lists}
        with self._block(f"def {name}():", bends=False):
            first = len(self.lines)
            self._statements(3)
            bound = {match[1] for line in self.lines[first:] if (match := _BINDS.match(line))}
            if bound & outer:
                word = "nonlocal" if self.enclosed else "global"
                self.lines.insert(first, "    " * self.depth + f"{word} {', '.join(sorted(bound & outer))}")
            self._line(f"return {self._any()}")
        for _ in range(self.chance.randint(1, 2)):
            self._line(f"{name}()")

    # Training

    def _training(self) -> None:
        net, optimizer, turn = self._fresh("net"), self._fresh("opt"), self._fresh("step")
        layers = [self.chance.choice(self.words.layers) for _ in range(self.chance.randint(1, 3))]
        self._line(f"{net} = nn.Sequential({', '.join(['nn.Linear(4, 4)', *layers, 'nn.Linear(4, 4)'])})")
        kind = self.chance.choice(["SGD", "Adam"])
        self._line(f"{optimizer} = {self.words.optimizer_of.replace('{kind}', kind).replace('{net}', net)}")
        source = self._name("h", f"{self.words.name}.rand({self.words.sizes})", Tensor(SQUARE))
        carried = self.chance.random() < _CARRIED
        with self._block(f"for {turn} in range({self.chance.randint(*_TURNS)}):", bends=False):
            self._turn(net, optimizer, source, carried=carried)

    def _turn(self, net: str, optimizer: str, source: str, *, carried: bool) -> None:
        """Write a turn: forward, some statements, one or two backwards and steps in some order."""
        if carried:
            cut = self.chance.random() < 0.5
            self._line(f"{source} = {net}({source}{'.detach()' if cut else ''})")
            result = source
        else:
            result = self._name("y", f"{net}({source})", Tensor(SQUARE))
        for _ in range(self.chance.randint(0, 2)):
            self._statement()
        first, second = self._fresh("loss"), self._fresh("loss")
        twice = self.chance.random() < 0.3
        self._line(f"{first} = ({self._expression(result, 0)}).mean()")
        if twice:
            self._line(f"{second} = {result}.sum()")
        self._line(f"{first}.backward({'retain_graph=True' if twice or self.chance.random() < 0.2 else ''})")
        step = [f"{optimizer}.step()", f"{optimizer}.{self.words.clear}()"]
        later = [f"{second}.backward()"] if twice else []
        early = self.chance.random() < 0.3
        for line in [*step, *later] if early else [*later, *step]:
            self._line(line)

    def _penalty(self) -> None:
        path = self._pick(SQUARE)
        leaf = self.chance.choice(self.leaves)
        if leaf in self.scope.tensors:
            name = self._fresh("slope")
            total = f"({path}.sum() + {leaf}.sum())"
            self._line(f"{name} = torch.autograd.grad({total}, [{leaf}], create_graph=True)[0]")
            self._line(f"kept.append({name}.pow(2).sum())")
