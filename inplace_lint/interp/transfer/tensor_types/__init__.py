"""What is known of the dtype of a tensor, and of the device that it is on."""
