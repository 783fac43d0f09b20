"""What a user chose not to see: suppressions, baselines, changed lines."""
