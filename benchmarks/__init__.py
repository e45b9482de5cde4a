"""Ours beside the peers, measured in one run, as ratios of medians.

Linear algebra runs on one thread for both sides: on a busy machine two threads cost more than they bring, and
they do not cost both sides alike.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
