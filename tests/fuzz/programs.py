"""
Random tensor programs that are mostly valid: the writer knows the shape of every tensor that it mentions.

A program is a function of its framework and its seed. Conditions and numbers of turns are known, so that what it does
does not hang on anything that an analysis cannot see.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.fuzz import paddle_words, torch_words
from tests.fuzz.dialects import Shape
from tests.fuzz.drafts import SQUARE, Scope, Tensor
from tests.fuzz.keepers import Keeper

_DIALECTS = {words.name: words for words in (torch_words.WORDS, paddle_words.WORDS)}
_NESTED = 2
_NO_RESULT = ("hardshrink", "set_value")  # calls that give nothing, or another tensor than they write
_TRUTHS = {True: ("True", "1 < 2", "len([0]) == 1", "'a' in {'a': 1}"), False: ("False", "None", "2 + 2 == 5", "[]")}


def program(framework: str, seed: int) -> str:
    """Write the program of a seed."""
    return _Writer(_DIALECTS[framework], random.Random(f"{framework} {seed}")).program()


class _Writer(Keeper):
    """Writes statements at random until a program is long enough."""

    def program(self) -> str:
        """Write leaves, statements and backward, at module level or in a function that is called."""
        in_main = self.chance.random() < 0.3
        self.depth, self.enclosed = int(in_main), in_main
        for _ in range(self.chance.randint(1, 3)):
            self._leaf(SQUARE)
        self._name("h", self._expression(self._pick(SQUARE), 1), Tensor(SQUARE))
        for _ in range(self.chance.randint(3, 9)):
            self._statement()
        self._end()
        body = self.lines
        if in_main:
            call = ["main()"] if self.chance.random() < 0.5 else ['if __name__ == "__main__":', "    main()"]
            body = ["def main():", *body, "", "", *call]
        return "\n".join([*self.words.prelude, "", "kept = []", "", *self.above, *body]) + "\n"

    # Statements

    def _statement(self) -> None:
        kinds: list[tuple[int, Callable[[], None]]] = [
            (22, self._new),
            (6, self._reduced),
            (9, self._view),
            (3, self._pieces),
            (8, self._write),
            (4, self._pair_write),
            (5, self._augmented),
            (4, self._written_part),
            (3, self._alias),
            (1, self._other_write),
            (2, self._unrecorded),
            (1, self._out),
            (2, self._rebound),
            (2, self._list),
            *self.keeping(),
        ]
        if self.scope.bends:
            kinds += [(2, self._bent), (1, self._backward_now), (1, self._plain_tensor)]
        if self.nested < _NESTED:
            kinds += [(3, self._branch), (3, self._loop), (2, self._over_list), (3, self._helper)]
            kinds += [(3, self._layers)] * self.runs
        weights = [weight for weight, _ in kinds]
        self.chance.choices([act for _, act in kinds], weights)[0]()

    def _plain_tensor(self) -> None:
        self._plain(SQUARE)

    def _new(self) -> None:
        path = self._any()
        self._name("y", self._expression(path, 2), Tensor(self._tensor(path).shape))

    def _rebound(self) -> None:
        names = [n for n, t in self.scope.tensors.items() if t.kind == "float" and not t.leaf]
        if names:
            name = self.chance.choice(names)
            text = self._expression(name, 1)
            self._line(f"{name} = {text}")
            self.scope.tensors[name] = Tensor(self._tensor(name).shape)

    def _reduced(self) -> None:
        text, shape = self._reshaped(self.words.reduced)
        self._name("r", text, Tensor(shape))

    def _view(self) -> None:
        text, shape = self._reshaped(self.words.views)
        leaf = any(name in text for name in self.leaves) and "detach" not in text and "clone" not in text
        self._name("v", text, Tensor(shape, leaf=leaf))

    def _pieces(self) -> None:
        choices = [(entry, name) for entry in self.words.pieces for name in self._among(entry[2])]
        if choices:
            (text, count, _, leads_to), path = self.chance.choice(choices)
            shape = leads_to(self._tensor(path).shape)
            names = [self._fresh("p") for _ in range(count)]
            self._line(f"{', '.join(names)} = {text.replace('{x}', path)}")
            protected = self.words.name == "torch" and "tensor_split" not in text
            for name in names:
                self.scope.tensors[name] = Tensor(shape, leaf=protected)

    def _write(self) -> None:
        path = self._target()
        if path is not None:
            self._wrote(self._fill(self.chance.choice(self.words.writes), path), path)

    def _wrote(self, text: str, path: str) -> None:
        """Write a statement that writes a tensor, sometimes under another name for its result, or without gradient."""
        luck = self.chance.random()
        is_call = "=" not in text.replace("inplace=", "") and text.endswith(")")
        if luck < 0.15 and is_call and not any(word in text for word in _NO_RESULT):
            name = self._fresh("z")
            self._line(f"{name} = {text}")
            self.scope.tensors[name] = self._tensor(path)
        elif luck < 0.25:
            with self._block(self.words.no_grad, keeps=True):
                self._line(text)
        else:
            self._line(text)

    def _pair_write(self) -> None:
        path = self._target()
        if path is not None:
            self._wrote(self._fill(self.chance.choice(self.words.pair_writes), path), path)

    def _augmented(self) -> None:
        path = self._target()
        if path is None:
            return
        operator = self.chance.choice(self.words.operators)
        if self.chance.random() < 0.4:
            operand = self.chance.choice(["2", "0.5", "1"])
        elif self.chance.random() < 0.2:
            operand = f"{path}.mean()"
        else:
            operand = self._operand(self._tensor(path).shape)
        if self.words.name == "paddle":
            for names in (self.scope.tensors, self.scope.held):
                if path in names:
                    names[path] = Tensor(names[path].shape)
        self._line(f"{path} {operator} {operand}")

    def _written_part(self) -> None:
        path = self._target(lambda shape: shape == SQUARE)
        if path is not None:
            self._wrote(self._fill(self.chance.choice(self.words.square_writes), path), path)

    def _other_write(self) -> None:
        kind = self.chance.choice(["mask", "index"])
        name = self._other(kind, kind[0])
        words = self.words.mask_writes if kind == "mask" else self.words.index_writes
        self._line(self.chance.choice(words).replace("{m}", name).replace("{i}", name))

    def _bent(self) -> None:
        text, fits, leads_to = self.chance.choice(self.words.bent_writes)
        path = self._target(fits)
        if path is not None:
            self._line(text.replace("{x}", path))
            tensor = self._tensor(path)
            tensor.shape = leads_to(tensor.shape)

    def _unrecorded(self) -> None:
        path = self._any()
        text = self.chance.choice(["{x}.data", "{x}.detach()"]).replace("{x}", path)
        number = "mul_(2)" if self.words.numbers_in_writes else "scale_(2.0)"
        self._line(f"{text}.{self.chance.choice([number, 'zero_()', 'abs_()'])}")

    def _out(self) -> None:
        path = self._target()
        if path is not None and self.chance.random() < 0.5:
            target = self._pick(self._tensor(path).shape)
            text = self.chance.choice(self.words.out).replace("{x}", path).replace("{o}", target)
            with self._block(self.words.no_grad, keeps=True):
                self._line(text)

    def _alias(self) -> None:
        path = self._any()
        name = self._fresh("a")
        self._line(f"{name} = {path}")
        self.scope.tensors[name] = self._tensor(path)

    def _list(self) -> None:
        shape = self._tensor(self._any()).shape
        paths = [self._pick(shape) for _ in range(self.chance.randint(2, 3))]
        paths = [path for path in paths if not self._tensor(path).leaf] or [self._plain(shape)]
        name = self._fresh("items")
        items = [self._tensor(path) for path in paths]
        if self.chance.random() < 0.3:
            self._line(f"{name} = [t * 2 for t in ({', '.join(paths)},)]")
            items = [Tensor(shape) for _ in paths]
        else:
            self._line(f"{name} = [{', '.join(paths)}]")
        if self.chance.random() < 0.4:
            items.append(Tensor(shape))
            self._line(f"{name}.append({self._expression(paths[0], 1)})")
        self.scope.lists[name] = items

    def _over_list(self) -> None:
        lists = [name for name, items in self.scope.lists.items() if len({item.shape for item in items}) == 1]
        if not lists:
            return
        name = self.chance.choice(lists)
        each = self._fresh("t")
        head = self.chance.choice([f"for {each} in {name}:", f"for _, {each} in enumerate({name}):"])
        with self._block(head, bends=False):
            self.scope.tensors[each] = Tensor(self.scope.lists[name][0].shape)
            self._statements(2)

    def _branch(self) -> None:
        holds = self.chance.random() < 0.5
        flag = self._fresh("flag")
        self._line(f"{flag} = {self.chance.choice(_TRUTHS[holds])}")
        text = flag if self.chance.random() < 0.7 else f"not {flag}"
        holds = holds is not text.startswith("not")
        self._side(f"if {text}:", runs=holds)
        if self.chance.random() < 0.5:
            self._side("else:", runs=not holds)

    def _side(self, head: str, *, runs: bool) -> None:
        runs_now, self.runs = self.runs, self.runs and runs
        with self._block(head, keeps=runs):
            self._statements(2)
        self.runs = runs_now

    def _loop(self) -> None:
        turn = self._fresh("k")
        with self._block(f"for {turn} in range({self.chance.randint(2, 4)}):", bends=False):
            if self.chance.random() < 0.3:
                path = self._target(lambda shape: shape == SQUARE)
                if path is not None:
                    self._line(f"{path}[{turn}] = {self._pick((4,))}")
            if self.chance.random() < 0.3:
                self._side(f"if {turn} == {self.chance.randint(0, 2)}:", runs=False)
            self._statements(3)

    def _helper(self) -> None:
        known = [(name, shapes) for name, shapes in self.scope.helpers.items() if self.chance.random() < 0.5]
        if known:
            name, shapes = known[0]
            paths = [self._pick(shape) for shape in shapes]
        else:
            name = self._fresh("helper")
            paths = [self._any() for _ in range(self.chance.randint(1, 2))]
            shapes = tuple(self._tensor(path).shape for path in paths)
            self._function(name, shapes)
            self.scope.helpers[name] = shapes
        self._name("y", f"{name}({', '.join(paths)})", Tensor(shapes[0]))

    def _function(self, name: str, shapes: tuple[Shape, ...]) -> None:
        parameters = [self._fresh("t") for _ in shapes]
        with self._elsewhere():
            self._line(f"def {name}({', '.join(parameters)}):")
            self.depth = 1
            given = zip(parameters, shapes, strict=True)
            self.scope = Scope({parameter: Tensor(shape) for parameter, shape in given}, bends=False)
            self._body(shapes[0])

    @contextmanager
    def _elsewhere(self) -> Iterator[None]:
        """Write above the program, in a scope and at a depth of its own."""
        kept = self.lines, self.depth, self.scope, self.enclosed
        self.lines, self.depth, self.nested, self.enclosed = [], 0, self.nested + 1, True
        yield
        self.above += [*self.lines, "", ""]
        self.lines, self.depth, self.scope, self.enclosed = kept
        self.nested -= 1

    def _body(self, shape: Shape) -> None:
        """Write the statements of a function and what it returns."""
        self._statements(4)
        path = self._pick(shape)
        self._line(f"return {path if self.chance.random() < 0.5 else self._expression(path, 1)}")

    def _layers(self) -> None:
        if self.chance.random() < 0.3:
            layers = [self.chance.choice(self.words.layers) for _ in range(self.chance.randint(2, 4))]
            net = self._fresh("net")
            self._line(f"{net} = nn.Sequential({', '.join(layers)})")
        else:
            net = self._fresh("net")
            name = f"N{net[1:]}"
            self._class(name)
            self._line(f"{net} = {name}()")
        for _ in range(self.chance.randint(1, 2)):
            self.layered = True
            name = self._name("y", f"{net}({self._pick(SQUARE)})", Tensor(SQUARE))
            self._line(f"kept.append({name}.sum())")

    def _class(self, name: str) -> None:
        layers = {self._fresh("layer"): self.chance.choice(self.words.layers) for _ in range(self.chance.randint(1, 4))}
        with self._elsewhere():
            self._line(f"class {name}({self.words.module}):")
            self._line("    def __init__(self):")
            self._line("        super().__init__()")
            for layer, text in layers.items():
                self._line(f"        self.{layer} = {text}")
            self._line("")
            self._line(f"    def {self.words.forward}(self, t):")
            self.depth = 2
            self.scope = Scope({"t": Tensor(SQUARE)}, bends=False)
            for layer in layers:
                source = self._pick(SQUARE)
                if self.chance.random() < 0.7:
                    self._line(f"t = self.{layer}({source})")
                    self.scope.tensors["t"] = Tensor(SQUARE)
                else:
                    self._name("y", f"self.{layer}({source})", Tensor(SQUARE))
                if self.chance.random() < 0.4:
                    self._statement()
            self._line(f"return {self._pick(SQUARE)}")

    def _loss(self) -> str:
        names = [name for name in self._among(lambda _: True) if name not in self.leaves]
        chosen = set(self.chance.sample(names, min(len(names), self.chance.randint(1, 3))))
        parts = [f"{name}.sum()" for name in names if name in chosen]
        return " + ".join([*parts, f"{self.chance.choice(self.leaves)}.sum()", "sum(kept)"])

    def _backward_now(self) -> None:
        if self.nested or not set(self.leaves) <= set(self.scope.tensors):
            return
        self._line(f"({self._loss()}).backward(retain_graph=True)")
        if self.chance.random() < 0.4:
            optimizer = self._fresh("opt")
            kind = self.chance.choice(["SGD", "Adam"])
            text = self.words.optimizer.replace("{kind}", kind).replace("{leaves}", ", ".join(self.leaves))
            self._line(f"{optimizer} = {text}")
            self._line(f"{optimizer}.step()")
            self._line(f"{optimizer}.{self.words.clear}()")

    def _end(self) -> None:
        loss = self._fresh("loss")
        self._line(f"{loss} = {self._loss()}")
        retain = self.chance.random() < 0.2
        if self.chance.random() < 0.2 and not self.layered:  # a gradient for some leaves does not run all layers
            text = self.words.grad.replace("{loss}", loss).replace("{leaves}", ", ".join(self.leaves))
            self._line(text.replace("{retain}", str(retain)))
        else:
            self._line(f"{loss}.backward({'retain_graph=True' if retain else ''})")
        if retain:
            self.runs = False  # no new layers: nothing needs their results
            self._statements(2)
            self._line(f"{loss}.backward()")
