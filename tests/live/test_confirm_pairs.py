"""A verdict is about one finding: what becomes of another one in the same program changes nothing."""

from __future__ import annotations

import pytest

HEAD = """\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
net = nn.Linear(3, 3)
x = torch.rand(3, 3, requires_grad=True)
"""
UNTRACKED = """\
y = net(x * 1).exp()
y.data.mul_(2)
y.sum().backward()
"""
HARMLESS = """\
z = net(x * 1).exp()
z.data.mul_(1)
z.sum().backward()
"""
CHECKPOINT = """\
scale = torch.ones(3)
u = checkpoint(lambda t: t * scale, x * 1, use_reentrant=False)
scale.mul_(10)
u.sum().backward()
"""
HARMLESS_CHECKPOINT = """\
shift = torch.ones(3)
v = checkpoint(lambda t: t * shift, x * 1, use_reentrant=False)
shift.mul_(1)
v.sum().backward()
"""
KEPT = """\
seen, h = [], torch.zeros(3)
for _ in range(3):
    h += 1
    seen.append(h)
(torch.stack(seen) * x).sum().backward()
"""
NEVER = """\
def never(table):
    w = table.lookup("x").value
    w = net(x * w).exp()
    w.data.clamp_(0, 1)
    w.sum().backward()
"""
REFUSED = """\
e = net(x * 1).sigmoid()
e += 1
e.sum().backward()
"""
LEAF = """\
w = torch.rand(3, requires_grad=True)
w[0] = 1
"""
# Each part with the line without its fault: no part is longer or shorter without it.
REPAIRS = {
    UNTRACKED: (("y.data.mul_(2)", "y = y.mul(2)"), "confirmed"),
    HARMLESS: (("z.data.mul_(1)", "z = z.mul(1)"), "not reached"),
    CHECKPOINT: (("scale.mul_(10)", "other = scale * 10"), "confirmed"),
    HARMLESS_CHECKPOINT: (("shift.mul_(1)", "other = shift * 1"), "not reached"),
    KEPT: (("    h += 1", "    h = h + 1"), "confirmed"),
    NEVER: (("w.data.clamp_(0, 1)", "w = w.clamp(0, 1)"), "could not run"),
    REFUSED: (("e += 1", "e = e + 1"), "confirmed"),
    LEAF: (("w[0] = 1", "w[0].add(1)"), "confirmed"),
}


def program(repaired: str = "") -> str:
    return HEAD + "".join(
        part.replace(*repair) if part == repaired else part for part, (repair, _verdict) in REPAIRS.items()
    )


@pytest.mark.slow
def test_repairing_one_finding_leaves_the_verdicts_on_the_others(prover):
    variants = ["", *REPAIRS]
    for number, repaired in enumerate(variants):
        prover.write(program(repaired), f"program{number}.py")
    verdicts: dict[str, dict[tuple[str, int], str]] = {}
    for row in prover.run().rows:
        file = row["filename"].replace("\\", "/").rpartition("/")[2]
        verdicts.setdefault(file, {})[row["code"], row["location"]["row"]] = row["confirmed"]["verdict"]
    every = verdicts["program0.py"]
    assert [every[place] for place in sorted(every, key=lambda place: place[1])] == [row[1] for row in REPAIRS.values()]
    for number in range(1, len(variants)):
        left = verdicts[f"program{number}.py"]
        assert len(left) == len(every) - 1, variants[number]
        assert left.items() <= every.items(), variants[number]
