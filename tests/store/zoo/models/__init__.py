from .large import Large, make_large
from .small import *
from .training import step
