"""
Runs a program before and after its fixes, and asserts that both compute the same.

`FRAMEWORK`, `BEFORE` and `AFTER` are put before this text, a call of what is wanted behind it. The first run
keeps copies of all that backward needs, so that it gets further than it would; where it is refused even so, nothing is
known of its values.
"""

import importlib
import linecache
import math
import random

framework = importlib.import_module(FRAMEWORK)
clone = framework.Tensor.clone
hooks = framework.autograd.graph.saved_tensors_hooks if FRAMEWORK == "torch" else framework.autograd.saved_tensors_hooks


def plain(value, depth=3):
    """Give a value as lists of numbers and words; `...` for what says nothing."""
    if isinstance(value, framework.Tensor):
        grad = value.grad if FRAMEWORK == "paddle" or value.is_leaf else None
        return [value.detach().tolist(), None if grad is None else grad.detach().tolist()]
    if isinstance(value, framework.nn.Module if FRAMEWORK == "torch" else framework.nn.Layer):
        return [plain(one, depth) for one in (*value.parameters(), *value.buffers())]
    if isinstance(value, (list, tuple)) and depth:
        return [plain(one, depth - 1) for one in value]
    if isinstance(value, dict) and depth:
        return [[str(key), plain(one, depth - 1)] for key, one in value.items()]
    return value if isinstance(value, (bool, int, float, str)) else ...


def run(text):
    """Give what the variables of a program hold at its end."""
    random.seed(0)
    framework.seed(0) if FRAMEWORK == "paddle" else framework.manual_seed(0)
    space = {"__name__": "__main__"}
    path = f"example{len(linecache.cache)}.py"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)  # some compilers read the source
    exec(compile(text, path, "exec"), space)
    return {name: plain(value) for name, value in space.items() if not name.startswith("__")}


def same(one, other):
    """Say whether two values are alike, numbers up to rounding."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-6) or (math.isnan(one) and math.isnan(other))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def compare_with_copies():
    """Assert that a program computes after its fixes what it computes while backward keeps copies."""
    try:
        with hooks(clone, lambda copy: copy):
            meant = run(BEFORE)
    except Exception:
        return
    assert_same(run(AFTER), meant)


def assert_same(values, meant):
    """Assert that all values of the program that is meant are those of another one."""
    for name in meant:
        assert meant[name] is ... or same(meant[name], values.get(name)), (
            f"{name} was {meant[name]} and is {values.get(name)}"
        )


def gradients(value):
    """Give the gradients in a value."""
    if isinstance(value, list) and len(value) == 2 and isinstance(value[1], (list, float)):
        return [value[1]]
    return [grad for one in value for grad in gradients(one)] if isinstance(value, list) else []
