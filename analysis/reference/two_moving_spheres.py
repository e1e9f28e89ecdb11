"""Two spheres that move freely in a perfect fluid of density 1, by the multipole series of their added mass.

    phi = sum_n A_n P_n^m(cos t_1)/r_1^(n+1) + B_n P_n^m(cos t_2)/r_2^(n+1),   t_i from the direction to the other
    P_k^m(cos t_2)/r_2^(k+1) = sum_n C(n+k, n+m) r_1^n/d^(n+k+1) P_n^m(cos t_1)
    -(n+1) alpha_n + n sum_k C(n+k, n+m) a_1^(n-1) a_2^(k+2)/d^(n+k+1) beta_k = U_1 delta_n1,   A_n = a_1^(n+2) alpha_n
    momentum_i = -(V_i U_i + 4 pi A_1)
    2 T = sum_ij <v_i, M_ij v_j>,  M_ij = (m_i delta_ij + K^t_ij)(1 - e e^T) + (m_i delta_ij + K^a_ij) e e^T
    p' = dT/dx,  p_i = sum_j M_ij v_j
m = 0: motion along the line of the centres (K^a); m = 1: across it (K^t). a: radii, d: distance of the centres, e: the
direction from the first to the second, V: volumes, m_i: masses. Sources: as in two_spheres.py; H. Lamb, Hydrodynamics
(6th ed. 1932), articles 137 and 138.
"""
import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import gammaln


def added_mass(a, d, m, terms=60):
  """(K, dK/dd), each [2, 2], for motions along the line of the centres (m = 0) or across it (m = 1)."""
  n = np.arange(1, terms + 1)
  row, column = np.meshgrid(n, n, indexing="ij")
  binomial = gammaln(row + column + 1) - gammaln(row + m + 1) - gammaln(column - m + 1)
  matrix, slope = np.zeros((2, 2 * terms, 2 * terms))
  for i, (own, other) in enumerate((a, a[::-1])):
    block = np.exp(np.log(row) + binomial + (row - 1) * np.log(own) + (column + 2) * np.log(other)
                   - (row + column + 1) * np.log(d))
    at = slice(i * terms, (i + 1) * terms), slice((1 - i) * terms, (2 - i) * terms)
    matrix[at], slope[at] = block, -(row + column + 1) / d * block
  matrix -= np.diag(np.tile(n + 1.0, 2))
  sign = np.array([1, -1 if m == 0 else 1])  # towards the other sphere, of a velocity along e or across it
  right = np.zeros((2 * terms, 2))
  right[[0, terms], [0, 1]] = sign
  x = np.linalg.solve(matrix, right)
  dx = np.linalg.solve(matrix, -slope @ x)
  cube = np.array(a)[:, None] ** 3
  own = np.diag(4 / 3 * np.pi * np.array(a) ** 3 * sign)
  of = lambda y, own: -sign[:, None] * (own + 4 * np.pi * cube * y[[0, terms]])  # noqa: E731
  return of(x, own), of(dx, 0)


def dipole_mass(a, d, m):
  """The same with the leading term of K_12 only (Lamb, articles 137 and 138); K_11 and K_22 are those of each alone."""
  K = np.diag(2 / 3 * np.pi * np.array(a) ** 3)
  K[0, 1] = K[1, 0] = np.pi * a[0] ** 3 * a[1] ** 3 / d**3 * (-2 if m == 0 else 1)
  dK = np.zeros((2, 2))
  dK[0, 1] = dK[1, 0] = -3 / d * K[0, 1]
  return K, dK


class Spheres:
  """a: radii; mass: of the spheres; of: added_mass or dipole_mass."""

  def __init__(self, a, mass, of=added_mass):
    self.a, self.mass, self.of = a, np.diag(mass), of

  def tensors(self, x):
    r = x[3:] - x[:3]
    d = np.linalg.norm(r)
    (along, d_along), (across, d_across) = (self.of(self.a, d, m) for m in (0, 1))
    return r / d, d, along + self.mass, across + self.mass, d_along, d_across

  def inertia(self, x):
    e, _, along, across, *_ = self.tensors(x)
    return np.kron(across, np.eye(3) - np.outer(e, e)) + np.kron(along, np.outer(e, e))

  def rate(self, _, y):
    x, p = y[:6], y[6:]
    v = np.linalg.solve(self.inertia(x), p)
    e, d, along, across, d_along, d_across = self.tensors(x)
    w = v.reshape(2, 3)
    s = w @ e
    u = w - np.outer(s, e)
    force = e * (np.sum(d_across * (u @ u.T)) + np.sum(d_along * np.outer(s, s))) / 2
    force += (along - across) @ s @ u / d  # the turn of e
    return np.concatenate([v, -force, force])

  def solve(self, x, v, t):
    """Places [time, 2, 3] and velocities at the times t, which begin at 0."""
    start = np.concatenate([np.ravel(x), self.inertia(np.ravel(x)) @ np.ravel(v)])
    y = solve_ivp(self.rate, (0, t[-1]), start, "DOP853", t, rtol=1e-11, atol=1e-12).y.T
    v = np.array([np.linalg.solve(self.inertia(s[:6]), s[6:]) for s in y])
    return y[:, :6].reshape(-1, 2, 3), v.reshape(-1, 2, 3)


def sphere_masses(a, density):
  return 4 / 3 * np.pi * np.array(a) ** 3 * np.array(density)
