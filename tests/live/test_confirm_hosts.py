"""Several targets of one module: it is imported once, and each target still runs in a process of its own."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from inplace_lint.live.warm import Ran, Warm

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="copies of a process need fork")

COUNTED = "open(__file__ + '.log', 'a').write('x')\n"


@pytest.fixture(scope="module")
def warm():
    process = Warm(sys.executable, "torch")
    yield process
    process.stop()


class Module:
    """A file whose functions are run one after the other."""

    def __init__(self, warm: Warm, path: Path) -> None:
        self.warm, self.path = warm, path

    def write(self, source: str) -> None:
        self.path.write_text(COUNTED + source, encoding="utf-8")

    def call(self, name: str, **more: Any) -> Ran:
        entry = {"kind": "call", "name": name}
        order = {"framework": "torch", "path": str(self.path), "paths": [], "entry": entry, "marks": [], "lines": []}
        return self.warm.run({**order, "device": "cpu", "seconds": 20, "memory": 2000, **more})

    @property
    def imports(self) -> int:
        return len(Path(f"{self.path}.log").read_text())


@pytest.fixture
def module(warm, tmp_path):
    return Module(warm, tmp_path / "shared.py")


def test_a_module_is_imported_once(module):
    module.write("print('imported')\ndef one(): print('one')\ndef two(): print('two')\n")
    assert [module.call(name).printed for name in ("one", "two")] == ["imported\none\n", "imported\ntwo\n"]
    assert module.imports == 1


def test_what_one_target_leaves_another_does_not_find(module):
    module.write("left = []\ndef one(): left.append(1)\ndef two(): assert not left\n")
    assert [module.call(name).problem for name in ("one", "one", "two")] == ["", "", ""]


def test_a_target_that_ends_its_process_ends_no_other(module):
    module.write(
        "import ctypes, os\ndef crash(): ctypes.string_at(0)\ndef leave(): os._exit(3)\n"
        "def loop():\n    while True: pass\ndef fine(): print('fine')\n"
    )
    assert module.call("crash").problem == "killed by SIGSEGV"
    assert module.call("leave").problem == "ended with status 3 before it was done"
    assert module.call("loop", seconds=1).problem == "took longer than 1 s"
    assert module.call("fine").printed == "fine\n"


def test_a_target_that_kills_its_parent_ends_no_other(module):
    module.write("import os, time\ndef kill():\n    os.kill(os.getppid(), 9)\n    time.sleep(30)\ndef fine(): pass\n")
    assert module.call("kill").problem
    assert module.call("fine").problem == ""
    assert module.imports == 2


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("while True: pass\n", "took longer than 1 s"),
        ("import ctypes\nctypes.string_at(0)\n", "killed by SIGSEGV"),
        ("kept = bytearray(b'x') * 3_000_000_000\n", "importing it: MemoryError (shared.py:2)"),
        ("raise ValueError('no')\n", "importing it: ValueError: no (shared.py:2)"),
        ("import sys\nsys.exit(1)\n", "importing it: SystemExit: 1 (shared.py:3)"),
    ],
)
def test_an_import_that_fails_is_tried_once(module, source, problem):
    module.write(source)
    limit = 1 if problem.startswith("took longer") else 10  # other work on the machine makes a call slower
    started = time.monotonic()
    assert [module.call(name, seconds=limit).problem for name in ("one", "two", "three")] == [problem] * 3
    assert module.imports == 1
    assert time.monotonic() - started < 20


def test_a_module_that_starts_threads_is_imported_anew(module):
    module.write("import threading, time\nthreading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n")
    module.path.write_text(module.path.read_text() + "def count(): print(threading.active_count())\n")
    assert [module.call("count").printed for _ in range(2)] == ["2\n", "2\n"]
    assert module.imports == 3


@pytest.mark.skipif(sys.platform != "linux", reason="orphans come back on Linux only")
def test_what_a_target_leaves_behind_is_killed(module):
    module.write(
        "import subprocess\ndef start():\n"
        "    print(subprocess.Popen(['sleep', '300'], start_new_session=True).pid, flush=True)\n"
    )
    pid = int(module.call("start").printed)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_hosts_end_with_the_warm_process(tmp_path):
    process = Warm(sys.executable, "torch")
    module = Module(process, tmp_path / "shared.py")
    module.write("import os\nhost = os.getpid()\ndef who(): print(host, flush=True)\n")
    pid = int(module.call("who").printed)
    os.kill(pid, 0)
    process.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_what_importing_saved_is_watched_in_each_target(module):
    module.write(
        "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\n"
        "def write():\n    y.mul_(2)\n    y.sum().backward()\n"
    )
    for _ in range(2):
        assert [record.kind for record in module.call("write").records] == ["watched", "stale"]
