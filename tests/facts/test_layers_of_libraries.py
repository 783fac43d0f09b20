"""Layers of libraries: which classes the generator takes for layers, and what is wrong with a list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from generators.layer_facts import __main__ as generator
from inplace_lint.core.errors import FactError
from inplace_lint.knowledge import layers
from inplace_lint.knowledge.facts import frameworks
from inplace_lint.knowledge.locate import rules_dir
from tests.pages.examples import ROOT

LISTED = rules_dir() / layers.FILE
LIBRARIES = [json.loads(line) for line in generator.LIBRARIES.read_text(encoding="utf-8").splitlines()]

SOURCE = """
import torch
from torch import nn


class Trained(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return {"out": torch.relu(self.fc(x)), "most": x.argmax(-1)}


class Derived(Trained):
    def __init__(self):
        super().__init__(4)


class Held(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, graph, x):
        graph.ndata["h"] = self.fc(x)
        graph.update_all(print, print)
        return graph.ndata["h"]


class Plain(nn.Module):
    def forward(self, x):
        return torch.relu(x)


class Frozen(Trained):
    def forward(self, x):
        self.fc.requires_grad_(False)
        return self.fc(x)


class Masked(Trained):
    def forward(self, x, mask):
        return self.fc(x), mask


class Optional(nn.Module):
    def __init__(self, width, project=False):
        super().__init__()
        self.fc = nn.Linear(width, width) if project else None

    def forward(self, x):
        return x if self.fc is None else self.fc(x)


class Told(Trained):
    @torch.no_grad()
    def forward(self, x):
        return self.fc(x)
"""


def test_a_class_is_a_layer_if_all_that_a_call_returns_leads_to_trained_parameters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "parts.py").write_text(SOURCE, encoding="utf-8")
    (library / "broken.py").write_text("class Broken(:\n", encoding="utf-8")
    (library / "other").mkdir()
    (library / "other" / "parts.py").write_text(SOURCE.replace("Trained", "Elsewhere"), encoding="utf-8")
    row = {
        "package": "library",
        "framework": "torch",
        "distribution": "library",
        "release": "1.0",
        "only": ["parts.py", "broken.py"],
    }
    said = tmp_path / "libraries.jsonl"
    said.write_text(json.dumps(row), encoding="utf-8")
    monkeypatch.setattr(generator, "LIBRARIES", said)
    target = tmp_path / "layers.json"
    target.write_text('{"kept": {"layers": ["A"]}}', encoding="utf-8")
    assert generator.main(target, [f"library={library}"]) == 0
    written = json.loads(target.read_text(encoding="utf-8"))
    assert written["library"]["layers"] == ["Derived", "Held", "Trained"]
    assert written["kept"] == {"layers": ["A"]}


def test_two_classes_of_one_name_are_no_layer_if_one_of_them_is_none(tmp_path: Path) -> None:
    for name, body in (("one", SOURCE), ("two", SOURCE.replace("torch.relu(self.fc(x))", "x"))):
        (tmp_path / f"{name}.py").write_text(body, encoding="utf-8")
    assert "Trained" not in generator.layers(tmp_path, "torch", ())[0]


PARTS = """
from torch import nn


class Trained(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem, self.act = nn.Linear(width, width), nn.ReLU()
        self.body = nn.Sequential(nn.Linear(width, width), self.act)
        self.other = nn.Linear(width, width)

    def forward(self, x):
        return self.other(self.body(self.act(self.stem(x))))


class Measured(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x).detach()


class Outer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner, self.measured, self.other = Trained(width), nn.Sequential(Measured(width)), nn.ReLU()

    def forward(self, x):
        return self.inner(self.other(x)) + self.measured(x)
"""


def test_an_attribute_is_a_layer_if_it_is_one_in_all_classes_that_have_it(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text(PARTS, encoding="utf-8")
    assert generator.layers(tmp_path, "torch", ()) == (["Outer", "Trained"], ["body", "fc", "inner", "stem"])


def test_a_library_that_is_not_known_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generator.main(tmp_path / "layers.json", ["nowhere=."]) == 2
    assert capsys.readouterr().err == "nowhere: not in libraries.jsonl\n"
    assert not (tmp_path / "layers.json").exists()


def test_the_list_is_of_the_libraries_that_the_generator_names() -> None:
    rows = json.loads(LISTED.read_text(encoding="utf-8"))
    known = {row["package"]: {key: row[key] for key in ("framework", "distribution", "release")} for row in LIBRARIES}
    lists = {"layers", "parts"}
    assert {package: {key: row[key] for key in row if key not in lists} for package, row in rows.items()} == known
    for package, row in rows.items():
        assert row["framework"] in frameworks()
        assert row["layers"] == sorted(set(row["layers"])), package
        assert layers.layers_of(row["framework"], package) == frozenset(row["layers"])
        assert all(layers.is_part(row["framework"], f"{package}.made", part) for part in row.get("parts", ()))
        assert not any(layers.layers_of(other, package) for other in frameworks() if other != row["framework"])


def test_the_documentation_names_the_libraries() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert f"so that what their instances return requires grad: {generator.sentence()}." in page


@pytest.mark.parametrize(
    ("name", "is_layer"),
    [
        ("torchcrf.CRF", True),
        ("transformers.BertModel", True),
        ("transformers.models.bert.modeling_bert.BertModel", True),
        ("transformers.AutoModel.from_pretrained", True),
        ("transformers.AutoTokenizer.from_pretrained", False),
        ("transformers.BertModel.forward", False),
        ("transformers", False),
        ("nowhere.BertModel", False),
    ],
)
def test_a_layer_is_known_by_its_package_and_its_name(name: str, is_layer: bool) -> None:
    assert layers.is_layer("torch", name) is is_layer
    assert not layers.is_layer("paddle", name)


def test_what_is_wrong_with_a_list_is_told_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ops" / "libs").mkdir(parents=True)
    row = {"framework": "torch", "distribution": "library", "release": "1.0", "layers": [], "layer": []}
    (tmp_path / layers.FILE).write_text(f'{{\n"library": {json.dumps(row)}\n}}\n', encoding="utf-8")
    monkeypatch.setattr(layers, "rules_dir", lambda: tmp_path)
    layers._listed.cache_clear()  # noqa: SLF001
    with pytest.raises(FactError, match=r'layers\.json:2: "layer" is not a key of a library; did you mean "layers"'):
        layers.layers_of("torch", "library")
    layers._listed.cache_clear()  # noqa: SLF001


def test_a_part_of_a_library_is_run_without_the_rest(tmp_path: Path) -> None:
    (tmp_path / "nn").mkdir()
    (tmp_path / "graph.py").write_text("class Graph:\n    ndata = {}\n", encoding="utf-8")
    held = SOURCE.replace("import torch\n", "import torch\nfrom library.graph import Graph\n", 1)
    (tmp_path / "nn" / "parts.py").write_text(
        held.replace("(self, graph, x)", "(self, graph: Graph, x)"), encoding="utf-8"
    )
    assert "Held" in generator.layers_of(tmp_path, {"framework": "torch", "part": "nn"})[0]


def test_of_a_library_that_registers_what_makes_its_models_these_functions_are_listed(tmp_path: Path) -> None:
    source = "@register_model()\ndef small(): ...\n\n\n@register_model\ndef large(): ...\n\n\n@other\ndef none(): ...\n"
    (tmp_path / "models.py").write_text(source, encoding="utf-8")
    row = {"framework": "torch", "registered": "register_model", "known": ["make"]}
    assert generator.layers_of(tmp_path, row) == (["large", "make", "small"], [])
