from . import layers
from .models import *
