"""Added mass of two unit spheres in a perfect fluid of density 1, centres a distance d apart: each sphere's share of
the motions of both along the line of centres (m = 0) or across it (m = 1), together or opposed, by multipoles.

    phi = U sum_n g_n (P_n^m(cos t_1)/r_1^(n+1) + s P_n^m(cos t_2)/r_2^(n+1)),  t_i from the direction to the other
    P_n^m(cos t_2)/r_2^(n+1) = sum_k C(n+k, n+m) r_1^k/d^(n+k+1) P_k^m(cos t_1)
    -(n+1) g_n + s n sum_k C(n+k, n+m)/d^(n+k+1) g_k = delta_n1,   K = -(4 pi/3)(1 + 3 g_1)
s = 1 where both motions are mirror images (along: opposed, across: together), -1 otherwise.
Source: D. J. Jeffrey & Y. Onishi, J. Fluid Mech. 139 (1984) 261, eq. 2.3, doi:10.1017/S0022112084000355 (translation of
harmonics).
"""
import numpy as np
from scipy.special import gammaln


def share(d, across, mirrored, terms=None):
  m, sign = int(across), 1 if mirrored else -1
  n = np.arange(1, (terms or 40 + int(60 / np.sqrt(d - 2))) + 1)
  row, column = np.meshgrid(n, n, indexing="ij")
  binomial = gammaln(row + column + 1) - gammaln(row + m + 1) - gammaln(column - m + 1)
  matrix = sign * row * np.exp(binomial - (row + column + 1) * np.log(d)) - np.diag(n + 1.0)
  g = np.linalg.solve(matrix, (n == 1).astype(float))
  return float(-4 * np.pi / 3 * (1 + 3 * g[0]))


def pair(d):
  """{motion: share of a sphere}; the inertia of the pair's rotation about its middle is 2 (d/2)^2 times the share of
  `across, opposed`."""
  return {"along, together": share(d, False, False), "along, opposed": share(d, False, True),
          "across, together": share(d, True, True), "across, opposed": share(d, True, False)}
