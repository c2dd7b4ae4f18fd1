"""ONNX Runtime with all its graph optimizations, on graphs written for it; it infers only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import benchmarks
import benchmarks.measure as measure
from benchmarks.definitions import Array, Arrays, Build, Step, Workload

OPSET = 20
TYPES = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32}


class Writer:
    """An ONNX graph under construction; values are names."""

    def __init__(self, params: Arrays) -> None:
        self.nodes: list[Any] = []
        self.constants = [numpy_helper.from_array(a, name) for name, a in params.items()]

    def constant(self, array: Any) -> str:
        """An array in the graph."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def op(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """The name of a node's output, or the names of its outputs."""
        names = [f"v{len(self.nodes)}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def reshape(self, x: str, shape: Sequence[int]) -> Any:
        """x in another shape."""
        return self.op("Reshape", x, self.constant(np.array(shape, np.int64)))

    def dense(self, x: str, weight: str, bias: str) -> Any:
        """x times weight plus bias."""
        return self.op("Add", self.op("MatMul", x, weight), bias)

    def step(self, result: str, x: Array) -> Step:
        """What computes the result of batches that are like x."""
        graph = helper.make_graph(
            [*self.nodes, helper.make_node("Identity", [result], ["result"])],
            "workload",
            [helper.make_tensor_value_info("x", TYPES[x.dtype.name], x.shape)],
            [helper.make_tensor_value_info("result", TensorProto.FLOAT, None)],
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = 10
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = benchmarks.THREADS
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return lambda batch: session.run(["result"], {"x": batch["x"]})[0]


def mlp_infer(w: Workload) -> Step:
    """ReLU layers."""
    writer, x = Writer(w.params), "x"
    layers = len(w.params) // 2
    for layer in range(layers):
        x = writer.op("Gemm", x, f"W{layer}", f"b{layer}")
        if layer < layers - 1:
            x = writer.op("Relu", x)
    return writer.step(x, w.batches[0]["x"])


def gpt_infer(w: Workload) -> Step:
    """Layers of causal attention and dense networks."""
    tokens = w.batches[0]["x"]
    (rows, steps), config = tokens.shape, w.config
    width, heads = config["d"], config["heads"]
    writer = Writer(w.params)
    op = writer.op
    hidden = (1 - np.tril(np.ones((steps, steps), np.float32))) * np.float32(-1e9)
    mask = writer.constant(hidden)
    scale = writer.constant(np.float32((width // heads) ** -0.5))
    places = writer.constant(w.params["pos"][:steps])
    x = op("Add", op("Gather", "tok", "x"), places)
    for layer in range(config["layers"]):
        p = f"l{layer}_"
        h = op("LayerNormalization", x, f"{p}g1", f"{p}n1", epsilon=1e-5)
        h = writer.dense(h, f"{p}Wqkv", f"{p}bqkv")
        parts = op("Split", h, outputs=3, axis=-1, num_outputs=3)
        parts = [writer.reshape(a, (rows, steps, heads, width // heads)) for a in parts]
        query, value = (op("Transpose", parts[k], perm=(0, 2, 1, 3)) for k in (0, 2))
        key = op("Transpose", parts[1], perm=(0, 2, 3, 1))
        scores = op("Add", op("Mul", op("MatMul", query, key), scale), mask)
        mixed = op("MatMul", op("Softmax", scores, axis=-1), value)
        mixed = writer.reshape(op("Transpose", mixed, perm=(0, 2, 1, 3)), (rows, steps, width))
        x = op("Add", x, writer.dense(mixed, f"{p}Wo", f"{p}bo"))
        h = op("LayerNormalization", x, f"{p}g2", f"{p}n2", epsilon=1e-5)
        h = op("Gelu", writer.dense(h, f"{p}W1", f"{p}b1"), approximate="tanh")
        x = op("Add", x, writer.dense(h, f"{p}W2", f"{p}b2"))
    x = op("LayerNormalization", x, "gf", "nf", epsilon=1e-5)
    return writer.step(op("MatMul", x, "head"), tokens)


BUILDERS: dict[str, Build] = {"mlp_infer_b1": mlp_infer, "gpt_infer": gpt_infer}

if __name__ == "__main__":
    measure.main("onnxruntime", BUILDERS)
