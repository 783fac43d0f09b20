"""
How random programs spell things in each framework.

In templates `{x}` is the tensor at hand, `{y}` an operand that broadcasts to it, `{w}` a 4x4 weight, `{m}` a mask and
`{i}` an index of rows. A template with its condition and the shape that it leads to stands in a `Reshaping`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reshaping:
    """An expression whose result has another shape; `fits` says of which shapes it can be taken."""

    text: str
    fits: Callable[[Shape], bool]
    leads_to: Callable[[Shape], Shape]
    contiguous: bool = True


@dataclass(frozen=True, slots=True)
class Dialect:
    """The vocabulary of one framework."""

    name: str
    prelude: tuple[str, ...]
    leaf: tuple[str, ...]
    plain: tuple[str, ...]
    same: tuple[str, ...]
    square: tuple[str, ...]
    pair: tuple[str, ...]
    reduced: tuple[Reshaping, ...]
    views: tuple[Reshaping, ...]
    pieces: tuple[tuple[str, int, Callable[[Shape], bool], Callable[[Shape], Shape]], ...]
    writes: tuple[str, ...]
    square_writes: tuple[str, ...]
    pair_writes: tuple[str, ...]
    bent_writes: tuple[tuple[str, Callable[[Shape], bool], Callable[[Shape], Shape]], ...]
    operators: tuple[str, ...]
    numbers_in_writes: bool
    mask: str
    index: str
    mask_writes: tuple[str, ...]
    index_writes: tuple[str, ...]
    layers: tuple[str, ...]
    module: str
    forward: str
    out: tuple[str, ...]
    no_grad: str
    optimizer: str
    clear: str
    grad: str


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.replace("\n", ";").split(";") if part.strip())


def _rank(least: int) -> Callable[[Shape], bool]:
    return lambda shape: len(shape) >= least


def _rows(count: int) -> Callable[[Shape], bool]:
    return lambda shape: bool(shape) and shape[0] == count


def _is(*shape: int) -> Callable[[Shape], bool]:
    return lambda given: given == shape


def _size(shape: Shape) -> int:
    size = 1
    for part in shape:
        size *= part
    return size


def _tail(shape: Shape) -> Shape:
    return shape[1:]


def _half(shape: Shape) -> Shape:
    return (shape[0] // 2, *shape[1:])


def _flat(shape: Shape) -> Shape:
    return (_size(shape),)


def _turned(shape: Shape) -> Shape:
    return (shape[1], shape[0], *shape[2:])


def _two(shape: Shape) -> bool:
    return len(shape) == 2


def _even(shape: Shape) -> bool:
    return bool(shape) and shape[0] in {2, 4}


_SHARED_VIEWS = (
    Reshaping("{x}[0]", _rank(1), _tail),
    Reshaping("{x}[-1]", _rank(1), _tail),
    Reshaping("{x}[:2]", _rows(4), _half),
    Reshaping("{x}[1:3]", _rows(4), _half),
    Reshaping("{x}[::2]", _rows(4), _half, contiguous=False),
    Reshaping("{x}[:, 0]", _two, lambda shape: shape[:1], contiguous=False),
    Reshaping("{x}[:, 1:3]", _is(4, 4), lambda _: (4, 2), contiguous=False),
    Reshaping("{x}[...]", _rank(0), lambda shape: shape),
    Reshaping("{x}[None]", _rank(1), lambda shape: (1, *shape)),
    Reshaping("{x}.unsqueeze(0)", _rank(0), lambda shape: (1, *shape)),
    Reshaping("{x}.squeeze(0)", _rows(1), _tail),
    Reshaping("{x}.detach()", _rank(0), lambda shape: shape),
    Reshaping("{x}.data", _rank(0), lambda shape: shape),
    Reshaping("{x}.T", _two, _turned, contiguous=False),
    Reshaping("{x}.t()", _two, _turned, contiguous=False),
    Reshaping("{x}.flatten()", _rank(1), _flat),
    Reshaping("{x}.diagonal()", _is(4, 4), lambda _: (4,), contiguous=False),
    Reshaping("{x}.clone()", _rank(0), lambda shape: shape),
    Reshaping("{x}.contiguous()", _rank(0), lambda shape: shape),
)

_TORCH = Dialect(
    name="torch",
    prelude=("import torch", "import torch.nn.functional as F", "from torch import nn"),
    leaf=(
        "torch.rand({sizes}, requires_grad=True)",
        "torch.ones({sizes}).requires_grad_()",
        "nn.Parameter(torch.rand({sizes}))",
    ),
    plain=("torch.rand({sizes})", "torch.zeros({sizes})", "torch.ones({sizes})", "torch.full(({sizes},), 0.5)"),
    same=_split("""
        {x}.sigmoid(); torch.sigmoid({x}); {x}.tanh(); {x}.exp(); torch.exp2({x}); {x}.expm1(); {x}.relu(); F.relu({x})
        {x}.sqrt(); {x}.rsqrt(); {x}.reciprocal(); {x}.abs(); -{x}; {x}.neg(); {x}.sin(); torch.cos({x}); {x}.tan()
        {x}.square(); {x}.log(); {x}.log1p(); {x}.sinh(); {x}.atan(); {x}.erf(); {x}.erfc(); {x}.sign(); {x}.floor()
        {x}.round(); {x}.frac(); {x}.digamma(); {x}.sinc(); F.gelu({x}); F.silu({x}); F.mish({x}); F.softplus({x})
        F.elu({x}); F.selu({x}); F.celu({x}); F.leaky_relu({x}); F.hardtanh({x}); F.hardswish({x}); F.hardsigmoid({x})
        F.relu6({x}); F.logsigmoid({x}); F.softsign({x}); F.tanhshrink({x}); F.hardshrink({x}); F.softshrink({x})
        F.threshold({x}, 0.1, 0.5); {x}.clamp(0, 1); {x}.clamp(min=0.1); torch.clamp({x}, max=0.9); {x} ** 2; {x} ** 0.5
        2 ** {x}; 1 / {x}; {x} * 2; {x} + 1; {x} - 0.5; 3 - {x}; {x} / 2; {x}.nan_to_num(); F.dropout({x}, 0.5)
        F.dropout({x}, 0.5, training=False); {x}.float(); {x}.double().float(); {x}.pow(3); {x}.mul(2).add(1)
        {x}.masked_fill({x} > 0.5, 0.0); torch.where({x} > 0.5, {x}, 0.0); {x}.lerp({x}, 0.5); {x}.softmax(-1)
        F.log_softmax({x}, -1); torch.zeros_like({x}) + {x}; +{x}
        {x}.clone().add_(1); {x}.clone().mul_({y}); torch.abs({x}); {x}.hardshrink(); {x}.logit(0.1); {x}.deg2rad()
        torch.empty_like({x}).copy_({x}); torch.ones_like({x}) * {x}; nn.ReLU()({x}); nn.GELU()({x}); nn.Identity()({x})
    """),
    square=_split("""
        {x} @ {w}; torch.mm({x}, {w}); {w}.matmul({x}); F.linear({x}, {w}); {x}.cumsum(0); {x}.cumprod(0); {x}.flip(0)
        {x}.roll(1, 0); {x}.tril(); torch.triu({x}); F.normalize({x}); F.layer_norm({x}, (4,)); {x}.logcumsumexp(0)
        F.batch_norm({x}, None, None, training=True); torch.cat([{x}[:2], {w}[2:]]); torch.stack([{x}[0], {w}[1]] * 2)
        torch.einsum("ij,jk->ik", {x}, {w}); {x}.sort(0)[0]; {x}.cummax(0)[0]; torch.addmm({w}, {x}, {w}); {x}.repeat(1, 1)
        {x}.index_select(0, {i}).repeat(2, 1); {x}.gather(0, torch.zeros(4, 4, dtype=torch.long)); {x}[[0, 1, 1, 3]]
        F.conv1d({x}[None], {w}[:, :, None])[0]; F.max_pool1d({x}[None], 1)[0]; F.avg_pool1d({x}[None], 1)[0]
        torch.bmm({x}[None], {w}[None])[0]; {x}.t().contiguous(); {x}.index_add(0, {i}, {w}[:2]); {x}.matrix_power(2)
        F.pad({x}[:, :3], (0, 1)); {x}[:, [0, 0, 1, 2]]; torch.linalg.inv({x} + 5 * torch.eye(4)); {x}.rot90()
        torch.outer({x}[0], {w}[0]); F.cosine_similarity({x}, {w}).repeat(4, 1); F.pixel_shuffle({x}[None, :, :1, None], 2)[0, 0].repeat(2, 2)
    """),
    pair=_split("""
        {x} * {y}; {x} + {y}; {x} - {y}; {x} / ({y} + 2); torch.mul({x}, {y}); torch.add({x}, {y}); {x}.sub({y})
        {x}.div({y}); torch.maximum({x}, {y}); torch.minimum({x}, {y}); torch.atan2({x}, {y}); torch.hypot({x}, {y})
        {x} ** {y}; torch.where({x} > 0.5, {x}, {y}); torch.lerp({x}, {y}, 0.3); torch.addcmul({x}, {y}, {y})
        torch.addcdiv({x}, {y}, {y}); {x}.add({y}, alpha=2); torch.fmod({x}, {y}); {x}.remainder({y}); {x} * {y} + {x}
        {y} * {x}; {x}.expand_as({x}) * {y}; torch.logaddexp({x}, {y}); {x}.copysign({y}); torch.dist({x}, {y}) * {x}
    """),
    reduced=(
        Reshaping("{x}.sum()", _rank(0), lambda _: ()),
        Reshaping("{x}.mean()", _rank(0), lambda _: ()),
        Reshaping("{x}.max()", _rank(0), lambda _: ()),
        Reshaping("{x}.min()", _rank(0), lambda _: ()),
        Reshaping("{x}.norm()", _rank(0), lambda _: ()),
        Reshaping("{x}.std()", _rank(1), lambda _: ()),
        Reshaping("{x}.prod()", _rank(0), lambda _: ()),
        Reshaping("{x}.median()", _rank(0), lambda _: ()),
        Reshaping("F.mse_loss({x}, {x} * 2)", _rank(0), lambda _: ()),
        Reshaping("F.smooth_l1_loss({x}, torch.ones_like({x}))", _rank(0), lambda _: ()),
        Reshaping("{x}.sum(0)", _rank(1), _tail),
        Reshaping("{x}.mean(0)", _rank(1), _tail),
        Reshaping("{x}.amax(0)", _rank(1), _tail),
        Reshaping("{x}.prod(0)", _rank(1), _tail),
        Reshaping("{x}.logsumexp(0)", _rank(1), _tail),
        Reshaping("{x}.var(0)", _rank(1), _tail),
        Reshaping("{x}.max(0)[0]", _rank(1), _tail),
        Reshaping("{x}.min(0).values", _rank(1), _tail),
        Reshaping("{x}.mean(-1, keepdim=True)", _rank(1), lambda shape: (*shape[:-1], 1)),
        Reshaping("{x}.amax(-1, keepdim=True)", _rank(1), lambda shape: (*shape[:-1], 1)),
        Reshaping("{x}[[0, 1]]", lambda shape: bool(shape) and shape[0] >= 2, lambda shape: (2, *shape[1:])),
        Reshaping("{x}[{i}]", _rows(4), lambda shape: (2, *shape[1:])),
        Reshaping("{x} @ {x}", _is(4), lambda _: ()),
    ),
    views=(
        *_SHARED_VIEWS,
        Reshaping("{x}.view(-1)", _rank(1), _flat),
        Reshaping("{x}.reshape(-1)", _rank(1), _flat),
        Reshaping("{x}.view(2, 8)", _is(4, 4), lambda _: (2, 8)),
        Reshaping("{x}.view_as({x})", _rank(0), lambda shape: shape),
        Reshaping("{x}.transpose(0, 1)", _two, _turned, contiguous=False),
        Reshaping("{x}.permute(1, 0)", _two, _turned, contiguous=False),
        Reshaping("{x}.narrow(0, 0, 2)", _rows(4), _half),
        Reshaping("{x}.select(0, 1)", lambda shape: bool(shape) and shape[0] >= 2, _tail),
        Reshaping("{x}.chunk(2)[0]", _even, _half),
        Reshaping("{x}.split(2)[0]", _rows(4), _half),
        Reshaping("{x}.unbind()[0]", _rank(1), _tail),
        Reshaping("torch.tensor_split({x}, 2)[0]", _even, _half),
        Reshaping("{x}.unsqueeze(0).expand(2, {sizes})", _is(4), lambda shape: (2, *shape), contiguous=False),
    ),
    pieces=(
        ("{x}.chunk(2)", 2, _even, _half),
        ("{x}.split(2)", 2, _rows(4), _half),
        ("torch.unbind({x})", 4, _rows(4), _tail),
        ("{x}", 2, _rows(2), _tail),
        ("{x}.tensor_split(2)", 2, _even, _half),
    ),
    writes=_split("""
        {x}.relu_(); {x}.sigmoid_(); {x}.tanh_(); {x}.exp_(); {x}.sqrt_(); {x}.abs_(); {x}.neg_(); {x}.sin_(); {x}.square_()
        {x}.zero_(); {x}.fill_(0.5); {x}.clamp_(0, 1); {x}.clamp_(min=0.1); {x}.mul_(2); {x}.add_(1); {x}.sub_(0.5)
        {x}.div_(2); {x}.pow_(2); {x}.log1p_(); {x}.floor_(); {x}.round_(); {x}.reciprocal_(); {x}.rsqrt_(); {x}.erf_()
        {x}.masked_fill_({x} > 0.5, 0.1); {x}.normal_(); {x}.uniform_(0.1, 1.0); F.relu({x}, inplace=True); F.relu_({x})
        F.silu({x}, inplace=True); F.leaky_relu({x}, inplace=True); F.elu({x}, inplace=True); F.hardtanh({x}, inplace=True)
        F.dropout({x}, 0.5, inplace=True); F.hardswish({x}, True); F.elu_({x}); F.relu6({x}, inplace=True); torch.relu_({x})
        nn.ReLU(inplace=True)({x}); nn.LeakyReLU(0.1, True)({x}); nn.SiLU(inplace=True)({x}); nn.Dropout(0.5, inplace=True)({x})
        {x}.nan_to_num_(); {x}.cos_(); {x}.expm1_(); {x}.hardshrink().mul_(2); torch.exp_({x}); nn.init.ones_({x})
        {x}.copysign_(1.0); {x}.lerp_({x}.detach().clone(), 0.5); {x}.mul_(2).add_(1); {x}.exp_().mul_(0.5); {x}.sign_()
    """),
    square_writes=_split("""
        {x}.tril_(); {x}.cumsum_(0); {x}.index_add_(0, {i}, {w}[:2]); {x}.index_fill_(0, {i}, 0.5); {x}.addmm_({w}, {w})
        {x}.fill_diagonal_(0.0); {x}.index_copy_(0, {i}, {w}[:2]); {x}[{i}] = 0.5; {x}[{m}] = 0.0; {x}[1:] = {w}[:3]
        {x}[0, 1] = 0.5; {x}[:, 0] = {w}[0]; {x}[{x} > 0.9] = 0.0; {x}[0] = {x}[1]; {x}[1:] = {x}[:-1]; {x}[:, 1:] += 1
        {x}.masked_fill_({m}, 0.2); {x}.scatter_(0, torch.zeros(1, 4, dtype=torch.long), 0.5); {x}[0] *= {x}[1]
        {x}[0].copy_({w}[1]); {x}[0].zero_(); {x}.t().mul_(2); {x}.view(-1)[3] = 0.5; {x}[1:3].add_(1); {x}[[0, 2]] += 1
        {x}.diagonal().fill_(0.5); {x}.T[0] = 0.1; {x}.put_(torch.tensor([0]), torch.tensor([0.5])); {x}[..., 0] = 0.3
        {x}.cumprod_(0); {x}.masked_scatter_({m}, {w}); {x}[0, :2] += {w}[0, 2:]; {x}[2].exp_(); {x}.triu_(1)
    """),
    pair_writes=_split("""
        {x}.add_({y}); {x}.mul_({y}); {x}.sub_({y}, alpha=2); {x}.div_({y}); {x}.copy_({y}); {x}.lerp_({y}, 0.5)
        {x}.addcmul_({y}, {y}); {x}.pow_({y}); {x}.atan2_({y}); {x}.mul_({y}).add_({y}); {x}.fmod_({y}); {x}[...] = {y}
    """),
    bent_writes=(
        ("{x}.t_()", _two, _turned),
        ("{x}.transpose_(0, 1)", _two, _turned),
        ("{x}.unsqueeze_(0)", _rank(0), lambda shape: (1, *shape)),
        ("{x}.squeeze_(0)", _rows(1), _tail),
    ),
    operators=("+=", "-=", "*=", "/=", "+=", "*=", "**="),
    numbers_in_writes=True,
    mask="{x} > 0.5",
    index="torch.tensor([0, 2])",
    mask_writes=_split("{m}.logical_not_(); {m}.fill_(True); {m}[0] = False; {m} &= True; {m} |= {m}"),
    index_writes=_split("{i}.add_(1); {i}.zero_(); {i}[0] = 1; {i} += 1; {i}.fill_(1)"),
    layers=_split("""
        nn.Linear(4, 4); nn.Linear(4, 4, bias=False); nn.BatchNorm1d(4); nn.LayerNorm(4); nn.ReLU(); nn.ReLU(inplace=True)
        nn.Sigmoid(); nn.Tanh(); nn.GELU(); nn.SiLU(inplace=True); nn.Dropout(0.5, inplace=True); nn.LeakyReLU(0.1, inplace=True)
        nn.ELU(inplace=True); nn.Softmax(-1); nn.Identity(); nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True)); nn.Hardswish(inplace=True)
        nn.Sequential(nn.LayerNorm(4), nn.Sigmoid(), nn.Dropout(0.1, True)); nn.ReLU6(inplace=True); nn.GroupNorm(2, 4)
    """),
    module="nn.Module",
    forward="forward",
    out=_split("torch.add({x}, 1, out={o}); torch.mul({x}, {x}, out={o}); torch.exp({x}, out={o})"),
    no_grad="with torch.no_grad():",
    optimizer="torch.optim.{kind}([{leaves}], lr=0.1)",
    clear="zero_grad",
    grad="torch.autograd.grad({loss}, [{leaves}], allow_unused=True, retain_graph={retain})",
)

_PADDLE = Dialect(
    name="paddle",
    prelude=("import paddle", "import paddle.nn.functional as F", "from paddle import nn"),
    leaf=("paddle.rand([{sizes}])", "paddle.to_tensor(paddle.ones([{sizes}]), stop_gradient=False)"),
    plain=("paddle.rand([{sizes}])", "paddle.zeros([{sizes}])", "paddle.ones([{sizes}])", "paddle.full([{sizes}], 0.5)"),
    same=_split("""
        F.sigmoid({x}); {x}.sigmoid(); {x}.tanh(); {x}.exp(); paddle.exp({x}); {x}.expm1(); F.relu({x}); F.relu6({x})
        {x}.sqrt(); {x}.rsqrt(); {x}.reciprocal(); {x}.abs(); -{x}; {x}.neg(); {x}.sin(); paddle.cos({x}); {x}.tan()
        {x}.square(); {x}.log(); {x}.log1p(); {x}.sinh(); {x}.atan(); {x}.erf(); {x}.sign(); {x}.floor(); {x}.round()
        {x}.digamma(); F.gelu({x}); F.silu({x}); F.mish({x}); F.softplus({x}); F.elu({x}); F.selu({x}); F.celu({x})
        F.leaky_relu({x}); F.hardtanh({x}); F.hardswish({x}); F.hardsigmoid({x}); F.swish({x}); F.log_sigmoid({x})
        F.softsign({x}); F.tanhshrink({x}); F.hardshrink({x}); F.softshrink({x}); F.thresholded_relu({x}); {x}.clip(0, 1)
        {x}.clip(min=0.1); {x} ** 2; {x} ** 0.5; 1 / {x}; {x} * 2; {x} + 1; {x} - 0.5; 3 - {x}; {x} / 2; {x}.scale(2.0)
        {x}.nan_to_num(); F.dropout({x}, 0.5); F.dropout({x}, 0.5, training=False); {x}.astype("float32"); {x}.pow(3)
        {x}.astype("float64").astype("float32"); paddle.where({x} > 0.5, {x}, paddle.ones_like({x})); {x}.lgamma()
        F.softmax({x}, -1); F.log_softmax({x}, -1); paddle.zeros_like({x}) + {x}; paddle.assign({x}); {x}.cast("float32")
        paddle.tanh({x}); {x}.masked_fill({x} > 0.5, 0.0); paddle.ones_like({x}) * {x}; nn.ReLU()({x}); nn.GELU()({x})
        nn.Identity()({x}); {x}.clone().scale_(2.0); paddle.stanh({x}); {x}.lerp({x}, 0.5); {x}.trunc(); {x}.ceil()
    """),
    square=_split("""
        {x} @ {w}; paddle.matmul({x}, {w}); {w}.matmul({x}); F.linear({x}, {w}); {x}.cumsum(0); {x}.cumprod(0); {x}.flip(0)
        {x}.roll(1, 0); {x}.tril(); paddle.triu({x}); F.normalize({x}); F.layer_norm({x}, [4]); {x}.logcumsumexp(0)
        paddle.concat([{x}[:2], {w}[2:]]); paddle.stack([{x}[0], {w}[1]] * 2); paddle.einsum("ij,jk->ik", {x}, {w})
        paddle.sort({x}, 0); paddle.addmm({w}, {x}, {w}); {x}.tile([1, 1]); {x}.index_select({i}, 0).tile([2, 1])
        {x}[[0, 1, 1, 3]]; F.conv1d({x}.unsqueeze(0), {w}.unsqueeze(-1))[0]; F.max_pool1d({x}.unsqueeze(0), 1)[0]
        F.avg_pool1d({x}.unsqueeze(0), 1)[0]; paddle.bmm({x}.unsqueeze(0), {w}.unsqueeze(0))[0]; {x}.t().contiguous()
        {x}.index_add({i}, 0, {w}[:2]); paddle.mm({x}, {w}); paddle.outer({x}[0], {w}[0]); paddle.gather({x}, {i}).tile([2, 1])
        paddle.linalg.inv({x} + 5 * paddle.eye(4)); paddle.cummax({x}, 0)[0]; paddle.inner({x}, {w}); paddle.split({x}, 2)[0].tile([2, 1])
    """),
    pair=_split("""
        {x} * {y}; {x} + {y}; {x} - {y}; {x} / ({y} + 2); paddle.multiply({x}, {y}); paddle.add({x}, {y}); {x}.subtract({y})
        {x}.divide({y}); paddle.maximum({x}, {y}); paddle.minimum({x}, {y}); paddle.atan2({x}, {y}); {x} ** {y}
        paddle.where({x} > 0.5, {x}, {x} * {y}); {x}.lerp({y} + {x}, 0.3); {x}.remainder({y}); {x} * {y} + {x}; {y} * {x}
        paddle.fmax({x}, {y}); {x}.add({y} * {x}); paddle.hypot({x}, {y}); paddle.logaddexp({x}, {y}); paddle.dist({x}, {y}) * {x}
    """),
    reduced=(
        Reshaping("{x}.sum()", _rank(0), lambda _: ()),
        Reshaping("{x}.mean()", _rank(0), lambda _: ()),
        Reshaping("{x}.max()", _rank(0), lambda _: ()),
        Reshaping("{x}.min()", _rank(0), lambda _: ()),
        Reshaping("{x}.norm()", _rank(0), lambda _: ()),
        Reshaping("{x}.std()", _rank(1), lambda _: ()),
        Reshaping("{x}.prod()", _rank(0), lambda _: ()),
        Reshaping("{x}.logsumexp()", _rank(1), lambda _: ()),
        Reshaping("F.mse_loss({x}, {x} * 2)", _rank(0), lambda _: ()),
        Reshaping("F.l1_loss({x}, paddle.ones_like({x}))", _rank(0), lambda _: ()),
        Reshaping("{x}.sum(0)", _rank(1), _tail),
        Reshaping("{x}.mean(0)", _rank(1), _tail),
        Reshaping("{x}.amax(0)", _rank(1), _tail),
        Reshaping("{x}.prod(0)", _rank(1), _tail),
        Reshaping("{x}.logsumexp(0)", _rank(1), _tail),
        Reshaping("{x}.var(0)", _rank(1), _tail),
        Reshaping("{x}.max(0)", _rank(1), _tail),
        Reshaping("{x}.mean(-1, keepdim=True)", _rank(1), lambda shape: (*shape[:-1], 1)),
        Reshaping("{x}.amax(-1, keepdim=True)", _rank(1), lambda shape: (*shape[:-1], 1)),
        Reshaping("{x}[[0, 1]]", lambda shape: bool(shape) and shape[0] >= 2, lambda shape: (2, *shape[1:])),
        Reshaping("{x}[{i}]", _rows(4), lambda shape: (2, *shape[1:])),
        Reshaping("{x} @ {x}", _is(4), lambda _: ()),
    ),
    views=(
        *_SHARED_VIEWS,
        Reshaping("{x}.reshape([-1])", _rank(1), _flat),
        Reshaping("{x}.reshape([2, 8])", _is(4, 4), lambda _: (2, 8)),
        Reshaping("{x}.transpose([1, 0])", _two, _turned, contiguous=False),
        Reshaping("paddle.transpose({x}, [1, 0])", _two, _turned, contiguous=False),
        Reshaping("{x}.slice([0], [0], [2])", _rows(4), _half),
        Reshaping("{x}.chunk(2)[0]", _even, _half),
        Reshaping("{x}.split(2)[0]", _even, _half),
        Reshaping("{x}.unbind()[0]", _rank(1), _tail),
        Reshaping("{x}.expand([2, {sizes}])", _is(4), lambda shape: (2, *shape)),
    ),
    pieces=(
        ("{x}.chunk(2)", 2, _even, _half),
        ("{x}.split(2)", 2, _even, _half),
        ("paddle.unbind({x})", 4, _rows(4), _tail),
        ("{x}", 2, _rows(2), _tail),
    ),
    writes=_split("""
        F.relu_({x}); {x}.sigmoid_(); {x}.tanh_(); {x}.exp_(); {x}.sqrt_(); {x}.abs_(); {x}.neg_(); {x}.sin_(); {x}.square_()
        {x}.zero_(); {x}.fill_(0.5); {x}.clip_(0, 1); {x}.clip_(min=0.1); {x}.scale_(2.0); {x}.scale_(1.0, 0.5); {x}.pow_(2)
        {x}.log1p_(); {x}.floor_(); {x}.round_(); {x}.reciprocal_(); {x}.rsqrt_(); {x}.normal_(); {x}.uniform_(0.1, 1.0)
        {x}.masked_fill_({x} > 0.5, 0.1); F.silu({x}, inplace=True); F.elu_({x}); F.leaky_relu_({x}); F.hardtanh_({x})
        F.dropout({x}, 0.5, inplace=True); F.softmax_({x}); F.tanh_({x}); nn.Silu(inplace=True)({x}); {x}.ceil_(); {x}.cos_()
        nn.Dropout(0.5, inplace=True)({x}); {x}.nan_to_num_(); {x}.scale_(2.0).exp_();
        {x}.set_value({x} * 2); {x}.copy_({x} * 2, True); F.thresholded_relu_({x}); {x}.log_(); {x}.trunc_(); {x}.ceil_()
    """),
    square_writes=_split("""
        {x}.tril_(); {x}.cumsum_(0); {x}.index_add_({i}, 0, {w}[:2]); {x}.fill_diagonal_(0.0); {x}[{i}] = 0.5; {x}[{m}] = 0.0
        {x}[1:] = {w}[:3]; {x}[0, 1] = 0.5; {x}[:, 0] = {w}[0]; {x}[{x} > 0.9] = 0.0; {x}[0] = {x}[1]; {x}[1:] = {x}[:-1]
        {x}[:, 1:] += 1; {x}.masked_fill_({m}, 0.2); {x}[0] *= {x}[1]; {x}[0].copy_({w}[1], True); {x}[0].zero_()
        {x}.t().scale_(2.0); {x}.reshape([-1])[3] = 0.5; {x}[1:3].scale_(2.0); {x}[[0, 2]] += 1; {x}.T[0] = 0.1
        {x}[..., 0] = 0.3; {x}[0, :2] += {w}[0, 2:]; {x}[2].exp_(); {x}.triu_(1); {x}.cumprod_(0); {x}[0] += 1
        {x}.index_put_([{i}], {w}[:2]); {x}.put_along_axis_(paddle.zeros([1, 4], "int64"), 0.5, 0)
    """),
    pair_writes=_split("""
        {x}.add_({y}); {x}.multiply_({y}); {x}.subtract_({y}); {x}.divide_({y}); {x}.multiply_({y}).add_({y}); {x}[...] = {y}
        {x}.remainder_({y}); {x}.lerp_({y} + {x}, 0.5); {x}.mul_({y}); {x}.sub_({y})
    """),
    bent_writes=(
        ("{x}.t_()", _two, _turned),
        ("{x}.unsqueeze_(0)", _rank(0), lambda shape: (1, *shape)),
        ("{x}.squeeze_(0)", _rows(1), _tail),
        ("{x}.flatten_()", _rank(1), _flat),
        ("{x}.reshape_([-1])", _rank(1), _flat),
    ),
    operators=("+=", "-=", "*=", "/=", "+=", "*=", "**="),
    numbers_in_writes=False,
    mask="{x} > 0.5",
    index="paddle.to_tensor([0, 2])",
    mask_writes=_split("{m}.logical_not_(); {m}.fill_(True); {m}[0] = False; {m} = {m} & {m}"),
    index_writes=_split("{i}.add_({i} * 0); {i}.zero_(); {i}[0] = 1; {i} += 1; {i}.fill_(1); {i}.scale_(1)"),
    layers=_split("""
        nn.Linear(4, 4); nn.Linear(4, 4, bias_attr=False); nn.BatchNorm1D(4); nn.LayerNorm(4); nn.ReLU(); nn.Sigmoid()
        nn.Tanh(); nn.GELU(); nn.Silu(inplace=True); nn.Dropout(0.5, inplace=True); nn.LeakyReLU(0.1); nn.ELU(); nn.Softmax(-1)
        nn.Identity(); nn.Sequential(nn.Linear(4, 4), nn.Silu(inplace=True)); nn.Sequential(nn.LayerNorm(4), nn.Sigmoid(), nn.Dropout(0.1))
    """),
    module="nn.Layer",
    forward="forward",
    out=_split("paddle.add({x}, {x}, out={o}); paddle.multiply({x}, {x}, out={o})"),
    no_grad="with paddle.no_grad():",
    optimizer="paddle.optimizer.{kind}(0.1, parameters=[{leaves}])",
    clear="clear_grad",
    grad="paddle.grad({loss}, [{leaves}], allow_unused=True, retain_graph={retain})",
)

DIALECTS = {dialect.name: dialect for dialect in (_TORCH, _PADDLE)}
