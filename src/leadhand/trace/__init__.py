"""What a run looks like from outside: figures and views folded from its state and events."""
