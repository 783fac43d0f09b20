"""Calls of a module with other parameters."""


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    given = {}
    if isinstance(parameter_and_buffer_dicts, tuple):
        for one in parameter_and_buffer_dicts:
            given.update(one)
    else:
        given.update(parameter_and_buffer_dicts)
    kept = []
    for name, value in given.items():
        path, _, leaf = name.rpartition(".")
        owner = module.get_submodule(path) if path else module
        kept.append((owner, leaf, getattr(owner, leaf)))
        delattr(owner, leaf)
        setattr(owner, leaf, value)
    out = module(*args, **(kwargs or {}))
    for owner, leaf, value in kept:
        delattr(owner, leaf)
        setattr(owner, leaf, value)
    return out
