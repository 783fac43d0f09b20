"""Rules of one's own: the example package of docs/rule-plugins.md is installed with pip and run; what goes wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import forked

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = Path(__file__).parent / "example_plugin"
PROGRAM = """\
import torch
from torch import nn

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(1)
y.sum().backward()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        z = self.fc(x)
        z[0] = 1
        return z


Net()(torch.rand(2, 4)).sum().backward()
"""
NAMED = '[tool.inplace-lint]\nrule-plugins = ["my-team"]\noutput-format = "concise"\n'
OVERWRITTEN = "a.py:6:1: error[TEAM201] `y` is overwritten, and exp keeps its output for backward\n"
ASSIGNED = "a.py:17:9: info[TEAM101] an item of `z` is assigned in a forward\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Install the example package as a user would, into a folder of its own."""
    source = tmp_path_factory.mktemp("source") / "my-team"
    for path in EXAMPLE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            copy = source / path.relative_to(EXAMPLE)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-build-isolation"]
    done = subprocess.run(
        [*pip, "--no-deps", "--target", str(target), str(source)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def project(tmp_path):
    (tmp_path / "pyproject.toml").write_text(NAMED)
    (tmp_path / "a.py").write_text(PROGRAM)
    return tmp_path


@pytest.fixture
def lint(project, site):
    def run(*words, stdin=b"", at=site, folder=project):
        usual = forked.usual_environment()
        return forked.run(words, folder, {**usual, "PYTHONPATH": f"{usual['PYTHONPATH']}{os.pathsep}{at}"}, stdin)

    return run


def made(folder, name, text, *, package=""):
    """Put a module and the plugin that it is into a folder as an installer would."""
    package = package or f"{name}-rules"
    (folder / f"{name.replace('-', '_')}.py").write_text(text)
    info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[inplace_lint.rules]\n{name} = {name.replace('-', '_')}:RULES\n")


def config(project, *lines):
    (project / "pyproject.toml").write_text(NAMED + "".join(f"{line}\n" for line in lines))


# -- what works as for a rule of ours ----------------------------------------------------------------------------------


def test_a_rule_judges_events_where_the_configuration_names_its_plugin(lint, project):
    found = lint("a.py")
    assert (found.status, OVERWRITTEN in found.out, "TEAM101" in found.out) == (1, True, False)
    assert "IPL101" in found.out
    (project / "pyproject.toml").write_text('[tool.inplace-lint]\noutput-format = "concise"\n')
    assert "TEAM" not in lint("a.py").out
    inline = ("--isolated", "--output-format", "concise", "--config", 'rule-plugins=["my-team"]')
    assert OVERWRITTEN in lint(*inline, "a.py").out


@pytest.mark.parametrize("selector", ["TEAM101", "TEAM1", "TEAM", "item-write-in-forward", "ALL"])
def test_a_rule_is_selected_by_its_code_prefix_or_name(lint, selector):
    assert ASSIGNED in lint("--select", selector, "--no-cache", "a.py").out


def test_a_rule_is_ignored_and_gets_a_severity_by_its_code(lint, project):
    assert "TEAM" not in lint("--ignore", "TEAM2", "a.py").out
    assert "TEAM" not in lint("--per-file-ignores", "a.py:overwritten-activation", "a.py").out
    config(project, "[tool.inplace-lint.severity]", 'TEAM = "warning"')
    assert OVERWRITTEN.replace("error", "warning") in lint("a.py").out


def test_a_comment_suppresses_a_finding_and_is_reported_where_it_does_not(lint, project):
    (project / "a.py").write_text(PROGRAM.replace("y.add_(1)", "y.add_(1)  # noqa: TEAM201"))
    assert "TEAM" not in lint("a.py").out
    (project / "a.py").write_text(PROGRAM.replace("y = x.exp()", "y = x.exp()  # noqa: TEAM201"))
    found = lint("a.py").out
    assert OVERWRITTEN in found
    assert "IPL901" in found
    (project / "a.py").write_text(PROGRAM)
    lint("--add-noqa", "--select", "TEAM201", "a.py")
    assert "y.add_(1)  # noqa: TEAM201\n" in (project / "a.py").read_text()


def test_formats_have_the_address_of_the_rule_or_none(lint):
    words = ("--extend-select", "TEAM", "a.py", "--output-format")
    rows = {row["code"]: row for row in json.loads(lint(*words, "json").out)}
    page = "https://handbook.example.com/overwritten-activation"
    assert (rows["TEAM201"]["url"], rows["TEAM101"]["url"]) == (page, None)
    rules = {rule["id"]: rule for rule in json.loads(lint(*words, "sarif").out)["runs"][0]["tool"]["driver"]["rules"]}
    assert rules["TEAM201"]["helpUri"] == page
    assert "helpUri" not in rules["TEAM101"]
    assert rules["TEAM101"]["fullDescription"]["text"].startswith("Reports each item assignment")
    for form in ("full", "github", "gitlab", "junit", "rdjson", "azure", "pylint"):
        assert "is overwritten, and exp keeps" in lint(*words, form).out, form


def test_the_page_is_shown_and_listed(lint, site):
    shown = lint("rule", "TEAM101", folder=site.parent)
    assert (shown.status, "did you mean" in shown.err) == (2, False)
    shown = lint("rule", "item-write-in-forward")
    assert shown.out.rstrip() == (EXAMPLE / "src/my_team/pages/item-write-in-forward.md").read_text().rstrip()
    assert "TEAM201  overwritten-activation\n" in lint("rule").out
    assert "#   TEAM201  overwritten-activation\n" in lint("--show-settings").out


def test_an_editor_shows_the_page_of_a_rule(site):
    program = (
        "from inplace_lint.rules.plugins import load\nfrom inplace_lint.server import hover\nload('my-team')\n"
        "print(hover.of_comment('x = 1  # noqa: TEAM101', 'en'))\nprint(hover.of_comment('#noqa:TEAM201', 'en'))\n"
    )
    path = f"{ROOT}{os.pathsep}{site}"
    run = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    of_item, of_activation = run.stdout.splitlines()
    assert of_item == "**TEAM101** `item-write-in-forward`: an item of a tensor is assigned in a forward"
    assert of_activation.startswith("[**TEAM201**](https://handbook.example.com/overwritten-activation) `overwritten-")


def test_an_error_is_explained_by_all_rules_about_it(lint, tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    made(site, "my-team", plugin(*TEAM1, judge="return Draft('m', event.write) if isinstance(event, Stale) else None"))
    error = (
        b"RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation"
    )
    assert "Rules about it: IPL101, TEAM1, IPL102, IPL103 (" in lint("explain", stdin=error, at=site).out


def test_results_of_processes_and_of_the_cache_are_the_same(lint, project):
    for number in range(6):
        (project / f"big{number}.py").write_text(PROGRAM + "# a long file\n" * 1000)
    first = lint("--jobs", "2")
    assert first.out.count("TEAM201") == 7
    again = lint("--jobs", "2", "--statistics")
    assert again.out.startswith(first.out)
    assert lint("--jobs", "1", "--no-cache").out == first.out


def test_a_result_is_not_kept_when_the_code_of_the_plugin_changes(lint, site, tmp_path_factory):
    other = tmp_path_factory.mktemp("changed")
    for path in site.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            (other / path.relative_to(site)).parent.mkdir(parents=True, exist_ok=True)
            (other / path.relative_to(site)).write_bytes(path.read_bytes())
    assert OVERWRITTEN in lint("a.py", at=other).out
    module = other / "my_team" / "inplace.py"
    module.write_text(module.read_text().replace("is overwritten, and", "is written, and"))
    assert OVERWRITTEN.replace("overwritten", "written", 1) in lint("a.py", at=other).out


def test_results_are_merged_where_the_plugin_is_not_installed(lint, tmp_path_factory, tmp_path):
    rows = lint("--output-format", "json", "a.py").out
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "one.json").write_text(rows)
    for form in ("json", "sarif", "concise", "github"):
        merged = lint("merge", "one.json", "--output-format", form, folder=elsewhere, at=elsewhere)
        assert (merged.status, merged.err) == (1, ""), form
        assert "TEAM201" in merged.out, form


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def plugin(*arguments, judge="return None", page="Path(__file__)", rules="(RULE,)"):
    """Return the text of a module with a rule."""
    words = ", ".join([*arguments[:3], "f", *arguments[3:], f"page={page}"])
    head = "from pathlib import Path\nfrom inplace_lint.rules.api import *\n"
    return f"{head}def f(event):\n    {judge}\nRULE = Rule({words})\nRULES = {rules}\n"


TEAM1 = "'TEAM1'", "'my-rule'", "Harm.SILENT"
WRONG = [
    ("import nothing_like_this", "does not load: ModuleNotFoundError: No module named 'nothing_like_this'"),
    ("raise SystemExit(0)", "does not load: SystemExit: 0 (my_team.py:1)"),
    ("RULES = 'TEAM101'", "must have rules in a tuple, not 'TEAM101'"),
    ("RULES = ()", "must have rules in a tuple, not ()"),
    ("RULES = (1,)", "1 is not a `Rule`"),
    (
        plugin("'IPL101'", *TEAM1[1:]),
        "the code 'IPL101' must be capital letters and a number, such as `TEAM101`, and not begin",
    ),
    (plugin("'T1'", *TEAM1[1:]), "the code 'T1' must be"),
    (plugin("101", *TEAM1[1:]), "a `Rule` in which the field code is 101, not of type str"),
    (plugin("'TEAM1'", "'rule'", "Harm.SILENT"), "the name 'rule' of TEAM1 must be lowercase words with hyphens"),
    (plugin("'TEAM1'", "'leaf-write'", "Harm.SILENT"), "has the code or the name of another rule, IPL201 (leaf-write)"),
    (plugin(*TEAM1, rules="[RULE, RULE]"), "has the code or the name of another rule, TEAM1 (my-rule)"),
    (plugin(*TEAM1, page="None"), "a `Rule` in which the field page is None, not of type Path"),
    (plugin(*TEAM1, page="Path('no.md')"), "TEAM1 has no page: 'no.md' is not a file"),
    (plugin(*TEAM1[:2], "Harm.STYLE"), "TEAM1 reports what is not a fault (`Harm.STYLE`): it must be an opinion"),
    (plugin(*TEAM1, "supersedes='IPL7'"), "TEAM1 names 'IPL7', which is not a rule of inplace-lint"),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_a_plugin_that_is_wrong_is_named_in_one_line(lint, tmp_path_factory, text, said):
    site = tmp_path_factory.mktemp("site")
    made(site, "my-team", text)
    found = lint("a.py", at=site)
    assert (found.status, found.out, found.err.count("\n")) == (2, "", 1)
    assert found.err.startswith("error: ")
    assert "pyproject.toml:2: `rule-plugins`: rule plugin 'my-team' (my-team-rules 1.0)" in found.err
    assert said in found.err


def test_a_plugin_that_is_not_there_is_named_with_the_nearest_that_is(lint, project):
    (project / "pyproject.toml").write_text('[tool.inplace-lint]\nrule-plugins = ["my-taem"]\n')
    found = lint("a.py")
    assert found.status == 2
    assert found.err.endswith(
        "pyproject.toml:2: `rule-plugins`: no package that is installed beside inplace-lint provides rule plugin "
        "'my-taem', did you mean 'my-team'?\n"
    )
    (project / "pyproject.toml").write_text("[tool.inplace-lint]\nrule-plugins = 'my-team'\n")
    assert "'rule-plugins' must be a list of strings, not a string" in lint("a.py").err


def test_two_packages_with_one_plugin_are_named(lint, tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    made(site, "my-team", "RULES = ()")
    made(site, "my-team", "RULES = ()", package="other")
    found = lint("a.py", at=site)
    assert found.status == 2
    assert "several packages provide rule plugin 'my-team': my-team-rules 1.0, other 1.0" in found.err


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('no\\nmore')", "the judge of TEAM1 failed: ValueError: no (my_team.py:4)"),
        ("return 'a text'", "TEAM1 returned 'a text' in place of a `Draft` or `None`"),
        (
            "return Draft(message=1, write=event.write)",
            "TEAM1 returned a `Draft` in which the field message is 1, not of type str",
        ),
        ("return Draft('m', (1, 2))", "TEAM1 returned a `Draft` in which the field write is (1, 2), not of type Touch"),
    ],
)
def test_a_judge_that_fails_is_named_with_the_file_and_the_others_are_checked(
    lint, project, tmp_path_factory, body, said
):
    site = tmp_path_factory.mktemp("site")
    made(site, "my-team", plugin(*TEAM1, judge=body))
    (project / "b.py").write_text("import torch\n\nx = torch.ones(3)\n")
    found = lint(".", at=site)
    assert found.status == 2
    assert found.err == f"a.py: rule plugin 'my-team' (my-team-rules 1.0): {said}\n"


def test_a_plugin_that_lies_in_the_scanned_folder_is_not_loaded(project):
    made(project, "my-team", "open('was-here', 'w')\nRULES = ()")
    for words in (["-m", "inplace_lint"], ["-c", "from inplace_lint.__main__ import main; raise SystemExit(main())"]):
        run = subprocess.run(
            [sys.executable, *words, "a.py"],
            cwd=project,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
            capture_output=True,
            text=True,
        )
        assert run.returncode == 2
        assert "no package that is installed beside inplace-lint provides rule plugin 'my-team'\n" in run.stderr
    assert not (project / "was-here").exists()


@pytest.mark.parametrize("place", [".", "", "..", "{project}", "{link}", "plugins"])
def test_a_plugin_of_the_scanned_folder_is_not_loaded_where_it_is_on_the_path_of_modules(project, tmp_path, place):
    (project / "plugins").mkdir()
    for folder in (project, project / "plugins"):
        made(folder, "my-team", f"open({str(project / 'was-here')!r}, 'w')\nRULES = ()")
    link = tmp_path.with_name(f"{tmp_path.name}-link")
    link.symlink_to(project)
    inside = place in {".", "", "..", "plugins"}
    run = subprocess.run(
        [sys.executable, "-m", "inplace_lint", "--no-cache", "a.py" if inside else str(project / "a.py")],
        cwd=project if inside else ROOT / "docs",
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{place.format(project=project, link=link)}"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert "no package that is installed beside inplace-lint provides rule plugin 'my-team'\n" in run.stderr
    assert not (project / "was-here").exists()


def test_a_plugin_of_an_environment_in_the_scanned_folder_is_loaded(project, site):
    """What an installer put there is the user's choice: packages in the environment, and folders that it links to."""
    (project / "rules").symlink_to(site)
    home = project / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    (packages,) = home.glob("lib/*/site-packages")
    others = [place for place in sys.path if place.endswith("-packages")]
    lines = (str(ROOT), str(project / "rules"), *others)
    (packages / "linked.pth").write_text("".join(f"{line}\n" for line in lines))
    run = subprocess.run(
        [str(home / "bin" / "python"), "-m", "inplace_lint", "--no-cache", "a.py"],
        cwd=project,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert OVERWRITTEN in run.stdout, run.stderr


def test_a_module_of_the_scanned_folder_does_not_hide_that_of_the_plugin(project, site):
    (project / "my_team").mkdir()
    (project / "my_team" / "__init__.py").write_text("open('was-here', 'w')")
    run = subprocess.run(
        [sys.executable, "-m", "inplace_lint", "a.py"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}.{os.pathsep}{site}"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert OVERWRITTEN in run.stdout
    assert not (project / "was-here").exists()


# -- the documentation -------------------------------------------------------------------------------------------------


def test_the_documentation_shows_the_example_package_as_it_is():
    page = (ROOT / "docs" / "rule-plugins.md").read_text()
    for name in ("pyproject.toml", "src/my_team/inplace.py", "src/my_team/pages/item-write-in-forward.md"):
        assert (EXAMPLE / name).read_text().strip() in page, name
