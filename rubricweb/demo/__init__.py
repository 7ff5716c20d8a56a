"""The demo team's rubrics, datasets and human labels, as files."""
