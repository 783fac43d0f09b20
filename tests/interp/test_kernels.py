"""Kernels of Triton write the arguments that they store to, and nobody notices; checked in Triton's interpreter."""

from __future__ import annotations

import pytest

from inplace_lint.driver.analyze_file import Options, check_file

PROGRAM = """\
import torch
import triton
import triton.language as tl
from triton.language import atomic_add


@triton.jit
def put(pointer, value):
    tl.store(pointer, value)


@triton.jit
def moved(pointer, by):
    return pointer + by


{decorators}
def kernel(x_ptr, out_ptr, index_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
{store}


def launch(x, out, index):
    grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)
    kernel[grid](x, out, index, x.numel(), BLOCK=16)


w = torch.rand(4, requires_grad=True)
x, out, index = w.exp(), w.sigmoid(), w.tanh()
launch(x, out, index)
{use}.sum().backward()
"""
STORES = {
    "plain": "    tl.store(out_ptr + offsets, x * 2)",
    "through names": "    start = out_ptr + 4\n    places = start + offsets\n    tl.store(places, x)",
    "moved": "    out_ptr += offsets\n    tl.store(out_ptr, x)",
    "atomic": "    tl.atomic_add(out_ptr + offsets, x)",
    "indexed": "    at = tl.load(index_ptr + offsets)\n    tl.store(out_ptr + at, x)",
    "of several": "    start, places = x_ptr + offsets, out_ptr + offsets\n    tl.store(places, x)",
    "by keyword": "    tl.store(value=x, pointer=out_ptr + offsets)",
    "imported": "    atomic_add(out_ptr + offsets, x)",
    "of a descriptor": (
        "    place = tl.make_tensor_descriptor(out_ptr, [n], [1], [BLOCK])\n    place.store([0], place.load([0]))"
    ),
    "of a helper": "    put(moved(out_ptr, offsets), x)",
    "name used again": (
        "    place = x_ptr + offsets\n    x = tl.load(place)\n    place = out_ptr + offsets\n    tl.store(place, x)"
    ),
    "name of one turn": (
        "    place = out_ptr\n    for step in range(4):\n        tl.store(place, x)\n        place = place + BLOCK"
    ),
    "in a loop": "    for step in range(4):\n        if step:\n            tl.store(out_ptr + step, x)",
}
DECORATORS = ("@triton.jit", "@triton.jit(debug=True)", '@triton.autotune(configs=[], key=["n"])\n@triton.jit')


def found(store: str, use: str, decorators: str = "@triton.jit") -> list[str]:
    program = PROGRAM.format(store=store, use=use, decorators=decorators)
    return [one.code for one in check_file("a.py", program, Options()).findings]


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_what_a_kernel_stores_to_is_written_unnoticed(store: str) -> None:
    assert found(store, "out") == ["IPL302"]
    assert found(store, "x") == found(store, "index") == []


@pytest.mark.parametrize("decorators", DECORATORS)
def test_a_kernel_may_be_decorated_further(decorators: str) -> None:
    assert found(STORES["plain"], "out", decorators) == ["IPL302"]


CONDITIONAL = """\
import torch
import triton
import triton.language as tl


@triton.jit
def put(pointer, value, WANTED: tl.constexpr):
    if WANTED:
        tl.store(pointer, value)


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, INPLACE: tl.constexpr{default}):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n) * 2
{store}


w = torch.rand(4, requires_grad=True)
x, out = w.exp(), torch.empty(4)
kernel{launch}
x.sum().backward()
"""
CONDITIONS = {
    "if": "    if INPLACE:\n        tl.store(x_ptr + offsets, x)\n    else:\n        tl.store(out_ptr + offsets, x)",
    "conditional": "    tl.store((x_ptr if INPLACE else out_ptr) + offsets, x)",
    "return": (
        "    if not INPLACE:\n        tl.store(out_ptr + offsets, x)\n        return\n    tl.store(x_ptr + offsets, x)"
    ),
    "compared": "    if out_ptr is None or INPLACE == True:\n        tl.store(x_ptr + offsets, x)",
    "named": "    WANTED: tl.constexpr = INPLACE and n > 2\n    if WANTED:\n        tl.store(x_ptr + offsets, x)",
    "passed on": "    put(x_ptr + offsets, x, INPLACE)",
    "in a loop": "    for _ in range(2):\n        if n > 2 and INPLACE:\n            tl.store(x_ptr + offsets, x)",
}


@pytest.mark.parametrize("store", CONDITIONS.values(), ids=CONDITIONS)
def test_what_the_launch_excludes_is_not_written(store: str) -> None:
    def codes(launch: str, default: str = "") -> list[str]:
        program = CONDITIONAL.format(store=store, launch=launch, default=default)
        return [one.code for one in check_file("a.py", program, Options()).findings]

    assert codes("[(1,)](x, out, 4, BLOCK=4, INPLACE=False)") == []
    assert codes("[(1,)](x, out, 4, BLOCK=4)", "=False") == []
    assert codes("[(1,)](x, out, 4, BLOCK=4, INPLACE=True)") == ["IPL302"]
    assert codes("[(1,)](out, out, 4, 4, True)\nkernel[(1,)](x, out, 4, 4, False, num_warps=4)") == []
    assert codes("[(1,)](x, out, 4, 4, False)\nkernel[(1,)](x, out, 4, 4, True)") == ["IPL302"]
    assert codes("[(1,)](x, out, 4, BLOCK=4, INPLACE=bool(w.numel() - input()))") == ["IPL302"]


