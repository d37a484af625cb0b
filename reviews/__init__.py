"""From candidates to a signed table: rounds, seats, judgments, arbitration, tables."""
