"""What a program keeps without a copy: in hooks, loops, lists of parameters, data sets, and under other names."""
