"""What the analyzer knows of plain Python values is what Python says: which branch runs often hangs on them."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import os.path

import pytest

from inplace_lint.driver.analyze_file import Options, check_file

_NAMES = {"functools": functools, "itertools": itertools, "math": math, "operator": operator, "os": os}
_EXPRESSIONS = """
round(2.6)
divmod(7, 2)[0]
sorted([3, 1, 2])[0]
sorted((3,1,2), reverse=True)[0]
str(5)
repr(5)
"a,b".split(",")[1]
"abc".startswith("ab")
"abc".endswith(("c", "d"))
"_".join(["a", "b"])
"a{}".format(1)
"%s" % 3
"%d-%d" % (1, 2)
f"x{1+1}"
"Abc".lower()
"abc".replace("a", "b")
"a b".split()
"abc"[0]
"abc"[::-1]
len("abc")
"b" in "abc"
pow(2, 3)
2 ** 3
7 // 2
7 % 3
-7 // 2
1 if True else 0
max(1, 2)
max([1, 5, 3])
min((4, 2))
sum([1, 2, 3])
sum((1, 2), 3)
abs(-3)
int("3")
int(3.7)
float("1.5")
bool([])
bool([0])
bool("")
not []
[] or 3
[1] and 4
None or 5
1 < 2 < 3
1 < 3 < 2
all([1, 1])
any([0, 0])
all(x > 0 for x in (1, 2))
[x * 2 for x in (1, 2)][1]
{x: x for x in "ab"}["a"]
list(range(5))[-1]
list(range(1, 6, 2))
[1, 2, 3][1:]
[1, 2, 3][-1]
[1, 2, 3][::-1]
(1, 2) + (3,)
[1] * 3
len([1] * 3)
dict(a=1)["a"]
{"a": 1}.get("b", 2)
{"a": 1}.get("a")
{"a": 1, **{"b": 2}}["b"]
list({"a": 1, "b": 2}.keys())[1]
list({"a": 1}.values())[0]
[k for k, v in {"a": 1}.items()]
"a" in {"a": 1}
3 in [1, 2, 3]
3 not in (1, 2)
[1, 2] == [1, 2]
(1, 2) == (1, 2)
[1, 2] != [1, 3]
{"a": 1} == {"a": 1}
{1, 2} == {2, 1}
{1, 2} & {2, 3}
len({1, 2} | {3})
[1, 2, 3].index(2)
[1, 1].count(1)
"aab".count("a")
tuple([1, 2])
tuple(i for i in range(3))
list(zip((1, 2), (3, 4)))[0][1]
list(enumerate("ab"))[1][0]
list(map(lambda v: v + 1, [1, 2]))[0]
list(reversed([1, 2]))[0]
isinstance(3, int)
isinstance("a", (int, str))
isinstance([1], (list, tuple))
isinstance(None, type(None))
issubclass(int, object)
issubclass(bool, int)
type(3) is int
type(3) == int
callable(len)
getattr("a", "upper")()
"abc".upper().lower()
"abc".title()
" a ".strip()
"a.b.c".rsplit(".", 1)[0]
"a.b.c".partition(".")[2]
"3".isdigit()
"abc".find("c")
3 .bit_length()
1e-5 > 0
0.1 + 0.2
3 / 2
3 & 1
1 << 3
~1
-3
+3
None is None
None is not None
"a" "b"
"a" + "b"
"a" * 3
"a" < "b"
[1, 2] < [1, 3]
(lambda a, b=2: a + b)(1)
[*range(3)]
[*(1, 2), 3][2]
{**{"a": 1}}["a"]
[[1, 2], [3]][0][1]
[i for i in range(4) if i % 2]
[i for j in ((1, 2), (3,)) for i in j]
min(3, 1, 2)
max("a", "b")
ord("a")
chr(97)
bool(0.0)
any(x is None for x in (1, None))
all(isinstance(v, int) for v in (1, 2))
"x" if "a" == "b" else "y"
int("3") + 1
"a1".isalnum()
"a".join(["b"])
str(None)
str(1.5)
str(True)
bool("False")
"relu" in ("relu", "gelu")
"ReLU".lower() == "relu"
"bn_relu".split("_")[-1]
(1, 2, 3)[1:]
len((1, 2, 3)[1:])
sum(x for x in (1, 2, 3))
sum([[1], [2]], [])
[1, 2].copy()
min([], default=0)
isinstance(True, int)
isinstance(1.0, int)
isinstance({}, dict)
float("inf") > 1
round(2.567, 2)
int(8 * 0.5)
8 * 0.5 == 4
2 if 1 == 1.0 else 3
{"a": {"b": 1}}["a"]["b"]
"abc".split("b", 1)
"k=v".split("=")[1]
[0] * 2 + [1]
(lambda *a, **k: len(a) + len(k))(1, 2, x=3)
set([1, 1]) == {1}
len(set([1, 1]))
sorted({"b", "a"})[0]
frozenset({1}) == {1}
1 in {1, 2}
"a" in {"a"}
b"a" == b"a"
math.sqrt(4)
math.ceil(1.2)
math.floor(1.8)
math.log2(8)
math.prod((2, 3))
operator.add(1, 2)
functools.reduce(lambda a, b: a + b, [1, 2, 3])
functools.partial(max, 1)(2)
list(itertools.chain([1], [2]))[1]
list(itertools.chain.from_iterable([[1], [2]]))[1]
list(itertools.product([1, 2], [3]))[1]
list(itertools.islice([1, 2, 3], 2))
list(itertools.repeat(1, 3))
os.path.join("a", "b")
"""
_PROGRAM = """
import functools, itertools, math, operator, os.path
import torch

x = torch.rand(3, requires_grad=True)
y = torch.sigmoid(x)
if {condition}:
    y += 1
y.sum().backward()
"""


def _found(condition: str) -> list[str]:
    checked = check_file("program.py", _PROGRAM.format(condition=condition), Options())
    return [finding.severity.value for finding in checked.findings]


@pytest.mark.parametrize("expression", _EXPRESSIONS.strip().splitlines())
def test_a_value_is_the_one_that_python_gives(expression: str) -> None:
    value = repr(eval(expression, dict(_NAMES)))
    assert _found(f"({expression}) == {value}") == ["error"]
    assert _found(f"({expression}) != {value}") == []


def test_what_python_refuses_is_unknown() -> None:
    assert _found('"a" % (1, 2) == "a1"') == ["error"]


def test_numbers_and_texts_that_would_be_huge_are_not_made() -> None:
    assert _found("9 ** 9 ** 9 == 1") == ["error"]
    assert _found('"a" * 10 ** 9 == "a"') == ["error"]
    assert _found("pow(10, 10 ** 9) == 1") == ["error"]
