"""What other libraries call things, so that a name that is missing here leads to the one meant.

Knows names only.  The `__getattr__` of the package, of its namespaces and of Tensor ask it.
"""

from __future__ import annotations

import sys

from staticad_schema.errors import near_miss

NAMESPACES = ("", "nn", "optimizers", "optimizers.schedules", "random", "testing")

# Names of NumPy, PyTorch, JAX and TensorFlow 1 that are called otherwise here.
FUNCTIONS = {
    **dict.fromkeys(("cat", "concatenate"), "sad.concat"),
    **dict.fromkeys(("dot", "mm", "bmm", "batch_matmul", "inner"), "sad.matmul, or a @ b"),
    **dict.fromkeys(("absolute", "fabs"), "sad.abs"),
    "mod": "sad.remainder, or a % b",
    **dict.fromkeys(("floordiv", "floor_div"), "sad.floor_divide, or a // b"),
    **dict.fromkeys(("gather", "index_select", "embedding_lookup"), "sad.take, or x[indices]"),
    **dict.fromkeys(("clamp", "clip_by_value"), "sad.clip"),
    "permute": "sad.permute_dims", "view": "sad.reshape(x, (-1,))",
    **dict.fromkeys(("array", "asarray", "convert_to_tensor"), "sad.constant"),
    **dict.fromkeys(("detach", "no_grad"), "sad.stop_gradient"),
    **dict.fromkeys(("grad", "value_and_grad", "autograd", "vjp"), "sad.gradients"),
    **dict.fromkeys(("jit", "function"), "session.callable(fetches, feeds)"),
    **dict.fromkeys(("optim", "train"), "sad.optimizers"),
    **dict.fromkeys(("name_scope", "variable_scope"), "sad.scope"),
    **dict.fromkeys(("get_variable", "Parameter"), "sad.variable"),
    **dict.fromkeys(("manual_seed", "set_random_seed", "PRNGKey"), "sad.Graph(seed=0)"),
    **dict.fromkeys(("Linear", "Dense"), "sad.nn.dense"),
    **dict.fromkeys(("CrossEntropyLoss", "nll_loss", "softmax_cross_entropy"),
                    "sad.nn.cross_entropy"),
    **dict.fromkeys(("softmax_cross_entropy_with_logits", "sparse_softmax_cross_entropy"),
                    "sad.nn.cross_entropy"),
    **dict.fromkeys(("GradientDescentOptimizer", "GradientDescent"), "sad.optimizers.SGD"),
    **dict.fromkeys(("randn", "random_normal", "standard_normal"), "sad.random.normal"),
    **dict.fromkeys(("rand", "random_uniform"), "sad.random.uniform"),
    **dict.fromkeys(("float", "float16", "float32", "float64", "bfloat16"), "the text 'float32'"),
    **dict.fromkeys(("int", "int32", "int64", "bool", "uint8"), "the text, such as 'int32'"),
    **dict.fromkeys(("clip_grad_norm_", "clip_grad_norm"), "sad.optimizers.clip_by_global_norm"),
    **dict.fromkeys(("clip_grad_value_", "clip_grad_value"), "sad.optimizers.clip_by_value"),
    **dict.fromkeys(("EMA", "AveragedModel"), "sad.optimizers.ExponentialMovingAverage"),
    **dict.fromkeys(("MultiSteps", "GradientAccumulation"), "sad.optimizers.Accumulate"),
    **dict.fromkeys(("exponential_decay", "ExponentialLR"), "sad.optimizers.schedules.exponential"),
    **dict.fromkeys(("cosine_decay", "CosineAnnealingLR"), "sad.optimizers.schedules.cosine"),
    **dict.fromkeys(("OneCycleLR",), "sad.optimizers.schedules.one_cycle"),
    "MomentumOptimizer": "sad.optimizers.Momentum", "AdamOptimizer": "sad.optimizers.Adam",
    "LayerNorm": "sad.nn.layer_norm", "hvp": "sad.jvp(sad.gradients(y, x), x, v)",
    "amax": "sad.max", "amin": "sad.min", "power": "sad.pow", "true_divide": "sad.divide",
    "arccos": "sad.acos", "arccosh": "sad.acosh", "arcsin": "sad.asin", "arcsinh": "sad.asinh",
    "arctan": "sad.atan", "arctan2": "sad.atan2", "arctanh": "sad.atanh",
    "unsqueeze": "sad.expand_dims", "newaxis": "None",
    "global_variables_initializer": "nothing: variables begin by themselves",
    "control_dependencies": "sad.after(x, *effects)", "no_op": "sad.group()",
    "Print": "sad.print_", "Assert": "sad.assert_", "InteractiveSession": "sad.Session",
    "Module": "a function that builds nodes", "save": "graph.save(path)",
}  # fmt: skip

METHODS = {
    **dict.fromkeys(("numpy", "eval", "item", "tolist", "data", "run", "cpu"), "session.run(x)"),
    **dict.fromkeys(("backward", "grad", "requires_grad"), "sad.gradients(ys, xs)"),
    **dict.fromkeys(("get_shape", "set_shape"), "x.shape"),
    **dict.fromkeys(("to", "float", "double", "half", "long", "type_as"), "x.astype(dtype)"),
    **dict.fromkeys(("dim", "rank"), "x.ndim"),
    **dict.fromkeys(("view", "flatten", "ravel"), "x.reshape(-1)"),
    **dict.fromkeys(("add_", "sub_", "mul_", "fill_", "copy_"), "the assign of a variable"),
    "transpose": "x.T, x.mT or sad.permute_dims", "cuda": "sad.Session(graph, device=...)",
    "op": "x.node",
}  # fmt: skip


def public(namespace: str) -> list[str]:
    """The public names of a namespace ("nn", ...; "": the package), if it has been imported."""
    module = sys.modules.get(f"staticad.{namespace}" if namespace else "staticad")
    return list(getattr(module, "__all__", ()))


def equivalent(name: str) -> str | None:
    """What to write for a name of another library, or of another namespace; None if unknown."""
    if name in FUNCTIONS:
        return f"use {FUNCTIONS[name]}"
    base = name.removeprefix("reduce_")
    for place in NAMESPACES:
        if base in public(place):
            return f"use sad.{place}.{base}" if place else f"use sad.{base}"
    return None


def missing(namespace: str, name: str) -> AttributeError:
    """The error for an attribute that a namespace of the package does not have."""
    module = f"staticad.{namespace}" if namespace else "staticad"
    advice = None
    if not name.startswith("_"):
        advice = equivalent(name) or near_miss(name, public(namespace))
    return _error(f"module {module!r} has no attribute {name!r}", advice, name)


def missing_of_tensor(kind: str, name: str) -> AttributeError:
    """The error for an attribute that a tensor, or a variable, does not have."""
    advice = None
    if name in METHODS:
        advice = f"use {METHODS[name]}"
    elif not name.startswith("_"):
        advice = f"use sad.{name}(x)" if name in public("") else equivalent(name)
    return _error(f"a {kind} has no attribute {name!r}", advice, name)


def _error(text: str, advice: str | None, name: str) -> AttributeError:
    return AttributeError(f"{text}; {advice}" if advice else text, name=name)
