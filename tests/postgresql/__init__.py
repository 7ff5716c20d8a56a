"""Django's PostgreSQL, whose tables are emptied in milliseconds after a test that commits."""
