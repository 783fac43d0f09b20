"""The memory of tensors of PyTorch on a CPU, where the allocator counts nothing."""

from __future__ import annotations

import weakref
from typing import Any, Dict

from .attempt import attempt


def storages(torch: Any) -> Any:
    """Return a mode in which the bytes of all storages that operations make are counted, and their peak."""

    class Storages(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc]
        """`now` are the bytes in use, `peak` the most since `begin`."""

        def __init__(self) -> None:
            super().__init__()
            self.now = self.peak = 0
            self._sizes: Dict[int, int] = {}

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # as in `torch_mode`

        def begin(self) -> int:
            self.peak = self.now
            return self.now

        def __torch_dispatch__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            for value in torch.utils._pytree.tree_leaves(result):
                if isinstance(value, torch.Tensor):
                    self._see(attempt(value.untyped_storage).value)  # sparse tensors have none
            return result

        def _see(self, storage: Any) -> None:
            if storage is None or storage._cdata in self._sizes:
                return
            size = self._sizes[storage._cdata] = storage.nbytes()
            self.now += size
            self.peak = max(self.peak, self.now)
            weakref.finalize(storage, self._free, storage._cdata)

        def _free(self, key: int) -> None:
            self.now -= self._sizes.pop(key)

    return Storages()
