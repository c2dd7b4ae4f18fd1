"""The workloads as graphs of staticad, by name."""

from collections.abc import Callable
from typing import Any

from .dense import hvp, mlp_infer, mlp_train, pinn
from .elementwise import eltwise_grad, small_ops, softmax_ln
from .images import lenet_train, resnet20_train
from .running import Built
from .sequences import gpt_infer, gpt_train, lstm_train

# A workload is whatever has the attributes of `benchmarks.definitions.Workload` used here.
GRAPHS: dict[str, Callable[[Any], Built]] = {
    "mlp_train": mlp_train,
    "mlp_train_small": mlp_train,
    "mlp_infer_b1": mlp_infer,
    "hvp": hvp,
    "pinn": pinn,
    "lenet_train": lenet_train,
    "resnet20_train": resnet20_train,
    "lstm_train": lstm_train,
    "gpt_train": gpt_train,
    "gpt_infer": gpt_infer,
    "small_ops": small_ops,
    "eltwise_grad": eltwise_grad,
    "softmax_ln": softmax_ln,
}
