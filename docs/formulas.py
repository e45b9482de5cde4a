"""Formulas as MathML, which browsers draw by themselves: no script, and no network."""

from docutils import nodes
from latex2mathml.converter import convert


def put_inline(writer, node):
    """Write a formula within a line."""
    writer.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def put_block(writer, node):
    """Write a formula on a line of its own."""
    writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode
