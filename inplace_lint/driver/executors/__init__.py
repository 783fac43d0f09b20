"""Where tasks run: in processes of this machine, or on a Ray cluster, by one interface."""
