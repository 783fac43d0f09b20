"""
The closed sets of words that facts are written with.

A word in a fact (`"history": "cut"`) is read as a member (`History.CUT`) and nothing else gets through. Members compare
and print like their text. `rules/ops/README.md` says what each of them means; a test holds both lists together.
"""

from __future__ import annotations

from inplace_lint.core.event import Failure
from inplace_lint.core.word import Word


class Check(Word):
    """What the framework tests before it writes to a tensor."""

    LEAF = "leaf"
    LEAF_VIEW = "leaf_view"
    MULTI_VIEW = "multi_view"
    NO_GRAD_VIEW = "no_grad_view"
    INFERENCE = "inference"
    OVERLAP = "overlap"
    EXPANDED = "expanded"
    OPERANDS = "operands"
    APART = "apart"
    SHAPE = "shape"
    CAST = "cast"
    FRACTION = "fraction"
    BROADCAST = "broadcast"
    RESIZE = "resize"
    OPERAND = "operand"
    MIXED = "mixed"
    LEAF_ALWAYS = "leaf_always"
    RECORDED = "recorded"


class History(Word):
    """What a write does to the autograd history of the tensor that it writes."""

    REBASE = "rebase"
    CUT = "cut"
    KEEP_BASE = "keep_base"
    KEEP_OLD = "keep_old"
    BROKEN = "broken"


class Result(Word):
    """What a call returns, where that is not one of its arguments."""

    FRESH = "fresh"
    VIEW = "view"
    SELF = "self"
    MAYBE = "maybe"
    LIST = "list"
    TUPLE = "tuple"
    VALUE = "value"


class ViewKind(Word):
    """How a result shares the storage of another tensor."""

    SINGLE = "single"
    MULTI = "multi"
    EXPANDED = "expanded"
    DETACH = "detach"
    DATA = "data"
    UNTRACKED = "untracked"


class ValueKind(Word):
    """The Python type of a result that is no tensor."""

    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    STR = "str"
    LIST = "list"
    TUPLE = "tuple"
    NONE = "none"
    FALSE = "false"
    SHAPE = "shape"
    RANK = "rank"
    SIZE = "size"
    LENGTH = "length"
    COUNT = "count"  # of all elements
    DTYPE = "dtype"
    DEVICE = "device"
    FLOATING = "floating"
    COMPLEX = "complex"
    IS_TENSOR = "is_tensor"
    IS_CONTIGUOUS = "is_contiguous"
    NOT_DENSE = "not_dense"
    LAYOUT = "layout"
    VERSION = "version"
    BASE = "base"  # the tensor that a view is of
    IS_VIEW = "is_view"
    NUMBERS = "numbers"  # an object whose attributes are numbers
    UNKNOWN = "unknown"


class DType(Word):
    """The class of dtypes that a result belongs to."""

    FLOAT = "float"
    INT = "int"
    BOOL = "bool"
    COMPLEX = "complex"
    SAME = "same"
    FRACTION = "fraction"  # as the operands, floating if these are whole
    COUNT = "count"  # as the operands, whole if these are booleans
    OTHER = "other"  # that of the argument of this name
    UNKNOWN = "unknown"


class PartDType(Word):
    """The dtype of a parameter or buffer: that of its module, or this one."""

    SAME = "same"
    INT64 = "int64"
    INT32 = "int32"
    UINT8 = "uint8"
    BOOL = "bool"


class Moves(Word):
    """Which part of the memory of its base a view covers, or a write changes."""

    OTHER = ""
    ALL = "all"
    AXES = "axes"
    ROWS = "rows"
    ROW = "row"
    WINDOWS = "windows"


class ShapeRule(Word):
    """How the shape of a result follows from the arguments."""

    AXES = "axes"
    BROADCAST = "broadcast"
    CAT = "cat"
    CHUNK = "chunk"
    CUT = "cut"
    DROP = "drop"
    EINSUM = "einsum"
    EXPAND = "expand"
    FLATTEN = "flatten"
    GRID = "grid"
    GROW = "grow"
    INDEX = "index"
    INSERT = "insert"
    LAST = "last"
    LIKE = "like"
    LOOSE = "loose"
    MATMUL = "matmul"
    NESTED = "nested"
    PERMUTE = "permute"
    RANKED = "ranked"
    REARRANGE = "rearrange"
    REDUCE = "reduce"
    RESHAPE = "reshape"
    REVERSE = "reverse"
    SIZES = "sizes"
    SQUEEZE = "squeeze"
    STACK = "stack"
    TRANSPOSE = "transpose"
    UNFLATTEN = "unflatten"


