"""Ours beside the peers, measured in one run, as ratios of medians."""
