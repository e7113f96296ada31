"""80 questions over 15 folders for the research team; their answers are computed here by code."""
