"""What is particular to a framework and not to one op: the content of its `framework.json`, and its schema."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from inplace_lint.knowledge.schema import Reader, Schema, each, flag, number, table, text
from inplace_lint.knowledge.versions import admits, version_range
from inplace_lint.knowledge.words import BINARY, COMPARISONS, CURES, MESSAGES, UNARY


class Framework(Struct, frozen=True):
    """The names and habits of a framework; sets and mappings that are left out are empty."""

    name: str  # the folder of its tables
    title: str  # as messages spell it
    packages: tuple[str, ...]  # what programs import
    tensor: str  # the class of tensors
    module: str  # that of modules
    function: str  # that of custom functions
    calls: str  # the method that runs when a module is called
    augmented: Mapping[str, str]  # by token the method that `x op= y` calls; none where the statement rebinds
    binary: Mapping[str, str]  # by token the method that `x op y` calls
    reflected: Mapping[str, str]
    unary: Mapping[str, str]
    compare: Mapping[str, str]
    requires_grad: str  # the attribute that says it
    negated: bool  # it says the opposite
    canonical: Mapping[str, tuple[str, ...]]  # prefixes of modules: public homes of what they hold, in order of trial
    kin: Mapping[str, str]  # classes of libraries: the one of the framework, or of Python, that they behave like
    rebases: bool  # a write through a view gives its base a new node
    says: Mapping[str, str]  # the framework's own words for each harm
    attributes: tuple[str, ...]  # those of tensors that are no methods
    autocast: frozenset[str]  # ops whose operands autocast copies; outside of it they refuse different dtypes
    # What cures are written with. Methods of a tensor: the one that gives a `copy`, the one that gives it without its
    # history (`cut`), the one that is to `assign` a parameter; the function that makes a tensor like another one
    # (`fill`), the mode for inference (`infer`).
    words: Mapping[str, str]

    # Releases, and what the framework says.
    distributions: tuple[str, ...] = ()  # the names that it is installed by
    releases: tuple[str, ...] = ()  # minor versions, the newest last
    heard: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # wordings of other releases
    heard_late: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of those that checked in backward only
    nodes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # names in errors, with the calls that make them
    errors: frozenset[str] = frozenset()  # the classes of errors that its checks raise

    # How autograd behaves.
    own_gradients: bool = False  # the gradient of a leaf is a leaf that requires grad
    optimizes_leaves: bool = False  # an optimizer refuses a tensor that is no leaf
    # What a custom function keeps is compared by version, and an input that it returns is a view; else nothing is
    # compared, and returning an input writes it.
    checks_custom: bool = True
    checks_checkpoint: bool = True  # likewise for inputs of a checkpoint
    checkpoint_stops: bool = True  # one without reentrant backward runs again up to what it saved last
    counts_steps: bool = True  # an optimizer's step counts as a write
    counts_loads: bool = True  # so does loading a state
    keeps_parameters: bool = False  # a parameter cannot be set to a tensor
    copies_gaps: bool = False  # a write copies an operand on its memory only if that has gaps
    dense_results: bool = False  # results are contiguous in whatever order the operands lie in memory
    flags: Mapping[str, bool] = {}  # other attributes that say what requires grad, with whether only parameters have it
    default_dtype: str = ""  # of new floating tensors
    listed_sizes: bool = False  # the sizes of a tensor are a list: they equal one

    # Who turns gradients off or on, and who decides what operations do.
    recording: frozenset[str] = frozenset()  # functions that say whether gradients are recorded
    inferring: frozenset[str] = frozenset()  # and whether inference mode is on
    enabling: frozenset[str] = frozenset()  # what may turn gradients on
    neutral: frozenset[str] = frozenset()  # libraries whose decorators and contexts leave gradients as they are
    tracers: frozenset[str] = frozenset()  # back ends of the compiler that run calls unchanged
    interceptors: frozenset[str] = frozenset()  # contexts in which the program decides what operations do
    global_hooks: frozenset[str] = frozenset()  # functions by which the program changes what each module returns

    # Custom functions, operators and modules.
    sets_up: str = ""  # the method of a custom function that saves what its `forward` computed
    needs: str = ""  # the attribute of its context that says which inputs require grad
    operators: Mapping[str, str] = field(default_factory=dict)  # namespaces of registered ones: the class of these
    registers: str = ""  # the macro with which C++ sources register operators
    listed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # modules, with the layers looked up in them
    parts: str = ""  # the attribute that maps names to the modules in a module
    chains: frozenset[str] = frozenset()  # containers that call what they hold one after the other
    parameters: Mapping[str, str] = field(default_factory=dict)  # attributes of unknown modules taken for some: reasons

    # What writes and factories do with values.
    setters: frozenset[str] = frozenset()  # calls that set what they write to values of their argument
    zeroes: frozenset[str] = frozenset()  # those that set it to zero
    blank: frozenset[str] = frozenset()  # those that give memory without values
    zeroed: frozenset[str] = frozenset()  # those that give memory that is zero
    repeats: frozenset[str] = frozenset()  # those that make a tensor of copies that follow each other
    settles: frozenset[str] = frozenset()  # writes that change nothing where they are repeated
    masks: frozenset[str] = frozenset()  # those of which that holds where a factor is 0 or 1

    # Arguments and results.
    synonyms: Mapping[str, str] = field(default_factory=dict)  # other names of arguments, with those of the facts
    factors: tuple[str, ...] = ()  # the numbers that a call may also have before the tensors, in this order
    fields: Mapping[str, int] = field(default_factory=dict)  # names of the parts of results, with their positions
    indices: frozenset[str] = frozenset()  # arguments that take whole numbers or flags
    bitwise: frozenset[str] = frozenset()  # ops all of whose operands are such
    alike: frozenset[str] = frozenset()  # arguments that are all tensors or all numbers
    equality: frozenset[str] = frozenset()  # ops that compare for equality
    moves: Mapping[str, str] = field(default_factory=dict)  # to a device, with what says where another tensor is
    labels: Mapping[str, str] = field(default_factory=dict)  # what a trained value is compared with, by the op
    # Ops that give elements far below the others no weight and no gradient, or hand them on to such ops.
    excludes: frozenset[str] = frozenset()

    # Training.
    datasets: frozenset[str] = frozenset()  # classes whose `__getitem__` is asked for a position
    loaders: Mapping[str, str] = field(default_factory=dict)  # those that join such items to batches: the op that does
    losses: frozenset[str] = frozenset()  # those that compare a prediction with a target
    optimizers: frozenset[str] = frozenset()  # those that write parameters
    trained: frozenset[str] = frozenset()  # those of modules that are trained as a whole
    fed: frozenset[str] = frozenset()  # methods of these that are called on what a data loader gives
    evaluated: frozenset[str] = frozenset()  # methods of these that record no gradients

    tensors: frozenset[str] = frozenset()  # last names of its other classes that a tensor may be of
    unlisted: frozenset[str] = frozenset()  # what tensors have beside the attributes and methods with facts
    dense: str = ""  # the layout of most tensors

    # What a program and other libraries mean by a name.
    names: Mapping[str, str] = field(default_factory=dict)  # `*_` is any that ends in an underscore; each with a reason
    infers: Mapping[str, str] = field(default_factory=dict)  # likewise functions that are called after training
    arrays: frozenset[str] = frozenset()  # libraries of arrays: what they return is no tensor
    axes: Mapping[str, str] = field(default_factory=dict)  # their functions that give axes, with what has to be passed
    testing: frozenset[str] = frozenset()  # modules that only tests import


REQUIRED = Framework.__struct_fields__[: -len(Framework.__struct_defaults__)]


def schema_at(version: str | None) -> Schema:
    """Return how a `framework.json` is read for a version; a flag may be the range of versions in which it is set."""

    def flag_at(value: object) -> bool:
        return admits(version_range(value), version) if isinstance(value, str) else flag(value)

    operators = table(text, "binary operator", BINARY)
    by_type: dict[str, Reader] = {
        "str": text,
        "bool": flag_at,
        "tuple[str, ...]": each(text),
        "frozenset[str]": lambda value: frozenset(each(text)(value)),
        "Mapping[str, str]": table(text),
        "Mapping[str, int]": table(number),
        "Mapping[str, bool]": table(flag),
        "Mapping[str, tuple[str, ...]]": table(each(text), "message of a framework", MESSAGES),
    }
    readers: dict[str, Reader] = {
        **{name: by_type[kind] for name, kind in Framework.__annotations__.items()},
        **dict.fromkeys(("augmented", "binary", "reflected"), operators),
        "unary": table(text, "unary operator", UNARY),
        "compare": table(text, "comparison", COMPARISONS),
        "says": table(text, "message of a framework", MESSAGES),
        "canonical": table(each(text)),
        **dict.fromkeys(("nodes", "listed"), table(each(text))),
        "words": table(text, "word for a cure", CURES),
        "negated": flag,
    }
    return Schema("a framework", {key: (key, reader) for key, reader in readers.items()}, REQUIRED)
