"""Time grows with the size of the input, and not with its square."""

from __future__ import annotations

from inplace_lint.config.settings import Settings
from inplace_lint.driver import session
from inplace_lint.driver.check_task import check_one
from inplace_lint.workspace import import_graph
from inplace_lint.workspace.module import Module

ROWS = 20_000  # compared with each other, these take minutes


def test_a_table_of_many_rows_is_gone_through_once(lint, folder, buggy):
    rows = "".join(f'    ("name{row}", "class{row}"),\n' for row in range(ROWS))
    (folder / "a.py").write_text(f"ROWS = [\n{rows}]\nTABLE = {{name: kind for name, kind in ROWS}}\n{buggy}")
    assert "error[IPL101]" in lint("--no-cache", "--output-format", "concise", "a.py").out


def test_the_next_file_does_not_weigh_all_that_were_read(tmp_path, monkeypatch):
    import_graph.forget()
    (tmp_path / "pyproject.toml").write_text("")
    weighed = []
    weight = Module.weight
    monkeypatch.setattr(Module, "weight", lambda module: weighed.append(module.path) or weight(module))
    settings = Settings(root=tmp_path, cache=False)
    plan = session.Plan(settings, lambda _path: settings, lambda _path: frozenset())
    for number in range(40):
        path = tmp_path / f"m{number}.py"
        path.write_text("import torch\nx = 1\n")
        check_one(session.task_of(path.as_posix(), path.read_bytes(), path, import_graph.root_of(path), plan))
    import_graph.forget()
    assert 0 < len(weighed) <= 3 * 40
