from __future__ import annotations

import os
import signal

import pytest

from inplace_lint.config.settings import Settings
from inplace_lint.core.finding import Severity
from inplace_lint.driver import analyze_file, dispatch, session
from inplace_lint.driver.check_task import Task, check_one
from inplace_lint.driver.executors.local import LocalProcesses
from inplace_lint.knowledge.locate import framework_names


@pytest.fixture
def plan(tmp_path):
    settings = Settings(root=tmp_path, cache=False, jobs=2)
    codes = frozenset({"IPL101", "IPL902"})
    return session.Plan(settings, lambda _path: settings, lambda _path: codes)


@pytest.mark.parametrize("padding", [0, 50_000], ids=["in this process", "in others"])
def test_a_crash_on_one_file_is_reported_and_the_others_go_on(plan, buggy, padding):
    # Text where bytes belong makes the check itself fail, as a bug would.
    tasks = [Task("a.py", "#" * padding), Task("b.py", buggy.encode())]
    outcome = session.check_all(tasks, plan, session.Outcome())
    assert [line.partition(" (")[0] for line in outcome.failures] == [
        "a.py: internal error: TypeError: 'in <string>' requires string as left operand, not bytes"
    ]
    assert [(finding.code, finding.span.path, finding.span.line) for finding in outcome.findings] == [
        ("IPL101", "b.py", 5)
    ]


def test_a_file_that_ends_each_process_is_named_and_the_others_are_checked(plan, buggy, monkeypatch):
    def die(task):
        return check_one(task) if task.path != "a.py" else os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(dispatch, "check_one", die)
    tasks = [Task("a.py", buggy.encode()), Task("b.py", buggy.encode())]
    outcome = session.check_all(tasks, plan._replace(executor=LocalProcesses(2)), session.Outcome())
    assert outcome.failures == ["a.py: the process that checked it was killed by signal 9 (SIGKILL)"]
    assert [finding.span.path for finding in outcome.findings] == ["b.py"]


def broken(monkeypatch, error):
    """Let the engine fail as a fault in our own code would make it."""

    def check_file(*_arguments, **_others):
        raise error

    monkeypatch.setattr(analyze_file, "check_file", check_file)


@pytest.mark.parametrize(
    "error",
    [SyntaxError("invalid syntax", ("interp/closures.py", 3, 1, "def f(:")), SyntaxError("no such pattern: MatchNew")],
    ids=["a module that cannot be imported", "raised by us"],
)
@pytest.mark.parametrize("source", [b"import torch\n", b"import torch\ndef f(:\n"], ids=["valid", "invalid"])
def test_a_syntax_error_in_our_own_code_is_no_finding_about_the_file(plan, monkeypatch, error, source):
    broken(monkeypatch, error)
    outcome = session.check_all([Task("a.py", source)], plan, session.Outcome())
    assert outcome.findings == ()
    (line,) = outcome.failures
    assert line.startswith("a.py: internal error: SyntaxError: ")


def test_a_file_that_python_reads_is_never_one_of_invalid_syntax(plan, monkeypatch):
    broken(monkeypatch, SyntaxError("parser error", ("a.py", 1, 1, None)))
    outcome = session.check_all([Task("a.py", b"import torch\n")], plan, session.Outcome())
    assert (outcome.findings, len(outcome.failures)) == ((), 1)


def test_counters_and_seconds_add_up_over_files(plan, buggy):
    one = session.check_all([Task("a.py", buggy.encode())], plan, session.Outcome())
    two = [Task(name, buggy.encode()) for name in ("a.py", "b.py")]
    both = session.check_all(two, plan, session.Outcome())
    assert one.counters["framework_calls"] > 0
    assert both.counters["framework_calls"] == 2 * one.counters["framework_calls"]
    assert {"outline", "lower", "interpret", "judge", "suppress"} <= set(both.seconds)


@pytest.mark.parametrize("side", [7, 8])
def test_a_table_that_nested_loops_fill_does_not_use_up_the_steps_of_a_class(plan, side):
    program = f"""
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        points = [(i, j) for i in range({side}) for j in range({side})]
        offsets, index = {{}}, []
        for first in points:
            for second in points:
                offset = (abs(first[0] - second[0]), abs(first[1] - second[1]))
                if offset not in offsets:
                    offsets[offset] = len(offsets)
                index.append(offsets[offset])
        self.register_buffer("index", torch.tensor(index))
        self.linear = torch.nn.Linear(8, 8)
    def forward(self, x):
        y = self.linear(x).exp()
        y.add_(1)
        return y
"""
    outcome = session.check_all([Task("a.py", program.encode())], plan, session.Outcome())
    assert [finding.code for finding in outcome.findings] == ["IPL101"]
    assert outcome.counters["roots_cut_by_steps"] == 0


def test_findings_are_in_the_order_of_paths_and_places(plan, buggy):
    twice = buggy + "z = x.exp()\nz.add_(1)\nz.sum().backward()\n"
    tasks = [Task("b.py", twice.encode()), Task("a.py", buggy.encode())]
    outcome = session.check_all(tasks, plan, session.Outcome())
    assert [(finding.span.path, finding.span.line) for finding in outcome.findings] == [
        ("a.py", 5),
        ("b.py", 5),
        ("b.py", 8),
    ]


def test_a_rule_that_does_not_apply_to_a_path_says_nothing_there(plan, buggy):
    chosen = plan._replace(codes_of=lambda path: frozenset({"IPL101"} if path.name == "a.py" else ()))
    tasks = [Task(name, buggy.encode()) for name in ("a.py", "b.py")]
    assert [finding.span.path for finding in session.check_all(tasks, chosen, session.Outcome()).findings] == ["a.py"]


def test_a_syntax_error_is_an_error_at_its_place(plan):
    outcome = session.check_all([Task("a.py", b"import torch\ndef f(:\n")], plan, session.Outcome())
    (finding,) = outcome.findings
    assert (finding.code, finding.severity, finding.span.line) == ("IPL902", Severity.ERROR, 2)
    assert outcome.failures == []


def test_the_packages_that_make_a_file_worth_a_parse_come_from_the_tables():
    assert "torch" in framework_names()
