from .large import Large, make_large
from .pooled import Pooled
from .small import *
from .training import step
