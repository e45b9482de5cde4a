"""The fitted chain that travels: scores to probabilities to decisions; save, load, ONNX."""
