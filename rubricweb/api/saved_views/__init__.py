"""Saved views of lists, by the API."""
