"""Mixed precision: the models and optimizers are changed where they are."""


def initialize(models, optimizers=None, enabled=True, opt_level="O1", **options):
    return models if optimizers is None else (models, optimizers)
