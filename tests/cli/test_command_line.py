from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from inplace_lint import __version__


def test_findings_end_with_status_1_and_both_frames(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    ran = lint("a.py")
    assert ran.status == 1
    assert ran.err == ""
    assert ran.out.startswith("error[IPL101] [*] modified-after-save: ")
    assert " --> a.py:5:1\n" in ran.out
    assert "\n4 | y = x.exp()\n" in ran.out
    assert "\n5 | y.add_(1)\n" in ran.out
    assert ran.out.endswith("\nFound 1 error in 1 file.\n[*] 1 fixable with the `--fix` option.\n")


def test_check_is_the_default_command(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    assert lint(".") == lint("check", ".") == lint("check") == lint("--no-cache", ".")


def test_clean_files_end_with_status_0(lint, folder, clean):
    (folder / "a.py").write_text(clean)
    assert lint() == (2, "", lint().err)
    assert lint(".") == (0, "All checks passed!\n", "")


def test_bare_shows_help_as_ruff_does(lint):
    ran = lint()
    assert ran.status == 2
    assert ran.err.startswith("Usage: inplace-lint")


def test_version_and_help(lint):
    assert lint("--version") == (0, f"inplace-lint {__version__}\n", "")
    for words in (("--help",), ("-h",), ("check", "--help"), ("rule", "-h")):
        ran = lint(*words)
        assert (ran.status, ran.err) == (0, "")
        assert ran.out.startswith("Usage: inplace-lint")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--selct", "IPL1", "."), "error: no such option '--selct', did you mean '--select'?"),
        (("check", "--output-formt=json"), "error: no such option '--output-formt', did you mean '--output-format'?"),
        (
            ("--output-format", "jsn", "."),
            (
                "error: --output-format must be one of full, concise, grouped, json, json-lines, sarif, github, "
                "gitlab, junit, azure, rdjson, pylint, not 'jsn', did you mean 'json'?"
            ),
        ),
        (
            ("--select", "IPL1,leef-write", "."),
            "error: --select: unknown rule 'leef-write', did you mean 'leaf-write'?",
        ),
        (("--ignore", "IPL1O1", "."), "error: --ignore: unknown rule 'IPL1O1', did you mean 'IPL101'?"),
        (("--color", "yes", "."), "error: --color must be one of auto, always, never, not 'yes'"),
        (("-j", "0", "."), "error: --jobs must be a positive whole number, not 0"),
        (("--jobs=two", "."), "error: --jobs must be a positive whole number, not 'two'"),
        (("--confirm-memory=0.5", "."), "error: --confirm-memory must be a positive whole number, not '0.5'"),
        (("--device=cuda", "."), "error: `--device` can only be used with `--confirm`"),
        (("opportunities", "--confirm-memory=9", "."), "error: `--confirm-memory` can only be used with `--confirm`"),
        (("--confirm-output", "."), "error: `--confirm-output` can only be used with `--confirm`"),
        (("--select", "", "."), "error: --select must name rules, not ''"),
        (("--write-baseline", "", "."), "error: --write-baseline must be a file, and '' is a directory"),
        (("--cache-dir", "pyproject.toml", "."), "error: --cache-dir must be a folder, and 'pyproject.toml' is not"),
        (("--dump-state=0", "a.py"), "error: --dump-state must be a positive whole number, not 0"),
        (("--confirm-seconds=-1", "."), "error: --confirm-seconds must be a number above 0, not '-1'"),
        (("--device", "tpu", "."), "error: --device must be one of cpu, cuda, not 'tpu', did you mean 'cpu'?"),
        (("--output-file", "."), "error: --output-file must be a file, and '.' is a directory"),
        (("--config",), "error: --config needs a value"),
        (("--fix=yes", "."), "error: --fix takes no value"),
        (("--exclude", "a,\\", "."), "error: --exclude has '\\\\', which is not a valid file pattern"),
        (("completion",), "error: missing argument bash|zsh|fish"),
        (("completion", "ksh"), "error: the argument must be one of bash, zsh, fish, not 'ksh', did you mean 'zsh'?"),
        (("chek", "."), "error: no such command or file 'chek', did you mean 'check'?"),
        (("rul",), "error: no such command or file 'rul', did you mean 'rule'?"),
        (
            ("--torch-version", "newest", "."),
            "error: --torch-version must be a version such as '2.13.0', not 'newest'",
        ),
        (("rule", "IPL1O1"), "error: unknown rule 'IPL1O1', did you mean 'IPL101'?"),
        (("rule", "leafwrite"), "error: unknown rule 'leafwrite', did you mean 'leaf-write'?"),
    ],
)
def test_a_wrong_option_is_one_line_and_status_2(lint, words, message):
    assert lint(*words) == (2, "", message + "\n")


def test_a_file_may_be_called_nearly_as_a_command(lint, folder, clean):
    (folder / "chek").write_text(clean)
    assert lint("chek").status == 0
    assert lint("nothing") == (
        2,
        "Found nothing, but 1 file could not be checked.\n",
        "nothing: no such file or directory\n",
    )


