"""Which files are run, beside a file that is checked, for what their entry points may find in it."""

from __future__ import annotations

import pytest

from inplace_lint.workspace.import_graph import Graph

FILES = {
    "pyproject.toml": "[project]\n",
    "pkg/__init__.py": "from .models import *\nfrom .other import other\n__version__ = '1'\n",
    "pkg/other.py": "def other(): pass\n",
    "pkg/models/__init__.py": "from .net import *\n\nDEFAULT = Net()\n",
    "pkg/models/net.py": "class Net: pass\n",
    "pkg/models/more.py": "class More: pass\n",
}
USERS = {
    "takes the class": ("from pkg.models.net import Net", True),
    "takes the class of the package": ("from pkg import Net", True),
    "takes the package": ("import pkg\n\npkg.Net()", True),
    "takes the inner package": ("import pkg.models\n\npkg.models.Net()", True),
    "takes what the package made": ("from pkg.models import DEFAULT", True),
    "takes another class": ("from pkg.models.more import More", False),
    "takes another function of the package": ("from pkg import other", False),
    "takes the version": ("from pkg import __version__", False),
    "imports another module by its path": ("import pkg.models.more as more", False),
}


@pytest.mark.parametrize(("text", "calls"), USERS.values(), ids=USERS)
def test_a_caller_takes_something_that_leads_to_the_file(tmp_path, monkeypatch, text, calls):
    for name, source in {**FILES, "user.py": text + "\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    monkeypatch.chdir(tmp_path)
    callers = Graph(tmp_path.as_posix(), frozenset({"torch"}), {}, {}).callers("pkg/models/net.py")
    assert ("user.py" in callers) is calls
    assert {"pkg/models/__init__.py", "pkg/__init__.py"} <= set(callers)
