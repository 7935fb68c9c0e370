"""Public throughput traces: sessions cut from them, replays of these, and predictions."""
