"""From what a person typed to a job request, and back to an address; pure, nothing of Streamlit."""
