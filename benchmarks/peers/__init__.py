"""What others would use for the same answers, one method a file."""
