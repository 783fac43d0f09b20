"""Objects that read an item or attribute, or call a method, by its name."""


class itemgetter:
    def __init__(self, *items):
        self._items = items

    def __call__(self, obj):
        found = tuple([obj[item] for item in self._items])
        return found[0] if len(found) == 1 else found


class attrgetter:
    def __init__(self, *names):
        self._names = names

    def __call__(self, obj):
        found = tuple([_read(obj, name) for name in self._names])
        return found[0] if len(found) == 1 else found


def _read(obj, name):
    for part in name.split("."):
        obj = getattr(obj, part)
    return obj


class methodcaller:
    def __init__(self, name, /, *args, **kwargs):
        self._name, self._args, self._kwargs = name, args, kwargs

    def __call__(self, obj):
        return getattr(obj, self._name)(*self._args, **self._kwargs)


def getitem(a, b, /):
    return a[b]


def setitem(a, b, c, /):
    a[b] = c


def delitem(a, b, /):
    del a[b]


def contains(a, b, /):
    return b in a


def concat(a, b, /):
    return a + b
