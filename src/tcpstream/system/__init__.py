"""What the machine gives: cores, the compiler and its cache, files."""
