"""Values that an argument of that name may take: what a user would pass, likeliest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


def tensor(*size: int) -> torch.Tensor:
    return torch.rand(*size).mul(0.6).add(0.2).requires_grad_()


def square() -> torch.Tensor:
    return (torch.rand(4, 4) @ torch.rand(4, 4) + 4 * torch.eye(4)).requires_grad_()


def candidates(name: str) -> Sequence[Any]:
    """Give makers of values for an argument, likeliest first."""
    inputs = (lambda: tensor(2, 4, 4, 4, 4), lambda: tensor(4))
    if name in {"input", "self", "tensor", "x", "A", "src"}:
        return (
            _ANYTHING[0],
            _ANYTHING[4],
            _ANYTHING[3],
            square,
            *inputs,
            _indices,
            _ANYTHING[8],
            _ANYTHING[9],
            _ANYTHING[2],
        )
    return (*_KNOWN.get(name, ()), *(_ANYTHING if name not in _KNOWN else ()))


def _indices() -> torch.Tensor:
    return torch.zeros(4, 4, dtype=torch.long)


def _row() -> torch.Tensor:
    return torch.tensor([0, 2, 1, 3])


_KNOWN: dict[str, Sequence[Any]] = {
    "dim": (0, [0]),
    "dims": ((0, 1), [0]),
    "dim0": (0,),
    "dim1": (1,),
    "axis0": (0,),
    "axis1": (1,),
    "axis": (0,),
    "dimension": (0,),
    "index": (_row, _indices, 0, [_row]),
    "indices": (_row, _indices, [_row]),
    "mask": (lambda: torch.rand(4, 4) > 0.5,),
    "condition": (lambda: torch.rand(4, 4) > 0.5,),
    "size": ((4, 4), 2),
    "shape": ((2, 8), (4, 4)),
    "sizes": ((2, 2),),
    "repeats": ((2, 1), 2),
    "pad": ((1, 1), (1, 1, 1, 1)),
    "kernel_size": (2, 3),
    "output_size": (2, (4, 4), [4, 4]),
    "normalized_shape": ([4],),
    "k": (2,),
    "n": (2,),
    "p": (0.5, 2.0, 1),
    "value": (0.5, lambda: tensor(4, 4)),
    "values": (lambda: tensor(4), lambda: tensor(4, 4)),
    "target": (_row, lambda: tensor(4, 4), lambda: torch.ones(4)),
    "num_groups": (2,),
    "tensors": (lambda: [tensor(4, 4), tensor(4, 4)],),
    "chunks": (2,),
    "split_size": (2,),
    "split_size_or_sections": (2,),
    "indices_or_sections": (2,),
    "split_sizes": ([2, 2],),
    "start": (0,),
    "end": (lambda: tensor(4, 4), 3),
    "length": (2,),
    "step": (1,),
    "upscale_factor": (2,),
    "downscale_factor": (2,),
    "source": (lambda: tensor(4, 4), 0),
    "destination": (1,),
    "offset": (0,),
    "ord": (2,),
    "fill_value": (0.5,),
    "weight": (
        lambda: tensor(4, 4),
        lambda: tensor(4),
        lambda: tensor(4, 4, 3),
        lambda: tensor(4, 4, 3, 3),
        lambda: tensor(4, 4, 2, 2, 2),
    ),
    "running_mean": (lambda: torch.zeros(4), None),
    "running_var": (lambda: torch.ones(4), None),
    "groups": (2,),
    "norm_type": (2.0,),
    "correction": (1,),
    "equation": ("ij,jk->ik",),
    "operands": (lambda: (tensor(4, 4), tensor(4, 4)),),
    "ndarray": (lambda: torch.rand(4).numpy(),),
    "maxnorm": (1.0,),
    "generator": (None,),
    "shifts": (1,),
    "reduce": ("sum",),
    "rounding_mode": ("floor",),
    "stable": (True,),
    "training": (True,),
    "train": (True,),
    "descending": (False,),
    "max_norm": (1.0,),
    "num_features": (4,),
    "num_channels": (4,),
    "in_features": (4,),
    "out_features": (3,),
    "in_channels": (4,),
    "out_channels": (4,),
    "num_embeddings": (5,),
    "embedding_dim": (4,),
    "input_size": (4,),
    "hidden_size": (3,),
    "padding": (1, (1, 1)),
    "embed_dim": (4,),
    "num_heads": (2,),
    "d_model": (4,),
    "nhead": (2,),
    "in1_features": (4,),
    "in2_features": (4,),
    "lambd": (0.5,),
    "threshold": (0.5,),
    "scale_factor": (2,),
    "unflattened_size": ((2, 2),),
    "num_samples": (2,),
    "boundaries": (lambda: torch.tensor([0.1, 0.5]),),
    "sorted_sequence": (lambda: torch.tensor([0.1, 0.5]),),
    "memory_format": (torch.contiguous_format,),
    "dtype": (torch.float32,),
    "obj": (lambda: tensor(4),),
    "element": (0.5,),
    "format_spec": ("",),
    "memo": ({},),
    "n_fft": (4,),
    "options": ({},),
    "func": (lambda t: t,),
    "decimals": (1,),
    "bins": (3,),
    "min": (0.1, 0),
    "max": (0.9, 1),
    "from": (0,),
    "to": (1,),
    "low": (0,),
    "high": (5,),
    "data": ([1.0],),
    "steps": (3,),
    "start_dim": (0,),
    "end_dim": (1,),
    "unbiased": (True,),
    "keepdim": (False,),
    "storage_offset": (0,),
    "stride": ((4, 1), 1),
    "lengths": (lambda: torch.tensor([4, 3]),),
    "sequences": (lambda: [tensor(3), tensor(2)],),
    "parameters": (lambda: [tensor(3)],),
    "window_length": (4,),
}
_ANYTHING: tuple[Any, ...] = (
    lambda: tensor(4, 4),
    square,
    lambda: tensor(4),
    lambda: tensor(2, 4, 4),
    lambda: tensor(2, 4, 8, 8),
    2,
    _indices,
    _row,
    lambda: torch.rand(4, 4) > 0.5,
    lambda: torch.rand(4, 4, dtype=torch.complex64).requires_grad_(),
)
