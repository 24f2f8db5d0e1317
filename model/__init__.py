"""What exists in the simulated world: jobs, placements, GPUs, fragmentation."""
