"""Calls of a module with other parameters, under its earlier name."""

from torch import func


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    return func.functional_call(module, parameters_and_buffers, args, kwargs)
