"""What traces say side by side, whoever recorded them: counts, kernels by name, structural matches, ranks. Pure."""
