"""How fast the pages' queries are over a long history."""
