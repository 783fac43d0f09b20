"""What the methods of module containers do."""
