"""Wong's equations of Purcell's three-link swimmer (links of 1/3, drag 1 and 2) and closed gaits that solve them, by
shooting; also with the opposite sign of the bracket in the curvature, and with a periodic velocity in place of a
periodic momentum.

  M_ij r''^j + (d_k M_ij - d_i M_jk/2) r'^j r'^k = <lambda, B_ij> r'^j,  B_12 = d_1 A_2 - d_2 A_1 -+ [A_1, A_2]
  lambda' = ad*_xi lambda,  xi = -A r',  g' = g xi;  p = M r' + <lambda, A>
Source: Koon & Marsden, SIAM J. Control Optim. 35 (1997) 901, doi:10.1137/S0363012995290367. A state, along the first
axis: r [2], r' [2], lambda [3], x, y, theta; any number of states at once.
"""
import numpy as np

R1, R2, V1, V2, LX, LY, LTHETA, X, Y, THETA = range(10)
LINK, RIGHT, TURNED = 1 / 3, -1, 1  # the last two: sign of the bracket
QUARTER_STEPS, WHOLE_STEPS = 24, 32


def connection(r):
  """A [.., 3, 2] and M [.., 2, 2] at shapes [.., 2]; also complex shapes, for derivatives by a step along i."""
  l, one, none = LINK, np.ones_like(r[..., 0]), np.zeros_like(r[..., 0])
  c1, s1, c2, s2 = np.cos(r[..., 0]), np.sin(r[..., 0]), np.cos(r[..., 1]), np.sin(r[..., 1])
  matrix = lambda rows: np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)  # noqa: E731
  first = matrix(((c1, -s1, l * s1 / 2, none, none), (s1, c1, -l * (1 + c1) / 2, l / 2 * one, none),
                  (none, none, one, -one, none)))
  last = matrix(((c2, s2, l * s2 / 2, none, none), (-s2, c2, l * (1 + c2) / 2, none, l / 2 * one),
                 (none, none, one, none, one)))
  middle = np.broadcast_to(np.eye(3, 5), first.shape)
  drag = np.array([l, 2 * l, l ** 3 / 6])
  G = sum(np.swapaxes(J, -1, -2) @ (drag[:, None] * J) for J in (first, middle, last))
  P, Q = G[..., :3, :3], G[..., :3, 3:]
  A = np.linalg.solve(P, Q)
  return A, G[..., 3:, 3:] - np.swapaxes(Q, -1, -2) @ A


def slopes(r, step=1e-30):
  """A, M and their slopes dA [.., k, 3, 2], dM [.., k, 2, 2]."""
  A, M = connection(r + 1j * step * np.vstack([np.zeros(2), np.eye(2)]).reshape((3,) + (1,) * (r.ndim - 1) + (2,)))
  slope = lambda a: np.moveaxis(a[1:].imag, 0, -3) / step  # noqa: E731
  return A[0].real, M[0].real, slope(A), slope(M)


def rate(y, sign, frozen=False):
  """y'; frozen: lambda_theta is constant."""
  r, v, (lx, ly, lt) = y[:2].T, y[2:4].T, y[LX:X]
  A, M, dA, dM = slopes(r)
  a, b = A[..., 0].T, A[..., 1].T
  B = (dA[..., 0, :, 1] - dA[..., 1, :, 0]).T + sign * np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                                                                0 * a[0]])
  charge = lx * B[0] + ly * B[1] + lt * B[2]
  force = charge * np.array([y[V2], -y[V1]]) - np.einsum("...kij,...k,...j->i...", dM, v, v) + \
      np.einsum("...ijk,...j,...k->i...", dM, v, v) / 2
  bend = np.linalg.solve(M, force.T[..., None])[..., 0].T
  xi = -np.einsum("...ai,...i->a...", A, v)
  c, s = np.cos(y[THETA]), np.sin(y[THETA])
  return np.array([y[V1], y[V2], *bend, ly * xi[2], -lx * xi[2], 0 * c if frozen else lx * xi[1] - ly * xi[0],
                   c * xi[0] - s * xi[1], s * xi[0] + c * xi[1], xi[2]])


