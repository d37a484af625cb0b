"""Template tags of the screening pages."""
