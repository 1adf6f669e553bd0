"""Task text to vectors."""
