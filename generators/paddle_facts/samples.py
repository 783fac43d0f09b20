"""Which functions of Paddle are probed, and on what they are called."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import paddle


@dataclass(frozen=True, slots=True)
class Sample:
    """
    A function on one tensor or more of one kind, with what follows them.

    Those of floating numbers require grad. `names` are the names of the tensors where they are not x and y.
    """

    name: str
    rest: tuple[Any, ...] = ()
    tensors: int = 1
    shape: tuple[int, ...] = (3, 3)
    dtype: str = "float32"
    names: tuple[str, ...] | None = None

    def made(self, shape: tuple[int, ...] | None = None) -> paddle.Tensor:
        """Return a tensor without grad: of values in (0.25, 0.75), of whole numbers from 1 to 8, or of flags."""
        sizes = list(self.shape if shape is None else shape)
        if self.dtype == "float32":
            return paddle.rand(sizes) * 0.5 + 0.25
        return paddle.randint(1, 9, sizes).astype(self.dtype)

    def inputs(self, *, strided: Collection[int] = ()) -> tuple[list[paddle.Tensor], list[paddle.Tensor]]:
        """
        Return fresh leaves, and tensors computed from them by an op that keeps nothing; only floats have leaves.

        Tensors at the positions `strided` have their last two axes in another order in memory.
        """
        turned = (*self.shape[:-2], *reversed(self.shape[-2:]))
        axes = [*range(len(self.shape) - 2), -1, -2]
        leaves = [self.made(turned if position in strided else None) for position in range(self.tensors)]
        given = leaves
        if self.dtype == "float32":
            for leaf in leaves:
                leaf.stop_gradient = False
            given = [leaf * 1.0 for leaf in leaves]
        given = [paddle.transpose(one, axes) if position in strided else one for position, one in enumerate(given)]
        return leaves if self.dtype == "float32" else [], given

    def others(self) -> list[Any]:
        """Return what follows the tensors; tensors in it are fresh copies."""
        return [_fresh(value) for value in self.rest]

    def arguments(self, *, strided: Collection[int] = ()) -> list[Any]:
        """Return all arguments of a call."""
        return [*self.inputs(strided=strided)[1], *self.others()]


def _fresh(value: Any) -> Any:  # noqa: ANN401 - any argument
    if isinstance(value, tuple):
        return tuple(map(_fresh, value))
    return value.clone() if isinstance(value, paddle.Tensor) else value


UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh cumsum cumprod deg2rad rad2deg digamma erf erfinv exp expm1 "
    "floor frac i0 i0e i1 lgamma log log10 log1p log2 logit neg reciprocal round rsqrt sigmoid sign sin sinh sqrt "
    "square stanh tan tanh trunc sinc gammaln sum mean max min amax amin prod std var median nanmedian nansum nanmean "
    "logsumexp norm numel argmax argmin all any flatten t trace diagonal tril triu diag nonzero unique clone detach "
    "inv celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid mish relu relu6 selu silu "
    "softplus softshrink softsign swish tanhshrink thresholded_relu normalize softmax log_softmax cast_ "
    "isnan isinf isfinite cholesky inverse matrix_norm diff logcumsumexp nan_to_num exponential angle conj ravel "
    "negative msort signbit sgn isneginf isposinf isreal count_nonzero argwhere atleast_1d atleast_2d atleast_3d i1e "
    "matrix_transpose slogdet qr mode pdist cholesky_inverse diagflat trapezoid "
    "cumulative_trapezoid unique_consecutive int long bool int32 int64 positive logsigmoid svdvals eigvalsh eigh lu "
    "fftshift ifftshift"
)
OTHERS: dict[str, tuple[Any, ...]] = {
    "scale": (2.0,),
    "clip": (0.3, 0.5),
    "pow": (2.0,),
    "cumsum": (0,),
    "cumprod": (0,),
    "logcumsumexp": (0,),
    "reshape": ([9],),
    "squeeze": (0,),
    "unsqueeze": (0,),
    "transpose": ([1, 0],),
    "tile": ([2, 1],),
    "expand": ([3, 3],),
    "broadcast_to": ([3, 3],),
    "flip": ([0],),
    "roll": (1,),
    "split": (3,),
    "chunk": (3,),
    "unbind": (0,),
    "unstack": (0,),
    "topk": (2,),
    "sort": (0,),
    "argsort": (0,),
    "kthvalue": (1,),
    "cast": ("float64",),
    "astype": ("float64",),
    "pad": ([1, 1],),
    "repeat_interleave": (2, 0),
    "rot90": (),
    "moveaxis": (0, 1),
    "swapaxes": (0, 1),
    "view": ([9],),
    "unfold": (0, 2, 1),
    "add": (0.5,),
    "dropout": (0.5,),
    "alpha_dropout": (0.5,),
    "quantile": (0.5,),
    "renorm": (2.0, 0, 1.0),
    "lerp": (paddle.to_tensor(1.0), 0.5),
    "fill_diagonal": (0.0,),
    "softmax_with_cross_entropy": (paddle.to_tensor([[0], [1], [2]]),),
    "gather": (paddle.to_tensor([0, 1]),),
    "index_select": (paddle.to_tensor([0, 1]),),
    "masked_select": (paddle.to_tensor([[True] * 3] * 3),),
    "masked_fill": (paddle.to_tensor([[True, False, True]] * 3), 0.0),
    "take_along_axis": (paddle.to_tensor([[0, 1, 2]]), 0),
    "increment": (1.0,),
    "bernoulli": (),
    "cauchy": (),
    "clamp": (0.3, 0.5),
    "fill_diagonal_tensor": (paddle.ones([3]),),
    "index_add": (paddle.to_tensor([0]), 0, paddle.ones([1, 3])),
    "index_fill": (paddle.to_tensor([0]), 0, 0.5),
    "index_put": ((paddle.to_tensor([0]),), paddle.ones([1, 3])),
    "log_normal": (),
    "logical_not": (),
    "masked_scatter": (paddle.to_tensor([[True, False, True]] * 3), paddle.ones([9])),
    "multigammaln": (1,),
    "normal": (),
    "polygamma": (1,),
    "put_along_axis": (paddle.to_tensor([[0]]), 0.5, 0),
    "random": (),
    "scatter": (paddle.to_tensor([0]), paddle.ones([1, 3])),
    "uniform": (),
    "cummax": (0,),
    "cummin": (0,),
    "index_sample": (paddle.to_tensor([[0], [1], [2]]),),
    "slice": ([0], [0], [2]),
    "scatter_nd_add": (paddle.to_tensor([[0]]), paddle.ones([1, 3])),
    "gather_nd": (paddle.to_tensor([[0]]),),
    "unflatten": (0, [3, 1]),
    "take_along_dim": (paddle.to_tensor([[0, 1, 2]]), 0),
    "take": (paddle.to_tensor([0, 1]),),
    "narrow": (0, 0, 2),
    "strided_slice": ([0], [0], [2], [1]),
    "tensor_split": (3,),
    "vsplit": (3,),
    "hsplit": (3,),
    "matrix_power": (2,),
    "nanquantile": (0.5,),
    "bucketize": (paddle.to_tensor([0.3, 0.5]),),
    "masked_fill_": (paddle.to_tensor([[True, False, True]] * 3), 0.0),
    "prelu": (paddle.ones([1]),),
    "nll_loss": (paddle.to_tensor([0, 1, 2]),),
    "multi_margin_loss": (paddle.to_tensor([0, 1, 2]),),
    "dice_loss": (paddle.to_tensor([[0], [1], [2]]),),
    "swapdims": (0, 1),
    "slice_scatter": (paddle.ones([1, 3]), [0], [0], [1], [1]),
    "select_scatter": (paddle.ones([3]), 0, 0),
    "scatter_reduce": (0, paddle.to_tensor([[0, 1, 2]]), paddle.ones([1, 3]), "sum"),
    "isin": (paddle.to_tensor([0.3, 0.5]),),
    "segment_sum": (paddle.to_tensor([0, 0, 1]),),
    "segment_mean": (paddle.to_tensor([0, 0, 1]),),
    "segment_max": (paddle.to_tensor([0, 0, 1]),),
    "segment_min": (paddle.to_tensor([0, 0, 1]),),
    "send_u_recv": (paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 2, 0])),
    "graph_send_recv": (paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 2, 0])),
    "identity_loss": ("none",),
    "as_strided": ([3, 3], [3, 1]),
    "reverse": ([0],),
    "diagonal_scatter": (paddle.ones([3]),),
    "multi_label_margin_loss": (paddle.to_tensor([[0, 1, 2]] * 3),),
    "npair_loss": (paddle.ones([3, 3]), paddle.to_tensor([0, 1, 2])),
    "det": (),
    "matrix_exp": (),
}
# Functions that operators call.
OPERATORS: dict[str, tuple[str, ...]] = {
    "equal": ("__eq__",),
    "not_equal": ("__ne__",),
    "less_than": ("__lt__",),
    "less_equal": ("__le__",),
    "greater_than": ("__gt__",),
    "greater_equal": ("__ge__",),
    "remainder": ("__mod__",),
    "floor_divide": ("__floordiv__",),
    "bitwise_not": ("__invert__",),
    "bitwise_and": ("__and__",),
    "bitwise_or": ("__or__",),
    "bitwise_xor": ("__xor__",),
}
BINARY = (
    "add subtract multiply divide matmul mm bmm maximum minimum fmax fmin remainder mod floor_divide atan2 hypot pow "
    "dot inner outer mv dist kron cross equal not_equal less_than greater_than less_equal greater_equal allclose "
    "isclose logaddexp mse_loss l1_loss smooth_l1_loss kl_div binary_cross_entropy binary_cross_entropy_with_logits "
    "huber_loss pairwise_distance copysign heaviside nextafter expand_as reshape_as view_as ldexp div floor_mod less "
    "sub logical_and logical_or logical_xor eq ne gt lt ge le mul true_divide cdist solve equal_all greater "
    "cosine_similarity multi_label_soft_margin_loss"
)
WHOLE = "gcd lcm bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift"
IMAGE = (2, 4, 4, 4)
SERIES = (2, 4, 4)
BOXES = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0]] * 3)
# Functions on other shapes: the number of tensors, the shape, and what follows them.
SHAPED: dict[str, tuple[int, tuple[int, ...], tuple[Any, ...]]] = {
    "conv1d": (2, (4, 4, 4), ()),
    "conv2d": (2, (4, 4, 4, 4), ()),
    "conv3d": (2, (4, 4, 4, 4, 4), ()),
    "conv1d_transpose": (2, (4, 4, 4), ()),
    "conv2d_transpose": (2, (4, 4, 4, 4), ()),
    "conv3d_transpose": (2, (4, 4, 4, 4, 4), ()),
    "adaptive_avg_pool1d": (1, SERIES, (2,)),
    "adaptive_max_pool1d": (1, SERIES, (2,)),
    "adaptive_avg_pool3d": (1, (2, 2, 4, 4, 4), (2,)),
    "avg_pool1d": (1, SERIES, (2,)),
    "avg_pool3d": (1, (2, 2, 4, 4, 4), (2,)),
    "max_pool1d": (1, SERIES, (2,)),
    "max_pool2d": (1, IMAGE, (2,)),
    "adaptive_max_pool2d": (1, IMAGE, (2,)),
    "max_pool3d": (1, (2, 2, 4, 4, 4), (2,)),
    "lp_pool2d": (1, IMAGE, (2.0, 2)),
    "layer_norm": (1, (3, 3), (3,)),
    "group_norm": (1, IMAGE, (2,)),
    "instance_norm": (1, IMAGE, ()),
    "local_response_norm": (1, IMAGE, (3,)),
    "interpolate": (1, IMAGE, (None, 2)),
    "upsample": (1, IMAGE, (None, 2)),
    "pixel_shuffle": (1, IMAGE, (2,)),
    "pixel_unshuffle": (1, IMAGE, (2,)),
    "channel_shuffle": (1, IMAGE, (2,)),
    "dropout1d": (1, SERIES, (0.5,)),
    "dropout2d": (1, IMAGE, (0.5,)),
    "dropout3d": (1, (2, 2, 4, 4, 4), (0.5,)),
    "zeropad2d": (1, IMAGE, ([1, 1, 1, 1],)),
    "maxout": (1, IMAGE, (2,)),
    "temporal_shift": (1, IMAGE, (2,)),
    "glu": (1, (3, 4), ()),
    "swiglu": (1, (3, 4), ()),
    "gumbel_softmax": (1, (3, 4), ()),
    "diag_embed": (1, (3, 3), ()),
    "label_smooth": (1, (3, 3), ()),
    "rrelu": (1, (3, 3), ()),
    "square_error_cost": (2, (3, 3), ()),
    "poisson_nll_loss": (2, (3, 3), ()),
    "soft_margin_loss": (2, (3, 3), ()),
    "sigmoid_focal_loss": (2, (3, 3), ()),
    "hinge_embedding_loss": (2, (3, 3), ()),
    "log_loss": (2, (3, 1), ()),
    "gammainc": (2, (3, 3), ()),
    "gammaincc": (2, (3, 3), ()),
    "adaptive_max_pool3d": (1, (2, 2, 4, 4, 4), (2,)),
    "lp_pool1d": (1, SERIES, (2.0, 2)),
    "fold": (1, (2, 8, 9), ([4, 4], [2, 2])),
    "grid_sample": (1, (2, 3, 4, 4), (paddle.ones([2, 2, 2, 2]),)),
    "affine_grid": (1, (2, 2, 3), ([2, 2, 4, 4],)),
    "pinv": (1, (3, 4), ()),
    "cov": (1, (3, 4), ()),
    "corrcoef": (1, (3, 4), ()),
    "cond": (1, (2, 3, 3), ()),
    "tensordot": (2, (3, 4, 3), (1,)),
    "stft": (1, (1, 64), (16,)),
    "feature_alpha_dropout": (1, IMAGE, (0.5,)),
    "fractional_max_pool2d": (1, IMAGE, (2,)),
    "fractional_max_pool3d": (1, (2, 2, 4, 4, 4), (2,)),
    "max_unpool1d": (1, SERIES, (paddle.to_tensor([[[0, 1, 2, 3]] * 4] * 2, dtype="int32"), 2)),
    "softmax_mask_fuse": (1, (1, 1, 32, 32), (paddle.zeros([1, 1, 32, 32]),)),
    "roi_align": (1, IMAGE, (BOXES, paddle.to_tensor([1, 2], dtype="int32"), 2)),
    "roi_pool": (1, IMAGE, (BOXES, paddle.to_tensor([1, 2], dtype="int32"), 2)),
    "vecdot": (2, (3, 3), ()),
    "reduce_as": (2, (3, 3), ()),
    "cholesky_solve": (2, (3, 3), ()),
    "triangular_solve": (2, (3, 3), ()),
    "fused_matmul_bias": (2, (4, 4), ()),
    "fused_dropout_add": (2, (3, 3), ()),
    "scaled_dot_product_attention": (2, (2, 4, 2, 4), (paddle.ones([2, 4, 2, 4]),)),
}
SAMPLES = (
    *(Sample(name, OTHERS.get(name, ())) for name in dict.fromkeys((*UNARY.split(), *OTHERS))),
    *(
        Sample(name, (), 2, (2, 3, 3) if name == "bmm" else (3,) if name == "dot" else (3, 3))
        for name in BINARY.split()
    ),
    *(Sample(name, rest, tensors, shape) for name, (tensors, shape, rest) in SHAPED.items()),
    *(Sample(name, (), 2, dtype="int64") for name in WHOLE.split()),
    Sample("bitwise_not", dtype="int64"),
    Sample("bitwise_invert", dtype="int64"),
    Sample("addmm", (), 3, names=("input", "x", "y")),
    Sample("baddbmm", (), 3, (2, 3, 3), names=("input", "x", "y")),
    Sample("scatter_add", (0, paddle.to_tensor([[0, 1, 2]]), paddle.ones([1, 3]))),
    Sample("set", (paddle.ones([3, 3]),)),
    Sample("resize", ([9],)),
    Sample("triplet_margin_loss", (), 3, names=("input", "positive", "negative")),
    Sample("triplet_margin_with_distance_loss", (), 3, names=("input", "positive", "negative")),
    Sample("gaussian_nll_loss", (), 3, names=("input", "label", "variance")),
    Sample("margin_ranking_loss", (), 3, names=("input", "other", "label")),
    Sample("mv", (paddle.ones([3]),)),
    Sample("fused_linear", (), 2, (4, 4), names=("x", "weight")),
    Sample("send_ue_recv", (paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 2, 0])), 2),
    Sample("send_uv", (paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 2, 0]), "mul"), 2),
    Sample("complex", (), 2, names=("real", "imag")),
    Sample("bilinear", (paddle.ones([2, 3, 3]),), 2, names=("x1", "x2")),
)
_PLAIN_LAYERS = (
    "CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish ReLU ReLU6 RReLU "
    "SELU Sigmoid Silu Softmax Softplus Softshrink Softsign Swish Tanh Tanhshrink ThresholdedReLU Dropout "
    "AlphaDropout Identity Flatten"
)
_PADDINGS = ("Reflection", "Replication", "Constant", "Circular")
LAYERS: dict[str, tuple[tuple[int, ...], tuple[Any, ...]]] = {
    **dict.fromkeys(_PLAIN_LAYERS.split(), ((3, 3), ())),
    "AvgPool2D": (IMAGE, (2,)),
    "MaxPool2D": (IMAGE, (2,)),
    "AdaptiveAvgPool2D": (IMAGE, (2,)),
    "AdaptiveMaxPool2D": (IMAGE, (2,)),
    "AvgPool1D": ((2, 4, 4), (2,)),
    "MaxPool1D": ((2, 4, 4), (2,)),
    "AdaptiveAvgPool1D": ((2, 4, 4), (2,)),
    "Upsample": (IMAGE, (None, 2)),
    "PixelShuffle": (IMAGE, (2,)),
    "Pad2D": (IMAGE, (1,)),
    "ZeroPad2D": (IMAGE, (1,)),
    "Pad1D": (SERIES, (1,)),
    "ZeroPad1D": (SERIES, (1,)),
    "Dropout2D": (IMAGE, ()),
    "Dropout3D": ((2, 2, 4, 4, 4), ()),
    "UpsamplingNearest2D": (IMAGE, (None, 2)),
    "UpsamplingBilinear2D": (IMAGE, (None, 2)),
    "PixelUnshuffle": (IMAGE, (2,)),
    "ChannelShuffle": (IMAGE, (2,)),
    "AvgPool3D": ((2, 2, 4, 4, 4), (2,)),
    "MaxPool3D": ((2, 2, 4, 4, 4), (2,)),
    "AdaptiveAvgPool3D": ((2, 2, 4, 4, 4), (2,)),
    "AdaptiveMaxPool1D": (SERIES, (2,)),
    "LocalResponseNorm": (IMAGE, (3,)),
    "Unfold": (IMAGE, ([2, 2],)),
    "Unflatten": ((3, 4), (1, [2, 2])),
    "GLU": ((3, 4), ()),
    "Maxout": (IMAGE, (2,)),
    "Softmax2D": (IMAGE, ()),
    "Pad3D": ((2, 2, 4, 4, 4), (1,)),
    "ZeroPad3D": ((2, 2, 4, 4, 4), (1,)),
    **{f"{kind}Pad1D": (SERIES, (1, 0.0) if kind == "Constant" else (1,)) for kind in _PADDINGS},
    **{f"{kind}Pad2D": (IMAGE, (1, 0.0) if kind == "Constant" else (1,)) for kind in _PADDINGS},
    **{f"{kind}Pad3D": ((2, 2, 4, 4, 4), (1, 0.0) if kind == "Constant" else (1,)) for kind in _PADDINGS},
    "AdaptiveMaxPool3D": ((2, 2, 4, 4, 4), (2,)),
    "LPPool1D": (SERIES, (2.0, 2)),
    "LPPool2D": (IMAGE, (2.0, 2)),
    "Fold": ((2, 8, 9), ([4, 4], [2, 2])),
    "FeatureAlphaDropout": (IMAGE, ()),
}
