"""From files to candidates: intake, text, kernels, channels, evidence and runs."""
