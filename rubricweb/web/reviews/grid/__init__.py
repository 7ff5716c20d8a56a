"""The table in which a rater answers several items of a queue."""
