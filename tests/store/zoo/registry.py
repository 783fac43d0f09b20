MODELS = {}
LAYERS = {}


def register(name=None):
    def keep(made):
        MODELS[name or made.__name__] = made
        return made

    return keep


def build(name, **options):
    return MODELS[name](**options)
