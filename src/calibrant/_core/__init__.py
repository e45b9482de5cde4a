"""Errors, checks at the border, and small shared types. Imports nothing of ours."""
