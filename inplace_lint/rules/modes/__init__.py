"""Rules about writes under scripts, checkpoints and compilers."""
