"""From bytes to texts: one reader per format, one result type; no Django, no network."""
