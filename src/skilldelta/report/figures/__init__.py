"""What is drawn, how, and the words below it; figures that answer related questions share a file."""
