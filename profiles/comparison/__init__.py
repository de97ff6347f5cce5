"""What measured runs mean side by side: rows, speed-ups, an answer, a caveat, a fusion ledger. Pure; no torch."""
