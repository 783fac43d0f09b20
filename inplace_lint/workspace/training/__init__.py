"""Whether what a project does with a function or method leads to training."""
