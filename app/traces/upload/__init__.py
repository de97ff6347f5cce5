"""The component that sends trace files to the server and follows them until they are read."""
