"""Labels as they were read from a file: whose they are, on what, and which of them are new."""
