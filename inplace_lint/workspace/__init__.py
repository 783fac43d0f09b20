"""The files of a project: which there are, what they import, and their notebooks."""
