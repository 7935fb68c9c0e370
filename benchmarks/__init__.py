"""Benchmarks of tcpstream against its peers, in one run: ``python -m benchmarks`` (``make bench``)."""
