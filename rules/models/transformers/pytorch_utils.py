"""Helpers of transformers."""


def apply_chunking_to_forward(forward_fn, chunk_size, chunk_dim, *input_tensors):
    return forward_fn(*input_tensors)  # chunks one after the other give the same
