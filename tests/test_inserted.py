"""What `benchmarks/inserted.py` counts on a library."""

from __future__ import annotations

from pathlib import Path

from benchmarks.inserted import scores, spots

NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x):
        y = self.first(x)
        count = self.count(y)
        y = self.last(y.view(count, -1))
        y = nn.functional.relu(y)
        return y

    def count(self, x):
        return x.shape[0]
"""


def test_what_is_no_tensor_does_not_hide_the_places_behind_it(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "net.py").write_text(NET)
    (library / "paddled.py").write_text(
        NET.replace("torch", "paddle").replace("Module", "Layer").replace("view", "reshape")
    )
    places = spots(library, more=True)
    found = scores(library, tmp_path / "copy", places)
    assert [(spot.path.name, spot.what, found[spot]) for spot in places] == [
        (name, what, severity)
        for name in ("net.py", "paddled.py")
        for what, severity in (
            ("Net.first", "error"),
            ("Net.count", "missed"),
            ("Net.last", "error"),
            ("Net.nn.functional.relu", "error"),
        )
    ]
