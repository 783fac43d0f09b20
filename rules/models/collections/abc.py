"""What containers have by the few methods that a class defines."""

import collections.abc


class Mapping(collections.abc.Mapping):
    def get(self, key, default=None):
        return self[key] if key in self else default

    def __contains__(self, key):
        return key in list(self)

    def keys(self):
        return list(self)

    def values(self):
        return [self[key] for key in self]

    def items(self):
        return [(key, self[key]) for key in self]


class MutableMapping(Mapping, collections.abc.MutableMapping):
    def pop(self, key, *default):
        if default and key not in self:
            return default[0]
        value = self[key]
        del self[key]
        return value

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, other=(), /, **named):
        for key, value in [*dict(other).items(), *named.items()]:
            self[key] = value


class Sequence(collections.abc.Sequence):
    def __iter__(self):
        return iter([self[place] for place in range(len(self))])

    def __reversed__(self):
        return iter([self[place] for place in reversed(range(len(self)))])


class MutableSequence(Sequence, collections.abc.MutableSequence):
    def append(self, value):
        self.insert(len(self), value)

    def extend(self, values):
        for value in values:
            self.append(value)
