"""Traces of jobs and lists of nodes: the only place that knows a CSV column."""
