"""
Lists the layers of libraries: classes whose calls return tensors that are computed with trained parameters.

`libraries.jsonl` says which libraries, and of which release. The analyzer itself runs each class of a library on its
default options and on those that it finds worth choosing; a class is a layer if each tensor that any of these runs
returns leads back to a parameter that requires grad. What is no tensor, or whole numbers, does not count. A class that
adds nothing but a constructor is what its base is. Of a library with `base` the classes that derive from one of these
count, as the library itself says when it is imported.
"""
