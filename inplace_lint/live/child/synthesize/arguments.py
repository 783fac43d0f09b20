"""
Synthesizes arguments: for constructors of layers, and for the options of functions.

    def __init__(self, in_channels, act_layer, depth=1)   ->   {"in_channels": 8, "act_layer": nn.ReLU}

A value is chosen by the parameter's default, then its annotation, then the words in its name. Numbers agree with each
other on purpose: everything that counts channels or features is the same small number, what divides it is two.
"""

from __future__ import annotations

import ast
import enum
import inspect
import re
import textwrap
import typing
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

from ..attempt import attempt
from ..framework_adapter import FrameworkAdapter

WIDTH = 8
_MOST = 32
_OUTER = re.compile(r"^out|_out$|^oup|out_?(channels?|planes|dims?|features?|size|ch|c)$")
_COUNTS = re.compile(r"layers|depth|blocks|^num|^n_|count|steps|repeat")
_WIDER = {WIDTH: 4 * WIDTH, WIDTH // 2: 2 * WIDTH}  # groups of 32 are a usual default
_UNDER_WAY: List[Any] = []  # the classes of which an instance is being made, the outermost first

_NUMBERS = (
    (r"spatial_dims|^ndims?$|^n_?dims?$|^num_dims?$|dimensions$", (2, 3, 1)),
    (r"rates$|dilations$|bins$|scales$", ((1, 2, 3), [1, 2, 3])),
    (r"window", (4, (4, 4), 2)),
    (r"shift", (1, 0)),
    (r"kernel|ksize|^k$", (3, (3, 3))),
    (r"stride|dilation|scale_factor|expansion|ratio|multiplier|cardinality", (1, 2)),
    (r"padding|^pad$", (1,)),
    (r"drop|^p$|prob|momentum|rate|alpha|beta|gamma|slope|weight|lambda|temperature|sigma|std", (0.1, 0.5)),
    (r"eps", (1e-5,)),
    (r"groups?$|heads?$|^n_?head|num_?heads", (2, 1)),
    (r"img|image|resolution|^size$|height|^h$|^w$|spatial", (16, (16, 16), 8)),
    (r"patch", (4, (4, 4))),
    (r"vocab|num_embeddings|num_tokens|n_?tokens", (16,)),
    (r"len|max_?seq|block_size|context_?(len|size)|^time(_?steps?)?$", (5, 16)),
    (r"head_?dim|head_?size|dim_?head|d_?head|head_?width", (WIDTH // 2,)),
    (r"channels?|planes|dims?$|dim_|_dim|features?|feats?$|hidden|width|embed|units|filters|classes|inner", (WIDTH,)),
    (r"^d_?model|^nf$|^ch$|^c\d*$|^d$|inp|oup|^n_?in$|^n_?out$|^in_|^out_|input|output|size", (WIDTH,)),
    (r"layers|depth|blocks?$|^n$|num|count|steps|times|repeats?|order|level|iter", (2, 1, (1, 1), (2, 2, 2, 2))),
    (
        r"^(use|is|with|has|do|no|enable|return|need|norm_first|bias|affine|inplace|training|pre_?norm)(_|$)",
        (True, False),
    ),
)
_WEIGHTED = (
    *("conv", "linear", "batchnorm", "layernorm", "groupnorm", "instancenorm", "syncbatch"),
    *("multihead", "lstm", "gru", "rnn", "transformer", "bilinear"),
)
_WIDTHS = (
    *("in_channels", "_in_channels", "in_features", "num_features", "_num_features", "embed_dim"),
    *("input_size", "num_channels", "normalized_shape", "_normalized_shape", "d_model"),
)
_LISTS = re.compile(
    r"channels$|dims$|planes$|features$|sizes?$|widths$|depths|layers$|blocks$|_list$|filters$|strides|kernels"
)


class Config:
    """An object of settings: it has every attribute, chosen by its name."""

    def __init__(self, adapter: FrameworkAdapter) -> None:
        self.__dict__["_adapter"] = adapter

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = next(iter(values_for(self.__dict__["_adapter"], name, inspect.Parameter.empty)), None)
        self.__dict__[name] = value
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """Return what the program itself takes where there is no such setting."""
        return default if default is not None else getattr(self, name)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, str(name))


def constructions(adapter: FrameworkAdapter, make: Callable[..., Any]) -> Iterator[Dict[str, Any]]:
    """
    Return arguments to try with a constructor: all first choices, then each other choice alone.

    Parameters with defaults keep them at first; then other values are tried that the code compares them with, since
    they choose its branches. There are no arguments where a parameter without default has no value that fits.
    """
    every = parameters(make)
    required = [item for item in every if item.default is inspect.Parameter.empty]
    compared = _compared(make)
    choices = {item.name: _choices(adapter, make, item, sorted(compared.get(item.name, ()))) for item in required}
    if any(not values for values in choices.values()):
        return
    first = {name: values[0] for name, values in choices.items()}
    wide = {name: _WIDER.get(value, value) if isinstance(value, int) else value for name, value in first.items()}
    lists = {item.name: [WIDTH] * 4 for item in required if _may_be_list(make, item)}
    others = [{**first, name: value} for name, values in choices.items() for value in values[1:]]
    options = [{**first, name: value} for name, value in _options(make, every)]
    lengths = [_of_length(first, length) for length in (3, 2, 1)]
    instead = {item.name: value for item in every for value in _instead_of_none(make, item)}
    outer = [
        {name: size if value == WIDTH and _OUTER.search(name) else value for name, value in first.items()}
        for size in (WIDTH // 2, 2 * WIDTH)
    ]
    variants = [wide, {**first, **lists}, *lengths, {**first, **instead}, *outer]
    found = [first, *_unlike(first, variants), *options, *others]
    yield from found[:_MOST]


def _choices(
    adapter: FrameworkAdapter, make: Callable[..., Any], item: inspect.Parameter, compared: List[str]
) -> List[Any]:
    """Return values for a parameter: what the code compares it with first, where it may be a string."""
    declared = annotation(make, item)
    found = values_for(adapter, item.name, declared)
    return [*compared, *found] if declared in (inspect.Parameter.empty, str, "str") else [*found, *compared]


def _may_be_list(make: Callable[..., Any], item: inspect.Parameter) -> bool:
    return bool(_LISTS.search(item.name)) and annotation(make, item) not in (int, "int")


def _unlike(first: Dict[str, Any], others: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    return [other for other in others if other != first]


def _of_length(chosen: Dict[str, Any], length: int) -> Dict[str, Any]:
    """Return the same arguments with all sequences of one length: those of one module often have one item an axis."""
    return {
        name: type(value)(value[:1] * length) if type(value) in (list, tuple) and value else value
        for name, value in chosen.items()
    }


def _instead_of_none(make: Callable[..., Any], item: inspect.Parameter) -> List[Any]:
    """Return a number for a parameter that has none by default, where its name or its type says that it takes one."""
    if item.default is not None:
        return []
    declared = str(annotation(make, item))
    named = [value for value in _by_name(item.name.lower()) if isinstance(value, (int, float))]
    is_number = bool(re.search(r"\b(int|float)\b", declared)) or (item.annotation is inspect.Parameter.empty and named)
    return (named or [WIDTH])[:1] if is_number else []


def _options(make: Callable[..., Any], every: List[inspect.Parameter]) -> Iterator[Tuple[str, Any]]:
    """
    Return other values of parameters that choose branches.

    They are strings that the code compares them with, the other truth, a number where there is none, and two of what
    there is one of, so that loops take a second turn.
    """
    compared = _compared(make)
    for item in every:
        for value in sorted(compared.get(item.name, ())):
            if value != item.default:
                yield item.name, value
    for item in every:
        if isinstance(item.default, bool):
            yield item.name, not item.default
    for item in every:
        if item.default == 1 and type(item.default) is int and _COUNTS.search(item.name.lower()):
            yield item.name, 2
        for value in _instead_of_none(make, item):
            yield item.name, value


def _compared(make: Callable[..., Any]) -> Dict[str, Set[str]]:
    """Return the strings that names and attributes are compared with in the source of a class or function."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(make)))
    except (OSError, TypeError, SyntaxError):
        return {}
    found: Dict[str, Set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            name = getattr(node.left, "attr", getattr(node.left, "id", ""))
            words = [
                part.value for side in node.comparators for part in ast.walk(side) if isinstance(part, ast.Constant)
            ]
            found.setdefault(name, set()).update(word for word in words if isinstance(word, str))
    return found


def parameters(call: Callable[..., Any]) -> List[inspect.Parameter]:
    """Return the parameters that can be passed by name; none where that cannot be known."""
    try:
        found = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        item for item in found if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)
    ]


def annotation(call: Callable[..., Any], item: inspect.Parameter) -> Any:
    """Return the type that a parameter is declared with, or its text where the names in it mean nothing here."""
    if not isinstance(item.annotation, str):
        return item.annotation
    target = getattr(call, "__init__", call) if inspect.isclass(call) else call
    names = getattr(target, "__globals__", {})
    try:
        return typing.get_type_hints(target).get(item.name, item.annotation)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return names.get(item.annotation, item.annotation)


def values_for(adapter: FrameworkAdapter, name: str, declared: Any) -> List[Any]:
    """Return values for a parameter, the likeliest first."""
    low = name.lower()
    special = _modules(adapter, low)
    if special:
        return special
    if re.search(r"config|cfg|^args$|^opts?$|options|hparams|params$", low) and not _is_project_class(declared):
        return [Config(adapter)]
    by_type = _by_type(adapter, low, declared)
    if by_type:
        return by_type
    return _by_name(low) or [WIDTH]


def _by_name(low: str) -> List[Any]:
    for pattern, values in _NUMBERS:
        if re.search(pattern, low):
            found = list(values)
            return [*found, [WIDTH] * 4, (WIDTH, WIDTH)] if _LISTS.search(low) else found
    return []


def _modules(adapter: FrameworkAdapter, low: str) -> List[Any]:
    """Return layers, classes of layers or functions where a name calls for them."""
    if re.search(r"(^|_)(act|activation|nonlin|relu)", low):
        relu = adapter.named("ReLU")
        return [relu, relu(), adapter.framework.nn.functional.relu, "relu"]
    if re.search(r"norm(_?layer|_?fn|_?cls|_?func|_?type)?$|^bn$", low) and not low.startswith(("use_", "is_", "pre")):
        kinds = (("BatchNorm2d", "BatchNorm2D"), ("LayerNorm",), ("BatchNorm1d", "BatchNorm1D"))
        return [adapter.named(*names) for names in kinds]
    if re.search(
        r"(^|_)(module|submodule|backbone|encoder|decoder|body|model|net|network|fn|func|block|layer|head|stem)$", low
    ):
        conv, linear = adapter.named("Conv2d", "Conv2D"), adapter.named("Linear")
        layers = [conv(WIDTH, WIDTH, 3, padding=1), linear(WIDTH, WIDTH), adapter.named("Identity")()]
        return [*layers, adapter.named("Identity"), WIDTH]
    if re.search(r"conv(_?layer|_?cls|_?type)?$", low):
        return [adapter.named("Conv2d", "Conv2D"), WIDTH]
    return []


def _by_type(adapter: FrameworkAdapter, low: str, declared: Any) -> List[Any]:
    text = declared if isinstance(declared, str) else getattr(declared, "__name__", None) or str(declared)
    if re.match(r"(typing\.)?(Optional|Union)\b", text) or "|" in text:
        return []
    if text == "bool":
        return [True, False]
    if text == "int":
        return [value for value in _by_name(low) if isinstance(value, int)] or [WIDTH]
    if text == "float":
        return [value for value in _by_name(low) if isinstance(value, float)] or [0.1, 1.0]
    if text == "str":
        return ["relu", "mean", "same", "none"]
    found = re.match(r"(typing\.|collections\.abc\.)?(list|List|Sequence|Iterable|tuple|Tuple)\b", str(declared))
    if found:
        kind = tuple if found.group(2).lower() == "tuple" else list
        number = next((value for value in _by_name(low) if isinstance(value, int)), WIDTH)
        return [*(kind([value] * 4) for value in dict.fromkeys((number, WIDTH, 2))), kind([number] * 2), kind([number])]
    if inspect.isclass(declared) and issubclass(declared, enum.Enum):
        return list(declared)
    if getattr(declared, "__origin__", None) is typing.Literal:
        return list(declared.__args__)
    made = _instance(adapter, declared) if _is_project_class(declared) else None
    return [] if made is None else [made]


def _is_project_class(declared: Any) -> bool:
    return inspect.isclass(declared) and declared.__module__ not in {"builtins", "typing", "inspect", "collections.abc"}


def _instance(adapter: FrameworkAdapter, kind: Callable[..., Any]) -> Optional[Any]:
    """Return an instance of a class, made with synthesized arguments; None where no construction works."""
    if kind in _UNDER_WAY:
        return None  # it takes one of its own kind
    _UNDER_WAY.append(kind)
    try:
        made = (attempt(lambda options=options: kind(**options)) for options in constructions(adapter, kind))  # type: ignore[misc]
        return next((one.value for one in made if one.error is None), None)
    finally:
        _UNDER_WAY.remove(kind)


def width_of(adapter: FrameworkAdapter, module: Any) -> Tuple[str, int]:
    """
    Return the kind of the first layer with weights, and how many channels or features it wants; empty without one.

    Source: the attributes under which torch and Paddle layers keep their numbers.
    """
    layers = adapter.layers_of(module)
    own = adapter.layer.__module__.partition(".")[0]
    simple = [layer for layer in layers if type(layer).__module__.partition(".")[0] == own]
    for layer in [*simple, *layers]:
        kind = type(layer).__name__.lower()
        if kind == "embedding":
            return kind, 0
        if kind.startswith(_WEIGHTED):
            for name in _WIDTHS:
                value = getattr(layer, name, None)
                value = value[-1] if isinstance(value, (list, tuple)) and value else value
                if isinstance(value, int):
                    return kind, value
            weight = getattr(layer, "weight", None)
            if weight is not None and len(weight.shape):
                return kind, int(weight.shape[0] if "linear" in kind and not adapter.is_torch else weight.shape[-1])
    return "", WIDTH
