"""Deleting what a team made: out of sight at once, its rows removed by a worker (decision 0028)."""
