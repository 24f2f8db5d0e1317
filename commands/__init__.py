"""What `run.py` can do, one command a file: the only layer that sees all others."""
