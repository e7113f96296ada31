"""Four experts who answer from the user's documents: legal, medical, technical, financial."""
