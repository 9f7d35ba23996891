"""What `make bench` measures, on a made-up tree: speed, memory, size, and what a kill leaves."""
