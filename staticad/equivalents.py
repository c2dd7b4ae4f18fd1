"""What functions of other libraries are called here, and why some are not here.

Error messages read it, and so does `docs/coverage.md`; a name that is the same here is in neither
table.  "linalg.", "fft." and "random." go before names that mean something else without them.
"""

from __future__ import annotations

_ARRAY = "sad.constant"

# Of NumPy, the array API, PyTorch, JAX and TensorFlow 1.
EQUIVALENTS = {
    # --- Arrays and dtypes
    **dict.fromkeys(("array", "asanyarray", "asmatrix", "convert_to_tensor"), _ARRAY),
    **dict.fromkeys(("float", "float_"), "sad.float32, or sad.float64"),
    **dict.fromkeys(("int", "int_", "long"), "sad.int64"), "half": "sad.float16",
    "double": "sad.float64",
    "asarray_chkfinite": "sad.Session(graph, check_numerics=True)",
    "fromfunction": "sad.constant(np.fromfunction(f, shape))",
    "copy": "sad.identity",
    "issubdtype": "sad.isdtype(x.dtype, kind)",
    **dict.fromkeys(("promote_types", "common_type"), "sad.result_type"),
    "iscomplexobj": "sad.isdtype(x.dtype, 'complex floating')",
    "isrealobj": "not sad.isdtype(x.dtype, 'complex floating')",
    "ndim": "x.ndim", "shape": "x.shape", "size": "x.size", "isscalar": "x.ndim == 0",
    "geomspace": "sad.exp(sad.linspace(math.log(start), math.log(stop), n))",
    "logspace": "10 ** sad.linspace(start, stop, n)",
    **{name: f"sad.constant(np.{name}(n))"
       for name in ("bartlett", "blackman", "hamming", "hanning")},
    "kaiser": "sad.constant(np.kaiser(n, beta))",
    # --- Elementwise
    **dict.fromkeys(("absolute", "fabs"), "sad.abs"),
    **{f"arc{name}": f"sad.a{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")},
    "arctan2": "sad.atan2", "mod": "sad.remainder, or a % b",
    **dict.fromkeys(("floordiv", "floor_div"), "sad.floor_divide, or a // b"),
    "true_divide": "sad.divide", "power": "sad.pow", "conjugate": "sad.conj",
    **dict.fromkeys(("around", "rint"), "sad.round"), "fix": "sad.trunc",
    **dict.fromkeys(("bitwise_not", "invert"), "sad.bitwise_invert, or ~x"),
    "left_shift": "sad.bitwise_left_shift, or a << b",
    "right_shift": "sad.bitwise_right_shift, or a >> b",
    "degrees": "sad.rad2deg", "radians": "sad.deg2rad", "ldexp": "x * 2.0**n",
    "iscomplex": "sad.imag(x) != 0", "isreal": "sad.imag(x) == 0", "real_if_close": "sad.real",
    **dict.fromkeys(("clamp", "clip_by_value"), "sad.clip"),
    "spacing": "sad.nextafter(x, math.inf) - x",
    # --- Special functions
    **dict.fromkeys(("lgamma", "loggamma", "log_gamma"), "sad.special.gammaln"),
    "psi": "sad.special.digamma", "trigamma": "sad.special.polygamma(1, x)",
    **dict.fromkeys(("igamma", "gdtr"), "sad.special.gammainc"), "igammac": "sad.special.gammaincc",
    "kv": "sad.special.kn, of integer order", "jn": "sad.special.jv",
    "lbeta": "sad.special.betaln", "btdtr": "sad.special.betainc",
    # --- Shapes
    **dict.fromkeys(("cat", "concatenate"), "sad.concat"), "row_stack": "sad.vstack",
    "bmat": "sad.block", "unsqueeze": "sad.expand_dims", "view": "sad.reshape(x, (-1,))",
    "permute": "sad.permute_dims", "rollaxis": "sad.moveaxis",
    "chunk": "sad.array_split", "unbind": "sad.unstack", "narrow": "x[start : start + n]",
    "indices": "sad.meshgrid(sad.arange(n), sad.arange(m), indexing='ij')",
    "resize": "sad.reshape(sad.tile(x, n)[:size], shape)",
    "delete": "sad.concat([x[:i], x[i + 1 :]])", "insert": "sad.concat([x[:i], y, x[i:]])",
    # --- Products, sums and order
    **dict.fromkeys(("mm", "bmm", "batch_matmul"), "sad.matmul, or a @ b"),
    **dict.fromkeys(("addmm", "baddbmm", "addmv"), "x + a @ b"),
    "cdist": "sad.linalg.vector_norm(x[:, None] - y, axis=-1)",
    "std_mean": "sad.std(x), sad.mean(x)", "var_mean": "sad.var(x), sad.mean(x)",
    "einsum_path": "sad.einsum, which chooses the order",
    "correlate": "sad.convolve(x, sad.conj(sad.flip(y)), mode)",
    "amax": "sad.max", "amin": "sad.min",
    **dict.fromkeys(("array_equal", "array_equiv"), "sad.all(x == y)"),
    "apply_along_axis": "sad.stack([f(row) for row in sad.unstack(x)])",
    "apply_over_axes": "f(x, axis=(0, 1))",
    "argpartition": "sad.argsort, or sad.top_k", "partition": "sad.sort, or sad.top_k",
    "lexsort": "sad.argsort by one key after the other: it is stable",
    "cumsum": "sad.cumulative_sum", "cumprod": "sad.cumulative_prod",
    "ediff1d": "sad.diff(sad.ravel(x))", "gradient": "(x[2:] - x[:-2]) / (2 * h)",
    "nanargmax": "sad.argmax(sad.where(sad.isnan(x), -math.inf, x))",
    "nanargmin": "sad.argmin(sad.where(sad.isnan(x), math.inf, x))",
    "nancumsum": "sad.cumulative_sum(sad.where(sad.isnan(x), 0, x))",
    "nancumprod": "sad.cumulative_prod(sad.where(sad.isnan(x), 1, x))",
    "trim_zeros": "x[i : j + 1], i and j the ends of sad.flatnonzero(x)",
    # --- Choosing
    **dict.fromkeys(("gather", "index_select", "embedding_lookup"), "sad.take, or x[indices]"),
    **dict.fromkeys(("scatter", "scatter_add", "scatter_reduce"), "sad.scatter_elements"),
    **dict.fromkeys(("index_add", "index_copy", "index_fill", "index_put"),
                    "x.at[indices].add(values), .set and so on"),
    "tensor_scatter_nd_update": "sad.scatter_nd", "masked_fill": "sad.where(mask, value, x)",
    "unsorted_segment_sum": "sad.segment_sum", "dynamic_slice": "x[start + sad.arange(n)]",
    **dict.fromkeys(("piecewise", "select"), "sad.where, one in the other"),
    "choose": "sad.take_along_axis(sad.stack(choices), x[None], axis=0)[0]",
    **dict.fromkeys(("place", "putmask", "copyto", "masked_scatter"), "x.at[mask].set(values)"),
    "boolean_mask": "x[mask]", "repeat_interleave": "sad.repeat", "in1d": "sad.isin",
    "put": "x.at[indices].set(values)", "ix_": "x[rows[:, None], columns]",
    # --- Random numbers
    **dict.fromkeys(("manual_seed", "set_random_seed", "PRNGKey"), "sad.Graph(seed=0)"),
    **dict.fromkeys(("randn", "random_normal", "standard_normal"), "sad.random.normal"),
    **dict.fromkeys(("rand", "random_uniform", "random.random"), "sad.random.uniform"),
    "random.integers": "sad.random.randint",
    **dict.fromkeys(("random.permuted", "random.shuffle", "randperm"), "sad.random.permutation"),
    "multinomial": "sad.random.categorical",
    "random.standard_exponential": "sad.random.exponential",
    "random.standard_gamma": "sad.random.gamma", "random.standard_t": "sad.random.student_t",
    "random.standard_cauchy": "sad.random.cauchy",
    "random.rayleigh": "sad.random.weibull(shape, 2.0, math.sqrt(2))",
    "random.pareto": "sad.expm1(sad.random.exponential(shape) / a)",
    "random.power": "sad.random.uniform(shape) ** (1 / a)",
    "random.standard_normal": "sad.random.normal", "random.bytes": "sad.random.bits",
    "random.triangular": "the inverse of its distribution function, of sad.random.uniform(shape)",
    "random.multinomial": "sad.sum(sad.one_hot(categories, n), axis=0)",
    "random.negative_binomial": "sad.random.poisson of a rate from sad.random.gamma",
    "random.f": "the quotient of two sad.random.chisquare, each over its degrees of freedom",
    # --- Networks
    "functional": "sad.nn", **dict.fromkeys(("Sequential", "sequential"), "g(f(x))"),
    "Flatten": "sad.flatten(x, 1)", "BCELoss": "sad.nn.binary_cross_entropy",
    "BCEWithLogitsLoss": "sad.nn.binary_cross_entropy_with_logits",
    **dict.fromkeys(("Linear", "Dense"), "sad.nn.dense"), "linear": "x @ weights.mT + bias",
    "bilinear": "sad.einsum('bi,oij,bj->bo', x, weights, y) + bias",
    **dict.fromkeys(("CrossEntropyLoss", "softmax_cross_entropy"), "sad.nn.cross_entropy"),
    **dict.fromkeys(("softmax_cross_entropy_with_logits", "sparse_softmax_cross_entropy"),
                    "sad.nn.cross_entropy"),
    "LayerNorm": "sad.nn.layer_norm", "logsigmoid": "sad.nn.log_sigmoid",
    **{f"{name}_": f"sad.nn.{name}"
       for name in ("elu", "leaky_relu", "relu", "rrelu", "selu", "celu", "threshold")},
    **{f"hard{name}": f"sad.nn.hard_{name}" for name in ("shrink", "sigmoid", "swish", "tanh")},
    "hardtanh_": "sad.nn.hard_tanh", "softshrink": "sad.nn.soft_shrink",
    "tanhshrink": "sad.nn.tanh_shrink",
    **dict.fromkeys(("dropout1d", "dropout2d", "dropout3d"), "sad.nn.feature_dropout"),
    **{f"max_unpool{n}d": "sad.nn.max_unpool" for n in (1, 2, 3)},
    "multi_head_attention_forward": "sad.nn.multi_head_attention",
    "conv_tbc": "sad.nn.conv1d, of axes in another order",
    "linear_cross_entropy": "sad.nn.cross_entropy(x @ weights.mT, labels)",
    "triplet_margin_with_distance_loss":
        "sad.mean(sad.nn.relu(distance(a, p) - distance(a, n) + margin))",
    "pdist": "sad.linalg.vector_norm(x[i] - x[j], axis=-1), of i, j = np.triu_indices(n, 1)",
    **dict.fromkeys(("upsample", "upsample_bilinear", "upsample_nearest"), "sad.nn.interpolate"),
    "embedding_bag": "sad.sum(table[indices], axis=-2)",
    # --- Derivatives, graphs, training
    **dict.fromkeys(("detach", "no_grad"), "sad.stop_gradient"),
    **dict.fromkeys(("grad", "value_and_grad", "autograd", "vjp"), "sad.gradients"),
    "hvp": "sad.jvp(sad.gradients(y, x), x, v)",
    **dict.fromkeys(("jacobian", "jacfwd", "jacrev"),
                    "sad.stack([sad.gradients(e, x)[0] for e in sad.unstack(y)])"),
    "hessian": "sad.stack([sad.gradients(e, x)[0] for e in sad.unstack(sad.gradients(y, x)[0])])",
    "zero_grad": "nothing: gradients are values of a run, and are not kept",
    "state_dict": "session.save(path), or session.variables", "load_state_dict": "session.restore",
    "compile": "session.callable(fetches, feeds)",
    **dict.fromkeys(("jit", "function"), "session.callable(fetches, feeds)"),
    **dict.fromkeys(("optim", "train"), "sad.optimizers"),
    **dict.fromkeys(("name_scope", "variable_scope"), "sad.scope"),
    **dict.fromkeys(("get_variable", "Parameter"), "sad.variable"),
    **dict.fromkeys(("GradientDescentOptimizer", "GradientDescent"), "sad.optimizers.SGD"),
    "MomentumOptimizer": "sad.optimizers.Momentum", "AdamOptimizer": "sad.optimizers.Adam",
    **dict.fromkeys(("clip_grad_norm_", "clip_grad_norm"), "sad.optimizers.clip_by_global_norm"),
    **dict.fromkeys(("clip_grad_value_", "clip_grad_value"), "sad.optimizers.clip_by_value"),
    **dict.fromkeys(("EMA", "AveragedModel"), "sad.optimizers.ExponentialMovingAverage"),
    **dict.fromkeys(("MultiSteps", "GradientAccumulation"), "sad.optimizers.Accumulate"),
    **dict.fromkeys(("exponential_decay", "ExponentialLR"), "sad.optimizers.schedules.exponential"),
    **dict.fromkeys(("cosine_decay", "CosineAnnealingLR"), "sad.optimizers.schedules.cosine"),
    "OneCycleLR": "sad.optimizers.schedules.one_cycle",
    "global_variables_initializer": "nothing: variables begin by themselves",
    "control_dependencies": "sad.after(x, *effects)", "no_op": "sad.group()",
    "Print": "sad.print_", "Assert": "sad.assert_", "InteractiveSession": "sad.Session",
    "Module": "a function that builds nodes",
    **{name: f"np.{name}(path, session.run(x)), or graph.save(path)"
       for name in ("save", "savetxt", "savez", "savez_compressed")},
    **{name: f"sad.constant(np.{name}(...))"
       for name in ("frombuffer", "fromfile", "fromiter", "fromregex", "fromstring", "genfromtxt",
                    "loadtxt")},
    **{name: f"np.{name}(session.run(x))"
       for name in ("array2string", "array_repr", "array_str", "base_repr", "binary_repr",
                    "format_float_positional", "format_float_scientific")},
    **{name: f"x[np.{name}(...)]"
       for name in ("diag_indices", "diag_indices_from", "mask_indices", "tril_indices_from",
                    "triu_indices_from")},
    # --- Windows over images
    **dict.fromkeys(("Conv1d", "Conv2d", "Conv3d", "convolution"), "sad.nn.conv"),
    **dict.fromkeys(("MaxPool2d", "max_pool", "max_pooling2d"), "sad.nn.max_pool2d"),
    **dict.fromkeys(("AvgPool2d", "avg_pool", "average_pooling2d"), "sad.nn.avg_pool2d"),
    **dict.fromkeys(("ConvTranspose2d", "conv_transpose", "conv2d_transpose"),
                    "sad.nn.conv_transpose2d"),
    **dict.fromkeys(("depthwise_conv2d", "separable_conv2d"),
                    "sad.nn.conv2d with as many groups as channels"),
    **dict.fromkeys(("Upsample", "resize_images"), "sad.nn.interpolate"),
    **dict.fromkeys(("im2col", "extract_patches"), "sad.nn.unfold"), "col2im": "sad.nn.fold",
    "lrn": "sad.nn.local_response_norm", "AdaptiveAvgPool2d": "sad.nn.adaptive_avg_pool2d",
}  # fmt: skip

