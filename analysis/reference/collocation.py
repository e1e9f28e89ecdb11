"""Gauss collocation of high order with a constant step in numpy.longdouble (64-bit significand on x86-64).

    Y_i = y0 + h sum_j a_ij f(Y_j),   y1 = y0 + h sum_j b_j f(Y_j),   order 2s, by fixed-point iteration to round-off
Source: Hairer, Lubich and Wanner, Geometric Numerical Integration (2nd ed. 2006), section II.1.3,
doi:10.1007/3-540-30666-8.  The tableau is computed with 40 digits in mpmath.  The caller chooses the step; half the
step shows the error.
"""
import functools

import numpy as np
from mpmath import mp, mpf

from taylor import to_longdouble

STAGES = 10


@functools.lru_cache(maxsize=None)
def tableau(stages):
  """(a, b) of the Gauss method: a_ij = integral of the j-th Lagrange polynomial of the nodes over [0, c_i]."""
  with mp.workdps(40):
    guess = np.polynomial.legendre.leggauss(stages)[0]
    nodes = [(1 + mp.findroot(lambda x: mp.legendre(stages, x), mpf(float(x)))) / 2 for x in guess]
    vandermonde = mp.matrix(stages, stages)
    moments = mp.matrix(stages, stages + 1)
    for k in range(stages):
      for j in range(stages):
        vandermonde[k, j] = nodes[j] ** k
      for i, end in enumerate(nodes + [mpf(1)]):
        moments[k, i] = end ** (k + 1) / (k + 1)
    weights = mp.inverse(vandermonde) * moments
    table = np.array([[to_longdouble(weights[j, i]) for j in range(stages)] for i in range(stages + 1)])
  return table[:stages], table[stages]


def solve(f, y, times, step):
  """y at each of the increasing `times` (y at times[0] is given); no step is longer than `step`.  f acts on an array of
  states along its first axis."""
  a, b = tableau(STAGES)
  times = np.asarray(times, dtype=np.longdouble)
  y = np.asarray(y, dtype=np.longdouble)
  carry = np.zeros_like(y)
  out = np.empty((len(times),) + y.shape, dtype=np.longdouble)
  out[0] = y
  for k in range(1, len(times)):
    gap = times[k] - times[k - 1]
    pieces = max(1, int(np.ceil(gap / step)))
    h = gap / pieces
    for _ in range(pieces):
      stages = np.broadcast_to(y, (STAGES,) + y.shape)
      change = np.inf
      for _ in range(100):
        new = y + h * np.tensordot(a, f(stages), axes=1)
        last, change = change, np.max(np.abs(new - stages))
        stages = new
        if change == 0 or (change >= last and change < 1e-15):
          break
      else:
        raise ArithmeticError("the stages do not converge; take a shorter step")
      increment = h * np.tensordot(b, f(stages), axes=1) + carry
      total = y + increment
      carry, y = increment - (total - y), total
    out[k] = y
  return out
