"""`--confirm`: runs flagged code on the real framework, and confirms or refutes findings by what happens."""
