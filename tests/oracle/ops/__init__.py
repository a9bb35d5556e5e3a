"""Random cases of every op that the reference kernels compute."""
