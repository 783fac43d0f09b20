"""Makes the op facts of Paddle by calling its functions and watching what backward refuses."""
