"""Pages of rounds, items, tables and label sets."""
