"""Whatever Python is read, or is no Python at all, the analysis ends with findings or a syntax error, and soon."""

from __future__ import annotations

import ast
import sysconfig
import time
from pathlib import Path

import pytest

from inplace_lint.driver.analyze_file import Options, check_file
from tests.frontend.test_front_ends import both
from tests.fuzz.syntax import damaged, module

FEW, MANY = 60, 4_000
SECONDS = 20.0  # of the processor: a file of this length takes a tenth of one
_LARGEST = 30_000


def _check(name: str, source: str) -> None:
    start = time.process_time()
    try:
        check_file("random.py", source, Options())
    except SyntaxError:
        pass
    except Exception as error:
        msg = f"{name} crashes the analysis:\n{source}"
        raise AssertionError(msg) from error
    assert time.process_time() - start < SECONDS, f"{name} takes too long:\n{source}"


def _random_modules(seeds: range) -> None:
    for seed in seeds:
        text = module(seed)
        _check(f"random module {seed}", text if seed % 3 else damaged(text, seed))


def _damaged_sources(seeds: range) -> None:
    library = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(path for path in library.rglob("*.py") if "site-packages" not in path.parts)
    small = [path for path in files if path.stat().st_size < _LARGEST]
    for seed in seeds:
        text = small[seed * 7919 % len(small)].read_text(encoding="utf-8", errors="replace")
        _check(f"damaged source {seed}", "import torch\n" + damaged(text, seed))


def test_random_syntax_is_analysed() -> None:
    _random_modules(range(FEW))


def test_damaged_sources_are_analysed() -> None:
    _damaged_sources(range(FEW // 3))


def test_both_front_ends_agree_on_random_syntax() -> None:
    agreed = 0
    for seed in range(FEW):
        text = module(seed)
        try:
            ast.parse(text)
            abstract, concrete = both("random.py", text)
        except SyntaxError:
            continue  # one of them does not know it
        assert abstract == concrete, text
        agreed += 1
    assert agreed > FEW // 3


@pytest.mark.slow
def test_much_random_syntax_is_analysed() -> None:
    _random_modules(range(MANY))


@pytest.mark.slow
def test_many_damaged_sources_are_analysed() -> None:
    _damaged_sources(range(MANY // 4))