def test_a_wrong_key_of_the_configuration_is_one_line_and_status_2(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    (folder / "pyproject.toml").write_text('[tool.inplace-lint]\nselct = ["IPL1"]\n')
    file = folder / "pyproject.toml"
    assert lint(".") == (2, "", f"error: {file}:2: unknown key 'selct', did you mean 'select'?\n")


def test_the_configuration_of_the_nearest_folder_counts(lint, folder, buggy):
    for name in ("a.py", "sub/b.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(buggy)
    (folder / "pyproject.toml").write_text('[tool.inplace-lint]\noutput-format = "concise"\n')
    (folder / "sub/.inplace-lint.toml").write_text('ignore = ["modified-after-save"]\n')
    ran = lint(".")
    assert [line.split(":")[0] for line in ran.out.splitlines()[:-1]] == ["a.py", "Found 1 error in 1 file."]


def test_rules_are_selected_and_ignored(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    assert lint("--select", "IPL2", ".").status == 0
    assert lint("--ignore", "IPL101", ".").status == 0
    assert lint("--select", "modified-after-save", ".").status == 1


def test_a_noqa_comment_silences_and_one_in_a_string_does_not(lint, folder, buggy):
    (folder / "a.py").write_text(buggy.replace("y.add_(1)", "y.add_(1)  # noqa: IPL101"))
    assert lint(".").status == 0
    (folder / "a.py").write_text(buggy.replace("y.add_(1)", "y.add_(1); z = '# noqa'"))
    assert lint(".").status == 1
    (folder / "a.py").write_text(buggy.replace("y.add_(1)", "y.add_(\n    1,\n)  # noqa"))
    assert lint(".").status == 0


def test_exit_zero_hides_findings_from_the_status_and_nothing_else(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    ran = lint("--exit-zero", "--output-format=concise", ".")
    assert (ran.status, ran.out.count("IPL101")) == (0, 1)
    assert lint("--exit-zero", "missing").status == 2


def test_json_alone_is_on_stdout(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    (folder / "latin.py").write_bytes(b"import torch\nx = '\xe9'\n")
    ran = lint("--output-format", "json", "--statistics", ".")
    (row,) = json.loads(ran.out)
    assert (row["code"], row["location"]) == ("IPL101", {"row": 5, "column": 1})
    assert row["filename"] == str(folder / "a.py")
    assert "latin.py: not valid utf-8" in ran.err
    assert "files: 1, " in ran.err or "files: 2, " in ran.err
    assert ran.status == 2


def test_findings_go_to_a_file(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    assert lint("-o", "out.json", "--output-format", "json", ".") == (1, "", "")
    assert len(json.loads((folder / "out.json").read_text())) == 1
    assert lint("-o", "no/such/folder.txt", ".") == (2, "", "error: no/such/folder.txt: no such file or directory\n")


def test_github_gets_commands_and_a_page_for_the_job(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    (folder / "page.md").write_text("before\n")
    ran = lint("--output-format", "github", ".", GITHUB_STEP_SUMMARY=str(folder / "page.md"))
    assert ran.status == 1
    assert ran.out.startswith("::error title=inplace-lint (IPL101),file=a.py,line=5,col=1,endLine=5,endColumn=10::")
    page = (folder / "page.md").read_text()
    assert page.startswith("before\n### inplace-lint\n")
    assert "| `a.py:5` | error | IPL101 | " in page


def test_statistics_come_after_the_findings(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    (folder / "b.py").write_text("x = 1\n")
    out = lint("--statistics", "--no-cache", "--output-format", "concise", ".").out
    assert (
        "Found 1 error in 1 file.\n[*] 1 fixable with the `--fix` option.\n\n1  IPL101  modified-after-save\n\n"
        "files: 2, of which mention a framework: 1\n" in out
    )
    assert "known framework calls: " in out


def test_standard_input_is_checked_under_a_given_name(lint, buggy, clean):
    ran = lint("-", "--stdin-filename", "pkg/model.py", stdin=buggy.encode())
    assert ran.status == 1
    assert " --> pkg/model.py:5:1\n" in ran.out
    assert "5 | y.add_(1)\n" in ran.out
    assert lint("-", stdin=clean.encode()).status == 0


def test_colours_are_used_only_when_asked(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    assert "\x1b" not in lint(".").out
    assert "\x1b[1;31m" in lint("--color", "always", ".").out
    assert "\x1b[1;31m" in lint(".", FORCE_COLOR="1").out
    assert "\x1b" not in lint("--color", "never", ".", FORCE_COLOR="1").out
    assert "\x1b" not in lint(".", FORCE_COLOR="1", NO_COLOR="1").out


def test_the_width_of_the_terminal_is_kept(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    assert max(len(line) for line in lint(".", COLUMNS="50").out.splitlines()) <= 50


def test_a_rule_has_its_page_by_code_and_name(lint):
    by_code, by_name = lint("rule", "IPL101"), lint("rule", "modified-after-save")
    assert by_code == by_name
    assert by_code.out.startswith("# modified-after-save (IPL101)\n")
    assert "\x1b" in lint("rule", "IPL101", "--color", "always").out


def test_rules_are_listed_and_all_pages_shown(lint):
    listed = [line.split() for line in lint("rule").out.splitlines()]
    assert ["IPL101", "modified-after-save"] in listed
    pages = lint("rule", "--all").out
    for code, name in listed:
        assert f"# {name} ({code})" in pages


def test_a_prefix_of_codes_lists_its_rules(lint):
    ran = lint("rule", "ipl4")
    assert ran == (0, "IPL401  script-write\nIPL402  checkpoint-write\nIPL403  compiled-write\n", "")
    assert lint("rule", "IPL").out == lint("rule").out
    assert lint("rule", "IPL7").status == 2


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX pipe")
def test_a_reader_that_stops_reading_is_no_error(folder, buggy):
    for number in range(40):
        (folder / f"m{number}.py").write_text(buggy)
    command = f"{sys.executable} -m inplace_lint --no-cache . | head -n 1"
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert done.stderr == ""
    assert done.stdout.startswith("error[IPL101]")
