"""Which running jobs should move, and where to: one planner a file, all pure."""
