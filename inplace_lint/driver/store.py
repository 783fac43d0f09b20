"""
Results of earlier runs, in one SQLite file.

A result is kept with the claims that it rests on (`workspace.claims`). In a later run it is valid if the file itself
has the same bytes, or the same code where nothing was found in it, and each claim holds. Claims are numbered, so a
result has two sets of numbers: its *coarse* claims say what bytes the files that it read had and what imports meant,
its *fine* claims what it read of each file. Where nothing changed only the coarse ones are looked at, otherwise also
the fine ones about the files that changed.

What is in the file is data: a cache that comes with a cloned repository runs no code. A file that is damaged is made
anew, and one that cannot be written is left alone.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
import zlib
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import DecodeError

from inplace_lint.driver.entry import Entry, packed, unpacked
from inplace_lint.driver.kept import KeptFiles, is_same_code
from inplace_lint.knowledge.locate import context_of
from inplace_lint.workspace.claims import COARSE, Claim, Question

NAME = "results.sqlite"
MOST_BYTES = 256 << 20
_FORMAT = 8
_SCHEMA = """
CREATE TABLE IF NOT EXISTS claim (
  id INTEGER PRIMARY KEY, path TEXT, question TEXT, detail TEXT, answer TEXT, bytes TEXT,
  UNIQUE (path, question, detail, answer));
CREATE TABLE IF NOT EXISTS result (
  path TEXT, context TEXT, bytes TEXT, coarse BLOB, fine BLOB, entry BLOB, used INTEGER, text BLOB,
  PRIMARY KEY (path, context));
