"""Example models: each file's `build` returns a graph, and its `main` trains it on real data."""
