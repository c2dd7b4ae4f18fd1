"""Products of Jacobians and Hessians with vectors, which need no matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from staticad_schema.errors import GradientError, ShapeError
from staticad_schema.sites import asking

from ..gradients import arguments, gradients, jvp
from ..tensor import Tensor
from ..trees import Tree, flattened, like, nested


def vjp(ys: Any, xs: Any, cotangents: Any = None) -> Any:
    """What cotangents of ys become as cotangents of xs: the transposed Jacobian times a vector.

    ys: a floating or complex tensor, or nested tuples, lists and dicts of them.  xs: likewise.
    cotangents: of the types of ys, nested as ys are (None: ones).

    Returns tensors nested as xs are, of their types; zeros for an x that no y depends on.  One
    pass, whatever the number of xs.  Raises GradientError for integer tensors and ops without a
    derivative.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float64", (2,), name="x")
    ...     pulled = sad.vjp(sad.exp(x), x, [1.0, 10.0])
    >>> sad.Session(graph).run(pulled, {x: [0.0, 0.0]})
    array([ 1., 10.])
    """
    with asking("vjp", keeps=True):
        targets, shape = tensors(ys, "ys", "vjp")
        sources, tree = tensors(xs, "xs", "vjp")
        if not targets:
            raise GradientError(
                "ys is empty", asked="vjp", expected="at least one tensor", found="none"
            )
        seeds = None if cotangents is None else along(cotangents, shape, "the cotangent")
        return nested(tree, gradients(targets, sources, seeds, unconnected="zero"))


def linearize(ys: Any, xs: Any) -> Callable[[Any], Any]:
    """The linear map from tangents of xs to tangents of ys, at the xs of the run.

    ys, xs: as for `vjp`.  What is returned takes tangents nested as xs are, and gives tangents
    nested as ys are; each call adds nodes for one product, which share what the tensors between xs
    and ys are.  With `sad.map` it takes many tangents at once.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float64", (2,), name="x")
    ...     product = sad.linearize(x * x, x)
    ...     pushed = product([1.0, 0.5])
    >>> sad.Session(graph).run(pushed, {x: [3.0, 4.0]})
    array([6., 4.])
    """
    with asking("linearize", keeps=True):
        targets, shape = tensors(ys, "ys", "linearize")
        sources, tree = tensors(xs, "xs", "linearize")
        require_differentiable(targets, sources, "linearize")

    def product(tangents: Any) -> Any:
        with asking("linearize", keeps=True):
            return nested(shape, jvp(targets, sources, along(tangents, tree, "the tangent")))

    return product


def hvp(y: Any, xs: Any, vectors: Any) -> Any:
    """The Hessian of y with respect to xs, times vectors.

    y: a real scalar.  xs: a floating tensor, or nested tuples, lists and dicts of them.
    vectors: of the types of xs, nested as they are.

    Returns tensors nested as xs are.  It is the tangent of the gradient (forward over reverse), and
    costs a few gradients, whatever the number of xs.  For complex xs it is the same with real and
    imaginary parts as real numbers.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float64", (2,), name="x")
    ...     product = sad.hvp(x[0] ** 2 * x[1], x, [1.0, 0.0])
    >>> sad.Session(graph).run(product, {x: [3.0, 5.0]})
    array([10.,  6.])
    """
    with asking("hvp", keeps=True):
        target = scalar(y, "y", "hvp")
        sources, tree = tensors(xs, "xs", "hvp")
        given = along(vectors, tree, "the vector")
        return nested(tree, hessian_product(target, sources, given))


def hessian_product(y: Any, xs: Sequence[Any], vectors: Sequence[Any]) -> list[Tensor]:
    """The Hessian of y with respect to xs, times vectors, one for each."""
    return jvp(gradients(y, list(xs), unconnected="zero"), list(xs), list(vectors))


def gauss_newton_product(loss: Any, outputs: Any, xs: Any, vectors: Any) -> Any:
    """J^T H J times vectors: J is the Jacobian of outputs by xs, H the Hessian of loss by outputs.

    loss: a real scalar that depends on xs through outputs.  outputs: what the loss is convex in,
    such as a model's predictions, a tensor or nested tensors.  xs, vectors: as for `hvp`.

    Returns tensors nested as xs are.  Where the loss is convex in the outputs the matrix has no
    negative eigenvalues, unlike the Hessian (Schraudolph 2002, "Fast curvature matrix-vector
    products for second-order gradient descent").

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.placeholder("float64", (), name="w")
    ...     prediction = w**2
    ...     loss = 0.5 * (prediction - 1.0) ** 2
    ...     product = sad.gauss_newton_product(loss, prediction, w, 1.0)
    >>> sad.Session(graph).run(product, {w: 3.0})
    array(36.)
    """
    asked = "gauss_newton_product"
    with asking(asked, keeps=True):
        target = scalar(loss, "the loss", asked)
        middle, _ = tensors(outputs, "outputs", asked)
        sources, tree = tensors(xs, "xs", asked)
        given = along(vectors, tree, "the vector")
        pushed = jvp(middle, sources, given)
        curved = hessian_product(target, middle, pushed)
        return nested(tree, gradients(middle, sources, curved, unconnected="zero"))


def fisher_product(log_probabilities: Any, xs: Any, vectors: Any) -> Any:
    """The empirical Fisher matrix times vectors: the mean over examples of g (g . v).

    log_probabilities: [n], of each example, or [], of one.  g is the gradient of an example's by
    xs.  xs, vectors: as for `hvp`.

    Returns tensors nested as xs are.  The matrix is J^T J / n of the Jacobian J of the log
    probabilities, and J is never made.  Of labels that the model draws it is an unbiased estimate
    of the Fisher matrix, of those of the data the empirical one (Martens 2020, "New insights and
    perspectives on the natural gradient method", section 5).  Raises ShapeError for another rank.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     mean = sad.placeholder("float64", (), name="mean")
    ...     data = sad.constant([1.0, 3.0], dtype="float64")
    ...     product = sad.fisher_product(-((data - mean) ** 2) / 2, mean, 1.0)
    >>> sad.Session(graph).run(product, {mean: 1.0})
    array(2.)
    """
    asked = "fisher_product"
    with asking(asked, keeps=True):
        target = arguments.single(log_probabilities, "the log probabilities", asked)
        if target.ndim > 1:
            raise ShapeError(
                "log probabilities are one for each example",
                expected="a tensor of rank 0 or 1",
                found=target.describe(),
            )
        sources, tree = tensors(xs, "xs", asked)
        (pushed,) = jvp(target, sources, along(vectors, tree, "the vector"))
        if target.ndim:
            pushed = pushed / target.shape[0]
        return nested(tree, gradients([target], sources, [pushed], unconnected="zero"))


def tensors(given: Any, what: str, asked: str) -> tuple[list[Any], Tree]:
    """The tensors of a nest, and how they are nested.  Raises GradientError for anything else."""
    values, tree = flattened(given)
    return arguments.handles(values, what, asked), tree


def along(given: Any, tree: Tree, what: str) -> list[Any]:
    """Directions, nested as what they belong to; of a lone tensor they may be nested lists."""
    return [given] if tree.kind is None else like(tree, given, what)


def scalar(given: Any, what: str, asked: str) -> Any:
    """A real floating tensor of rank 0.  Raises GradientError for anything else."""
    target = arguments.single(given, what, asked)
    arguments.check_differentiable(target.graph, [target], what, asked)
    if target.ndim or target.type.kind == "complex":
        raise GradientError(
            f"{what} is no real scalar",
            asked=asked,
            expected="a real tensor of rank 0",
            found=target.describe(),
            hint="sad.sum or sad.mean makes one of many; sad.jacobian is for several",
        )
    return target


def require_differentiable(ys: Sequence[Any], xs: Sequence[Any], asked: str) -> Any:
    """The graph of all.  Raises GradientError for integers and none, GraphError for two graphs."""
    if not ys or not xs:
        raise GradientError(
            f"{'xs' if ys else 'ys'} is empty", asked=asked, expected="at least one tensor",
            found="none",
        )  # fmt: skip
    graph = arguments.common_graph([*ys, *xs], asked)
    arguments.check_differentiable(graph, ys, "a y", asked)
    arguments.check_differentiable(graph, xs, "an x", asked)
    return graph
