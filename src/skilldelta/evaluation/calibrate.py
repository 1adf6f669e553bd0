"""Choosing the threshold for a stated goal, with an honest value: each fold's threshold comes from the other folds."""