class Predicate(Word):
    """What a guard can test of an argument; `TRUTH` is a bare name."""

    TRUTH = ""
    RG = "rg"
    PASSED = "passed"
    SAME = "same"
    CENTRED = "centred"
    CONTIGUOUS = "contiguous"
    DENSE = "dense"
    NDIM = "ndim"
    MATRIX = "matrix"
    KEEPS = "keeps"
    KEPT_BY_EINSUM = "kept_by_einsum"
    KEPT_BY_MATMUL = "kept_by_matmul"
    ROWS = "rows"
    SUMS = "sums"
    PERMUTES = "permutes"
    TURNS = "turns"
    VIEWS = "views"
    FLOAT = "float"
    INT = "int"
    BOOL = "bool"
    TENSOR = "tensor"
    BASIC = "basic"
    WHOLE = "whole"
    DTYPE = "dtype"


class Device(Word):
    """A device on which a fact differs."""

    CPU = "cpu"
    CUDA = "cuda"


class ArgumentKind(Word):
    """How an argument is passed: `x`, `*, x`, `*x` or `**x`."""

    PLAIN = "plain"
    KEYWORD = "keyword"
    ARGS = "args"
    KWARGS = "kwargs"


# What `says` of a framework.json quotes, and `heard` in other wordings: the error of a failed check, of a stale save or
# of a second backward through one graph, or of a write to shared memory, which no release in use refuses; or a part of
# a cure.
MESSAGES = frozenset({*Failure, "stale", "freed", "shared", "no_grad"})
# What `words` of a framework.json names: the flag, or the method of a tensor, that a cure is written with.
CURES = frozenset({"assign", "copy", "cut", "fill", "flag", "infer", "items"})
BINARY = frozenset({"+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>"})
UNARY = frozenset({"-", "+", "~"})
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
AMBIENT = frozenset({"train", "autocast"})  # names that guards know besides the arguments

# What the interpreter itself does for a call, by `interp/intrinsics`; `mode:NAME` sets a mode, as `mode:NAME=True` and
# `mode:NAME=False` do whatever the arguments of the call are.
MODES = ("grad", "inference", "autocast", "packed")
INTRINSICS = frozenset({
    "add_module", "apply_custom", "apply_function", "backward", "backward_hook", "backward_of", "buffer", "buffers",
    "asked", "built",
    "call_module", "call_part", "checkpoint", "children", "compile", "compile_module", "configured", "container",
    "container_append", "container_extend", "container_insert", "container_items", "container_joined",
    "container_keys", "container_method", "container_repeated", "container_update",
    "container_values", "converted", "decorator", "default_dtype", "detach_", "engine", "eval",
    "extension",
    "forward_hook", "forward_pre_hook", "grad", "grad_enabled", "gradient", "gradient_hook", "helper",
    "inference_enabled", "itself",
    "kernel", "kernel_run",
    "layer_parameter", "load_state_dict", "map_function", "mark_dirty", "mode_enter", "mode_exit", "module",
    "module_requires_grad_",
    "modules", "named_buffers", "named_children", "named_modules", "named_parameters", "named_part", "nothing",
    "object",    "of_object", "of_objects", "operator", "operator_autograd", "operator_define",
    "operator_impl", "optimizer", "optimizer_step", "optimizer_steps",
    "optimizer_group", "optimizer_zero", "parameter", "parameter_options", "parameters",
    "as_subclass", "parametrized", "passed_on", "register_buffer", "register_parameter", "reparametrized",
    "remove_hook", "requires_grad_", "set_submodule", "reset_parameters", "retain_grad", "save_for_backward",
    "save_state", "scaler",
    "scaler_scale", "scaler_step", "script", "set_attribute", "state_dict", "swap", "template", "train", "transform",
    "unknown_value", "unparametrized", "variable", "with_gradient", "with_tangent", "zero_module",
})  # fmt: skip
ACTS = INTRINSICS | {f"mode:{mode}{setting}" for mode in MODES for setting in ("", "=True", "=False")}
# What the acts begin with of calls that make an operator, or a kernel, of a function, or a part of one.
OPERATOR, KERNEL = "operator", "kernel"
PARAMETERS = frozenset({"parameter", "layer_parameter", "register_parameter"})  # the acts that make or register one
