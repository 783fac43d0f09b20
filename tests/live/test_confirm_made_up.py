"""What `--confirm` makes up to reach a line: constructions, inputs of the right sizes, other choices than the first."""

from __future__ import annotations

from pathlib import Path

HEAD = "from typing import Sequence\n\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n\n"
BREAKS = "        y = torch.exp(x)\n        y += 1\n        return y\n"


def module(arguments: str, body: str, forward: str, more: str = "x") -> str:
    """Return a program with one class of which the forward breaks backward in its end."""
    return HEAD + (
        f"class Net(nn.Module):\n    def __init__(self, {arguments}):\n        super().__init__()\n{body}\n"
        f"    def forward(self, {more}):\n{forward}{BREAKS}"
    )


LINEAR = "        self.lin = nn.Linear(8, 8)\n"
CONV = "        self.conv = nn.Conv2d(3, 4, 3, padding=1)\n"


OUTER = (
    "\n\nclass Outer(nn.Module):\n    def __init__(self, table):\n        super().__init__()\n"
    "        self.net = Net(table['width']{construct})\n\n    def forward(self, x, scale):\n"
    "        return self.net(x{call})\n"
)

PROGRAMS = {
    "a string that the constructor compares": module(
        "width: int, axis: str, norm_layer",
        "        if axis not in ('rows', 'columns'):\n            raise ValueError(axis)\n"
        "        self.norm = norm_layer(width)\n        self.lin = nn.Linear(width, width)\n",
        "        batch, length, width = x.shape\n        x = self.lin(self.norm(x))\n",
    ),
    "settings that hold settings of their own kind": module(
        "settings: Settings", LINEAR, "        x = self.lin(x)\n"
    ).replace(
        "class Net", "class Settings:\n    def __init__(self, width: int, parent: 'Settings'): ...\n\n\nclass Net"
    ),
    "lists that have one length": module(
        "width: int, window: Sequence[int], shift: Sequence[int]",
        "        (self.d, self.h, self.w), (_, _, self.shift) = window, shift\n" + LINEAR,
        "        x = self.lin(x)\n",
    ),
    "a branch for large images": module(
        "width",
        CONV,
        "        x = self.conv(x)\n        if x.shape[-1] < 40:\n            return x\n",
    ),
    "a size that divides": module(
        "width",
        CONV,
        "        if x.shape[2] % 24 or x.shape[3] % 24:\n"
        "            raise ValueError('height and width should be divisible by 24')\n        x = self.conv(x)\n",
    ),
    "a power that divides": module(
        "width",
        CONV,
        "        if x.shape[2] % 32 or x.shape[3] % 32:\n"
        "            raise ValueError('spatial dimensions must be divisible by 2**5')\n        x = self.conv(x)\n",
    ),
    "half as many outputs": module(
        "in_channels: int, out_channels: int",
        "        self.conv = nn.Conv2d(in_channels, out_channels, 1)\n",
        "        x = self.conv(x) + x.reshape(x.shape[0], x.shape[1] // 2, 2, *x.shape[2:]).sum(2)\n",
    ),
    "a volume for a layer in a layer": HEAD
    + (
        "class Convolution(nn.Module):\n    def __init__(self, table):\n        super().__init__()\n"
        "        self.inner = nn.Conv3d(table, 1, 1)\n\n    def forward(self, x):\n        return self.inner(x)\n\n\n"
    )
    + module(
        "sizes: Sequence[int]",
        "        self.convolution = Convolution(1)\n        self.count = sizes[2]\n",
        "        x = self.convolution(x)\n        if x.dim() != 5 or x.shape[0] != 2:\n            return x\n",
    ).removeprefix(HEAD),
    "a size that an error names": module(
        "width",
        CONV,
        "        if x.shape[2] != 28 or x.shape[3] != 28:\n"
        "            raise ValueError(f'Input image size {x.shape[2]} does not match the model (28)')\n"
        "        x = self.conv(x)\n",
    ),
    "windows": module(
        "width",
        CONV,
        "        x = self.conv(x)\n        b, c, h, w = x.shape\n"
        "        x = x.view(b, c, h // 7, 7, w // 7, 7).transpose(3, 4)\n",
    ),
    "parts of a vector": module(
        "width",
        LINEAR,
        "        x = self.lin(x)\n        scale, shift = t.reshape(x.shape[0], 2, -1).chunk(2, dim=1)\n"
        "        x = x.reshape(x.shape[0], 1, -1).mean(-1, keepdim=True) * scale.reshape(x.shape[0], 5, -1)\n",
        "x, t",
    ),
    "normalized groups": module(
        "width",
        "        self.norm = nn.GroupNorm(32, 64)\n",
        "        b, c, h, w = x.shape\n        x = self.norm(x)\n",
    ),
    "one optional input": module(
        "width",
        LINEAR,
        "        x = self.lin(x)\n        if mask is not None:\n            x = x * mask.no_such_attribute\n"
        "        if extra is None:\n            return x\n        x = x * extra.mean()\n",
        "x, mask=None, extra=None",
    )
    + OUTER.format(construct="", call=", extra=scale"),
    "an argument that is None": module(
        "width: int, cross_dim: int | None = None",
        "        self.lin = nn.Linear(width, width)\n"
        "        self.cross = None if cross_dim is None else nn.Linear(width, cross_dim)\n",
        "        x = self.lin(x)\n        if self.cross is None:\n            return x\n",
    )
    + OUTER.format(construct=", cross_dim=table['cross']", call=""),
    "a loop of two turns": HEAD
    + (
        "class Net(nn.Module):\n    def __init__(self, width: int, num_layers: int = 1):\n        super().__init__()\n"
        "        self.lin = nn.Linear(width, width)\n"
        "        self.acts = nn.ModuleList(nn.ReLU(inplace=True) for _ in range(num_layers))\n\n"
        "    def forward(self, x):\n        x = self.lin(x)\n        out = 0\n        for act in self.acts:\n"
        "            out = out + torch.sin(x)\n            act(x)\n        return out\n"
    ),
    "the class that is around all others": HEAD
    + (
        "class Mix(nn.Module):\n    def __init__(self, table):\n        super().__init__()\n"
        "        self.scale = nn.Parameter(torch.ones(table['width']))\n\n"
        "    def forward(self, x):\n        y = torch.exp(x * self.scale)\n        y += 1\n        return y\n"
    )
    + "".join(
        f"\n\nclass {name}(Mix):\n    def __init__(self, table):\n        super().__init__({{**table}})\n"
        for name in ("One", "Two", "Three", "Four", "Five")
    )
    + (
        "\n\nclass Whole(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.parts = nn.ModuleList(kind({'width': 4}) for kind in (One, Two, Three, Four, Five))\n\n"
        "    def forward(self, x):\n        for part in self.parts:\n            x = part(x)\n        return x\n"
    ),
}


def test_all_of_it_is_made_up(prover):
    """One run proves all programs: most of the time of one alone is the import of the framework."""
    names = {what: f"program_{number}.py" for number, what in enumerate(PROGRAMS)}
    for what, name in names.items():
        prover.write(PROGRAMS[what], name)
    proved = prover.run()
    found = {what: [] for what in PROGRAMS}
    whats = {name: what for what, name in names.items()}
    for row in proved.rows:
        found[whats[Path(row["filename"]).name]].append(row["confirmed"]["verdict"])
    assert found == {what: ["confirmed"] for what in PROGRAMS}, (proved.reasons, proved.err)
