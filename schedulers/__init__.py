"""Decisions without time: from the pending jobs and the free GPUs to a placement."""
