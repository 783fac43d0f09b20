"""Files that are checked where only what was sent is there: the path that Ray takes, in local processes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from inplace_lint.cli.options import resolver_of
from inplace_lint.core.errors import FactError
from inplace_lint.driver import dispatch, session
from inplace_lint.driver.check_task import Task
from inplace_lint.driver.executors.local import LocalProcesses
from inplace_lint.workspace import import_graph
from inplace_lint.workspace.places import Disk, Shipped

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


def run(folder: Path, executor: LocalProcesses | None) -> session.Outcome:
    """Check a folder, each time as in a process that has read nothing yet."""
    import_graph.forget()
    resolver = resolver_of({})
    settings = replace(resolver.settings_of(folder), cache=False, jobs=2)
    plan = session.Plan(settings, resolver.settings_of, resolver.codes_of, opinions_of=resolver.opinions_of)
    return session.run([Path()], {}, plan._replace(executor=executor))


@pytest.mark.parametrize("tree", ["project", "fixtures"])
def test_what_was_sent_is_enough_for_the_same_findings(project, tree, monkeypatch):
    if tree == "fixtures":
        project = project / "copy"
        shutil.copytree(FIXTURES, project, ignore=shutil.ignore_patterns("*.json", "__pycache__"))
    monkeypatch.chdir(project)
    here, there = run(project, None), run(project, LocalProcesses(2, shares_files=False))
    assert here.findings
    assert (there.findings, there.failures, there.counters) == (here.findings, here.failures, here.counters)


def test_nothing_is_read_from_the_disk_of_a_worker(project, monkeypatch):
    """Each file is gone, for a worker, when it is asked for: a worker may be another machine."""
    monkeypatch.chdir(project)
    before = run(project, None).findings
    real = dispatch.CheckShipped.__call__

    def elsewhere(self, task):
        os.chdir("/")
        monkeypatch.setattr(Disk, "text", None)  # in the process of the worker only
        return real(self, task)

    monkeypatch.setattr(dispatch.CheckShipped, "__call__", elsewhere)
    assert run(project, LocalProcesses(2, shares_files=False)).findings == before


def test_a_worker_of_another_version_ends_the_run(project, monkeypatch):
    monkeypatch.chdir(project)
    monkeypatch.setattr(dispatch, "shipped", lambda *_: dispatch.CheckShipped("/", b"", "another one"))
    with pytest.raises(FactError, match="a worker has another inplace-lint or another Python than this machine"):
        run(project, LocalProcesses(2, shares_files=False))


def test_a_file_that_cannot_be_read_is_there_but_has_no_text():
    place = Shipped("/", {"a.py": None, "b.py": b"x = 1\n", "c.py": b"\xff", "d.py": b""})
    assert [place.finder()(path) for path in ("a.py", "b.py", "c.py", "d.py", "e.py")] == [True] * 4 + [False]
    texts = [place.text(path) for path in ("a.py", "b.py", "c.py", "d.py", "e.py")]
    assert [text and text.source for text in texts] == [None, "x = 1\n", None, "", None]


def test_a_fix_is_seen_by_the_next_run(project, buggy, monkeypatch):
    """The texts that replace files are sent as well."""
    monkeypatch.chdir(project)
    data = (project / "script.py").read_bytes()
    cured = data.replace(b"y.add_(1)", b"y = y + 1")
    resolver = resolver_of({})
    settings = resolver.settings_of(project)
    plan = session.Plan(settings, resolver.settings_of, resolver.codes_of, texts={"script.py": cured})
    plan = plan._replace(executor=LocalProcesses(2, shares_files=False))
    task = Task("script.py", cured, root=project.as_posix())
    assert session.check_all([task], plan, session.Outcome()).findings == ()


def test_stubs_are_sent(folder, monkeypatch):
    (folder / "my_ext").mkdir()
    (folder / "my_ext" / "__init__.py").write_text("from ._C import add_\n")
    (folder / "my_ext" / "_C.pyi").write_text("from torch import Tensor\ndef add_(x: Tensor) -> None: ...\n")
    step = "def f(w):\n    h = w.exp()\n    add_(h)\n    h.sum().backward()\n"
    call = "f(torch.ones(3, requires_grad=True))\n"
    (folder / "a.py").write_text(f"import torch\nfrom my_ext import add_\n\n\n{step}\n\n{call}")
    (folder / "b.py").write_text("import torch\n")
    monkeypatch.chdir(folder)
    there = run(folder, LocalProcesses(2, shares_files=False))
    assert [one.code for one in there.findings] == ["IPL101"]
    assert there.findings == run(folder, None).findings
