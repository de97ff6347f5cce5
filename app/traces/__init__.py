"""Pages of traces from elsewhere: how they come in, and what a comparison of traces shows."""
