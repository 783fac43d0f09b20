"""Makes arguments and inputs for what is to be run."""
