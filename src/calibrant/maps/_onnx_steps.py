"""Which interval does a score fall into? A search tree for every column, which compares in double precision.

onnxruntime walks the tree row by row without leaving the processor's cache. A binary search made of `Gather`
and `Less`, the same answer from the default operators, writes and reads whole columns at every level, and is
three to eight times slower.
"""

import numpy as np

from calibrant._core._arrays import Float64Array


def tree(edges: Float64Array, column: int, first: int) -> dict[str, object]:
    """A complete binary tree, numbered level by level: the children of node i are 2 i + 1 and 2 i + 2.

    The nodes before number m hold the m edges, the others are the m + 1 leaves. From left to right leaves
    and edges take turns, so that sorting the nodes by their horizontal position puts both into order.
    """
    n_edges = len(edges)
    number = np.arange(1, 2 * n_edges + 2)
    width = np.exp2(np.floor(np.log2(number)))  # of the node's level, in nodes
    from_left = np.argsort((number - width + 0.5) / width)
    threshold = np.zeros(len(number))
    threshold[from_left[1::2]] = edges
    inner = np.arange(n_edges)
    return {
        "n_targets": 1,
        "aggregate_function": "SUM",
        "nodes_treeids": [0] * len(number),
        "nodes_nodeids": list(range(len(number))),
        "nodes_featureids": [column] * len(number),
        "nodes_modes": ["BRANCH_LEQ"] * n_edges + ["LEAF"] * (n_edges + 1),
        "nodes_values_as_tensor": threshold,
        "nodes_truenodeids": [*(2 * inner + 1).tolist(), *[0] * (n_edges + 1)],
        "nodes_falsenodeids": [*(2 * inner + 2).tolist(), *[0] * (n_edges + 1)],
        "target_treeids": [0] * (n_edges + 1),
        "target_nodeids": from_left[::2].tolist(),
        "target_ids": [0] * (n_edges + 1),
        "target_weights_as_tensor": np.arange(first, first + n_edges + 1, dtype=np.float64),
    }
