"""The parts of the comparison page, which the shared page shows too."""
