"""Real players and a real HTTP server over an emulated path: what viewers saw, beside what `tcpstream.play` says."""
