"""Derivatives of functions: the inputs are leaves of a graph of their own."""

import torch


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    return _derived(func, inputs, create_graph)


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    return jacobian(lambda *given: jacobian(func, given, create_graph=True), inputs, create_graph=create_graph)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    given, several = _leaves(inputs, create_graph)
    out = func(*given)
    found = torch.autograd.grad(out, given, v, create_graph=create_graph)
    return out if create_graph else out.detach(), found if several else found[0]


def _derived(func, inputs, create_graph):
    given, several = _leaves(inputs, create_graph)
    out = func(*given)
    for one in out if isinstance(out, tuple) else (out,):
        found = torch.autograd.grad(one.sum(), given, create_graph=create_graph, allow_unused=True)
    return found if several else found[0]


def _leaves(inputs, create_graph):
    several = isinstance(inputs, tuple)
    return [_leaf(one, create_graph) for one in (inputs if several else (inputs,))], several


def _leaf(one, create_graph):
    return one.view_as(one) if create_graph and one.requires_grad else one.detach().requires_grad_()