CREATE TABLE IF NOT EXISTS header (bytes TEXT PRIMARY KEY, code TEXT, form BLOB);
CREATE TABLE IF NOT EXISTS outline (bytes TEXT PRIMARY KEY, code TEXT, form BLOB);
CREATE TABLE IF NOT EXISTS training (question TEXT PRIMARY KEY, answer TEXT);
"""
_CLAIM = "SELECT id, bytes FROM claim WHERE path = ? AND question = ? AND detail = ? AND answer = ?"
_RESULT = """SELECT coarse, fine, entry, used, CASE bytes WHEN ? THEN bytes ELSE text END FROM result
WHERE context = ? AND path = ?"""
_COARSE_WORDS = sorted(question.value for question in COARSE)
_DAY = 86_400
_BUSY_SECONDS = 2.0
_FLUSH_SECONDS = 1.0
Ask = Callable[[Claim], str]


class Key(NamedTuple):
    """What a result is of: a path, all that it depends on besides files, and the digest of its own file."""

    path: str
    context: str
    digest: str


class Size(NamedTuple):
    """How much a store holds; `size` in bytes."""

    results: int
    claims: int
    size: int


class _Row(NamedTuple):
    """A result as it is stored."""

    coarse: array[int]
    fine: array[int]
    data: bytes


class Store:
    """The results kept in a folder; without one in memory, for this process."""

    def __init__(self, folder: Path | None, most: int = MOST_BYTES) -> None:
        self._folder, self._most = folder, most
        self._database = self._opened()
        self._waiting: dict[tuple[str, str], tuple[Key, Entry, Mapping[Claim, str], bytes]] = {}
        self._used: set[tuple[str, str]] = set()
        self._renewed: dict[tuple[str, str], tuple[Sequence[int], Mapping[Claim, str]]] = {}
        self._edited: dict[tuple[str, str], tuple[str, bytes]] = {}
        self._headers: dict[str, tuple[str, bytes]] = {}
        self._outlines: dict[str, tuple[str, str]] = {}
        self._training: dict[str, str] = {}
        self._flushed = time.monotonic()
        self._ids: dict[tuple[Claim, str], int] = {}

    def put(self, key: Key, entry: Entry, answers: Mapping[Claim, str], data: bytes) -> None:
        """Replace the result of a path, whose bytes are `data`; it is written with the next ones, or by `end`."""
        self._waiting[key.path, key.context] = key, entry, answers, data
        if time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self.flush()

    def put_headers(self, found: Mapping[str, bytes], code: str) -> None:
        """Keep the headers of files by the digests of their bytes, and the `code` that made them."""
        self._headers.update((digest, (code, form)) for digest, form in found.items())

    def files(self, frameworks: Sequence[str]) -> KeptFiles:
        """Return what is kept of single files that may mention these packages; other processes can read it as well."""
        place = "" if self._folder is None else (Path.cwd() / self._folder / NAME).as_posix()
        return KeptFiles(place, context_of("outlines", frameworks))

    def put_outlines(self, found: Mapping[str, str], code: str) -> None:
        """Keep the outlines of files by the digests of their bytes, and the `code` that made them."""
        self._outlines.update((digest, (code, form)) for digest, form in found.items())

    def answered(self, question: str) -> str | None:
        """Return the answer to a question about who trains, which is the digest of all that it depends on."""
        rows = self.rows("SELECT answer FROM training WHERE question = ?", question)
        return str(rows[0][0]) if rows else None

    def put_answer(self, question: str, answer: str) -> None:
        """Keep the answer to a question about who trains."""
        self._training[question] = answer

    def flush(self) -> None:
        """Write what was put. While another process writes, it waits for the next time."""
        self._flushed = time.monotonic()
        database = self._database
        if database is None or not any(self._kept()):
            return
        try:
            database.execute("BEGIN IMMEDIATE")
            for place, (coarse, answers) in self._renewed.items():
                numbers = [*coarse, *(self._id(database, *pair) for pair in answers.items())]
                database.execute(
                    "UPDATE result SET coarse = ? WHERE path = ? AND context = ?", (_packed(numbers), *place)
                )
            rows = ((digest, *kept) for digest, kept in self._headers.items())
            database.executemany("INSERT OR REPLACE INTO header VALUES (?, ?, ?)", rows)
            forms = ((digest, code, zlib.compress(form.encode(), 1)) for digest, (code, form) in self._outlines.items())
            database.executemany("INSERT OR REPLACE INTO outline VALUES (?, ?, ?)", forms)
            database.executemany("INSERT OR REPLACE INTO training VALUES (?, ?)", self._training.items())
            for place, (digest, data) in self._edited.items():
                edited = (digest, zlib.compress(data, 1), *place)
                database.execute("UPDATE result SET bytes = ?, text = ? WHERE path = ? AND context = ?", edited)
            for row in self._waiting.values():
                self._write(database, *row)
            database.executemany("UPDATE result SET used = ? WHERE path = ? AND context = ?", self._touched())
            database.execute("COMMIT")
        except (sqlite3.Error, UnicodeEncodeError) as error:
            self._ids.clear()
            with contextlib.suppress(sqlite3.Error):
                database.execute("ROLLBACK")
            self._give_up(error)
            return
        self._forget()

    def end(self) -> None:
        """Write what was put, and drop the results that were used longest ago where there is too much."""
        self.flush()
        if self._database is not None and self.size().size > self._most:
            with contextlib.suppress(sqlite3.Error):
                self._shrink(self._database)

    def size(self) -> Size:
        """Return how much is held."""
        results, claims = (self.rows(f"SELECT count(*) FROM {table}") for table in ("result", "claim"))  # noqa: S608
        pages = self.rows("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return Size(*(found[0][0] if found else 0 for found in (results, claims, pages)))

    def costs(self) -> dict[str, int]:
        """Return the milliseconds of a processor that the files took whose results are held, by path."""
        found: dict[str, int] = {}
        for path, data in self.rows("SELECT path, entry FROM result ORDER BY path"):
            with contextlib.suppress(DecodeError, zlib.error):
                found[path] = max(found.get(path, 0), unpacked(zlib.decompress(data)).milliseconds)
        return found

    def rows(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query; none where the file is damaged."""
        if self._database is None:
            return []
        try:
            return self._database.execute(statement, values).fetchall()
        except (sqlite3.Error, UnicodeEncodeError) as error:
            self._give_up(error)
            return []

    def found(self, key: Key, data: bytes) -> _Row | None:
        """Return the result of a path under a key, valid or not, if it is one of these bytes, or of the same code."""
        for coarse, fine, entry, used, text in self.rows(_RESULT, *key[::-1]):
            with contextlib.suppress(ValueError, TypeError, zlib.error):
                row = _Row(_unpacked(coarse), _unpacked(fine), zlib.decompress(entry))
                if text != key.digest:
                    if not is_same_code(zlib.decompress(text), data):
                        continue
                    self._edited[key[:2]] = key.digest, data
                if used != _today():
                    self._used.add(key[:2])
                return row
        return None

    def renew(self, key: Key, coarse: Iterable[int], answers: Mapping[Claim, str]) -> None:
        """Replace the coarse claims of a result, with the next ones that are written: these, and others."""
        self._renewed[key.path, key.context] = tuple(coarse), answers

    def _opened(self) -> sqlite3.Connection | None:
        """Open the file, or make it anew where it is damaged or of another format."""
        for _ in range(2):
            try:
                return self._connected()
            except sqlite3.OperationalError:
                return None
            except (sqlite3.Error, OSError):
                self._remove()
        return None

    def _connected(self) -> sqlite3.Connection:
        place = ":memory:"
        if self._folder is not None:
            mark(self._folder)
            place = str(self._folder / NAME)
        database = sqlite3.connect(place, timeout=_BUSY_SECONDS, isolation_level=None)
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA synchronous = OFF")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version == 0:
            database.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {_FORMAT}; COMMIT;")
        tables = database.execute("SELECT count(*) FROM sqlite_master WHERE type = 'table'").fetchone()
        if version not in {0, _FORMAT} or tables != (_SCHEMA.count("CREATE TABLE"),):
            database.close()
            msg = "a file of another format"
            raise sqlite3.DatabaseError(msg)
        return database

    def _give_up(self, error: Exception) -> None:
        """Make a damaged file anew; where it cannot be written for now, keep what was put for the next time."""
        if isinstance(error, sqlite3.OperationalError):
            return
        self._forget()
        if self._database is not None:
            self._database.close()
        self._remove()
        self._database = self._opened()

    def _forget(self) -> None:
        for what in self._kept():
            what.clear()

    def _kept(self) -> Sequence[dict[Any, Any] | set[Any]]:
        """Return what is to be written."""
        return self._waiting, self._used, self._renewed, self._edited, self._headers, self._outlines, self._training

    def _remove(self) -> None:
        if self._folder is not None:
            remove(self._folder)

    def _write(
        self, database: sqlite3.Connection, key: Key, entry: Entry, answers: Mapping[Claim, str], data: bytes
    ) -> None:
        coarse: list[int] = []
        fine: list[int] = []
        for claim, answer in answers.items():
            known = answers.get(Claim(claim.path, Question.BYTES), "") if claim.question not in COARSE else ""
            (coarse if claim.question in COARSE else fine).append(self._id(database, claim, answer, known))
        text = None if entry.findings else zlib.compress(data, 1)  # findings would have to move with their lines
        row = (*key, _packed(coarse), _packed(fine), zlib.compress(packed(entry), 1), _today(), text)
        database.execute("INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _id(self, database: sqlite3.Connection, claim: Claim, answer: str, digest: str = "") -> int:
        """Return the number of a claim with its answer; the file of a claim that is not coarse has this digest."""
        known = self._ids.get((claim, answer))
        if known is None:
            row = (claim.path, claim.question.value, claim.detail, answer)
            found = database.execute(_CLAIM, row).fetchone()
            insert = "INSERT INTO claim (path, question, detail, answer, bytes) VALUES (?, ?, ?, ?, ?)"
            known = found[0] if found else database.execute(insert, (*row, digest)).lastrowid
            if found and found[1] != digest:
                database.execute("UPDATE claim SET bytes = ? WHERE id = ?", (digest, known))
            assert known is not None
            self._ids[claim, answer] = known
        return known

    def _touched(self) -> list[tuple[int, str, str]]:
        return [(_today(), *pair) for pair in self._used]

    def _shrink(self, database: sqlite3.Connection) -> None:
        """
        Drop the half of the results that were used longest ago, that half of the outlines, headers and answers that was
        written longest ago, and the claims that no result rests on.
        """
        half = "SELECT rowid FROM result ORDER BY used LIMIT (SELECT (count(*) + 1) / 2 FROM result)"
        database.execute(f"DELETE FROM result WHERE rowid IN ({half})")  # noqa: S608
        for table in ("outline", "header", "training"):
            half = f"SELECT rowid FROM {table} ORDER BY rowid LIMIT (SELECT (count(*) + 1) / 2 FROM {table})"  # noqa: S608
            database.execute(f"DELETE FROM {table} WHERE rowid IN ({half})")  # noqa: S608
        blobs = (blob for pair in self.rows("SELECT coarse, fine FROM result") for blob in pair)
        used = {number for blob in blobs for number in _unpacked(blob)}
        gone = [row for row in self.rows("SELECT id FROM claim") if row[0] not in used]
        database.executemany("DELETE FROM claim WHERE id = ?", gone)
        database.execute("VACUUM")
        self._ids.clear()


class ValidResults:
    """The results of a store that hold for the files as they are; `ask` returns the digest of today's answer."""

    def __init__(self, store: Store, ask: Ask) -> None:
        self._store, self._ask = store, ask
        words = ",".join(f"'{word}'" for word in _COARSE_WORDS)
        rows = store.rows(f"SELECT id, path, question, detail, answer FROM claim WHERE question IN ({words})")  # noqa: S608
        self._coarse = {row[0]: row for row in rows}
        self._about: dict[str, dict[int, tuple[Any, ...]]] = {}
        self._holding: set[int] = set()
        self._failing: set[int] = set()

    def get(self, key: Key, data: bytes) -> Entry | None:
        """Return the result under a key if it is valid; `data` are the bytes of its file."""
        row = self._store.found(key, data)
        try:
            entry = None if row is None else unpacked(row.data)
        except DecodeError:
            return None
        if row is None or entry is None:
            return None
        broken = self._broken(set(row.coarse), self._coarse)
        if broken:
            claims = [_claim(self._coarse[number]) if number in self._coarse else None for number in broken]
            changed = {claim.path for claim in claims if claim is not None and claim.question is Question.BYTES}
            if len(changed) < len(broken) or not changed.isdisjoint(entry.paths):
                return None
            fine = set(row.fine)
            if not all(self._hold(path, fine) for path in changed):
                return None
            answers = {claim: self._ask(claim) for claim in claims if claim is not None}
            self._store.renew(key, set(row.coarse) - broken, answers)
        return entry

    def _hold(self, path: str, fine: set[int]) -> bool:
        """Check whether those of the claims that are about a file hold today; it stops at the first that does not."""
        if path not in self._about:
            rows = self._store.rows("SELECT id, path, question, detail, answer FROM claim WHERE path = ?", path)
            self._about[path] = {row[0]: row for row in rows if row[2] not in _COARSE_WORDS}
        about = self._about[path]
        return not any(self._broken({number}, about) for number in sorted(fine & about.keys()))

    def _broken(self, numbers: AbstractSet[int], rows: Mapping[int, tuple[Any, ...]]) -> AbstractSet[int]:
        """Return the claims that do not hold today; one that is not in the store does not. Each is checked once."""
        for number in numbers - self._holding - self._failing:
            holds = number in rows and self._holds(rows[number])
            (self._holding if holds else self._failing).add(number)
        return numbers & self._failing

    def _holds(self, row: tuple[Any, ...]) -> bool:
        """Check whether the claim of a row holds today."""
        claim = _claim(row)
        return claim is not None and self._ask(claim) == row[4]


def _claim(row: tuple[Any, ...]) -> Claim | None:
    _, path, question, detail, _ = row
    try:
        return Claim(path, Question(question), detail)
    except ValueError:
        return None


def mark(folder: Path) -> None:
    """
    Make a folder for results that Git does not see.

    Raises: OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("# made by inplace-lint\n*\n", encoding="utf-8")


def remove(folder: Path) -> None:
    """Remove the results in a folder."""
    for name in (NAME, f"{NAME}-journal"):
        with contextlib.suppress(OSError):
            (folder / name).unlink(missing_ok=True)


def _packed(numbers: Iterable[int]) -> bytes:
    return zlib.compress(array("I", sorted(numbers)).tobytes(), 1)


def _unpacked(blob: bytes) -> array[int]:
    found = array("I")
    found.frombytes(zlib.decompress(blob))
    return found


def _today() -> int:
    return int(time.time()) // _DAY
