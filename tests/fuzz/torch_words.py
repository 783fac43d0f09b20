"""How random programs spell things in PyTorch."""

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
    name="torch",
    prelude=("import torch", "import torch.nn.functional as F", "from torch import nn"),
    leaf=(
        "torch.rand({sizes}, requires_grad=True)",
        "torch.ones({sizes}).requires_grad_()",
        "nn.Parameter(torch.rand({sizes}))",
    ),
    plain=("torch.rand({sizes})", "torch.zeros({sizes})", "torch.ones({sizes})", "torch.full(({sizes},), 0.5)"),
    same=split("""
        {x}.sigmoid(); torch.sigmoid({x}); {x}.tanh(); {x}.exp(); torch.exp2({x}); {x}.expm1(); {x}.relu()
        F.relu({x}); {x}.sqrt(); {x}.rsqrt(); {x}.reciprocal(); {x}.abs(); -{x}; {x}.neg(); {x}.sin()
        torch.cos({x}); {x}.tan(); {x}.square(); {x}.log(); {x}.log1p(); {x}.sinh(); {x}.atan(); {x}.erf()
        {x}.erfc(); {x}.sign(); {x}.floor(); {x}.round(); {x}.frac(); {x}.digamma(); {x}.sinc(); F.gelu({x})
        F.silu({x}); F.mish({x}); F.softplus({x}); F.elu({x}); F.selu({x}); F.celu({x}); F.leaky_relu({x})
        F.hardtanh({x}); F.hardswish({x}); F.hardsigmoid({x}); F.relu6({x}); F.logsigmoid({x}); F.softsign({x})
        F.tanhshrink({x}); F.hardshrink({x}); F.softshrink({x}); F.threshold({x}, 0.1, 0.5); {x}.clamp(0, 1)
        {x}.clamp(min=0.1); torch.clamp({x}, max=0.9); {x} ** 2; {x} ** 0.5; 2 ** {x}; 1 / {x}; {x} * 2; {x} + 1
        {x} - 0.5; 3 - {x}; {x} / 2; {x}.nan_to_num(); F.dropout({x}, 0.5); F.dropout({x}, 0.5, training=False)
        {x}.float(); {x}.double().float(); {x}.pow(3); {x}.mul(2).add(1); {x}.masked_fill({x} > 0.5, 0.0)
        torch.where({x} > 0.5, {x}, 0.0); {x}.lerp({x}, 0.5); {x}.softmax(-1); F.log_softmax({x}, -1)
        torch.zeros_like({x}) + {x}; +{x}; {x}.clone().add_(1); {x}.clone().mul_({y}); torch.abs({x})
        {x}.hardshrink(); {x}.logit(0.1); {x}.deg2rad(); torch.empty_like({x}).copy_({x})
        torch.ones_like({x}) * {x}; nn.ReLU()({x}); nn.GELU()({x}); nn.Identity()({x})
    """),
    square=split("""
        {x} @ {w}; torch.mm({x}, {w}); {w}.matmul({x}); F.linear({x}, {w}); {x}.cumsum(0); {x}.cumprod(0)
        {x}.flip(0); {x}.roll(1, 0); {x}.tril(); torch.triu({x}); F.normalize({x}); F.layer_norm({x}, (4,))
        {x}.logcumsumexp(0); F.batch_norm({x}, None, None, training=True); torch.cat([{x}[:2], {w}[2:]])
        torch.stack([{x}[0], {w}[1]] * 2); torch.einsum("ij,jk->ik", {x}, {w}); {x}.sort(0)[0]; {x}.cummax(0)[0]
        torch.addmm({w}, {x}, {w}); {x}.repeat(1, 1); {x}.index_select(0, {i}).repeat(2, 1)
        {x}.gather(0, torch.zeros(4, 4, dtype=torch.long)); {x}[[0, 1, 1, 3]]
        F.conv1d({x}[None], {w}[:, :, None])[0]; F.max_pool1d({x}[None], 1)[0]; F.avg_pool1d({x}[None], 1)[0]
        torch.bmm({x}[None], {w}[None])[0]; {x}.t().contiguous(); {x}.index_add(0, {i}, {w}[:2])
        {x}.matrix_power(2); F.pad({x}[:, :3], (0, 1)); {x}[:, [0, 0, 1, 2]]; {x}.rot90()
        torch.outer({x}[0], {w}[0]); F.cosine_similarity({x}, {w}).repeat(4, 1)
        F.pixel_shuffle({x}[None, :, :1, None], 2)[0, 0].repeat(2, 2)
    """),
    pair=split("""
        {x} * {y}; {x} + {y}; {x} - {y}; {x} / ({y} + 2); torch.mul({x}, {y}); torch.add({x}, {y}); {x}.sub({y})
        {x}.div({y}); torch.maximum({x}, {y}); torch.minimum({x}, {y}); torch.atan2({x}, {y})
        torch.hypot({x}, {y}); {x} ** {y}; torch.where({x} > 0.5, {x}, {y}); torch.lerp({x}, {y}, 0.3)
        torch.addcmul({x}, {y}, {y}); torch.addcdiv({x}, {y}, {y}); {x}.add({y}, alpha=2); torch.fmod({x}, {y})
        {x}.remainder({y}); {x} * {y} + {x}; {y} * {x}; {x}.expand_as({x}) * {y}; torch.logaddexp({x}, {y})
        {x}.copysign({y}); torch.dist({x}, {y}) * {x}
    """),
    reduced=(
        Reshaping("{x}.sum()", at_least(0), lambda _: ()),
        Reshaping("{x}.mean()", at_least(0), lambda _: ()),
        Reshaping("{x}.max()", at_least(0), lambda _: ()),
        Reshaping("{x}.min()", at_least(0), lambda _: ()),
        Reshaping("{x}.norm()", at_least(0), lambda _: ()),
        Reshaping("{x}.std()", at_least(1), lambda _: ()),
        Reshaping("{x}.prod()", at_least(0), lambda _: ()),
        Reshaping("{x}.median()", at_least(0), lambda _: ()),
        Reshaping("F.mse_loss({x}, {x} * 2)", at_least(0), lambda _: ()),
        Reshaping("F.smooth_l1_loss({x}, torch.ones_like({x}))", at_least(0), lambda _: ()),
        Reshaping("{x}.sum(0)", at_least(1), tail),
        Reshaping("{x}.mean(0)", at_least(1), tail),
        Reshaping("{x}.amax(0)", at_least(1), tail),
        Reshaping("{x}.prod(0)", at_least(1), tail),
        Reshaping("{x}.logsumexp(0)", at_least(1), tail),
        Reshaping("{x}.var(0)", at_least(1), tail),
        Reshaping("{x}.max(0)[0]", at_least(1), tail),
        Reshaping("{x}.min(0).values", at_least(1), tail),
        Reshaping("{x}.mean(-1, keepdim=True)", at_least(1), lambda shape: (*shape[:-1], 1)),
        Reshaping("{x}.amax(-1, keepdim=True)", at_least(1), lambda shape: (*shape[:-1], 1)),
        Reshaping("{x}[[0, 1]]", lambda shape: bool(shape) and shape[0] >= 2, lambda shape: (2, *shape[1:])),
        Reshaping("{x}[{i}]", with_rows(4), lambda shape: (2, *shape[1:])),
        Reshaping("{x} @ {x}", exactly(4), lambda _: ()),
    ),
    views=(
        *SHARED_VIEWS,
        Reshaping("{x}.view(-1)", at_least(1), flat),
        Reshaping("{x}.reshape(-1)", at_least(1), flat),
        Reshaping("{x}.view(2, 8)", exactly(4, 4), lambda _: (2, 8)),
        Reshaping("{x}.view_as({x})", at_least(0), lambda shape: shape),
        Reshaping("{x}.transpose(0, 1)", flat_matrix, turned),
        Reshaping("{x}.permute(1, 0)", flat_matrix, turned),
        Reshaping("{x}.narrow(0, 0, 2)", with_rows(4), half),
        Reshaping("{x}.select(0, 1)", lambda shape: bool(shape) and shape[0] >= 2, tail),
        Reshaping("{x}.chunk(2)[0]", in_halves, half),
        Reshaping("{x}.split(2)[0]", with_rows(4), half),
        Reshaping("{x}.unbind()[0]", at_least(1), tail),
        Reshaping("torch.tensor_split({x}, 2)[0]", in_halves, half),
        Reshaping("{x}.unsqueeze(0).expand(2, {sizes})", exactly(4), lambda shape: (2, *shape)),
    ),
    pieces=(
        ("{x}.chunk(2)", 2, in_halves, half),
        ("{x}.split(2)", 2, with_rows(4), half),
        ("torch.unbind({x})", 4, with_rows(4), tail),
        ("{x}", 2, with_rows(2), tail),
        ("{x}.tensor_split(2)", 2, in_halves, half),
    ),
    writes=split("""
        {x}.relu_(); {x}.sigmoid_(); {x}.tanh_(); {x}.exp_(); {x}.sqrt_(); {x}.abs_(); {x}.neg_(); {x}.sin_()
        {x}.square_(); {x}.zero_(); {x}.fill_(0.5); {x}.clamp_(0, 1); {x}.clamp_(min=0.1); {x}.mul_(2)
        {x}.add_(1); {x}.sub_(0.5); {x}.div_(2); {x}.pow_(2); {x}.log1p_(); {x}.floor_(); {x}.round_()
        {x}.reciprocal_(); {x}.rsqrt_(); {x}.erf_(); {x}.masked_fill_({x} > 0.5, 0.1); {x}.normal_()
        {x}.uniform_(0.1, 1.0); F.relu({x}, inplace=True); F.relu_({x}); F.silu({x}, inplace=True)
        F.leaky_relu({x}, inplace=True); F.elu({x}, inplace=True); F.hardtanh({x}, inplace=True)
        F.dropout({x}, 0.5, inplace=True); F.hardswish({x}, True); F.elu_({x}); F.relu6({x}, inplace=True)
        torch.relu_({x}); nn.ReLU(inplace=True)({x}); nn.LeakyReLU(0.1, True)({x}); nn.SiLU(inplace=True)({x})
        nn.Dropout(0.5, inplace=True)({x}); {x}.nan_to_num_(); {x}.cos_(); {x}.expm1_()
        {x}.hardshrink().mul_(2); torch.exp_({x}); nn.init.ones_({x}); {x}.copysign_(1.0)
        {x}.lerp_({x}.detach().clone(), 0.5); {x}.mul_(2).add_(1); {x}.exp_().mul_(0.5); {x}.sign_()
    """),
    square_writes=split("""
        {x}.tril_(); {x}.cumsum_(0); {x}.index_add_(0, {i}, {w}[:2]); {x}.index_fill_(0, {i}, 0.5)
        {x}.addmm_({w}, {w}); {x}.fill_diagonal_(0.0); {x}.index_copy_(0, {i}, {w}[:2]); {x}[{i}] = 0.5
        {x}[{m}] = 0.0; {x}[1:] = {w}[:3]; {x}[0, 1] = 0.5; {x}[:, 0] = {w}[0]; {x}[{x} > 0.9] = 0.0
        {x}[0] = {x}[1]; {x}[1:] = {x}[:-1]; {x}[:, 1:] += 1; {x}.masked_fill_({m}, 0.2)
        {x}.scatter_(0, torch.zeros(1, 4, dtype=torch.long), 0.5); {x}[0] *= {x}[1]; {x}[0].copy_({w}[1])
        {x}[0].zero_(); {x}.t().mul_(2); {x}.view(-1)[3] = 0.5; {x}[1:3].add_(1); {x}[[0, 2]] += 1
        {x}.diagonal().fill_(0.5); {x}.T[0] = 0.1; {x}.put_(torch.tensor([0]), torch.tensor([0.5]))
        {x}[..., 0] = 0.3; {x}.cumprod_(0); {x}.masked_scatter_({m}, {w}); {x}[0, :2] += {w}[0, 2:]
        {x}[2].exp_(); {x}.triu_(1)
    """),
    pair_writes=split("""
        {x}.add_({y}); {x}.mul_({y}); {x}.sub_({y}, alpha=2); {x}.div_({y}); {x}.copy_({y}); {x}.lerp_({y}, 0.5)
        {x}.addcmul_({y}, {y}); {x}.pow_({y}); {x}.atan2_({y}); {x}.mul_({y}).add_({y}); {x}.fmod_({y})
        {x}[...] = {y}
    """),
    bent_writes=(
        ("{x}.t_()", flat_matrix, turned),
        ("{x}.transpose_(0, 1)", flat_matrix, turned),
        ("{x}.unsqueeze_(0)", at_least(0), lambda shape: (1, *shape)),
        ("{x}.squeeze_(0)", with_rows(1), tail),
    ),
    operators=("+=", "-=", "*=", "/=", "+=", "*=", "**="),
    numbers_in_writes=True,
    mask="{x} > 0.5",
    index="torch.tensor([0, 2])",
    mask_writes=split("""
        {m}.logical_not_(); {m}.fill_(True); {m}[0] = False; {m} &= True; {m} |= {m}
    """),
    index_writes=split("{i}.add_(1); {i}.zero_(); {i}[0] = 1; {i} += 1; {i}.fill_(1)"),
    layers=split("""
        nn.Linear(4, 4); nn.Linear(4, 4, bias=False); nn.BatchNorm1d(4); nn.LayerNorm(4); nn.ReLU()
        nn.ReLU(inplace=True); nn.Sigmoid(); nn.Tanh(); nn.GELU(); nn.SiLU(inplace=True)
        nn.Dropout(0.5, inplace=True); nn.LeakyReLU(0.1, inplace=True); nn.ELU(inplace=True); nn.Softmax(-1)
        nn.Identity(); nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True)); nn.Hardswish(inplace=True)
        nn.Sequential(nn.LayerNorm(4), nn.Sigmoid(), nn.Dropout(0.1, True)); nn.ReLU6(inplace=True)
        nn.GroupNorm(2, 4)
    """),
    module="nn.Module",
    forward="forward",
    out=split("""
        torch.add({x}, 1, out={o}); torch.mul({x}, {x}, out={o}); torch.exp({x}, out={o})
    """),
    no_grad="with torch.no_grad():",
    modes=(
        "with torch.enable_grad():",
        "with torch.set_grad_enabled(False):",
        "with torch.set_grad_enabled(True):",
        "with torch.no_grad(), torch.enable_grad():",
    ),
    sizes="4, 4",
    optimizer_of="torch.optim.{kind}({net}.parameters(), lr=0.1)",
    optimizer="torch.optim.{kind}([{leaves}], lr=0.1)",
    clear="zero_grad",
    grad="torch.autograd.grad({loss}, [{leaves}], allow_unused=True, retain_graph={retain})",
)
