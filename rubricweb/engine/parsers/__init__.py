"""Readers of single texts: JSON and YAML sources, judges' replies, comments."""
