from . import helpers
from .act import Gate, act_layer
from .block import Block
from .block import Residual as Skip
from .norm import *
