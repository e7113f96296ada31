"""How a real model answers each of leadhand's prompts: `make prompts MODEL=...`."""
