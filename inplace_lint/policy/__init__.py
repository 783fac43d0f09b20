"""Which findings are not reported because the user said so: suppressions, baselines, changed lines."""
