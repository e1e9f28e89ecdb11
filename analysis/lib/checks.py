"""Claims with what was measured and what was allowed, and the fit of an order of convergence."""
from dataclasses import dataclass

import numpy as np


@dataclass
class Check:
  claim: str
  measured: str
  criterion: str
  passed: bool


def at_most(claim, value, bound):
  return Check(claim, f"{value:.3g}", f"≤ {bound:.3g}", bool(value <= bound))


def near(claim, value, target, tolerance, digits=5):
  passed = bool(abs(value - target) <= tolerance)
  return Check(claim, f"{value:.{digits}g}", f"{target:.{digits}g} ± {tolerance:.2g}", passed)


def three_digits(claim, value, printed):
  """`printed` has three significant digits; the value must round to it (half a unit of the last, and a little)."""
  unit = 10.0 ** (np.floor(np.log10(printed)) - 2)
  return Check(claim, f"{value:.4g}", f"{printed:.3g} to three digits", bool(abs(value - printed) <= 0.51 * unit))


def missing(claim, text):
  return Check(claim, text, "a result", False)


def fitted_order(steps, errors, floor, top=0.05):
  """Slope of log error against log step by least squares, over the points between round-off and the coarse end.
  Returns (order, points used); nan with fewer than three points."""
  steps, errors = np.asarray(steps, dtype=float), np.asarray(errors, dtype=float)
  use = (errors > floor) & (errors < top)
  if np.count_nonzero(use) < 3:
    return float("nan"), int(np.count_nonzero(use))
  return float(np.polyfit(np.log(steps[use]), np.log(errors[use]), 1)[0]), int(np.count_nonzero(use))
