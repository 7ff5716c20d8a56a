"""What a lead sees of one rater's work, and the rater of what was decided about it."""
