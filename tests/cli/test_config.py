from __future__ import annotations

from pathlib import Path

import pytest

from inplace_lint.config.resolve import SettingsResolver
from inplace_lint.config.selection import RuleInfo, codes_of
from inplace_lint.config.settings import settings_at, settings_in, settings_of_text
from inplace_lint.core.errors import ConfigError

KNOWN = (
    RuleInfo("IPL101", "modified-after-save"),
    RuleInfo("IPL102", "inplace-activation-after-save"),
    RuleInfo("IPL201", "leaf-write"),
    RuleInfo("IPL501", "inplace-in-forward", default=False),
)
ON = {"IPL101", "IPL102", "IPL201"}


def resolver(**chosen: object) -> SettingsResolver:
    return SettingsResolver(chosen, KNOWN)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_every_key_is_read(tmp_path):
    write(
        tmp_path / "pyproject.toml",
        """
[tool.inplace-lint]
select = ["IPL1"]
extend-select = ["leaf-write"]
ignore = ["IPL102"]
exclude = ["vendored"]
output-format = "concise"
color = "never"
jobs = 3
cache = false
cache-dir = "there"
exit-zero = true
statistics = true
torch-version = "2.4.1+cpu"
paddle-version = "3.3"

[tool.inplace-lint.per-file-ignores]
"tests/*" = ["IPL201"]
""",
    )
    settings = resolver().settings_of(tmp_path / "a.py")
    assert settings.root == tmp_path
    assert (settings.select, settings.extend_select, settings.ignore) == (("IPL1",), ("leaf-write",), ("IPL102",))
    assert (settings.exclude, settings.output_format, settings.color) == (("vendored",), "concise", "never")
    assert (settings.jobs, settings.cache, settings.cache_dir) == (3, False, "there")
    assert (settings.exit_zero, settings.statistics) == (True, True)
    assert (settings.torch_version, settings.paddle_version) == ("2.4.1+cpu", "3.3")
    assert settings.per_file_ignores == {"tests/*": ("IPL201",)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["IPL1"]', "{file}:3: unknown key 'selct', did you mean 'select'?"),
        ("output_format = 'full'", "{file}:3: unknown key 'output_format', did you mean 'output-format'?"),
        ("zzz = 1", "{file}:3: unknown key 'zzz'"),
        ('select = "IPL1"', "{file}:3: 'select' must be a list of strings, not a string"),
        ("ignore = [1]", "{file}:3: 'ignore' must be a list of strings, but contains a number"),
        (
            "per-file-ignores = {'a.py' = 'IPL1'}",
            ("{file}:3: 'per-file-ignores' must have a list of rules for 'a.py', not a string"),
        ),
        ("exclude = ['ok/', '!']", "{file}:3: 'exclude' has '!', which is not a valid file pattern"),
        (
            "per-file-ignores = {'!' = ['IPL1']}",
            "{file}:3: 'per-file-ignores' has '!', which is not a valid file pattern",
        ),
        ("lint = 1", "{file}:3: unknown key 'lint'"),
        ("lang = 'de'", "{file}:3: 'lang' must be one of en, zh, not 'de'"),
        ("cache = 1", "{file}:3: 'cache' must be true or false, not a number"),
        ("jobs = 0", "{file}:3: 'jobs' must be a positive whole number, not 0"),
        (
            'output-format = "jsn"',
            (
                "{file}:3: 'output-format' must be one of full, concise, grouped, json, json-lines, sarif, github, "
                "gitlab, junit, azure, rdjson, pylint, not 'jsn', did you mean 'json'?"
            ),
        ),
        ('torch-version = "new"', "{file}:3: 'torch-version' must be a version such as '2.13.0', not 'new'"),
        ('select = ["IPL1O1"]', "{file}:3: 'select': unknown rule 'IPL1O1', did you mean 'IPL101'?"),
        ('ignore = ["leaf-writes"]', "{file}:3: 'ignore': unknown rule 'leaf-writes', did you mean 'leaf-write'?"),
    ],
)
def test_what_is_wrong_is_named_with_its_place_and_the_nearest_right_word(tmp_path, text, message):
    write(tmp_path / "pyproject.toml", f"\n[tool.inplace-lint]\n{text}\n")
    with pytest.raises(ConfigError) as caught:
        resolver().settings_of(tmp_path)
    assert str(caught.value) == message.format(file=tmp_path / "pyproject.toml")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("inplace-lint.toml", "[tool.inplace-lint]\njobs = 1\n", "{file}:1: keys belong at the top level of this "),
        ("pyproject.toml", "[tool.inplace_lint]\njobs = 1\n", "{file}:1: the table is called `[tool.inplace-lint]`, "),
        ("pyproject.toml", "tool.inplacelint.jobs = 1\n", "{file}:1: the table is called `[tool.inplace-lint]`, "),
    ],
)
def test_a_table_under_another_name_is_no_table_that_is_silently_passed_over(tmp_path, name, text, message):
    write(tmp_path / name, text)
    with pytest.raises(ConfigError) as caught:
        settings_in(tmp_path)
    assert str(caught.value).startswith(message.format(file=tmp_path / name))


