"""Where the rows live: arrays, files in batches, any frame; and summaries that merge."""
