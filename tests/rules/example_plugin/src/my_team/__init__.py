"""What my team shares."""
