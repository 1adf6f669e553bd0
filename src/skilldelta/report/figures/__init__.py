"""One file a figure: what is drawn, how, and the words below it."""
