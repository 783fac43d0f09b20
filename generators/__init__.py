"""Programs that write the op tables under `rules/ops` from what the frameworks ship and from what they do when run."""
