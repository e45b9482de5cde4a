"""Every method of ours and every peer, on the same scores of the same rows: `python -m benchmarks.arena`.

- `problems`: data sets, cut into rows to train on, to calibrate on, and to test on.
- `learners`: eight base models, and the scores that they give.
- `contestants`: our methods and the peers, each from scores and labels to probabilities.
- `measures`: what is measured of probabilities.
- `truths`: scores whose true probabilities are known.
- `standing`: ratios to scikit-learn's isotonic regression, their intervals, and ranks.
- `pages`: the results as JSON, as Markdown, and as a figure.
"""

import os

for threads in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # one for everyone, as for all benchmarks
    os.environ.setdefault(threads, "1")
