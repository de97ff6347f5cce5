"""The HTTP API under /api/v1: the same jobs, comparisons and runs as the pages, as JSON."""
