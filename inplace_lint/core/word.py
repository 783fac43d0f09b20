"""Closed sets of words: what is written as text in data and messages, and is a member of an enum in the code."""

from __future__ import annotations

from enum import Enum


class Word(str, Enum):
    """A member of a closed set, equal to its text and printed as it."""

    __str__ = str.__str__
