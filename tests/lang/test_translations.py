"""Who knows no Chinese is warned; what is merged has all of it."""

from __future__ import annotations

import pytest

from tests.lang.translations import TranslationWarning, require_translations

MISSING = ["rules/lang/zh.json: add a template and its Chinese for 'a text'"]


def test_a_missing_text_warns_where_somebody_works(monkeypatch) -> None:
    monkeypatch.delenv("TRANSLATIONS", raising=False)
    with pytest.warns(TranslationWarning, match="add a template"):
        require_translations(MISSING)


def test_a_missing_text_fails_where_all_are_asked_for(monkeypatch) -> None:
    monkeypatch.setenv("TRANSLATIONS", "all")
    with pytest.raises(pytest.fail.Exception, match="add a template"):
        require_translations(MISSING)
    require_translations([])
