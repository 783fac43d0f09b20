"""Functions on nested containers."""


def apply_to_collection(data, dtype, function, *args, **kwargs):
    if isinstance(data, dtype):
        return function(data, *args, **kwargs)
    if isinstance(data, dict):
        return {key: apply_to_collection(item, dtype, function, *args, **kwargs) for key, item in data.items()}
    if isinstance(data, (list, tuple)):
        made = [apply_to_collection(item, dtype, function, *args, **kwargs) for item in data]
        return made if isinstance(data, list) else tuple(made)
    return data
