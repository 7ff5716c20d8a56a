"""Words people give cases."""
