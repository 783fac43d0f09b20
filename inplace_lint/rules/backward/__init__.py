"""Rules about writes to what backward needs."""
