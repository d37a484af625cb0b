"""Evidence for a pair of texts, in offsets of the raw text: passages, differences, changed facts."""
