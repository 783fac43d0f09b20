"""
Which inputs to try next: those that the framework's own error calls for.

    (2, 8, 16, 16), "expected input[2, 8, 16, 16] to have 3 channels, but got 8 channels"   ->   (2, 3, 16, 16)

An input is a `Spec`; a `Guess` has one for each tensor that a call takes. Nothing here runs anything: errors come in as
text, guesses go out.
"""

from __future__ import annotations

import functools
import math
import re
from typing import Callable, Iterator, List, NamedTuple, Optional, Tuple

Shape = Tuple[int, ...]
_MOST_AXES = 5
MOST_ELEMENTS = 1_000_000
_MOST_SIDE = 256
_SMALLEST_PART, _LARGEST_PART = 3, 64  # of what divides an axis


class Spec(NamedTuple):
    """One input: `kind` is float, long, bool or list (of four floats)."""

    kind: str
    shape: Shape


Guess = Tuple[Spec, ...]


def corrected(guess: Guess, error: str) -> Iterator[Guess]:
    """Return guesses that an error calls for, the surest first."""
    for change, *patterns in _ANSWERS:
        for pattern in patterns:
            found = re.search(pattern, error, re.DOTALL)
            if found:
                yield from (made for made in change(guess, found) if made != guess and is_small(made))


def is_small(guess: Guess) -> bool:
    """Check whether all inputs of a guess are small enough to be tried."""
    return all(math.prod(spec.shape) <= MOST_ELEMENTS for spec in guess)


def _each(guess: Guess, change: Callable[[Spec], Optional[Spec]]) -> List[Guess]:
    """Return the guess with all inputs changed, then with each changed alone."""
    changed = [change(spec) or spec for spec in guess]
    alone = [_with(guess, at, new) for at, new in enumerate(changed) if new != guess[at]]
    return [tuple(changed), *(alone if len(guess) > 1 else [])]


def _with(guess: Guess, at: int, spec: Spec) -> Guess:
    return (*guess[:at], spec, *guess[at + 1 :])


def _each_axis(guess: Guess, got: int, wanted: int) -> List[Guess]:
    """Return the guess with all axes of one number and size resized, then those of each input alone."""
    return [made for axis in range(_MOST_AXES) for made in _each(guess, functools.partial(_from, axis, got, wanted))]


def _from(axis: int, got: int, wanted: int, spec: Spec) -> Optional[Spec]:
    return _resized(spec, axis, wanted) if spec.shape[axis : axis + 1 or None] == (got,) else None


def _resized(spec: Spec, axis: int, size: int) -> Optional[Spec]:
    if spec.kind in {"long", "bool"} or not -len(spec.shape) <= axis < len(spec.shape) or size < 1:
        return None
    shape = list(spec.shape)
    shape[axis] = size
    return Spec(spec.kind, tuple(shape))


