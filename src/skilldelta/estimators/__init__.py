"""Everything that scores a target like the predictor does."""
