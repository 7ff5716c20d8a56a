"""What each sub-command takes; nothing here needs Django, so `--help` is quick."""