def _channels(guess: Guess, found: re.Match[str]) -> List[Guess]:
    """Answer `expected input[2, 3, 16, 16] to have 8 channels, but got 3 channels`."""
    wanted, got = int(found.group("want")), int(found.group("got"))
    exact = _each(guess, functools.partial(_from, 1, got, wanted))
    scaled = _each(guess, lambda spec: _resized(spec, 1, max(sum(spec.shape[1:2]) * wanted // max(got, 1), 1)))
    alone = [len(spec.shape) + 1 for spec in guess if spec.shape[:1] == (got,) and spec.shape[1:2] != (got,)]
    batched = [made for rank in alone[:1] for made in _of_rank(guess, rank)]  # it took the batch for channels
    return [*exact, *batched, *scaled, *_each(guess, lambda spec: _resized(spec, -1, wanted))]


def _inner(guess: Guess, found: re.Match[str]) -> List[Guess]:
    """Answer `mat1 and mat2 shapes cannot be multiplied (2x8 and 16x4)`."""
    got, wanted = int(found.group("got")), int(found.group("want"))
    last = _each(guess, functools.partial(_from, -1, got, wanted))
    scaled = _each(guess, lambda spec: _scaled(spec, wanted, got))
    return [*last, *scaled, *_each(guess, lambda spec: _resized(spec, -1, wanted))]


def _scaled(spec: Spec, wanted: int, got: int) -> Optional[Spec]:
    """Change the channels, or both spatial axes, so that what is flattened has the wanted size."""
    if len(spec.shape) < 2 or not got or got % spec.shape[1]:  # noqa: PLR2004 - a batch and channels
        return None
    if wanted * spec.shape[1] % got == 0:
        return _resized(spec, 1, wanted * spec.shape[1] // got)
    root = (wanted / got) ** 0.5
    if len(spec.shape) == 4 and (spec.shape[2] * root) == int(spec.shape[2] * root):  # noqa: PLR2004 - an image
        side = int(spec.shape[2] * root)
        return Spec(spec.kind, (*spec.shape[:2], side, side))
    return None


def _last(guess: Guess, found: re.Match[str]) -> List[Guess]:
    """Answer `Given normalized_shape=[8], expected input with shape [*, 8]`."""
    wanted = [int(word) for word in re.findall(r"\d+", found.group("want"))]
    return _each(guess, lambda spec: Spec(spec.kind, (*spec.shape[: -len(wanted)], *wanted)) if spec.shape else None)


def _rank(guess: Guess, found: re.Match[str]) -> List[Guess]:
    """Answer `Expected 3D (unbatched) or 4D (batched) input`, `expected 4, got 3`: the highest rank that is named."""
    ranks = [int(word) for word in re.findall(r"\d+", found.group("want"))]
    return [made for rank in sorted(set(ranks), reverse=True) for made in _of_rank(guess, rank)]


def _of_rank(guess: Guess, rank: int) -> List[Guess]:
    def change(spec: Spec) -> Optional[Spec]:
        if not 1 <= rank <= _MOST_AXES or spec.kind == "bool" or not spec.shape:
            return None
        width = spec.shape[1] if len(spec.shape) > 3 else spec.shape[-1]  # noqa: PLR2004 - an image has channels first
        shapes = {1: (width,), 2: (2, width), 3: (2, 5, width), 4: (2, width, 16, 16), 5: (2, width, 8, 16, 16)}
        return Spec(spec.kind, shapes[rank] if spec.kind != "long" else (2, 5, 5, 5, 5)[:rank])

    return _each(guess, change)


def _unpacked(guess: Guess, found: re.Match[str]) -> List[Guess]:
    """Answer `not enough values to unpack (expected 4, got 2)`: a shape of so many axes, or an axis of that size."""
    return [*_rank(guess, found), *_each_axis(guess, int(found.group("got") or 0), int(found.group("want")))]


def _deeper(guess: Guess, _found: re.Match[str]) -> List[Guess]:
    """Answer `Dimension out of range`: one axis more."""
    rank = max((len(spec.shape) for spec in guess[:1]), default=0)
    return [made for more in (1, 2) for made in _of_rank(guess, rank + more)]


def _alike(guess: Guess, found: re.Match[str]) -> List[Guess]:
    """Answer `The size of tensor a (16) must match the size of tensor b (8) at non-singleton dimension 3`."""
    one, other = int(found.group("a")), int(found.group("b"))
    same = [tuple(Spec(spec.kind, guess[at].shape) for spec in guess) for at in range(len(guess))]
    swapped = [*_each_axis(guess, one, other), *_each_axis(guess, other, one)]
    sides = [
        _with(guess, at, made)
        for got, wanted in ((other, one), (one, other))
        for at in range(len(guess) - 1, -1, -1)
        for made in _of_sides(guess[at], got, wanted)
    ]
    return [*(sides if len(guess) > 1 else ()), *same, *swapped]


def _of_sides(spec: Spec, got: int, wanted: int) -> List[Spec]:
    """Return an image all of whose sides have the other size."""
    inner = spec.shape[2:] if len(spec.shape) > 3 else ()  # noqa: PLR2004 - an image
    is_answer = set(inner) == {got} and 0 < wanted <= _MOST_SIDE
    return [Spec(spec.kind, (*spec.shape[:2], *(wanted for _ in inner)))] if is_answer else []


def _larger(guess: Guess, _found: re.Match[str]) -> List[Guess]:
    """Answer `Kernel size can't be greater than actual input size`: more room in each spatial axis."""

    def change(spec: Spec) -> Optional[Spec]:
        if len(spec.shape) < 3 or max(spec.shape) > 128:  # noqa: PLR2004 - room enough
            return None
        return Spec(spec.kind, (*spec.shape[:2], *(size * 4 for size in spec.shape[2:])))

    return _each(guess, change)


def _multiples(guess: Guess, found: re.Match[str]) -> List[Guess]:
    """Answer `height and width must be divisible by 32`, or by `2**5`."""
    return _in_multiples(guess, int(found.group("want")) ** int(found.group("power") or 1))


def _in_multiples(guess: Guess, part: int) -> List[Guess]:
    def change(spec: Spec) -> Optional[Spec]:
        inner = _inner_axes(spec)
        if not 0 < part <= MOST_ELEMENTS or not inner:
            return None
        return Spec(spec.kind, tuple(-(-n // part) * part if at in inner else n for at, n in enumerate(spec.shape)))

    return _each(guess, change)


def _inner_axes(spec: Spec) -> range:
    """Return the axes that are neither the batch nor channels, which come first in images and last in sequences."""
    rank = len(spec.shape)
    if spec.kind == "long" or rank < 3:  # noqa: PLR2004 - a vector
        return range(0)
    return range(2, rank) if rank > 3 else range(1, 2)  # noqa: PLR2004 - a sequence


def _sized(guess: Guess, found: re.Match[str]) -> List[Guess]:
    """Answer `Input image size (16*16) does not match the model (224*224)`: that many in each spatial axis."""
    wanted = int(found.group("want"))

    def change(spec: Spec) -> Optional[Spec]:
        inner = _inner_axes(spec) if len(spec.shape) > 3 else ()  # noqa: PLR2004 - a sequence
        sizes = tuple(wanted if at in inner else n for at, n in enumerate(spec.shape))
        return Spec(spec.kind, sizes) if inner else None

    return _each(guess, change)


def _divided(guess: Guess, found: re.Match[str]) -> List[Guess]:
    """
    Answer `shape '[2, 3, 2, 7, 2, 7]' is invalid for input of size 1536`.

    What is divided into parts has axes that are multiples of a part; what is cut, has enough elements.
    """
    parts = [int(word) for word in re.findall(r"-?\d+", found.group("want"))]
    given, known = int(found.group("got")), math.prod(n for n in parts if n > 0)
    wanted = _common(given, known) if -1 in parts else known
    nearest = sorted(range(len(guess)), key=lambda at: math.prod(guess[at].shape) != given)
    whole = [_with(guess, at, _times(guess[at], wanted, given)) for at in nearest]
    windows = sorted({n for n in parts[1:] if _SMALLEST_PART <= n <= _LARGEST_PART}, reverse=True)
    return [*whole, *(made for part in windows for made in _in_multiples(guess, part))]


def _times(spec: Spec, more: int, less: int) -> Spec:
    """Change the last axis in this ratio, those of an image together, if that gives whole numbers."""
    if spec.kind != "float" or not less or not more or not spec.shape:
        return spec
    side = spec.shape[-1] * math.sqrt(more / less)
    if len(spec.shape) == 4 and spec.shape[2] == spec.shape[3] and side == int(side):  # noqa: PLR2004 - an image
        return Spec(spec.kind, (*spec.shape[:2], int(side), int(side)))
    if spec.shape[-1] * more % less:
        return spec
    return Spec(spec.kind, (*spec.shape[:-1], spec.shape[-1] * more // less))


def _common(one: int, other: int) -> int:
    """Return the least number that both divide; 0 where one of them is 0."""
    return one * other // math.gcd(one, other) if one and other else 0


def _as_kind(kind: str) -> Callable[[Guess, re.Match[str]], List[Guess]]:
    def change(guess: Guess, _found: re.Match[str]) -> List[Guess]:
        changed = [Spec(kind, (2, 5) if kind == "long" else spec.shape) for spec in guess]
        return [*(_with(guess, at, spec) for at, spec in enumerate(changed)), tuple(changed)]

    return change


_ANSWERS = (
    (
        _channels,
        r"to have (?P<want>\d+) channels, but got (?P<got>\d+) channels",
        r"Received: the input's channels is (?P<got>\d+),.*?groups is \d+.*?\[\d+, (?P<want>\d+)",
        r"input channel.{0,200}?= (?P<got>\d+).{0,200}?= (?P<want>\d+)",
        r"channels in input, but got weight of shape \[(?P<want>\d+)\] and input of shape \[\d+, (?P<got>\d+)",
        r"(?:running_mean|weight) should contain (?P<got>\d+) elements not (?P<want>\d+)",
    ),
    (
        _inner,
        r"shapes cannot be multiplied \(\d+x(?P<got>\d+) and (?P<want>\d+)x\d+\)",
        r"Input\(Y\) has been transposed.*?X.*?(?P<got>\d+).*?(?P<want>\d+)",
        r"X's width must be equal with Y's height.*?\[.*?(?P<got>\d+)\].*?\[(?P<want>\d+)",
    ),
    (
        _last,
        r"[Gg]iven normalized_shape ?=?(?:is )?(?P<want>\[[\d, ]+\])",
        r"input\.size\(-1\) must be equal to input_size\. Expected (?P<want>\d+)",
        r"expecting embedding dimension of (?P<want>\d+)",
        r"embed(?:ding)?.{0,20}dim.{0,40}(?P<want>\d+)",
    ),
    (_multiples, r"(?:divisible by|multiples? of)\D{0,30}?(?P<want>\d+)(?: ?\*\* ?(?P<power>\d))?"),
    (_divided, r"shape '\[(?P<want>[-\d, ]+)\]' is invalid for input of size (?P<got>\d+)"),
    (
        _sized,
        r"(?:image|input|height|width|size)\b.{0,60}?(?:match|expect|(?:should|must) be)\D{0,40}(?P<want>\d{2,3})\b",
    ),
    (_unpacked, r"(?:not enough|too many) values to unpack \(expected (?P<want>\d+)(?:, got (?P<got>\d+))?"),
    (
        _rank,
        r"[Ee]xpected (?P<want>\d+D?[^,;]{0,40}?(?:or \d+D)?[^,;]{0,20}) (?:batched |)(?:input|tensor|inputs)",
        r"should be (?:a )?(?P<want>\d-?D(?: or \d-?D)?)",
    ),
    (
        _deeper,
        (
            r"[Dd]imension (?:out of range|specified as)|number of dims don't match|too many indices|"
            r"index \d+ is out of bounds for dimension|tuple index out of range"
        ),
    ),
    (
        _alike,
        r"size of tensor a \((?P<a>\d+)\) must match the size of tensor b \((?P<b>\d+)\)",
        r"Expected size (?P<a>\d+) but got size (?P<b>\d+)",
        r"Broadcast dimension mismatch.*?\[(?P<a>\d+).*?\[(?P<b>\d+)",
    ),
    (
        _larger,
        (
            r"[Kk]ernel size can't be greater|output size.* should be|greater than actual input|too small|"
            r"Expected more than 1 value per channel|should be less than the corresponding|(?:should|must) be at least"
        ),
    ),
    (
        _as_kind("long"),
        (
            r"expected scalar type (?:Long|Int)|to have one of the following scalar types: Long|must be Long|"
            r"tensors used as indices|dtype of input.*int|should be int"
        ),
    ),
    (
        _as_kind("float"),
        r"expected scalar type (?:Float|Half)|found dtype Long|only Tensors of floating point",
        r"not implemented for 'Long'",
    ),
    (_as_kind("bool"), r"mask.*bool|expected.*[Bb]ool"),
    (
        _as_kind("list"),
        r"not iterable|must be tuple of Tensors|to be a list|list indices|'list' but got|not a sequence",
    ),
)
