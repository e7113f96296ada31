"""`leadhand eval` and `leadhand compare`."""
