"""What is deleted for good, by the API."""
