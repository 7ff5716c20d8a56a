"""Copies of items in another dataset, and several datasets combined in one (decision 0031)."""
