"""One script for each durable tool: the same tasks, measured alike, by that tool's interpreter."""
