"""The workloads by name, in plain NumPy."""

from collections.abc import Callable

from ..definitions import Workload
from .chain import small_ops
from .dense import hvp, mlp_infer_b1, mlp_train, mlp_train_small, pinn
from .elementwise import eltwise_grad, softmax_ln
from .images import lenet_train, resnet20_train
from .sequences import gpt_infer, gpt_train, lstm_train

WORKLOADS: dict[str, Callable[[], Workload]] = {
    make.__name__: make
    for make in (
        mlp_train,
        mlp_train_small,
        mlp_infer_b1,
        hvp,
        pinn,
        lenet_train,
        resnet20_train,
        lstm_train,
        gpt_train,
        gpt_infer,
        small_ops,
        eltwise_grad,
        softmax_ln,
    )
}
