"""
The models that are trained, each tiny: how it is built and how it is called, as Python text in `models.jsonl`.

`build` sets `model`; `call` is an expression for its output, with `randn(*shape)` and `ints(high, *shape)` for input.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType


@dataclass(frozen=True, slots=True)
class Model:
    """One model of a library, and which framework it needs."""

    framework: str
    library: str
    build: str
    call: str


# What libraries import, and these models never call: stand-ins take their place.
ABSENT = frozenset(
    (
        "ToJyutping adabelief_pytorch albumentations audiotools braceexpand cv2 editdistance faiss ffmpeg "
        "ffmpy flatten_dict g2pM g2p_en h5py inflect jieba jsonlines kaldiio librosa matplotlib mido "
        "motmetrics mpl_toolkits narwhals nltk opencc paddlespeech_ctcdecoders parakeet pathos pesq praatio "
        "pycocotools pypinyin_dict pyworld rarfile resampy skimage sklearn soundfile sox swig_decoders "
        "textgrid timer torchaudio torchvision visualdl webdataset webrtcvad zhon "
    ).split()
)


def install(corpus: Path) -> None:
    """Make the unpacked libraries importable, and stand-ins where nothing of that name is installed."""
    sys.path.extend(str(folder) for folder in sorted(corpus.iterdir()))
    sys.meta_path.append(_Absent())


class _Absent(MetaPathFinder, Loader):
    """Finds the modules that are left out; whatever is read from them is a class of no use."""

    def find_spec(self, fullname: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in ABSENT:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it is: its attributes are made when they are read."""


class _StandIn(ModuleType):
    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return _nothing(name)


class _Nothing(type):
    def __getattr__(cls, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return _nothing(name)


def _nothing(name: str) -> _Nothing:
    """Return a class that takes whatever it is given."""
    return _Nothing(name, (), {"__init__": lambda *_, **__: None})


def bare(*packages: str) -> None:
    """Make packages importable without what their own `__init__` imports; an outer one comes before an inner one."""
    for name in packages:
        if name in sys.modules:
            continue
        spec = importlib.util.find_spec(name)
        assert spec is not None, name
        module = ModuleType(name)
        module.__path__ = list(spec.submodule_search_locations or ())
        sys.modules[name] = module


def read(path: Path) -> list[Model]:
    """Return the models of a table."""
    return [Model(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


MODELS = read(Path(__file__).with_suffix(".jsonl"))