@pytest.mark.parametrize("name", ["inplace-lint.toml", "pyproject.toml"])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path, name):
    head = "[tool.inplace-lint]\n" if name == "pyproject.toml" else ""
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + f"{head}jobs = 3\n".encode())
    assert resolver().settings_of(tmp_path).jobs == 3


def test_a_file_that_is_not_toml_is_an_error_when_it_speaks_of_us(tmp_path):
    write(tmp_path / "pyproject.toml", "[tool.other\n")
    assert settings_in(tmp_path) is None
    write(tmp_path / "pyproject.toml", "[tool.inplace-lint\n")
    with pytest.raises(ConfigError, match=r"pyproject\.toml: not valid TOML: .*line 1"):
        settings_in(tmp_path)


def test_the_nearest_configuration_wins_alone(tmp_path):
    write(tmp_path / "pyproject.toml", '[tool.inplace-lint]\nignore = ["IPL1"]\n')
    write(tmp_path / "pkg/inplace-lint.toml", 'select = ["IPL2"]\n')
    write(tmp_path / "pkg/sub/pyproject.toml", "[tool.ruff]\n")
    assert resolver().codes_of(tmp_path / "a.py") == {"IPL201"} | (ON - {"IPL101", "IPL102"})
    assert resolver().codes_of(tmp_path / "pkg/sub/a.py") == {"IPL201"}
    assert resolver().settings_of(tmp_path / "pkg/sub/a.py").root == tmp_path / "pkg"


def test_of_three_files_in_a_folder_the_hidden_one_wins(tmp_path):
    for name, jobs in ((".inplace-lint.toml", 1), ("inplace-lint.toml", 2)):
        write(tmp_path / name, f"jobs = {jobs}\n")
    write(tmp_path / "pyproject.toml", "[tool.inplace-lint]\njobs = 3\n")
    assert resolver().settings_of(tmp_path).jobs == 1


def test_the_command_line_goes_over_the_file_and_adds_to_ignore(tmp_path):
    write(tmp_path / "inplace-lint.toml", 'select = ["ALL"]\nignore = ["IPL102"]\njobs = 2\n')
    chosen = resolver(select=("IPL1", "IPL2"), ignore=("leaf-write",), jobs=None, exit_zero=False)
    assert chosen.codes_of(tmp_path / "a.py") == {"IPL101"}
    assert chosen.settings_of(tmp_path).jobs == 2


@pytest.mark.parametrize(
    ("select", "extend", "ignore", "codes"),
    [
        ((), (), (), ON),
        (("ALL",), (), (), ON | {"IPL501"}),
        ((), ("IPL5",), (), ON | {"IPL501"}),
        ((), (), ("ALL",), set()),
        (("IPL1",), (), (), {"IPL101", "IPL102"}),
        (("ipl101",), (), (), {"IPL101"}),
        (("Modified-After-Save",), (), (), {"IPL101"}),
        (("IPL",), (), ("IPL2",), {"IPL101", "IPL102", "IPL501"}),
        (("IPL101",), (), ("IPL1",), {"IPL101"}),
        (("IPL101",), (), ("IPL101",), set()),
        (("IPL1",), (), ("IPL101",), {"IPL102"}),
    ],
)
def test_the_more_specific_selector_decides(tmp_path, select, extend, ignore, codes):
    write(tmp_path / "inplace-lint.toml", "")
    assert resolver(select=select, extend_select=extend, ignore=ignore).codes_of(tmp_path / "a.py") == codes


@pytest.mark.parametrize("word", ["IPL9", "E501", "", "leaf"])
def test_a_selector_that_names_no_rule_is_an_error(word):
    with pytest.raises(ConfigError, match="unknown rule"):
        codes_of(word, KNOWN, "--select")


def test_rules_are_ignored_by_file(tmp_path):
    write(tmp_path / "inplace-lint.toml", 'per-file-ignores = { "tests/*" = ["IPL1"], "b.py" = ["leaf-write"] }\n')
    assert resolver().codes_of(tmp_path / "a.py") == ON
    assert resolver().codes_of(tmp_path / "tests/a.py") == {"IPL201"}
    assert resolver().codes_of(tmp_path / "tests/b.py") == set()


def test_nesting_that_no_parser_follows_is_no_toml(tmp_path):
    deep = "[" * 50_000 + "]" * 50_000
    path = tmp_path / "inplace-lint.toml"
    path.write_text(f"select = {deep}")
    with pytest.raises(ConfigError, match=r"inplace-lint\.toml: not valid TOML"):
        settings_at(path)
    with pytest.raises(ConfigError, match=r"^--config: 'select=\[+\.\.\.' is neither a file"):
        settings_of_text(f"select={deep}")


def test_an_option_longer_than_any_file_name_is_read_as_what_it_is(lint, folder):
    (folder / "a.py").write_text("import torch\n")
    ran = lint("check", "--config", f"exclude=['{'a' * 300}']", "a.py")
    assert (ran.status, ran.err) == (0, "")
