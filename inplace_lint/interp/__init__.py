"""The interpreter: executes IR over the symbolic domain. Each check names the framework check that it mirrors."""
