"""Live streams of senders whose windows grow only while they are used up, as Linux's do."""
