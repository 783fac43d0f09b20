"""Rules about writes that change results without an error."""
