"""Pages of collections, documents, imports and runs."""
