"""How random programs spell things in Paddle."""

from __future__ import annotations

from tests.fuzz.dialects import (
    SHARED_VIEWS,
    Dialect,
    Reshaping,
    at_least,
    exactly,
    flat,
    flat_matrix,
    half,
    in_halves,
    split,
    tail,
    turned,
    with_rows,
)

WORDS = Dialect(
    name="paddle",
    prelude=("import paddle", "import paddle.nn.functional as F", "from paddle import nn"),
    leaf=("paddle.rand([{sizes}])", "paddle.to_tensor(paddle.ones([{sizes}]), stop_gradient=False)"),
    plain=(
        "paddle.rand([{sizes}])",
        "paddle.zeros([{sizes}])",
        "paddle.ones([{sizes}])",
        "paddle.full([{sizes}], 0.5)",
    ),
    same=split("""
        F.sigmoid({x}); {x}.sigmoid(); {x}.tanh(); {x}.exp(); paddle.exp({x}); {x}.expm1(); F.relu({x})
        F.relu6({x}); {x}.sqrt(); {x}.rsqrt(); {x}.reciprocal(); {x}.abs(); -{x}; {x}.neg(); {x}.sin()
        paddle.cos({x}); {x}.tan(); {x}.square(); {x}.log(); {x}.log1p(); {x}.sinh(); {x}.atan(); {x}.erf()
        {x}.sign(); {x}.floor(); {x}.round(); {x}.digamma(); F.gelu({x}); F.silu({x}); F.mish({x})
        F.softplus({x}); F.elu({x}); F.selu({x}); F.celu({x}); F.leaky_relu({x}); F.hardtanh({x})
        F.hardswish({x}); F.hardsigmoid({x}); F.swish({x}); F.log_sigmoid({x}); F.softsign({x})
        F.tanhshrink({x}); F.hardshrink({x}); F.softshrink({x}); F.thresholded_relu({x}); {x}.clip(0, 1)
        {x}.clip(min=0.1); {x} ** 2; {x} ** 0.5; 1 / {x}; {x} * 2; {x} + 1; {x} - 0.5; 3 - {x}; {x} / 2
        {x}.scale(2.0); {x}.nan_to_num(); F.dropout({x}, 0.5); F.dropout({x}, 0.5, training=False)
        {x}.astype("float32"); {x}.pow(3); {x}.astype("float64").astype("float32")
        paddle.where({x} > 0.5, {x}, paddle.ones_like({x})); {x}.lgamma(); F.softmax({x}, -1)
        F.log_softmax({x}, -1); paddle.zeros_like({x}) + {x}; paddle.assign({x}); {x}.cast("float32")
        paddle.tanh({x}); {x}.masked_fill({x} > 0.5, 0.0); paddle.ones_like({x}) * {x}; nn.ReLU()({x})
        nn.GELU()({x}); nn.Identity()({x}); {x}.clone().scale_(2.0); paddle.stanh({x}); {x}.lerp({x}, 0.5)
        {x}.trunc(); {x}.ceil()
    """),
    square=split("""
        {x} @ {w}; paddle.matmul({x}, {w}); {w}.matmul({x}); F.linear({x}, {w}); {x}.cumsum(0); {x}.cumprod(0)
        {x}.flip(0); {x}.roll(1, 0); {x}.tril(); paddle.triu({x}); F.normalize({x}); F.layer_norm({x}, [4])
        {x}.logcumsumexp(0); paddle.concat([{x}[:2], {w}[2:]]); paddle.stack([{x}[0], {w}[1]] * 2)
        paddle.einsum("ij,jk->ik", {x}, {w}); paddle.sort({x}, 0); paddle.addmm({w}, {x}, {w}); {x}.tile([1, 1])
        {x}.index_select({i}, 0).tile([2, 1]); {x}[[0, 1, 1, 3]]
        F.conv1d({x}.unsqueeze(0), {w}.unsqueeze(-1))[0]; F.max_pool1d({x}.unsqueeze(0), 1)[0]
        F.avg_pool1d({x}.unsqueeze(0), 1)[0]; paddle.bmm({x}.unsqueeze(0), {w}.unsqueeze(0))[0]
        {x}.t().contiguous(); {x}.index_add({i}, 0, {w}[:2]); paddle.mm({x}, {w}); paddle.outer({x}[0], {w}[0])
        paddle.gather({x}, {i}).tile([2, 1]); paddle.linalg.inv({x} + 5 * paddle.eye(4))
        paddle.cummax({x}, 0)[0]; paddle.inner({x}, {w}); paddle.split({x}, 2)[0].tile([2, 1])
    """),
    pair=split("""
        {x} * {y}; {x} + {y}; {x} - {y}; {x} / ({y} + 2); paddle.multiply({x}, {y}); paddle.add({x}, {y})
        {x}.subtract({y}); {x}.divide({y}); paddle.maximum({x}, {y}); paddle.minimum({x}, {y}); {x} ** {y}
        paddle.where({x} > 0.5, {x}, {x} * {y}); {x}.lerp({y} + {x}, 0.3); {x}.remainder({y}); {x} * {y} + {x}
        {y} * {x}; paddle.fmax({x}, {y}); {x}.add({y} * {x}); paddle.hypot({x}, {y}); paddle.logaddexp({x}, {y})
        paddle.dist({x}, {y}) * {x}
    """),
    reduced=(
        Reshaping("{x}.sum()", at_least(0), lambda _: ()),
        Reshaping("{x}.mean()", at_least(0), lambda _: ()),
        Reshaping("{x}.max()", at_least(0), lambda _: ()),
        Reshaping("{x}.min()", at_least(0), lambda _: ()),
        Reshaping("{x}.norm()", at_least(0), lambda _: ()),
        Reshaping("{x}.std()", at_least(1), lambda _: ()),
        Reshaping("{x}.prod()", at_least(0), lambda _: ()),
        Reshaping("{x}.logsumexp()", at_least(1), lambda _: ()),
        Reshaping("F.mse_loss({x}, {x} * 2)", at_least(0), lambda _: ()),
        Reshaping("F.l1_loss({x}, paddle.ones_like({x}))", at_least(0), lambda _: ()),
        Reshaping("{x}.sum(0)", at_least(1), tail),
        Reshaping("{x}.mean(0)", at_least(1), tail),
        Reshaping("{x}.amax(0)", at_least(1), tail),
        Reshaping("{x}.prod(0)", at_least(1), tail),
        Reshaping("{x}.logsumexp(0)", at_least(1), tail),
        Reshaping("{x}.var(0)", at_least(1), tail),
        Reshaping("{x}.max(0)", at_least(1), tail),
        Reshaping("{x}.mean(-1, keepdim=True)", at_least(1), lambda shape: (*shape[:-1], 1)),
        Reshaping("{x}.amax(-1, keepdim=True)", at_least(1), lambda shape: (*shape[:-1], 1)),
        Reshaping("{x}[[0, 1]]", lambda shape: bool(shape) and shape[0] >= 2, lambda shape: (2, *shape[1:])),
        Reshaping("{x}[{i}]", with_rows(4), lambda shape: (2, *shape[1:])),
        Reshaping("{x} @ {x}", exactly(4), lambda _: ()),
    ),
    views=(
        *SHARED_VIEWS,
        Reshaping("{x}.reshape([-1])", at_least(1), flat),
        Reshaping("{x}.reshape([2, 8])", exactly(4, 4), lambda _: (2, 8)),
        Reshaping("{x}.transpose([1, 0])", flat_matrix, turned),
        Reshaping("paddle.transpose({x}, [1, 0])", flat_matrix, turned),
        Reshaping("{x}.slice([0], [0], [2])", with_rows(4), half),
        Reshaping("{x}.chunk(2)[0]", in_halves, half),
        Reshaping("{x}.split(2)[0]", in_halves, half),
        Reshaping("{x}.unbind()[0]", at_least(1), tail),
        Reshaping("{x}.expand([2, {sizes}])", exactly(4), lambda shape: (2, *shape)),
    ),
    pieces=(
        ("{x}.chunk(2)", 2, in_halves, half),
        ("{x}.split(2)", 2, in_halves, half),
        ("paddle.unbind({x})", 4, with_rows(4), tail),
        ("{x}", 2, with_rows(2), tail),
    ),
    writes=split("""
        F.relu_({x}); {x}.sigmoid_(); {x}.tanh_(); {x}.exp_(); {x}.sqrt_(); {x}.abs_(); {x}.neg_(); {x}.sin_()
        {x}.square_(); {x}.zero_(); {x}.fill_(0.5); {x}.clip_(0, 1); {x}.clip_(min=0.1); {x}.scale_(2.0)
        {x}.scale_(1.0, 0.5); {x}.pow_(2); {x}.log1p_(); {x}.floor_(); {x}.round_(); {x}.reciprocal_()
        {x}.rsqrt_(); {x}.normal_(); {x}.uniform_(0.1, 1.0); {x}.masked_fill_({x} > 0.5, 0.1)
        F.silu({x}, inplace=True); F.elu_({x}); F.leaky_relu_({x}); F.hardtanh_({x})
        F.dropout({x}, 0.5, inplace=True); F.softmax_({x}); F.tanh_({x}); nn.Silu(inplace=True)({x})
        {x}.ceil_(); {x}.cos_(); nn.Dropout(0.5, inplace=True)({x}); {x}.nan_to_num_(); {x}.scale_(2.0).exp_()
        {x}.set_value({x} * 2); {x}.copy_({x} * 2, True); F.thresholded_relu_({x}); {x}.log_(); {x}.trunc_()
        {x}.ceil_()
    """),
    square_writes=split("""
        {x}.tril_(); {x}.cumsum_(0); {x}.index_add_({i}, 0, {w}[:2]); {x}.fill_diagonal_(0.0); {x}[{i}] = 0.5
        {x}[{m}] = 0.0; {x}[1:] = {w}[:3]; {x}[0, 1] = 0.5; {x}[:, 0] = {w}[0]; {x}[{x} > 0.9] = 0.0
        {x}[0] = {x}[1]; {x}[1:] = {x}[:-1]; {x}[:, 1:] += 1; {x}.masked_fill_({m}, 0.2); {x}[0] *= {x}[1]
        {x}[0].copy_({w}[1], True); {x}[0].zero_(); {x}.t().scale_(2.0); {x}.reshape([-1])[3] = 0.5
        {x}[1:3].scale_(2.0); {x}[[0, 2]] += 1; {x}.T[0] = 0.1; {x}[..., 0] = 0.3; {x}[0, :2] += {w}[0, 2:]
        {x}[2].exp_(); {x}.triu_(1); {x}.cumprod_(0); {x}[0] += 1; {x}.index_put_([{i}], {w}[:2])
        {x}.put_along_axis_(paddle.zeros([1, 4], "int64"), 0.5, 0)
    """),
    pair_writes=split("""
        {x}.add_({y}); {x}.multiply_({y}); {x}.subtract_({y}); {x}.divide_({y}); {x}.multiply_({y}).add_({y})
        {x}[...] = {y}; {x}.remainder_({y}); {x}.lerp_({y} + {x}, 0.5); {x}.mul_({y}); {x}.sub_({y})
    """),
    bent_writes=(
        ("{x}.t_()", flat_matrix, turned),
        ("{x}.unsqueeze_(0)", at_least(0), lambda shape: (1, *shape)),
        ("{x}.squeeze_(0)", with_rows(1), tail),
        ("{x}.flatten_()", at_least(1), flat),
        ("{x}.reshape_([-1])", at_least(1), flat),
    ),
    operators=("+=", "-=", "*=", "/=", "+=", "*=", "**="),
    numbers_in_writes=False,
    mask="{x} > 0.5",
    index="paddle.to_tensor([0, 2])",
    mask_writes=split("{m}.logical_not_(); {m}.fill_(True); {m}[0] = False; {m} = {m} & {m}"),
    index_writes=split("""
        {i}.add_({i} * 0); {i}.zero_(); {i}[0] = 1; {i} += 1; {i}.fill_(1); {i}.scale_(1)
    """),
    layers=split("""
        nn.Linear(4, 4); nn.Linear(4, 4, bias_attr=False); nn.BatchNorm1D(4); nn.LayerNorm(4); nn.ReLU()
        nn.Sigmoid(); nn.Tanh(); nn.GELU(); nn.Silu(inplace=True); nn.Dropout(0.5, inplace=True)
        nn.LeakyReLU(0.1); nn.ELU(); nn.Softmax(-1); nn.Identity()
        nn.Sequential(nn.Linear(4, 4), nn.Silu(inplace=True))
        nn.Sequential(nn.LayerNorm(4), nn.Sigmoid(), nn.Dropout(0.1))
    """),
    module="nn.Layer",
    forward="forward",
    out=split("paddle.add({x}, {x}, out={o}); paddle.multiply({x}, {x}, out={o})"),
    no_grad="with paddle.no_grad():",
    modes=(
        "with paddle.enable_grad():",
        "with paddle.set_grad_enabled(False):",
        "with paddle.set_grad_enabled(True):",
    ),
    sizes="[4, 4]",
    optimizer_of="paddle.optimizer.{kind}(0.1, parameters={net}.parameters())",
    optimizer="paddle.optimizer.{kind}(0.1, parameters=[{leaves}])",
    clear="clear_grad",
    grad="paddle.grad({loss}, [{leaves}], allow_unused=True, retain_graph={retain})",
)
