"""Views of objects."""


def MappingProxyType(mapping):
    return mapping
