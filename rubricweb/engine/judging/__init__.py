"""What a judge is and how it is asked: its definition, its sampling, its files."""
