"""Runs on real data: the demo."""
