"""Watching Paddle."""
from __future__ import annotations
from typing import Any
from .ledger import Ledger
class PaddleWatch:
    def __init__(self, paddle: Any, ledger: Ledger) -> None: pass
    def start(self) -> None: pass
    def stop(self) -> None: pass
    def refusal(self, error: Any, trace: Any) -> None: pass
