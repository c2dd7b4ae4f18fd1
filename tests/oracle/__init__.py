"""Values, vector-Jacobian and Hessian-vector products that two other systems agree on.

`cases.json` lists the cases, `values.npz` holds their arrays end to end, one vector a dtype,
in the order of the cases.  A case has the inputs in<k>, the outputs out<k>, a cotangent ct<k>
for each output in `cotangents`, and for each input i in `differentiated` its vjp<i>, a
direction u<i>, and (float64) hvp<i> = d/din_i sum_j <u_j, vjp_j>, the cotangents held fixed.
They were computed by PyTorch 2.13 and JAX 0.10.2 on a CPU.  `disagree` names the arrays on
which those differ; where the values do, JAX's array is kept as <name>@jax.
"""
