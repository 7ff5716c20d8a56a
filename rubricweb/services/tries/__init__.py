"""A judge tried on one submission before a run depends on it: its answers one by one, as they come."""
