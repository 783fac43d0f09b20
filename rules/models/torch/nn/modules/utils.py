"""Numbers that may be given once for several axes."""


def _ntuple(n, name="parse"):
    def parse(x):
        return tuple(x) if isinstance(x, (list, tuple)) else (x,) * n

    return parse


_single = _ntuple(1)
_pair = _ntuple(2)
_triple = _ntuple(3)
_quadruple = _ntuple(4)
