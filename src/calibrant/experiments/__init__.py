"""Runs on real data: the demo, and the tables of the papers."""
