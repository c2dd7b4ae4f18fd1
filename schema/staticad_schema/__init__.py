"""What a graph means: types, ops, graphs and their file.  Knows neither builder nor executor."""
