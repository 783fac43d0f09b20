"""Packs: each is what its generator writes, and the documentation lists all of them."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import pytest

from generators.pack_facts import __main__ as generator
from inplace_lint.knowledge.locate import rules_dir
from inplace_lint.knowledge.packs import Obtained, Pack, packs
from tests.pages.examples import ROOT

LIBS = rules_dir() / "ops" / "libs"
LINES = Path(generator.__file__).parent


def is_run(pack: Pack) -> bool:
    return any('"try"' in line for line in (LINES / f"{pack.name}.jsonl").read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("pack", packs().values(), ids=list(packs()))
def test_a_pack_is_what_its_generator_writes(pack: Pack, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    if is_run(pack):
        try:
            if metadata.version(pack.distribution) != pack.release:
                pytest.skip(f"the pack was made with {pack.distribution} {pack.release}")
        except metadata.PackageNotFoundError:
            pytest.skip(f"{pack.distribution} is not installed")
        assert pack.obtained is Obtained.RUN
    assert generator.main(tmp_path, [pack.name]) == 0, capsys.readouterr().err
    assert (tmp_path / f"{pack.name}.jsonl").read_bytes() == (LIBS / f"{pack.name}.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"saves": [{"of": "tensor"}]}, "einops.reduce: saves [], not ['tensor']"),
        ({"returns": [{"is": "tensor"}]}, "einops.reduce: returns {'is': 'fresh'}, not ['tensor']"),
        ({"writes": [{"to": "tensor", "counted": True}]}, "einops.reduce: writes [], not ['tensor']"),
    ],
)
def test_what_a_person_says_has_to_be_what_is_seen(
    said: dict[str, object],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = {
        "op": "einops.reduce",
        "args": ["tensor", "pattern", "reduction"],
        **said,
        "try": ["torch.rand(2, 3), 'a b -> a', 'sum'"],
    }
    (tmp_path / "einops.jsonl").write_text(json.dumps(line), encoding="utf-8")
    monkeypatch.setattr(generator, "_LINES", tmp_path)
    assert generator.main(tmp_path, ["einops"]) == 1
    assert capsys.readouterr().err == f"einops: {message}\n"


def test_the_documentation_lists_the_packs() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    for row in generator.table():
        assert row in page.splitlines(), row
