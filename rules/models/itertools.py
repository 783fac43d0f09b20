"""Iterators whose items depend on what a function returns; those that only rearrange are computed by the analyzer."""


def accumulate(iterable, func, *, initial=None):
    turns = iter(iterable)
    total = next(turns) if initial is None else initial
    yield total
    for item in turns:
        total = func(total, item)
        yield total


def compress(data, selectors):
    return (item for item, wanted in zip(data, selectors) if wanted)


def dropwhile(predicate, iterable):
    started = False
    for item in iterable:
        started = started or not predicate(item)
        if started:
            yield item


def groupby(iterable, key=None):
    groups = []
    for item in iterable:
        name = item if key is None else key(item)
        if groups and groups[-1][0] == name:
            groups[-1][1].append(item)
        else:
            groups.append((name, [item]))
    return groups


def tee(iterable, n=2):
    items = list(iterable)
    return tuple([iter(items) for _ in range(n)])
