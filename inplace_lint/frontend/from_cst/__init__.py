"""LibCST to IR: reads the syntax of every Python from 3.8 on, whichever Python runs, and knows where nodes stand."""
