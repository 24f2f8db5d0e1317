"""Everything that happens over time: processes that yield SimPy events."""
