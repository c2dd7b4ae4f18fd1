"""What a run needs: which write a read is ordered behind, and what finding out costs."""

import tracemalloc
from typing import Any

import staticad as sad
from staticad_executor.selection import ordered_writes, select


class Counting(list[Any]):
    """A list that counts how often its entries are looked at."""

    looks = 0

    def __getitem__(self, index: Any) -> Any:
        self.looks += 1
        return super().__getitem__(index)


def looks_at_nodes(variables: int) -> float:
    """How often a node is looked at when each of so many variables is read behind all writes."""
    with sad.Graph() as graph:
        held = [sad.variable(0.0) for _ in range(variables)]
        train = sad.group(*[v.assign_add(1.0) for v in held])
        total = sad.stack([v.read(after=train) for v in held])
    chosen = select(graph, (total.id,), (), ())
    nodes = graph.nodes = Counting(graph.nodes)
    assert len(ordered_writes(graph, chosen, ())) == variables
    return nodes.looks / len(chosen.nodes)


def test_late_reads_of_many_variables_are_found_in_one_walk() -> None:
    assert looks_at_nodes(100) <= looks_at_nodes(10) + 1


def test_memory_for_a_chain_of_writes_and_reads_is_linear() -> None:
    peaks = []
    for count in (1_000, 8_000):
        with sad.Graph() as graph:
            v = sad.variable(0.0, name="v")
            write = v.assign_add(1.0)
            for _ in range(count):
                write = v.assign_add(v.read(after=write))
        chosen = select(graph, (write.id,), (), ())
        tracemalloc.start()
        ordered_writes(graph, chosen, ())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 12 * peaks[0]


def test_a_read_sees_the_last_write_that_it_is_ordered_behind() -> None:
    with sad.Graph() as graph:
        v, w = sad.variable(0.0, name="v"), sad.variable(0.0, name="w")
        first = v.assign(1.0)
        other = w.assign(v.read(after=first))
        second = v.assign_add(1.0, after=other)
        third = v.assign_add(1.0)
        reads = {
            first: v.read(after=first),
            second: v.read(after=[second, first]),
            third: v.read(after=sad.group(third, other)),
            None: v.read(after=w.read()),
        }
    chosen = select(graph, [r.id for r in reads.values()], (), ())
    found = ordered_writes(graph, chosen, ())
    for write, read in reads.items():
        assert found.get(read.node_index) == (None if write is None else write.node_index)
    fed = (other.id,)
    cut = ordered_writes(graph, select(graph, [reads[second].id], (), fed), fed)
    assert cut[reads[second].node_index] == second.node_index
