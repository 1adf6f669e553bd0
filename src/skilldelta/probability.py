"""Chances of help and of harm: a score turned into "70% likely to help", calibrated on held-out scores."""
