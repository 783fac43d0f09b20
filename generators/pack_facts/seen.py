"""What a call of a library was seen to do, as an entry, and where that is not what a person says of it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from typing import Any

import torch

from inplace_lint.live.child.probe_main import Probe
from inplace_lint.live.child.probing.arguments import of_text
from inplace_lint.live.child.probing.signatures import written

Row = dict[str, Any]
_SEEN = ("args", "writes", "saves", "grads", "history", "returns")


class Disagreement(Exception):  # noqa: N818 - what two parties have
    """What a person says of a call is not what was seen; the text says of which."""


def entry(said: Mapping[str, Any], distribution: str) -> Row:
    """
    Return the entry that a line stands for.

    Raises: `Disagreement` where runs show something else, or differ in what the line leaves to them.
    """
    tries = said.get("try", ())
    row = {key: value for key, value in said.items() if key not in {"try", "make"}}
    if not tries:
        return row
    rows = [found for text in tries for found in _facts(said["op"], said.get("make"), text)]
    for found in rows:
        for what in _wrong(row, found):
            msg = f"{said['op']}: {what}"
            raise Disagreement(msg)
        for key in _SEEN:
            if key not in said and found.get(key) != rows[0].get(key):
                msg = f"{said['op']}: runs differ in {key}: {rows[0].get(key)}, {found.get(key)}"
                raise Disagreement(msg)
    filled = {**rows[0], **row}
    order = ("op", "same", "if", "init", "state", *_SEEN)
    row = {key: filled[key] for key in order if key in filled}
    return {**row, "source": f"{distribution} {version(distribution)}, run", "probed": rows[0]["probed"]}


def _facts(op: str, make: str | None, text: str) -> Iterator[Row]:
    """Yield what was seen of a call; of a module in each of its modes."""
    target = _named(op)
    if make is None:
        yield _seen(op, target, text)
        return
    torch.manual_seed(0)
    module = eval(f"target({make})", {"torch": torch, "target": target})
    for training in (True, False):
        yield {**_of_class(target, module), **_seen(op, module.train(training).forward, text)}


def _of_class(target: type, module: torch.nn.Module) -> Row:
    params = [*inspect.signature(target.__init__).parameters.values()][1:]  # type: ignore[misc]
    own = [name for name, _ in module.named_parameters(recurse=False)]
    inner = ["weight"] if not own and any(True for _ in module.parameters()) else []
    state = {name: {"param": True} for name in (*own, *inner)}
    return {"init": written(params), **({"state": state} if state else {})}


def _seen(op: str, function: Callable[..., Any], text: str) -> Row:
    def seeded(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - any arguments and result
        torch.manual_seed(0)
        return function(*args, **given)

    seeded.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    torch.manual_seed(0)
    probe = Probe(torch, seeded, of_text(torch, seeded, text))
    error = probe.call().error
    if error is not None:
        raise error
    return probe.fact(op)


def _wrong(said: Mapping[str, Any], seen: Row) -> Iterator[str]:
    """Yield what a person says otherwise than it was seen; what has a guard may be or not be."""
    for key, name in (("writes", "to"), ("saves", "of")):
        if key in said:
            always = {one[name] for one in said[key] if "if" not in one}
            ever, found = {one[name] for one in said[key]}, {one[name] for one in seen.get(key, ())}
            if not always <= found <= ever:
                yield f"{key} {sorted(found)}, not {sorted(ever)}"
    kinds = {one["is"] for one in said.get("returns", ())}
    if (
        kinds
        and "maybe" not in kinds
        and seen["returns"][0]["is"] not in kinds | ({"tuple"} if "list" in kinds else set())
    ):
        yield f"returns {seen['returns'][0]}, not {sorted(kinds)}"


def _named(op: str) -> Any:  # noqa: ANN401 - a function or class
    module, _, name = op.rpartition(".")
    return getattr(importlib.import_module(module), name)
