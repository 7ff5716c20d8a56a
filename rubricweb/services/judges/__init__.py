"""Judges with versions: made when one is picked, kept by a person, or read from a file."""
