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
from .adaptive_pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    global_avg_pool,
    global_max_pool,
)
from .attention import (
    multi_head_attention,
    rotary_embedding,
    scaled_dot_product_attention,
    sinusoidal_positions,
)
from .batch_norm import batch_norm, batch_norm_infer
from .binary import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    kl_div,
    multilabel_soft_margin_loss,
    soft_margin_loss,
)
from .classification import cross_entropy, nll_loss
from .convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from .ctc import ctc_loss
from .dropout import alpha_dropout, dropout, feature_dropout
from .embedding import embedding
from .gated import geglu, glu, swiglu
from .grid_sampling import affine_grid, grid_sample
from .layers import conv, dense
from .margins import (
    cosine_embedding_loss,
    cosine_similarity,
    hinge_embedding_loss,
    hinge_loss,
    margin_ranking_loss,
    multi_margin_loss,
    pairwise_distance,
    squared_hinge_loss,
    triplet_margin_loss,
)
from .max_pooling import max_pool1d, max_pool2d, max_pool3d, max_pool_with_indices, max_unpool
from .mean_pooling import avg_pool1d, avg_pool2d, avg_pool3d, lp_pool1d, lp_pool2d, lp_pool3d
from .normalization import (
    group_norm,
    instance_norm,
    layer_norm,
    normalize,
    rms_norm,
    weight_norm,
)
from .patches import fold, local_response_norm, unfold
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
from .rearranging import channel_shuffle, depth_to_space, space_to_depth
from .recurrent import gru, lstm, recurrent_weights, rnn
from .recurrent_cells import gru_cell, lstm_cell, rnn_cell
from .regression import (
    gaussian_nll_loss,
    huber_loss,
    l1_loss,
    mse_loss,
    poisson_nll_loss,
    smooth_l1_loss,
)
from .resampling import interpolate, pixel_shuffle, pixel_unshuffle
from .softmax import gumbel_softmax, log_softmax, softmax, softmin

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "batch_norm_infer",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "channel_shuffle",
    "conv",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dense",
    "depth_to_space",
    "dropout",
    "elu",
    "embedding",
    "feature_dropout",
    "fold",
    "gaussian_nll_loss",
    "geglu",
    "gelu",
    "global_avg_pool",
    "global_max_pool",
    "glu",
    "grid_sample",
    "group_norm",
    "gru",
    "gru_cell",
    "gumbel_softmax",
    "hard_shrink",
    "hard_sigmoid",
    "hard_swish",
    "hard_tanh",
    "hinge_embedding_loss",
    "hinge_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "local_response_norm",
    "log_sigmoid",
    "log_softmax",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "lstm",
    "lstm_cell",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool_with_indices",
    "max_unpool",
    "mish",
    "mse_loss",
    "multi_head_attention",
    "multi_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "recurrent_weights",
    "relu",
    "relu6",
    "rms_norm",
    "rnn",
    "rnn_cell",
    "rotary_embedding",
    "rrelu",
    "scaled_dot_product_attention",
    "selu",
    "shrink",
    "sigmoid",
    "silu",
    "sinusoidal_positions",
    "smooth_l1_loss",
    "soft_margin_loss",
    "soft_shrink",
    "softmax",
    "softmin",
    "softplus",
    "softsign",
    "space_to_depth",
    "squared_hinge_loss",
    "swiglu",
    "tanh",
    "tanh_shrink",
    "threshold",
    "triplet_margin_loss",
    "unfold",
    "weight_norm",
]  # fmt: skip

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("nn", name)
