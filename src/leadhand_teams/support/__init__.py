"""The ready-made team `support`: a technical support desk."""
