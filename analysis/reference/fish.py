"""Three ellipses of the fluid's density, hinged in a chain, in a perfect fluid in the plane: the connection A of
swimming without momentum, xi = -A alpha', with every body in the flow of the others, or each alone.

    phi(x) = (1/2 pi) int sigma ln|x - y| ds,   sigma/2 + (1/2 pi) int sigma (x - y).n_x/|x - y|^2 ds = w = <v, n>
    T = (1/2) V^T M V,  M_ab = -int phi_a w_b ds + bodies,  A = M_gg^-1 M_gr,
    V = (xi, alpha'), xi the velocity of the frame of the middle body
Nystrom's method on the trapezoidal rule, the logarithm by Kress's weights: R. Kress, Linear Integral Equations (3rd ed.
2014), section 12.3. Motions and signs as in E. Kanso et al., J. Nonlinear Sci. 15 (2005) 255,
doi:10.1007/s00332-004-0650-9; the fluid's density is 1.
"""
import numpy as np

NODES = 64


class Fish:
  def __init__(self, a=1.0, b=0.1, gap=0.1, coupling=True, nodes=NODES):
    self.a, self.b, self.arm, self.coupling, self.n = a, b, a + gap, coupling, nodes
    self.t = 2 * np.pi * np.arange(nodes) / nodes
    half, step = nodes // 2, self.t[:, None] - self.t[None]
    m = np.arange(1, half)
    weights = -4 * np.pi / nodes * np.sum(np.cos(m[:, None, None] * step) / m[:, None, None], axis=0)
    self.log = weights - np.pi / half ** 2 * np.cos(half * step)
    self.kernel = step

  def places(self, alpha):
    """(angle, centre) of the rear, the middle and the front body; the front body is rotated by alpha_2, the rear one by
    -alpha_1."""
    rear, front = -alpha[0], alpha[1]
    unit = lambda w: np.array([np.cos(w), np.sin(w)])  # noqa: E731
    return [(rear, -self.arm * unit(0) - self.arm * unit(rear)), (0.0, np.zeros(2)),
            (front, self.arm * unit(0) + self.arm * unit(front))]

  def curves(self, alpha):
    """Points, outward normals and speeds |x'| of all bodies, [body, node, ..]."""
    x, n, s = [], [], []
    for angle, centre in self.places(alpha):
      turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
      local = np.stack([self.a * np.cos(self.t), self.b * np.sin(self.t)], axis=1)
      normal = np.stack([self.b * np.cos(self.t), self.a * np.sin(self.t)], axis=1)  # times the speed
      speed = np.linalg.norm(normal, axis=1)
      x.append(local @ turn.T + centre)
      n.append(normal / speed[:, None] @ turn.T)
      s.append(speed)
    return np.array(x), np.array(n), np.array(s)

  def rates(self, alpha, body, x):
    """Velocities [5, ..] of points of a body: along x and y, rotation about the middle, alpha_1, alpha_2."""
    turning = lambda c: np.stack([-(x - c)[:, 1], (x - c)[:, 0]], axis=1)  # noqa: E731
    one = np.ones(len(x))
    v = [np.stack([one, 0 * one], 1), np.stack([0 * one, one], 1), turning(np.zeros(2)),
         -turning(np.array([-self.arm, 0])) if body == 0 else 0 * x,
         turning(np.array([self.arm, 0])) if body == 2 else 0 * x]
    return np.array(v)

  def mass(self, alpha):
    x, n, s = self.curves(alpha)
    w = np.array([np.einsum("kij,ij->ki", self.rates(alpha, body, x[body]), n[body]) for body in range(3)])
    M = sum(self.solid(alpha, body) for body in range(3))
    if self.coupling:
      return M + self.fluid(x, n, s, w)
    return M + sum(self.fluid(x[k:k + 1], n[k:k + 1], s[k:k + 1], w[k:k + 1]) for k in range(3))

  def fluid(self, x, n, s, w):
    bodies, size = len(x), len(x) * self.n
    p, normal, ds = x.reshape(size, 2), n.reshape(size, 2), (s * 2 * np.pi / self.n).reshape(size)
    away = p[:, None] - p[None]
    square = np.sum(away ** 2, axis=-1)
    np.fill_diagonal(square, 1)
    double = np.einsum("ijk,ik->ij", away, normal) / square
    np.fill_diagonal(double, self.a * self.b / (2 * s.reshape(size) ** 3))  # half the curvature
    single = np.log(square) / 2 * ds
    for k in range(bodies):
      own = slice(k * self.n, (k + 1) * self.n)
      sine = 4 * np.sin(self.kernel / 2) ** 2
      np.fill_diagonal(sine, 1)
      smooth = np.log(square[own, own] / sine) / 2
      np.fill_diagonal(smooth, np.log(s[k]))
      single[own, own] = (self.log / 2 + smooth * 2 * np.pi / self.n) * s[k]
    rate = np.concatenate([w[k].T for k in range(bodies)])
    sigma = np.linalg.solve(np.eye(size) / 2 + double * ds / (2 * np.pi), rate)
    return -(single @ sigma / (2 * np.pi)).T @ (ds[:, None] * rate)

  def solid(self, alpha, body):
    """The part of M from the body's own mass: four points with the mass and the moments of a uniform ellipse."""
    angle, centre = self.places(alpha)[body]
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    points = np.array([(self.a, 0), (-self.a, 0), (0, self.b), (0, -self.b)]) / np.sqrt(2) @ turn.T + centre
    v = self.rates(alpha, body, points)
    return np.pi * self.a * self.b / 4 * np.einsum("aij,bij->ab", v, v)

  def connection(self, alpha):
    """A with the rows v_x, v_y, omega."""
    M = self.mass(alpha)
    return np.linalg.solve(M[:3, :3], M[:3, 3:])


def displaced(fish, radius, steps=200):
  """(x, y, theta) of the middle body after one round of the circle alpha = radius (cos, sin), by the midpoint of A and
  exponentials, extrapolated from steps/2 and steps."""
  def once(count):
    g = np.eye(3)
    for k in range(count):
      t = 2 * np.pi * (k + 0.5) / count
      rate = radius * np.array([-np.sin(t), np.cos(t)]) * 2 * np.pi / count
      vx, vy, w = -fish.connection(radius * np.array([np.cos(t), np.sin(t)])) @ rate
      c, s = np.cos(w), np.sin(w)
      f, e = (np.sin(w) / w, (1 - np.cos(w)) / w) if abs(w) > 1e-12 else (1.0, w / 2)
      g = g @ np.array([[c, -s, f * vx - e * vy], [s, c, e * vx + f * vy], [0, 0, 1]])
    return np.array([g[0, 2], g[1, 2], np.arctan2(g[1, 0], g[0, 0])])
  return (4 * once(steps) - once(steps // 2)) / 3
