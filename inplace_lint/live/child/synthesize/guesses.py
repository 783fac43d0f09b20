"""
First guesses of inputs, by the names of parameters and the layer that gets them first; and larger ones of the same
kind.

    forward(self, x, mask) before a Conv2d for 8 channels   ->   x: (2, 8, 16, 16), mask: (2, 1, 16, 16) of bools
"""

from __future__ import annotations

import re
from typing import Iterator, List, Optional, Tuple

from .shapes import MOST_ELEMENTS, Guess, Shape, Spec, is_small

_SIDES = (64, 224)


def first_guesses(names: List[str], kind: str, width: int) -> Iterator[Guess]:
    """Return guesses for parameters of these names, before a layer of this kind that wants so many channels."""
    for shape, number in _families(kind, width):
        yield tuple(_spec(name, shape, number) for name in names)
        if len(names) == 1 and re.search(r"s$|list|feat|inputs|hidden", names[0]) and number == "float":
            yield (Spec("list", shape),)
    if len(names) > 1:
        for shape, number in _families(kind, width)[:2]:
            whole = tuple(_spec(name, shape, number) for name in names)
            vector = Spec("float", (2, width))
            yield from ((*whole[:at], vector, *whole[at + 1 :]) for at in range(len(names) - 1, 0, -1))


def _families(kind: str, width: int) -> List[Tuple[Shape, str]]:
    image, sequence, vector = (2, width, 16, 16), (2, 5, width), (2, width)
    signal, volume, cube = (2, width, 16), (2, width, 8, 16, 16), (2, width, 16, 16, 16)
    if kind == "embedding":
        return [((2, 5), "long"), ((2,), "long"), (sequence, "float")]
    first = [image, sequence, vector, signal]
    if kind.endswith("1d") or "1d" in kind:
        first = [signal, vector, sequence]
    elif "3d" in kind:
        first = [volume, cube, image]
    elif kind.startswith(("linear", "layernorm", "multihead", "lstm", "gru", "rnn", "transformer")):
        first = [sequence, vector, (2, 4, 4, width), image]
    rest = [image, sequence, vector, signal, (width,), (width, width), (2, 4, 4, width), volume, (2, 3, 32, 32)]
    rest += [(2, width, side, side) for side in (8, *_SIDES) if width * side * side * 2 <= MOST_ELEMENTS // 2]
    shapes = [*first, *(shape for shape in rest if shape not in first)]
    return [*((shape, "float") for shape in shapes), ((2, 5), "long"), ((2,), "long")]


def _spec(name: str, shape: Shape, number: str) -> Spec:
    low = name.lower()
    if re.search(r"(^|_)(ids|idx|index|indices|tokens|labels?|targets?|src_tokens|edge_index)$", low):
        return Spec("long", (2, 5) if len(shape) == 3 else shape[:1])  # noqa: PLR2004 - a sequence
    if "mask" in low:
        return Spec("bool", shape[:-1] if len(shape) == 3 else (*shape[:1], 1, *shape[2:]))  # noqa: PLR2004
    if re.search(r"^(t|ts|time|timesteps?|sigma)$", low):
        return Spec("float", shape[:1])
    if re.search(r"^(t_?emb|temb|time_emb\w*|pooled\w*|cond|vec|style|w|noise_level|class_emb\w*)$", low):
        return Spec("float", (shape[0], shape[1] if len(shape) > 3 else shape[-1]))  # noqa: PLR2004 - an image
    return Spec(number, shape)


def grown(guess: Guess) -> Iterator[Guess]:
    """Return larger inputs of the same kinds: images of four times the side, and of a side that models are made for."""
    for side in _SIDES:
        made = tuple(_of_side(spec, side) or spec for spec in guess)
        if made != guess and is_small(made):
            yield made


def _of_side(spec: Spec, side: int) -> Optional[Spec]:
    """Return an image of this side, or a volume: a quarter of it deep."""
    if spec.kind not in {"float", "list"} or len(spec.shape) not in {4, 5} or max(spec.shape[2:]) >= side:
        return None
    depth = (max(side // 4, spec.shape[2]),) if len(spec.shape) == 5 else ()  # noqa: PLR2004 - a volume
    return Spec(spec.kind, (*spec.shape[:2], *depth, side, side))
