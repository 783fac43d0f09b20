"""The pages of the site: each rule has one, links lead somewhere, and programs do what the page says."""

from __future__ import annotations

import re
from importlib import metadata
from urllib.parse import unquote, urljoin, urlsplit

import pytest
import yaml

from inplace_lint.driver.analyze_file import Options, check_file
from inplace_lint.knowledge import facts
from inplace_lint.rules import RULE_OF
from inplace_lint.rules.links import SITE, rule_url
from tests.pages.examples import ROOT, examples_of

_ALL = tuple(one for name in ("found", "recipes") for one in examples_of(ROOT / "docs" / f"{name}.md"))
PROGRAMS = tuple(one for one in _ALL if not one.library)
CALLS = tuple(one for one in _ALL if one.library)
_REFERENCE = re.compile(r"""(?:href|src)=["']?([^"'\s>]+)""")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_address_of_each_rule_is_a_page(site, lang):
    for code, rule in RULE_OF.items():
        page = site / rule_url(code, lang).removeprefix(f"{SITE}/") / "index.html"
        assert f"{rule.name} ({code})" in page.read_text(encoding="utf-8")


def test_each_link_within_the_site_leads_to_a_file(site):
    broken = set()
    for page in site.rglob("*.html"):
        address = f"{SITE}/{page.relative_to(site).as_posix()}"
        for reference in _REFERENCE.findall(page.read_text(encoding="utf-8")):
            target = urlsplit(urljoin(address, reference))
            if target.geturl().startswith(f"{SITE}/"):
                path = site / unquote(target.geturl().removeprefix(f"{SITE}/").partition("#")[0].partition("?")[0])
                if not (path / "index.html").is_file() and not path.is_file():
                    broken.add((page.relative_to(site).as_posix(), reference))
    assert not broken


def test_the_site_has_the_address_that_findings_carry():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert yaml.safe_load(text)["site_url"] == f"{SITE}/"


def test_the_menu_leads_to_each_page_of_the_documents():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    assert [page.name for page in sorted((ROOT / "docs").glob("*.md")) if f" {page.name}\n" not in menu] == []


@pytest.mark.parametrize("pattern", ["README.md", "SECURITY.md", "docs/*.md", "rules/*.md", "editors/vscode/**/*.md"])
def test_pages_are_in_plain_english(pattern):
    odd = re.compile(r"\b(mend\w*|told|stands|else)\b", re.IGNORECASE)
    texts = {page: page.read_text(encoding="utf-8") for page in ROOT.glob(pattern) if "node_modules" not in page.parts}
    prose = {
        page: re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE) for page, text in texts.items()
    }
    assert prose
    assert {page.name: odd.findall(text) for page, text in prose.items() if odd.search(text)} == {}


def test_each_message_that_explain_knows_is_on_the_page_of_errors(site):
    text = (site / "errors" / "index.html").read_text(encoding="utf-8")
    shown = " ".join(re.findall(r"\w+", re.sub(r"<[^>]+>|&[#\w]+;", " ", text)))
    for name in facts.frameworks():
        for check, message in facts.load(name, None).framework.says.items():
            if check != "no_grad":
                assert " ".join(re.findall(r"\w+", message.partition("{")[0].partition("'")[0])) in shown


def test_a_rule_says_how_to_fix_it_before_it_says_why(site):
    text = (site / "rules" / "leaf-write" / "index.html").read_text(encoding="utf-8")
    headings = re.findall(r'<h2 id="([^"]+)"', text)
    assert headings[:4] == ["what-it-does", "example", "how-to-fix-it", "why-is-this-bad"]


@pytest.mark.parametrize("example", [pytest.param(one, id=one.name) for one in PROGRAMS])
def test_the_analyzer_finds_what_the_page_says(example):
    found = check_file(f"{example.page}.py", example.program, Options()).findings
    assert {(one.span.line, one.code) for one in found} == example.lines_of("error", "warning")


@pytest.mark.parametrize("example", [pytest.param(one, id=one.name) for one in PROGRAMS])
def test_the_framework_does_what_the_page_says(example, real, tmp_path):
    assert_behaves(example, real, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("example", [pytest.param(one, id=f"{one.library}-{one.line}") for one in CALLS])
def test_the_library_does_what_the_page_says(example, real, tmp_path):
    if not is_installed(example.library):
        pytest.skip(f"{example.library} is not installed")
    assert_behaves(example, real, tmp_path)


def assert_behaves(example, real, tmp_path):
    program = tmp_path / "example.py"
    program.write_text(example.program, encoding="utf-8")
    outcome = real(example.framework).run(program)
    if example.behaviour == "raises":
        assert outcome.verdict == "raised"
        assert example.raises in outcome.message
    else:
        assert (outcome.verdict, outcome.message) == ("ran", "")


def is_installed(requirement):
    name, _, version = requirement.partition("==")
    try:
        return metadata.version(name) == version
    except metadata.PackageNotFoundError:
        return False
