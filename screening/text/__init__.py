"""From raw text to what is compared: normalised copies, offsets, shingles, words."""
