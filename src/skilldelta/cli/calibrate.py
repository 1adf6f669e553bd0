"""`skilldelta calibrate`: the threshold that meets a goal, its held-out value and the cases it gets wrong."""
