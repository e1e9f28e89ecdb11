"""Taylor series of ordinary differential equations in extended precision (mpmath).

An equation is a function extend(series, n) that is given the coefficients 0..n of every series and appends the
coefficient n+1. Sources: Moore, Interval Analysis (1966), chapter 11, for products, quotients and roots of truncated
power series; Jorba and Zou (2005), Exp. Math. 14, 99, doi:10.1080/10586458.2005.10128904, for the step length.
"""
import bisect
import functools

import numpy as np
from mpmath import mp, mpf


def product(a, b, n):
  """Coefficient n of a b."""
  return mp.fdot(a[:n + 1], b[n::-1])


def quotient(a, b, c, n):
  """Coefficient n of c = a/b, with c known up to n-1."""
  return (a[n] - mp.fdot(b[1:n + 1], c[:n][::-1])) / b[0]


def square_root(a, c, n):
  """Coefficient n of c = sqrt(a), with c known up to n-1."""
  return mp.sqrt(a[0]) if n == 0 else (a[n] - mp.fdot(c[1:n], c[n - 1:0:-1])) / (2 * c[0])


class Solution:
  """Piecewise polynomials of named components; evaluates in mpmath or, for arrays, in numpy.longdouble."""

  def __init__(self):
    self.start, self.pieces = [], []

  def append(self, t, series):
    self.start.append(t)
    self.pieces.append(series)

  def at(self, name, t):
    """Component `name` at one time, in the working precision."""
    k = max(0, bisect.bisect_right(self.start, t) - 1)
    return mp.polyval(self.pieces[k][name][::-1], mpf(t) - self.start[k])

  def __call__(self, name, times):
    """Component `name` at an array of times, in numpy.longdouble (64-bit significand on x86-64)."""
    times = np.asarray(times, dtype=np.longdouble)
    start, coefficients = self.rounded(name)
    piece = np.clip(np.searchsorted(start, times, side="right") - 1, 0, len(start) - 1)
    tau = times - start[piece]
    value = np.zeros_like(tau)
    for column in coefficients[::-1]:
      value = value * tau + column[piece]
    return value

  @functools.lru_cache(maxsize=None)
  def rounded(self, name):
    """Starts of the pieces, and the coefficients of a component as [power, piece]."""
    start = np.array([to_longdouble(t) for t in self.start])
    return start, np.array([[to_longdouble(c) for c in piece[name]] for piece in self.pieces]).T


def to_longdouble(x):
  """An mpf as numpy.longdouble: the nearest double plus the double nearest to the rest."""
  high = float(x)
  return np.longdouble(high) + np.longdouble(float(x - mpf(high)))


def radius(series, order):
  """Radius of convergence estimated from the coefficients `order` and `order - 1`; infinite for a constant."""
  size = max(1, abs(series[0]))
  return min([(size / abs(series[n])) ** (mpf(1) / n) for n in (order, order - 1) if series[n] != 0], default=mp.inf)


def solve(begin, extend, names, end, order):
  """The Solution on [0, end]. begin(state) starts the series; state maps `names` to values, None: the initial state."""
  solution, t, state = Solution(), mpf(0), None
  shrink = (mp.eps / 10) ** (mpf(1) / order)
  while t < end:
    series = begin(state)
    for n in range(order):
      extend(series, n)
    step = min(shrink * min(radius(series[name], order) for name in names), end - t)
    solution.append(t, {name: series[name] for name in names})
    state = {name: mp.polyval(series[name][::-1], step) for name in names}
    t += step
  return solution
