"""One run: files in, findings out, over several processes and a cache."""
