"""Functions on nested containers."""


def map_structure(func, *structure):
    first = structure[0]
    if isinstance(first, dict):
        return {key: map_structure(func, *[one[key] for one in structure]) for key in first}
    if isinstance(first, (list, tuple)):
        made = [map_structure(func, *row) for row in zip(*structure)]
        return made if isinstance(first, list) else tuple(made)
    return func(*structure)


def flatten(nest):
    if isinstance(nest, dict):
        nest = [nest[key] for key in sorted(nest)]
    elif not isinstance(nest, (list, tuple)):
        return [nest]
    return [leaf for item in nest for leaf in flatten(item)]
