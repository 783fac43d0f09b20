"""Sample calls written by hand, for the public names that torch's own tests do not call as users do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def tensor(*size: int) -> torch.Tensor:
    """Return a tensor of positive numbers below one that requires grad."""
    return torch.rand(*size).mul(0.8).add(0.1).requires_grad_()


def _index(*values: int) -> torch.Tensor:
    return torch.tensor(values)


def _embedding() -> list[Arguments]:
    return [((_index(0, 2), tensor(4, 6)), options) for options in ({}, {"padding_idx": 1}, {"max_norm": 0.1})]


def _embedding_bag() -> list[Arguments]:
    index = torch.tensor([[0, 2], [1, 1]])
    flat, offsets = _index(0, 2, 1, 1), _index(0, 2)
    weighed = {"per_sample_weights": tensor(2, 2), "mode": "sum"}
    several = [((index, tensor(4, 6)), {"mode": mode}) for mode in ("sum", "mean", "max")]
    return [*several, ((index, tensor(4, 6)), weighed), ((flat, tensor(4, 6), offsets), {})]


def _pad() -> list[Arguments]:
    return [((tensor(2, 3, 8, 8), (1, 1)), {"mode": mode}) for mode in ("constant",)] + [
        ((tensor(2, 3, 8, 8), (1, 1, 1, 1)), {"mode": mode})
        for mode in ("constant", "reflect", "replicate", "circular")
    ]


def _interpolate() -> list[Arguments]:
    return [
        ((tensor(1, 2, 4, 4),), {"scale_factor": 2, "mode": mode})
        for mode in ("nearest", "bilinear", "bicubic", "area")
    ]


def _dropout_of(*size: int) -> Callable[[], list[Arguments]]:
    return lambda: [((tensor(*size), p, train), {}) for p in (0.5, 0.0) for train in (True, False)]


def _group_norm() -> list[Arguments]:
    return [((tensor(2, 4, 3), 2, tensor(4), tensor(4)), {}), ((tensor(2, 4, 3), 2), {})]


def _attend() -> list[Arguments]:
    size = 4
    rest = (tensor(3 * size), None, None, False, 0.0, tensor(size, size), tensor(size))
    apart = {f"{part}_proj_weight": tensor(size, size) for part in "qkv"}
    inputs = (tensor(3, 2, size), tensor(3, 2, size), tensor(3, 2, size), size, 2)
    return [
        ((*inputs, weight, *rest), {"need_weights": flag, **separate})
        for weight, separate in (
            (tensor(3 * size, size), {}),
            (None, {"use_separate_proj_weight": True, **apart}),
        )
        for flag in (True, False)
    ]


def _gumbel() -> list[Arguments]:
    return [((tensor(3, 4),), {"hard": flag}) for flag in (False, True)]


def _unflat() -> list[Arguments]:
    return [((tensor(3, 4), 1, (2, 2)), {}), ((tensor(3, 4, 2), 1, (2, 2)), {})]


def _pool_both(*size: int) -> Callable[[], list[Arguments]]:
    return lambda: [((tensor(*size), 2), {}), ((tensor(*size[1:]), 2), {})]


def _batch_norm() -> list[Arguments]:
    both = ((torch.zeros(3), torch.ones(3), training) for training in (True, False))
    return [
        ((tensor(2, 3, 4), tensor(3), tensor(3), mean, var, training, 0.1, 1e-5, False), {})
        for mean, var, training in both
    ]


def _regular() -> torch.Tensor:
    return (torch.rand(4, 4) + 4 * torch.eye(4)).requires_grad_()


def _one_hot() -> list[Arguments]:
    return [((_index(0, 2),), {}), ((_index(0, 2),), {"num_classes": 4})]


def _pool(*size: int, kernel: int = 2) -> Callable[[], list[Arguments]]:
    return lambda: [((tensor(*size), kernel), {"return_indices": flag}) for flag in (False, True)]


Part = Callable[[], tuple[tuple[Any, ...], dict[str, Any]]]


def _made(*init: Any, **options: Any) -> Part:  # noqa: ANN401 - any arguments of a constructor
    return lambda: (init, options)


def _on(*sizes: tuple[int, ...]) -> Part:
    return lambda: (tuple(tensor(*size) for size in sizes), {})


def _dropouts(*size: int) -> list[tuple[Part, Part]]:
    return [(_made(0.5), _on(size)), (_made(0.0), _on(size)), (_made(p=0.3), _on(size))]


def _unpool(rank: int) -> list[tuple[Part, Part]]:
    def inputs() -> Arguments:
        pooled, where = getattr(torch.nn, f"MaxPool{rank}d")(2, return_indices=True)(tensor(2, 3, *[4] * rank))
        return (pooled.detach().requires_grad_(), where), {}

    return [(_made(2), inputs)]


def _attention(**options: Any) -> Part:  # noqa: ANN401 - any arguments of the call
    return lambda: ((tensor(3, 2, 4), tensor(3, 2, 4), tensor(3, 2, 4)), options)


def _bags() -> list[tuple[Part, Part]]:
    return [
        (_made(4, 3, mode=mode), lambda: ((torch.tensor([[0, 2], [1, 1]]),), {})) for mode in ("sum", "mean", "max")
    ]


def _decoder(**options: bool) -> Part:
    return lambda: ((torch.nn.TransformerDecoderLayer(4, 2, 8, **options), 1), {})


MODULES: dict[str, list[tuple[Part, Part]]] = {
    "AlphaDropout": _dropouts(3, 4),
    "ChannelShuffle": [(_made(2), _on((1, 4, 2, 2)))],
    "CosineSimilarity": [(_made(), _on((3, 4), (3, 4)))],
    "CrossMapLRN2d": [(_made(3), _on((1, 4, 2, 2)))],
    "Dropout": _dropouts(3, 4),
    "Dropout1d": _dropouts(2, 3, 4),
    "Dropout2d": _dropouts(2, 3, 4, 4),
    "Dropout3d": _dropouts(2, 3, 4, 4, 4),
    "EmbeddingBag": _bags(),
    "FeatureAlphaDropout": _dropouts(2, 3, 4, 4),
    "Fold": [(_made((4, 4), (2, 2)), _on((1, 12, 9)))],
    "FractionalMaxPool2d": [(_made(2, output_size=2), _on((1, 3, 5, 5)))],
    "FractionalMaxPool3d": [(_made(2, output_size=2), _on((1, 3, 5, 5, 5)))],
    "Hardsigmoid": [(_made(), _on((3, 4)))],
    "MultiheadAttention": [
        (_made(4, 2), _attention()),
        (_made(4, 2), _attention(need_weights=False)),
        (_made(4, 2, bias=False), _attention()),
    ],
    "MaxUnpool1d": _unpool(1),
    "MaxUnpool2d": _unpool(2),
    "MaxUnpool3d": _unpool(3),
    "PairwiseDistance": [(_made(), _on((3, 4), (3, 4)))],
    "PixelShuffle": [(_made(2), _on((1, 4, 2, 2))), (_made(2), _on((4, 2, 2)))],
    "PixelUnshuffle": [(_made(2), _on((1, 4, 2, 2))), (_made(2), _on((4, 2, 2)))],
    "RReLU": [(_made(), _on((3, 4)))],
    "Transformer": [(_made(4, 2, 1, 1, 8), _on((5, 2, 4), (5, 2, 4)))],
    "TransformerDecoder": [
        (_decoder(batch_first=first, norm_first=norm), _on((5, 2, 4), (5, 2, 4)))
        for first, norm in ((False, False), (True, False), (False, True))
    ],
    "TripletMarginLoss": [(_made(), _on((3, 4), (3, 4), (3, 4)))],
    "TripletMarginWithDistanceLoss": [(_made(), _on((3, 4), (3, 4), (3, 4)))],
    "Unflatten": [(_made(1, (2, 2)), _on((3, 4))), (_made(1, (2, 2)), _on((3, 4, 2)))],
    "Unfold": [(_made(2), _on((1, 3, 4, 4)))],
    "Upsample": [
        (_made(scale_factor=2, mode=mode), _on((1, 3, 4, 4))) for mode in ("nearest", "bilinear", "bicubic", "area")
    ],
    "UpsamplingBilinear2d": [(_made(scale_factor=2), _on((1, 3, 4, 4)))],
    "UpsamplingNearest2d": [(_made(scale_factor=2), _on((1, 3, 4, 4)))],
    "AdaptiveLogSoftmaxWithLoss": [
        (_made(4, 10, [3, 6]), lambda: ((tensor(5, 4), _index(0, 4, 8, 1, 5)), {})),
    ],
}
# Before those of torch's own tests, which scale each sample of this rank, or whose results have the sizes of the input.
BESIDES: dict[str, Callable[[], list[Arguments]]] = {
    "add": lambda: [((tensor(3, 4), tensor(3, 4)), {}), ((tensor(5), tensor(5)), {"alpha": 2})],
    "index_select": lambda: [((tensor(3, 4), 0, _index(2, 0)), {}), ((tensor(2, 3, 4), 1, _index(1)), {})],
    "rot90": lambda: [((tensor(2, 3),), {}), ((tensor(2, 3, 4),), {}), ((tensor(2, 3, 4), 2, [1, 2]), {})],
    "linalg.svd": lambda: [((tensor(*size),), {"full_matrices": full}) for size in SIZES for full in (True, False)],
}
SIZES = ((3, 2), (2, 3), (2, 3, 4))


def besides(name: str) -> list[Arguments]:
    """Return further calls of a function."""
    return BESIDES.get(name, list)()


HANDMADE: dict[str, Callable[[], list[Arguments]]] = {
    "torch.nn.functional.dropout1d": _dropout_of(2, 3, 4),
    "torch.nn.functional.dropout3d": _dropout_of(2, 3, 4, 4, 4),
    "torch.nn.functional.embedding": _embedding,
    "torch.nn.functional.affine_grid": lambda: [((tensor(1, 2, 3), [1, 1, 4, 4]), {"align_corners": False})],
    "torch.nn.functional.fold": lambda: [
        ((tensor(1, 12, 9), (4, 4), (2, 2)), {}),
        ((tensor(12, 9), (4, 4), (2, 2)), {}),
    ],
    "torch.nn.functional.unfold": lambda: [((tensor(1, 3, 4, 4), 2), {}), ((tensor(3, 4, 4), 2), {})],
    "torch.nn.functional.gumbel_softmax": _gumbel,
    "torch.nn.functional.multi_head_attention_forward": _attend,
    "torch.unflatten": _unflat,
    "torch.Tensor.unflatten": _unflat,
    "torch.nn.functional.group_norm": _group_norm,
    "torch.nn.functional.lp_pool1d": lambda: [((tensor(2, 3, 6), 2.0, 2), {})],
    "torch.nn.functional.lp_pool2d": lambda: [((tensor(2, 3, 6, 6), 2.0, 2), {})],
    "torch.nn.functional.lp_pool3d": lambda: [((tensor(2, 3, 6, 6, 6), 2.0, 2), {})],
    "torch.nn.functional.max_pool1d_with_indices": _pool_both(2, 3, 6),
    "torch.nn.functional.max_pool2d_with_indices": _pool_both(2, 3, 6, 6),
    "torch.nn.functional.max_pool3d_with_indices": _pool_both(2, 3, 6, 6, 6),
    "torch.nn.functional.adaptive_max_pool1d_with_indices": _pool_both(2, 3, 6),
    "torch.nn.functional.adaptive_max_pool2d_with_indices": _pool_both(2, 3, 6, 6),
    "torch.nn.functional.adaptive_max_pool3d_with_indices": _pool_both(2, 3, 6, 6, 6),
    "torch.nn.functional.native_channel_shuffle": lambda: [((tensor(1, 4, 2, 2), 2), {})],
    "torch.nn.functional.upsample": _interpolate,
    "torch.batch_norm": _batch_norm,
    "torch.instance_norm": _batch_norm,
    "torch.slogdet": lambda: [((_regular(),), {})],
    "torch.Tensor.slogdet": lambda: [((_regular(),), {})],
    "torch.special.polygamma": lambda: [((1, tensor(3, 4)), {}), ((2, tensor(3, 4)), {})],
    "torch.polygamma": lambda: [((1, tensor(3, 4)), {}), ((2, tensor(3, 4)), {})],
    "torch.Tensor.polygamma": lambda: [((tensor(3, 4), 1), {}), ((tensor(3, 4), 2), {})],
    "torch.nn.functional.one_hot": _one_hot,
    "torch.nn.functional.max_pool1d": _pool(2, 3, 6),
    "torch.nn.functional.max_pool2d": _pool(2, 3, 6, 6),
    "torch.nn.functional.max_pool3d": _pool(2, 3, 6, 6, 6),
    "torch.nn.functional.adaptive_max_pool1d": _pool(2, 3, 6),
    "torch.nn.functional.adaptive_max_pool2d": _pool(2, 3, 6, 6),
    "torch.nn.functional.adaptive_max_pool3d": _pool(2, 3, 6, 6, 6),
    "torch.nn.functional.embedding_bag": _embedding_bag,
    "torch.nn.functional.pad": _pad,
    "torch.nn.functional.interpolate": _interpolate,
}
