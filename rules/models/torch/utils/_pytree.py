"""Functions on nested containers."""


def tree_map(func, tree, *rests, is_leaf=None):
    if is_leaf is not None and is_leaf(tree):
        return func(tree, *rests)
    if isinstance(tree, dict):
        return {
            key: tree_map(func, item, *[rest[key] for rest in rests], is_leaf=is_leaf) for key, item in tree.items()
        }
    if isinstance(tree, (list, tuple)):
        made = [tree_map(func, *row, is_leaf=is_leaf) for row in zip(tree, *rests)]
        return made if isinstance(tree, list) else tuple(made)
    return func(tree, *rests)


def tree_leaves(tree, is_leaf=None):
    if isinstance(tree, dict):
        tree = list(tree.values())
    elif not isinstance(tree, (list, tuple)):
        return [tree]
    return [leaf for item in tree for leaf in tree_leaves(item, is_leaf)]


def tree_map_only(kind, func, tree, is_leaf=None):
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree, is_leaf=is_leaf)


def tree_flatten(tree, is_leaf=None):
    return tree_leaves(tree, is_leaf), _Shape(tree)


def tree_unflatten(leaves, treespec):
    turns = iter(leaves)
    return tree_map(lambda _: next(turns), treespec.tree)


class _Shape:
    def __init__(self, tree):
        self.tree = tree