@pytest.mark.parametrize("store", [name for name in CONDITIONS if name != "conditional"])
@pytest.mark.parametrize("constexpr", [True, False])
def test_what_depends_on_a_flag_that_is_not_known_is_assumed(store: str, constexpr: bool) -> None:
    def assumed(flag: str) -> list[tuple[str, ...]]:
        launch = f"[(1,)](x, out, 4, BLOCK=4, INPLACE={flag})"
        program = CONDITIONAL.format(store=CONDITIONS[store], launch=launch, default="")
        if not constexpr:
            program = program.replace("INPLACE: tl.constexpr", "INPLACE")
        return [one.assumptions for one in check_file("a.py", program, Options()).findings]

    assert assumed("bool(w.numel() - input())") == [("a flag that is not known makes `kernel` store",)]
    assert assumed("True") == [()]


def test_what_a_flag_makes_a_kernel_store_is_written_by_the_same_launch_as_the_rest() -> None:
    """A kernel is given one tensor twice: none of its stores is before it reads the other pointer."""
    store = "    if INPLACE:\n        tl.store(out_ptr + offsets, x)\n    tl.store(x_ptr + offsets, x)"
    program = CONDITIONAL.format(store=store, launch="[(1,)](x, out, same, 4, input())", default="")
    program = program.replace("kernel[", "same = x\nkernel[")
    assert [one.code for one in check_file("a.py", program, Options()).findings] == ["IPL302"]


def test_what_both_sides_of_a_flag_store_to_is_certain() -> None:
    sides = "    if INPLACE:\n        tl.store(x_ptr + offsets, x)\n    else:\n        tl.store(x_ptr + offsets, x * 2)"
    program = CONDITIONAL.format(store=sides, launch="[(1,)](x, out, 4, 4, input())", default="")
    assert [one.assumptions for one in check_file("a.py", program, Options()).findings] == [()]


def test_what_some_instances_of_a_kernel_store_is_certain() -> None:
    store = "    if tl.program_id(0) == 0:\n        tl.store(x_ptr + offsets, x)"
    program = CONDITIONAL.format(store=store, launch="[(1,)](x, out, 4, 4, False)", default="")
    assert [one.assumptions for one in check_file("a.py", program, Options()).findings] == [()]


@pytest.mark.parametrize("change", ["INPLACE = not INPLACE", "if tl.program_id(0) == 0:\n        INPLACE = True"])
def test_a_flag_that_the_kernel_changes_is_not_that_of_the_launch(change: str) -> None:
    store = f"    {change}\n    if INPLACE:\n        tl.store(x_ptr + offsets, x)"
    program = CONDITIONAL.format(store=store, launch="[(1,)](x, out, 4, 4, False)", default="")
    assert [one.code for one in check_file("a.py", program, Options()).findings] == ["IPL302"]


def test_a_kernel_is_launched_by_its_method_as_well() -> None:
    program = CONDITIONAL.format(store=CONDITIONS["if"], launch=".run(x, out, 4, 4, True, grid=(1,))", default="")
    assert [one.code for one in check_file("a.py", program, Options()).findings] == ["IPL302"]


def test_a_kernel_that_stores_nothing_writes_nothing() -> None:
    assert found("    tl.device_print('x', x)", "out") == []


SIZES = """\
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) % WIDTH
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * 2)


def sizes(width):
    block = triton.next_power_of_2(width)
    return {"width": block, "block": block, "turns": 1}


def launch(x, width):
    policy = sizes(width)
    out = torch.empty_like(x)
    kernel[(policy["turns"],)](x, out, WIDTH=policy["width"], BLOCK=policy["block"])
    return out
"""


def test_numbers_that_an_address_is_computed_from_are_not_written() -> None:
    assert check_file("a.py", SIZES, Options()).findings == ()


HEALTHY = """\
import torch
import triton
import triton.language as tl


@triton.jit
def twice(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * 2)


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = torch.empty_like(x)
        twice[(1,)](x, out, BLOCK=8)
        return out

    @staticmethod
    def backward(ctx, grad):
        out = torch.empty_like(grad)
        twice[(1,)](grad, out, BLOCK=8)
        return out


class Rotate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        twice[(1,)](x, x, BLOCK=8)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        twice[(1,)](grad, grad, BLOCK=8)
        return grad


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        return Twice.apply(Rotate.apply(self.linear(x)).exp())


Net()(torch.rand(8)).sum().backward()
"""


def test_kernels_of_custom_functions_are_fine() -> None:
    assert check_file("a.py", HEALTHY, Options()).findings == ()