def flow(y, end, sign=RIGHT, steps=QUARTER_STEPS, rows=False, frozen=False):
  """States at `end` by the classical Runge-Kutta method of order 4, extrapolated from `steps` and twice as many steps;
  or all rows."""
  slope = lambda z: rate(z, sign, frozen)  # noqa: E731
  found = []
  for n in (steps, 2 * steps):
    z, h, path = np.array(y, dtype=float), end / n, []
    for _ in range(n):
      path.append(z)
      k1 = slope(z)
      k2 = slope(z + h / 2 * k1)
      k3 = slope(z + h / 2 * k2)
      z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(z + h * k3))
    path.append(z)
    found.append(np.array(path) if rows else z)
  return found[1] if rows else (16 * found[1] - found[0]) / 15


def newton(residual, x, steps=30, small=1e-9):
  """A root of `residual`, which takes columns; slopes by differences. By least squares if the number of equations
  differs from the number of unknowns."""
  x = np.array(x, dtype=float)
  for _ in range(steps):
    h = 1e-6 * np.maximum(np.abs(x), 1e-2)
    columns = np.column_stack([x] + [x + s * h[k] * np.eye(len(x))[k] for k in range(len(x)) for s in (1, -1)])
    f = residual(columns)
    slope = (f[:, 1::2] - f[:, 2::2]) / (2 * h)
    step = np.linalg.lstsq(slope, -f[:, 0], rcond=1e-7)[0]
    x = x + step * min(1, 0.5 / np.max(np.abs(step / np.maximum(np.abs(x), 0.1))))
    if np.max(np.abs(step)) < small:
      return x
  return x + np.nan


def cost(y):
  """E = r'Mr'."""
  v = y[2:4].T
  return np.einsum("...i,...ij,...j->...", v, connection(y[:2].T)[1], v)


def momentum(y):
  A, M = connection(y[:2].T)
  return np.einsum("...ij,j...->i...", M, y[2:4]) + np.einsum("a...,...ai->i...", y[LX:X], A)


def symmetric(unknown):
  """Starts (s, s), (w, -w), (lambda_x, 0, lambda_theta) from columns s, w, lambda_x, lambda_theta."""
  s, w, lx, lt = unknown
  return np.array([s, s, w, -w, lx, 0 * s, lt, 0 * s, 0 * s, 0 * s])


def optimal(X_wanted, guess, sign=RIGHT, frozen=False):
  """Start of the gait around the straight shape that moves by X, from conditions at a quarter of the cycle:
  r1 + r2 = 0, r1' = r2' and lambda_theta = 0; if frozen, lambda_theta is 0 during the whole cycle.
  `guess`: s, w, lambda_x, lambda_theta."""
  def start(unknown):
    return symmetric([*unknown, 0 * unknown[0]] if frozen else unknown)

  def residual(unknown):
    y = flow(start(unknown), 0.25, sign, frozen=frozen)
    return np.array([y[R1] + y[R2], y[V1] - y[V2], 4 * y[X] - X_wanted] + ([] if frozen else [y[LTHETA]]))
  return start(newton(residual, guess[:3] if frozen else guess))


def smooth(X_wanted, phase, guess):
  """Start of a closed gait with a periodic velocity that moves by (X, 0, 0), from a shape at the angle `phase` around
  the straight shape. One equation is redundant: the speed is conserved."""
  def start(unknown):
    return np.concatenate([unknown, np.zeros((3,) + unknown.shape[1:])])

  def residual(unknown):
    y = start(unknown)
    z = flow(y, 1, steps=WHOLE_STEPS)
    return np.vstack([z[:4] - y[:4], z[X] - X_wanted, z[Y:], y[R1] * np.sin(phase) - y[R2] * np.cos(phase)])
  return start(newton(residual, guess, small=1e-8))
