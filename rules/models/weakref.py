"""References to objects, which are taken to be alive (tests/semantics/leaves.md)."""


class ref:
    def __init__(self, obj, callback=None):
        self._obj = obj

    def __call__(self):
        return self._obj


def proxy(obj, callback=None):
    return obj


def WeakKeyDictionary(*given):
    return dict(*given)


def WeakValueDictionary(*given, **named):
    return dict(*given, **named)


def WeakSet(*given):
    return set(*given)
