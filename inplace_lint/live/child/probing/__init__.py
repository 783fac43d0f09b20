"""How an operator that is probed is called."""