_NUMPY = "it is about NumPy itself"
_PYTHON = "it is about Python's objects; a tensor stands for a value of a run"
_MEMORY = "a tensor has no memory or layout to ask about"
_DATES = "there are no dates among the dtypes"
_BITS = "numbers are not taken apart into bits"
_DIVISORS = "divisors need loops of unknown length"
_REJECTION = "its sampler draws until a number is accepted, in loops of unknown length"
_LOOPS = "control flow is not here yet; loops of known length are Python's, choices sad.where"
_COEFFICIENTS = "coefficients of polynomials are known before the graph: np.polynomial"
_EIGHT = "there are no 8-bit floats among the dtypes"

ABSENT = {
    "linalg.tensorinv": "reshape to a matrix, and use sad.linalg.inv",
    "linalg.tensorsolve": "reshape to a matrix, and use sad.linalg.solve",
    "unwrap": "it depends on itself along the axis; sum its jumps instead",
    **dict.fromkeys(("gcd", "lcm"), _DIVISORS),
    **dict.fromkeys(("busday_count", "busday_offset", "datetime_as_string", "datetime_data",
                     "is_busday", "isnat"), _DATES),
    **dict.fromkeys(("bitwise_count", "frexp", "packbits", "unpackbits"), _BITS),
    **dict.fromkeys(("ascontiguousarray", "asfortranarray", "isfortran", "may_share_memory",
                     "require", "shares_memory"), _MEMORY),
    **dict.fromkeys(("__array_namespace_info__", "frompyfunc", "iterable", "nested_iters",
                     "typename"), _PYTHON),
    **dict.fromkeys(("get_include", "get_printoptions", "getbufsize", "geterr", "geterrcall",
                     "info", "min_scalar_type", "mintypecode", "printoptions",
                     "set_printoptions", "setbufsize", "seterr", "seterrcall", "show_config",
                     "show_runtime", "test"), _NUMPY),
    **dict.fromkeys(("poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul",
                     "polysub"), _COEFFICIENTS),
    "roots": "sad.linalg.eigvals of the companion matrix", "sort_complex": "complex numbers have no order",
    **dict.fromkeys(("histogram2d", "histogramdd", "histogram_bin_edges"),
                    "histograms have one axis; sad.digitize and sad.bincount make others"),
    **{f"random.{name}": _REJECTION for name in (
        "hypergeometric", "logseries", "multivariate_hypergeometric", "noncentral_chisquare",
        "noncentral_f", "vonmises", "wald", "zipf",
    )},
    **dict.fromkeys(("cond", "fori_loop", "map_fn", "scan", "switch", "while_loop"), _LOOPS),
    **dict.fromkeys(("pmap", "vmap"), "functions take leading axes by themselves"),
    **dict.fromkeys(("scaled_mm", "scaled_grouped_mm"), _EIGHT),
    "multilabel_margin_loss": "its labels are lists of a length of their own in each row",
    "feature_alpha_dropout": "sad.nn.alpha_dropout drops element by element",
    "grouped_mm": "its groups have sizes of the run; a @ b for each group",
    **dict.fromkeys(("fractional_max_pool2d", "fractional_max_pool3d"),
                    "its windows are drawn at random"),
}  # fmt: skip
"""Why a function is not here, to be read after "it is not here:"."""
