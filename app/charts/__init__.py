"""Pictures and tables of a comparison as HTML: read-only, selectable, printable, and escaped throughout."""
