"""Programs written after public reports of in-place faults, with labels from runs."""
