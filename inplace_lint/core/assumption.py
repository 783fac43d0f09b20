"""Assumptions that a finding depends on, where more has to be known of them than their words."""

from __future__ import annotations

from collections.abc import Collection

_ASKS, _IS_TENSOR = " requires grad", " is a tensor"


class Supposition(str):
    """
    An assumption about one value, as a sentence: "`reshape` returns a view here, not a copy".

    `of` is a number that the value has: two suppositions of the same words about two values are two.
    """

    __slots__ = ("of",)
    of: int

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True and getattr(other, "of", None) == self.of

    def __hash__(self) -> int:
        return hash((str(self), self.of))


class Assumption(Supposition):
    """
    The assumption that a gradient is asked for an unknown value: "`x` requires grad".

    What a path learns of the value later, such as that it is an index, may refute it.
    """

    __slots__ = ()


def asks_for_gradient(sentence: str) -> bool:
    """Return whether an assumption is that something requires grad."""
    return sentence.endswith(_ASKS)


def uses_result(sentence: str) -> bool:
    """Return whether an assumption is that somebody trains through what a function returns."""
    return sentence.startswith("a gradient is computed for what ")


def passes_gradient(sentence: str) -> bool:
    """Return whether an assumption is that a gradient passes a call of something unknown."""
    return sentence.endswith("passes the gradient on")


def passes_trained(sentence: str) -> bool:
    """Return whether an assumption is that a gradient passes a call of something that may have been trained before."""
    return passes_gradient(sentence) and not sentence.startswith("what ")


def only_training(sentences: Collection[str], parameters: int) -> bool:
    """Return whether assumptions are that so many parameters require grad, and that somebody trains: nothing else."""
    asked = sum(map(asks_for_gradient, sentences))
    return bool(sentences) and asked == parameters and asked + sum(map(uses_result, sentences)) == len(sentences)


def takes_for_tensor(sentence: str) -> bool:
    """Return whether an assumption is that something is a tensor, and no number."""
    return sentence.endswith(_IS_TENSOR)


def excludes_number(sentence: str) -> bool:
    """
    Return whether an assumption is that a value is no number: without it, no tensor is written at all.

    That an operator gave the tensor that it was given, and no new one, is a supposition: it gave a tensor either way.
    """
    return takes_for_tensor(sentence) and not isinstance(sentence, Supposition)


def without_implied(sentences: frozenset[str]) -> frozenset[str]:
    """Return assumptions without those that something is a tensor where it is assumed to require grad."""
    asked = {sentence.removesuffix(_ASKS) for sentence in sentences if asks_for_gradient(sentence)}
    return frozenset(one for one in sentences if not (takes_for_tensor(one) and one.removesuffix(_IS_TENSOR) in asked))


def assumption(sentence: str, of: int) -> Assumption:
    """Return the assumption that a gradient is asked for the unknown value with this number."""
    made = Assumption(sentence)
    made.of = of
    return made


def supposition(sentence: str, of: int) -> Supposition:
    """Return the assumption about the value with this number; one that has its value already is returned as it is."""
    if isinstance(sentence, Supposition):
        return sentence
    made = Supposition(sentence)
    made.of = of
    return made
