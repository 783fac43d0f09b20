"""The commands about facts: what is known of a call, and what a run of it shows."""
