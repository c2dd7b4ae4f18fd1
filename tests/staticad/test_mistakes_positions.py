"""Bad shapes, axes, positions and specifications: an error with its four parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.mistakes import check_parts

F = "float32"
# What a type checker would refuse is a mistake all the same.
ANY: Any = b"?"
none: Any = None
s: Any = sad

Build = Callable[[Any, Any], Any]

# x is float32 (2, 3), i int64 (2, 3).
MISTAKES: dict[str, tuple[str, Build]] = {
    # shapes
    "expand beyond": ("no axis 4", lambda x, i: s.expand_dims(x, 4)),
    "expand twice": ("twice", lambda x, i: s.expand_dims(x, (0, 0))),
    "squeeze a larger axis": ("size 1", lambda x, i: s.squeeze(x, 0)),
    "flatten backwards": ("after the last", lambda x, i: s.flatten(x, 1, 0)),
    "flatten beyond": ("no axis 2", lambda x, i: s.flatten(x, 2)),
    "shapes that do not broadcast": ("do not broadcast", lambda x, i: s.broadcast_shapes(2, 3)),
    "shape of text": ("not a size", lambda x, i: s.broadcast_shapes((ANY,))),
    "meshgrid of a matrix": ("not a vector", lambda x, i: s.meshgrid(x, x)),
    "meshgrid in another order": ("'xy' or 'ij'", lambda x, i: s.meshgrid(x[0], indexing="yx")),
    # order
    "swap no axis": ("no axis 2", lambda x, i: s.swapaxes(x, 0, 2)),
    "swap by text": ("not an integer", lambda x, i: s.swapaxes(x, 0, "1")),
    "transpose one axis": ("not an order", lambda x, i: s.transpose(x, (0,))),
    "transpose by text": ("not an order of axes", lambda x, i: s.transpose(x, "ij")),
    "permute by a number": ("not an order of axes", lambda x, i: s.permute_dims(x, 1)),
    "turn in a line": ("twice", lambda x, i: s.rot90(x, 1, (0, 0))),
    "turn in a body": ("not a plane", lambda x, i: s.rot90(x[None], 1, (0, 1, 2))),
    "turn about one axis": ("not a plane", lambda x, i: s.rot90(x, 1, 0)),
    "turn by half": ("not an integer", lambda x, i: s.rot90(x, 0.5)),
    "roll too many": ("not one shift", lambda x, i: s.roll(x, (1, 2, 3), (0, 1))),
    "roll no axis": ("no axis 2", lambda x, i: s.roll(x, 1, 2)),
    "roll by a fraction": ("not an integer", lambda x, i: s.roll(x, 1.5)),
    "flip no axis": ("no axis 2", lambda x, i: s.flip(x, 2)),
    "fliplr of a vector": ("no axis 1", lambda x, i: s.fliplr(x[0])),
    # together and apart
    "stack a tensor": ("not a sequence", lambda x, i: s.hstack(x)),
    "stack nothing": ("nothing to join", lambda x, i: s.vstack([])),
    "hstack of other heights": ("axis 0", lambda x, i: s.hstack([x, s.zeros((3, 3))])),
    "column of another height": ("axis 0", lambda x, i: s.column_stack([x, s.zeros(3)])),
    "append a matrix to rows": ("in rank", lambda x, i: s.append(x, x[0], 0)),
    "block of nothing": ("a list of no parts", lambda x, i: s.block([[]])),
    "block of two depths": ("equally deep", lambda x, i: s.block([x, [x]])),
    "split unequally": ("does not divide", lambda x, i: s.split(x, 2, 1)),
    "split in none": ("not a number of parts", lambda x, i: s.split(x, 0)),
    "split in too many": ("too many parts", lambda x, i: s.array_split(x[:0], 10**15)),
    "split by text": ("neither a number", lambda x, i: s.split(x, "2")),
    "split at fractions": ("not an integer", lambda x, i: s.split(x, [0.5])),
    "split no axis": ("no axis 2", lambda x, i: s.split(x, 1, 2)),
    "vsplit of a vector": ("too few axes", lambda x, i: s.vsplit(x[0], 1)),
    "dsplit of a matrix": ("too few axes", lambda x, i: s.dsplit(x, 1)),
    "unstack no axis": ("no axis 5", lambda x, i: s.unstack(x, 5)),
    "repeat less than no times": ("negative", lambda x, i: s.repeat(x, -1)),
    "repeat each of others": ("not one count each", lambda x, i: s.repeat(x, [1, 2], 1)),
    "repeat by fractions": ("counts are integers", lambda x, i: s.repeat(x, [0.5, 1.0], 0)),
    "repeat each less": ("not a list of counts", lambda x, i: s.repeat(x, [1, -1], 0)),
    "repeat beyond memory": ("are listed", lambda x, i: s.repeat(x, [1, 10**15], 0)),
    "repeat by ragged lists": ("counts are integers", lambda x, i: s.repeat(x, [[1], [1, 2]], 0)),
    "repeat along an array": ("not an integer", lambda x, i: s.repeat(x, 2, np.zeros(2))),
    "concat along an array": ("not an integer", lambda x, i: s.concat([x], np.zeros(2))),
    "tile by a fraction": ("not a size", lambda x, i: s.tile(x, (1.5,))),
    # diagonals
    "diagonal of a vector": ("not a matrix", lambda x, i: s.diagonal(x[0])),
    "diagonal of one axis": ("two axes", lambda x, i: s.diagonal(x, 0, 1, -1)),
    "diagonal of no axis": ("no axis 2", lambda x, i: s.diagonal(x, 0, 0, 2)),
    "diagonal of a fraction": ("not an integer", lambda x, i: s.diagonal(x, 0.5)),
    "diag of a body": ("neither a vector nor a matrix", lambda x, i: s.diag(x[None])),
    "diag_embed of a scalar": ("a scalar", lambda x, i: s.diag_embed(x[0, 0])),
    "diag_embed in one axis": ("two axes", lambda x, i: s.diag_embed(x, 0, 1, 1)),
    "tril of a vector": ("not a matrix", lambda x, i: s.tril(x[0])),
    "triu of a fraction": ("not an integer", lambda x, i: s.triu(x, 0.5)),
    "tri of less than none": ("negative", lambda x, i: s.tri(-1)),
    "triangle beyond memory": ("are listed", lambda x, i: s.triu_indices(10**8)),
    "triangle of a symbol": ("not known", lambda x, i: s.tril_indices("n")),
    "fill with a vector": ("broadcast", lambda x, i: s.fill_diagonal(x, [1.0, 2.0, 3.0])),
    "fill with another dtype": ("another dtype", lambda x, i: s.fill_diagonal(x, i[0, :2])),
    # positions
    "index beyond": ("out of bounds", lambda x, i: x[[0, 2]]),
    "index of a constant beyond": ("out of bounds", lambda x, i: x[s.constant([0, -3])]),
    "take of a matrix": ("no axis to take from", lambda x, i: s.take(x, [0])),
    "take beyond": ("out of bounds", lambda x, i: s.take(x, [3], axis=1)),
    "take along beyond": ("out of bounds", lambda x, i: s.take_along_axis(x, [[5], [0]], axis=1)),
    "set beyond": ("out of bounds", lambda x, i: x.at[[0, 5]].set(0.0)),
    "mask of another shape": ("a mask of another shape", lambda x, i: x[[True, False, True]]),
    "mask of more axes": ("too many indices", lambda x, i: x[np.ones((2, 3, 1), bool)]),
    "index of a list of text": ("not an index", lambda x, i: x[["a"]]),
    "index of fractions": ("no integer array", lambda x, i: x[[0.5]]),
    "set another shape": ("broadcast", lambda x, i: x.at[0].set([1.0, 2.0])),
    "max of another dtype": ("another dtype", lambda x, i: x.at[0].max(i[0])),
    "divide integers": ("no integer", lambda x, i: i.at[0].divide(2)),
    "add to bools": ("does not add", lambda x, i: (x > 0).at[[0, 0]].add(True)),
    "points without axes": ("more coordinates", lambda x, i: s.gather_nd(x, i)),
    "points beyond": ("out of bounds", lambda x, i: s.gather_nd(x, [[0, 3]])),
    "points behind no axes": ("more coord", lambda x, i: s.gather_nd(x, [[0]], batch_axes=2)),
    "points of floats": ("positions are integers", lambda x, i: s.gather_nd(x, x)),
    "scatter no coordinates": (
        "without coordinates",
        lambda x, i: s.scatter_nd(x, np.zeros((1, 0), int), 1.0),
    ),
    "scatter in another way": (
        "not a reduction.*\n.*\n.*\n.*\n.*'multiply'",
        lambda x, i: s.scatter_nd(x, [[0]], 1.0, reduction="multply"),
    ),
    "scatter by an array": (
        "not a reduction",
        lambda x, i: s.scatter_nd(x, [[0]], 1.0, reduction=np.zeros(2)),
    ),
    "elements of another rank": ("another rank", lambda x, i: s.gather_elements(x, [0])),
    "elements beyond x": (
        "more indices than elements",
        lambda x, i: s.gather_elements(x, np.zeros((3, 1), int), 1),
    ),
    "elements of floats": ("positions are integers", lambda x, i: s.gather_elements(x, x)),
    "put in another rank": ("another rank", lambda x, i: s.put_along_axis(x, [0], 1.0)),
    "put another shape": ("broadcast", lambda x, i: s.scatter_elements(x, [[0]], [[1.0, 2.0]])),
    "coordinates of fewer axes": ("an axis", lambda x, i: s.ravel_multi_index((i,), (2, 3))),
    "coordinates of no axes": ("an axis", lambda x, i: s.ravel_multi_index((), ())),
    "coordinates in a tensor": ("an axis", lambda x, i: s.ravel_multi_index(i, (2, 3))),
    "unravel floats": ("positions are integers", lambda x, i: s.unravel_index(x, (2, 3))),
    # segments and bins
    "segments of other rows": ("one segment each", lambda x, i: s.segment_sum(x, [0, 1, 2], 3)),
    "segments of floats": ("positions are integers", lambda x, i: s.segment_sum(x, x, 3)),
    "segments below none": ("a negative number", lambda x, i: s.segment_sum(x, [0, -1], 3)),
    "segments beyond": ("out of range", lambda x, i: s.segment_sum(x, [0, 3], 3)),
    "segments of bools": ("not numbers", lambda x, i: s.segment_prod(x > 0, [0, 1], 2)),
    "segments without a number": ("not a size", lambda x, i: s.segment_max(x, [0, 1], none)),
    "largest complex": (
        "without an order",
        lambda x, i: s.segment_max(x.astype("complex64"), [0, 1], 2),
    ),
    "count below none": ("a negative number", lambda x, i: s.bincount([-1], length=3)),
    "count beyond": ("out of range", lambda x, i: s.bincount([3], length=3)),
    "count floats": ("positions are integers", lambda x, i: s.bincount(x, length=3)),
    "weights of another shape": ("another shape", lambda x, i: s.bincount(i, x[0], length=3)),
    "no bins": ("not a number of bins", lambda x, i: s.histogram(x, 0)),
    "one edge": ("not a bin", lambda x, i: s.histogram(x, [0.0])),
    "edges backwards": ("out of order", lambda x, i: s.histogram(x, [1.0, 0.0])),
    "edges of a matrix": ("not edges", lambda x, i: s.histogram(x, x)),
    "range backwards": ("not a range", lambda x, i: s.histogram(x, 2, (1.0, 0.0))),
    "range without an end": ("not a range", lambda x, i: s.histogram(x, 2, (1.0,))),
    "range to infinity": ("not a range", lambda x, i: s.histogram(x, 2, (0.0, np.inf))),
    "too many bins": ("from 1 to", lambda x, i: s.histogram(x, 10**15)),
    "density by an array": ("density is no bool", lambda x, i: s.histogram(x, density=np.zeros(2))),
    "bins of complex": ("real", lambda x, i: s.histogram(x.astype("complex64"))),
    # networks
    "table of a vector": ("not a table", lambda x, i: s.nn.embedding(i, x[0])),
    "table of a symbol": ("size of a table", lambda x, i: s.nn.embedding(i, ("n", 3))),
    "words of floats": ("positions are integers", lambda x, i: s.nn.embedding(x, x)),
    "no row of padding": (
        "not a row",
        lambda x, i: s.nn.embedding(i, x, padding_index=2),
    ),
    "blocks of a matrix": ("not images", lambda x, i: s.nn.depth_to_space(x, 2)),
    "blocks that do not divide": (
        "does not divide",
        lambda x, i: s.nn.space_to_depth(s.zeros((1, 1, 3, 4)), 2),
    ),
    "channels that do not divide": (
        "does not divide",
        lambda x, i: s.nn.depth_to_space(s.zeros((1, 6, 1, 1)), 2),
    ),
    "blocks of size 0": ("1 or more", lambda x, i: s.nn.space_to_depth(s.zeros((1, 1, 2, 2)), 0)),
    "blocks in another order": (
        "not a mode",
        lambda x, i: s.nn.depth_to_space(s.zeros((1, 4, 1, 1)), 2, mode="RCD"),
    ),
    "shuffled vector": ("no channels", lambda x, i: s.nn.channel_shuffle(x[0], 1)),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_says_what_is_wrong_and_where(name: str) -> None:
    problem, wrong = MISTAKES[name]
    with sad.Graph():
        x = sad.placeholder(F, (2, 3), name="x")
        i = sad.placeholder("int64", (2, 3), name="i")
        with pytest.raises(sad.GraphError, match=problem) as caught:
            wrong(x, i)
    check_parts(caught.value, wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x, i: x[i],
        lambda x, i: x.at[i].max(1.0),
        lambda x, i: s.take(x, i, axis=0),
        lambda x, i: s.gather_elements(x, i[:, :, 0], 0),
        lambda x, i: s.scatter_nd(x, i, 0.0),
        lambda x, i: s.segment_sum(s.zeros((1, 1, 1)) + x[0, 0], i, 3),
        lambda x, i: s.segment_sum(s.zeros((1, 1, 1)) + x[0, 0], -i, 3),
        lambda x, i: s.bincount(i, length=3),
        lambda x, i: s.bincount(-i, length=3),
        lambda x, i: s.nn.embedding(i, x),
    ],
)
def test_positions_that_a_run_finds_out_of_range(wrong: Build) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder(F, (2, 3), name="x")
        i = sad.placeholder("int64", (1, 1, 1), name="i")
        y = wrong(x, i)
    with sad.Session(graph) as session, pytest.raises(sad.ExecutionError) as caught:
        session.run(y, {x: np.zeros((2, 3)), i: [[[7]]]})
    text = str(caught.value)
    for part in ("expected:", "found:", "test_mistakes_positions.py"):
        assert part in text, text


def test_the_largest_index_of_uint64_is_out_of_range() -> None:
    with sad.Graph() as graph:
        x, i = sad.placeholder(F, (3,)), sad.placeholder("uint64", (1,))
        y = x[i]
    with sad.Session(graph) as session, pytest.raises(sad.ExecutionError, match="out of range"):
        session.run(y, {x: np.zeros(3), i: np.array([2**64 - 1], np.uint64)})
