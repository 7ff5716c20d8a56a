"""Trying a judge on a page: what it is tried on, and its answers as they come or all at once."""
