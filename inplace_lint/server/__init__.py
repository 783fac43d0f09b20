"""The language server: findings, fixes and rule pages in an editor. Only `inplace-lint server` imports this package."""
