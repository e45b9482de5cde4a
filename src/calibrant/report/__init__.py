"""Summarise, then show: `Summary` as one HTML page or as JSON."""
