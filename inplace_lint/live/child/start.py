"""
Starts one of these files in a process of its own: `start.py run_main RECORDS SCRIPT`, or
`start.py confirm_main FRAMEWORK DEVICE`.

They are loaded from their folder as a package with a name of its own: the program may import another inplace-lint.
"""

from __future__ import annotations

import sys

if not getattr(sys.flags, "safe_path", False):
    sys.path.pop(0)  # our own folder, where the program's must be

import importlib
import importlib.util
import os

PACKAGE = "_inplace_lint_watcher"


def main() -> None:
    """Run the part that the command line names, on the words after it."""
    here = os.path.dirname(os.path.abspath(__file__))
    place = os.path.join(here, "__init__.py")
    spec = importlib.util.spec_from_file_location(PACKAGE, place, submodule_search_locations=[here])
    if spec is None or spec.loader is None:
        raise ImportError(place)
    package = sys.modules[PACKAGE] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    importlib.import_module(f"{PACKAGE}.{sys.argv.pop(1)}").main()


if __name__ == "__main__":
    main()
