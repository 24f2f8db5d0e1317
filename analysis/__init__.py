"""Afterwards: reads run folders, never the simulation itself."""
