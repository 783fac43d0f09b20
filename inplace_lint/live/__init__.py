"""Running a user's program on the real framework, and seeing what it does to tensors that backward needs."""
