"""What the ready-made teams share: reading, tables, values, search, reports and figures."""
