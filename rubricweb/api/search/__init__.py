"""Search over everything of a team, by the API."""
