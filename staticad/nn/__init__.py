"""Functions and layers of neural networks."""

from typing import TYPE_CHECKING, NoReturn

from ..elsewhere import missing
from .activations import (
    celu,
    elu,
    gelu,
    log_sigmoid,
    mish,
    selu,
    sigmoid,
    silu,
    softplus,
    softsign,
    tanh,
    tanh_shrink,
)
from .adaptive_pooling import global_avg_pool, global_max_pool
from .attention import (
    multi_head_attention,
    rotary_embedding,
    scaled_dot_product_attention,
    sinusoidal_positions,
)
from .batch_norm import batch_norm, batch_norm_infer
from .convolution import (
    conv,
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from .dropout import alpha_dropout, dropout, feature_dropout
from .gated import geglu, glu, swiglu
from .layers import dense
from .losses import cross_entropy
from .normalization import (
    group_norm,
    instance_norm,
    layer_norm,
    normalize,
    rms_norm,
    weight_norm,
)
from .piecewise import (
    hard_shrink,
    hard_sigmoid,
    hard_swish,
    hard_tanh,
    leaky_relu,
    prelu,
    relu,
    relu6,
    rrelu,
    shrink,
    soft_shrink,
    threshold,
)
from .pooling import (
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_pool_with_indices,
    max_unpool,
)
from .softmax import gumbel_softmax, log_softmax, softmax, softmin

__all__ = [
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "batch_norm_infer",
    "celu",
    "conv",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cross_entropy",
    "dense",
    "dropout",
    "elu",
    "feature_dropout",
    "geglu",
    "gelu",
    "global_avg_pool",
    "global_max_pool",
    "glu",
    "group_norm",
    "gumbel_softmax",
    "hard_shrink",
    "hard_sigmoid",
    "hard_swish",
    "hard_tanh",
    "instance_norm",
    "layer_norm",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool_with_indices",
    "max_unpool",
    "mish",
    "multi_head_attention",
    "normalize",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "rotary_embedding",
    "rrelu",
    "scaled_dot_product_attention",
    "selu",
    "shrink",
    "sigmoid",
    "silu",
    "sinusoidal_positions",
    "soft_shrink",
    "softmax",
    "softmin",
    "softplus",
    "softsign",
    "swiglu",
    "tanh",
    "tanh_shrink",
    "threshold",
    "weight_norm",
]  # fmt: skip

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("nn", name)
