"""
Pages of the documentation site that are made while MkDocs builds it, and links that hold in the repository and there.

MkDocs calls the functions by their names (`hooks` in mkdocs.yml). Files of `docs/` are pages as they are; the README is
the start page, `rules/*.md` are pages of rules, and two pages are made from the data that the tool itself uses.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from inplace_lint.cli.explain import codes_of, wordings
from inplace_lint.config.schema import KEYS
from inplace_lint.config.settings import Settings
from inplace_lint.knowledge import facts
from inplace_lint.rules import RULE_OF
from inplace_lint.rules.links import REPOSITORY

ROOT = Path(__file__).resolve().parents[1]
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
_FENCE = re.compile(r"^(\s*```python) .*$", re.MULTILINE)
_PROOF = re.compile(
    r"^[^\n`#|*][^\n]*[:：]\n\n```python (?:cure|intended)[^\n]*\n.*?^```\n\n?", re.MULTILINE | re.DOTALL
)
_EXAMPLE = re.compile(r"^```python.*?^```\n", re.MULTILINE | re.DOTALL)


def sources() -> dict[str, str]:
    """Return the files of the repository that are pages or pictures, each with its address within the site."""
    found = {f"docs/{name}": name for name in _names(ROOT / "docs", "*.md") + _names(ROOT / "docs", "*/*.md")}
    found |= {"README.md": "index.md", "README.zh.md": "zh/index.md"}
    found |= {f"fixtures/{name}": f"fixtures/{name}" for name in _names(ROOT / "fixtures", "*.svg")}
    for rule in RULE_OF.values():
        found[f"rules/{rule.name}.md"] = f"rules/{rule.name}.md"
        found[f"rules/zh/{rule.name}.md"] = f"zh/rules/{rule.name}.md"
    return {path: uri for path, uri in found.items() if (ROOT / path).is_file()}


def _names(folder: Path, pattern: str) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in sorted(folder.glob(pattern))]


def on_files(files: Files, config: Any) -> Files:  # noqa: ANN401 - MkDocs gives a class of its own making
    """Add the pages that are not in `docs/`."""
    for path, uri in sources().items():
        if not path.startswith("docs/"):
            files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    files.append(File.generated(config, "errors.md", content=errors()))
    files.append(File.generated(config, "configuration-keys.md", content=keys()))
    return files


def on_page_markdown(markdown: str, page: Any, **_more: Any) -> str:  # noqa: ANN401
    """Return the text of a page with links that hold within the site, and code that it can highlight."""
    origins = {uri: path for path, uri in sources().items()}
    uri = page.file.src_uri
    if uri.startswith("decisions/"):
        page.meta["search"] = {"exclude": True}  # about the code of the tool, not for who searches for an error
    if "rules/" in uri:
        markdown = ordered(markdown)
    return relinked(_FENCE.sub(r"\1", markdown), origins.get(uri, f"docs/{uri}"), uri)


def relinked(text: str, origin: str, uri: str) -> str:
    """Return a text whose links, relative to its file `origin` in the repository, are relative to its page `uri`."""
    known = sources()

    def moved(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), match[1]))
        path = f"{path}/README.md" if f"{path}/README.md" in known else path
        if path in known:
            return posixpath.relpath(known[path], posixpath.dirname(uri) or ".") + (match[2] or "")
        if (ROOT / path).exists() and not path.startswith(".."):
            return f"{REPOSITORY}/blob/main/{path}{match[2] or ''}"
        return match[0]

    return _LINK.sub(moved, text)


def ordered(text: str) -> str:
    """
    Return the page of a rule in the order of a reader: what, an example, how to fix it, then why and the rest.

    Programs that prove a help are left out: they are tests.
    """
    head, *sections = re.split(r"^(?=## )", _PROOF.sub("", text), flags=re.MULTILINE)
    if len(sections) < 5:  # noqa: PLR2004 - the headings that each page of a rule has
        return head + "".join(sections)
    says = 1 if re.match(r"## (?:What PyTorch says|PyTorch 的报错)", sections[2]) else 0
    example, use = sections[2 + says], sections[3 + says]
    first = _EXAMPLE.search(example)
    end = first.end() if first is not None else len(example)
    title = "How to fix it" if example.startswith("## Example") else "如何修复"
    more = "More examples" if example.startswith("## Example") else "更多示例"
    use = f"## {title}\n{use.partition(chr(10))[2]}"
    rest = f"## {more}\n{example[end:]}" if example[end:].strip() else ""
    why = sections[1 : 2 + says]
    return "".join((head, sections[0], example[:end], "\n", use, *why, rest, *sections[4 + says :]))


def errors() -> str:
    """Return the page of all error messages, each with the rules about it."""
    lines = ["---", "search:", "  boost: 20", "---", "", "# Which error do you have?", ""]
    lines += ["Search this page for the message, or let the tool find the lines of your code that it is about:", ""]
    lines += ["    python train.py 2>&1 | inplace-lint explain src/", ""]
    for name in sorted(facts.frameworks(), reverse=True):  # PyTorch first: most readers use it
        lines += [f"## {facts.load(name, None).framework.title}", ""]
        rows: dict[tuple[str, ...], list[str]] = {}
        for framework, check, words, _ in wordings():
            if framework == name:
                codes = tuple(
                    dict.fromkeys((*codes_of(name, check, parameter=False), *codes_of(name, check, parameter=True)))
                )
                rows.setdefault(codes, []).append(words)
        for codes, messages in sorted(rows.items()):
            lines += [*_messages(messages), "", *_rules(codes), ""]
    return "\n".join(lines)


def _messages(messages: list[str]) -> Iterator[str]:
    """
    Give messages as text; the first sentence of the first one is a heading.

    The search ranks words of a heading first, and people search for what they have read.
    """
    whole = list(dict.fromkeys(text.replace("{producer}", "…") for text in messages))
    whole = [text for text in whole if not any(text != other and text in other for other in whole)]
    title = whole[0].partition(". ")[0]
    yield f"### {title}"
    for text in whole:
        if text != title:
            yield f"\n```text\n{text}\n```"


def _rules(codes: tuple[str, ...]) -> Iterator[str]:
    for code in codes:
        name = RULE_OF[code].name
        short = re.search(r"^In short: (.+)$", (ROOT / f"rules/{name}.md").read_text("utf-8"), re.MULTILINE)
        yield f"- [{code} {name}](../rules/{name}.md): {short[1] if short is not None else name}"


def keys() -> str:
    """Return the reference of all keys of the configuration, with their defaults, as the tool itself reads them."""
    defaults = Settings(Path())
    lines = [
        "# Configuration keys",
        "",
        "All keys of `[tool.inplace-lint]`; [configuration](configuration.md) explains them.",
        "",
    ]
    lines += ["| key | default |", "|---|---|"]
    for key in KEYS:
        value = getattr(defaults, key.replace("-", "_"), None)
        lines.append(f"| `{key}` | {f'`{_toml(value)}`' if value is not None else 'not set'} |")
    return "\n".join([*lines, ""])


def _toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case tuple() | dict():
            return "[]" if isinstance(value, tuple) else "{}"
        case _:
            return f'"{value}"' if isinstance(value, str) else str(value)


def on_post_build(config: Any, **_more: Any) -> None:  # noqa: ANN401
    """Keep GitHub Pages from running Jekyll, which leaves out folders that begin with an underscore."""
    (Path(os.fspath(config["site_dir"])) / ".nojekyll").touch()
