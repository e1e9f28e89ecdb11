"""Rigid bodies that hang together by joints, computed independently of the program: Kirchhoff's equations of each body
in its own axes, with Lagrange multipliers for the joints, by the method DOP853.

    body:    R' = R hat(omega),  x' = R v,  l' = l × omega + p × v + torque,  p' = p × omega + force,
             (l, p) = K (omega, v)
    joints:  (M, G^T; G, 0)(a; -lambda) = (f; c),  G a = c the second derivative in time of what the joints forbid,
             a the derivatives of all (omega, v), M = diag(K) + sum of armatures A g g^T, f with g Q of the forces Q
    rates:   q' = g.(omega, v), Q = -k (q - rest) - d q' + motor - friction sign(q')
    driven:  g a = q'' - g'.(omega, v);  a dry hinge at rest: the same with q'' = 0, up to the force of friction
    blow at a limit: v+ = v- + M^-1 (g i + G^T nu) with q'+ = -e q'- and G v+ = 0
A joint is hinge (angle about z), ball (rotation vector), slide (along z) or universal (angles about x of its frame in
the first body and about y of its frame in the second); z, or x and y, are the given axes. Coordinates are measured from
the poses; whole turns follow from integrated rates.
Sources: G. Kirchhoff, Vorlesungen ueber mathematische Physik (1876), lecture 19; E. J. Haug, Computer Aided Kinematics
and Dynamics of Mechanical Systems (1989), chapter 11. Any consistent units.
"""
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

import kirchhoff
from sinking import hat, rotation

BODY = 13  # numbers per body: quaternion, place, twist
X, Y_AXIS, Z = np.eye(3)
COORDINATES = {"hinge": 1, "ball": 3, "slide": 1, "universal": 2}


@dataclass
class Body:
  inertia: np.ndarray  # K
  wrench: object = None  # function of (t, R, x, Y): torque and force in the body's axes


@dataclass
class Joint:
  kind: str
  of: tuple  # numbers of two bodies, -1: the world
  at: tuple = (0, 0, 0)  # place in the first body
  into: tuple = (0, 0, 0)  # place in the second body
  axis: tuple = (0, 0, 1)
  axis_in: tuple = None
  stiffness: float = 0
  rest: float = 0
  damping: float = 0
  armature: float = 0
  friction: float = 0
  motor: object = None  # function of (t, q, w), all coordinates and rates: forces on the own coordinates
  drive: object = None  # function of t: q, q', q''
  limits: tuple = (-np.inf, np.inf)
  restitution: float = 1

  @property
  def size(self):
    return COORDINATES[self.kind]

  @property
  def holds(self):
    """Whether each coordinate is driven."""
    return self.drive is not None


def cross(a, b):
  """a × b of two vectors; much faster than numpy's for all shapes."""
  (a0, a1, a2), (b0, b1, b2) = a, b
  return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def axes_along(axis):
  """Rotation whose z is along the axis, and whose x is along z × axis (or x)."""
  n = np.asarray(axis, float) / np.linalg.norm(axis)
  x = cross([0, 0, 1], n)
  x = np.array([1.0, 0, 0]) if np.linalg.norm(x) < 1e-12 else x / np.linalg.norm(x)
  return np.stack([x, cross(n, x), n], axis=1)


def frames(joint):
  """Rotations of the frames of a joint in its two bodies."""
  second = joint.axis if joint.axis_in is None else joint.axis_in
  if joint.kind == "ball":
    return np.eye(3), np.eye(3)
  if joint.kind != "universal":
    return axes_along(joint.axis), axes_along(second)
  x, y = np.asarray(joint.axis, float), np.asarray(second, float)
  x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
  z = cross(x, y) / np.linalg.norm(cross(x, y))
  return np.stack([x, cross(z, x), z], axis=1), np.stack([cross(y, z), y, z], axis=1)


def turn(v):
  """Rotation by the rotation vector v."""
  angle = np.linalg.norm(v)
  if angle < 1e-8:
    return np.eye(3) + hat(v)
  n = hat(np.asarray(v) / angle)
  return np.eye(3) + np.sin(angle) * n + (1 - np.cos(angle)) * n @ n


def vector(m):
  """Rotation vector of a rotation by less than half a turn."""
  s = np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]) / 2
  size = np.linalg.norm(s)
  angle = np.arctan2(size, (np.trace(m) - 1) / 2)
  return s * (angle / size if size > 1e-9 else 1)


def rate_of_vector(phi):
  """T with phi' = T w, w the angular velocity in the axes that turn."""
  angle = np.linalg.norm(phi)
  factor = 1 / 12 if angle < 1e-4 else (1 - angle / 2 / np.tan(angle / 2)) / angle**2
  h = hat(phi)
  return np.eye(3) + h / 2 + factor * h @ h


def quaternion(R):
  """Unit quaternion of a rotation, from its largest component."""
  t = np.array([np.trace(R), *np.diag(R)])
  k = int(np.argmax(t))
  if k == 0:
    q = np.array([1 + t[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
  else:
    i, j, l = k - 1, k % 3, (k + 1) % 3
    q = np.zeros(4)
    q[0], q[1 + i] = R[l, j] - R[j, l], 1 + R[i, i] - R[j, j] - R[l, l]
    q[1 + j], q[1 + l] = R[j, i] + R[i, j], R[l, i] + R[i, l]
  return q / np.linalg.norm(q)


def weight(force, at=(0, 0, 0)):
  """Wrench of a constant force in the world's axes at a place of the body."""
  def wrench(_, R, *__):
    own = R.T @ np.asarray(force, float)
    return np.concatenate([cross(at, own), own])
  return wrench


def ellipsoid(a, density, fluid=0.0, gravity=0.0):
  """A uniform ellipsoid with its own added mass, weight and buoyancy along -z."""
  a = np.asarray(a, float)
  mass = density * 4 / 3 * np.pi * np.prod(a)
  linear, angular = kirchhoff.ellipsoid(a) if fluid else (np.zeros(3), np.zeros(3))
  own = mass / 5 * (np.sum(a * a) - a * a)
  K = np.diag([*(own + fluid * angular), *(mass + fluid * linear)])
  return Body(K, weight((0, 0, -gravity * mass * (1 - fluid / density))) if gravity else None)


class Joints:
  """Bodies and joints; a state is all quaternions, places and twists, and then the coordinates of the joints."""

  def __init__(self, bodies, joints):
    self.bodies, self.joints, self.n = bodies, joints, len(bodies)
    self.first = np.cumsum([0] + [j.size for j in joints])
    self.size, self.frame = int(self.first[-1]), [frames(j) for j in joints]
    self.M = np.zeros((6 * self.n, 6 * self.n))
    for i, b in enumerate(bodies):
      self.M[6 * i:6 * i + 6, 6 * i:6 * i + 6] = b.inertia
    self.mode = np.zeros(self.size)  # of dry friction: sign of the rate, or 0: the coordinate is held
    self.held = np.zeros(self.size, bool)

  # --- one body, one joint ---

  def split(self, s):
    body = s[:BODY * self.n].reshape(self.n, BODY)
    return [rotation(q / np.linalg.norm(q)) for q in body[:, :4]], body[:, 4:7], body[:, 7:], s[BODY * self.n:]

  def end(self, body, at, frame, R, x, Y):
    """A frame of a joint: axes, place, angular velocity, velocity, acceleration at Y' = 0, and the matrices of these
    velocities [3, all velocities]; in the world's axes."""
    W, V = np.zeros((3, 6 * self.n)), np.zeros((3, 6 * self.n))
    if body < 0:
      return frame, np.asarray(at, float), np.zeros(3), np.zeros(3), np.zeros(3), W, V
    r, w, v = R[body], Y[body, :3], Y[body, 3:]
    W[:, 6 * body:6 * body + 3] = r
    V[:, 6 * body:6 * body + 3], V[:, 6 * body + 3:6 * body + 6] = -r @ hat(at), r
    u = v + cross(w, at)
    return r @ frame, x[body] + r @ at, r @ w, r @ u, r @ cross(w, u), W, V

  def rows(self, k, R, x, Y, near):
    """Of joint k: (G, c), and (g, -g'.(omega, v), q) of its coordinates."""
    j, (first, second) = self.joints[k], self.frame[k]
    A, xa, wa, va, ba, Wa, Va = self.end(j.of[0], j.at, first, R, x, Y)
    B, xb, wb, vb, bb, Wb, Vb = self.end(j.of[1], j.into, second, R, x, Y)
    W, V, w, u, bias, d, m = Wb - Wa, Vb - Va, wb - wa, vb - va, bb - ba, xb - xa, A.T @ B
    def across(e, n):  # e of A stays perpendicular to n of B
      c = cross(n, e)
      return c @ W, -(cross(cross(wb, n), e) + cross(n, cross(wa, e))) @ w
    def along(e):  # the distance along e of A
      return (e @ V + cross(e, d) @ Wa, -(e @ bias + 2 * u @ cross(wa, e) + d @ cross(wa, cross(wa, e))))
    place = [(V[i], -bias[i]) for i in range(3)]
    if j.kind == "hinge":
      rows = place + [across(A[:, i], B[:, 2]) for i in range(2)]
      free = [(A[:, 2] @ W, -cross(wa, A[:, 2]) @ w, np.arctan2(m[1, 0] - m[0, 1], m[0, 0] + m[1, 1]))]
    elif j.kind == "universal":
      rows = place + [across(A[:, 0], B[:, 1])]
      free = [(A[:, 0] @ W, -cross(wa, A[:, 0]) @ w, np.arctan2(m[2, 1], m[1, 1])),
              (B[:, 1] @ W, -cross(wb, B[:, 1]) @ w, np.arctan2(m[0, 2], m[0, 0]))]
    elif j.kind == "slide":
      rows = [across(A[:, i], B[:, (i + 1) % 3]) for i in range(3)] + [along(A[:, i]) for i in range(2)]
      free = [(*along(A[:, 2]), A[:, 2] @ d)]
    else:
      phi = vector(m)
      T = rate_of_vector(phi) @ B.T
      rows, free = place, [(T[i] @ W, np.nan, phi[i]) for i in range(3)]  # nan: a ball is never driven
    if j.kind in ("hinge", "universal"):
      free = [(g, c, q + 2 * np.pi * np.round((p - q) / (2 * np.pi))) for (g, c, q), p in zip(free, near)]
    return rows, free

  # --- all of them ---

  def system(self, t, s):
    """The KKT system, the rows of the coordinates, the coordinates, their rates and forces."""
    R, x, Y, near = self.split(s)
    f = np.zeros(6 * self.n)
    for i, b in enumerate(self.bodies):
      (l, p), (w, v) = (b.inertia @ Y[i]).reshape(2, 3), Y[i].reshape(2, 3)
      f[6 * i:6 * i + 6] = [*(cross(l, w) + cross(p, v)), *cross(p, w)]
      if b.wrench:
        f[6 * i:6 * i + 6] += b.wrench(t, R[i], x[i], Y[i])
    G, c, g, bias, q = [], [], [], [], []
    for k in range(len(self.joints)):
      rows, free = self.rows(k, R, x, Y, near[self.first[k]:self.first[k + 1]])
      G += [r[0] for r in rows]
      c += [r[1] for r in rows]
      g += [r[0] for r in free]
      bias += [r[1] for r in free]
      q += [r[2] for r in free]
    G, c, g, bias, q = np.array(G), np.array(c), np.array(g), np.array(bias), np.array(q)
    return f, G, c, g, bias, q, g @ Y.ravel()

  def forces(self, t, q, rate):
    """The forces on all coordinates, of motors alone and of all."""
    motor, Q = np.zeros(self.size), np.zeros(self.size)
    for k, j in enumerate(self.joints):
      at = slice(self.first[k], self.first[k + 1])
      if j.motor:
        motor[at] = j.motor(t, q, rate)
      Q[at] = motor[at] - j.stiffness * (q[at] - np.asarray(j.rest)) - j.damping * rate[at] - j.friction * self.mode[at]
    return motor, Q

  def armatures(self):
    return np.concatenate([np.full(j.size, float(j.armature)) for j in self.joints])

  def mass(self, g):
    """Inertia of all bodies and rotors, for the rows g of the coordinates."""
    return self.M + g.T @ (self.armatures()[:, None] * g)

  def accelerate(self, t, s):
    """Derivatives of all twists, the multipliers of held and driven coordinates (their efforts), and g, q, rates."""
    f, G, c, g, bias, q, rate = self.system(t, s)
    _, Q = self.forces(t, q, rate)
    rotor = self.armatures()
    M, f = self.mass(g), f + g.T @ (Q + rotor * np.where(rotor > 0, bias, 0))
    fixed = []
    for k, j in enumerate(self.joints):
      if j.holds:
        fixed += [(i, value) for i, value in zip(range(self.first[k], self.first[k + 1]), np.atleast_1d(j.drive(t)[2]))]
    fixed += [(i, 0.0) for i in range(self.size) if self.held[i]]
    for i, value in fixed:
      G, c = np.vstack([G, g[i]]), np.append(c, bias[i] + value)
    S = np.linalg.solve(M, np.column_stack([G.T, f]))
    # Rows that follow from others, such as those of a planar loop, get the multipliers of least norm.
    force = np.linalg.lstsq(G @ S[:, :-1], c - G @ S[:, -1], rcond=1e-9)[0]
    effort = np.zeros(self.size)
    for (i, _), value in zip(fixed, force[len(force) - len(fixed):]):
      effort[i] = value
    return S[:, -1] + S[:, :-1] @ force, effort, g, q, rate

  def rates(self, t, s):
    a, effort, _, q, rate = self.accelerate(t, s)
    R, _, Y, _ = self.split(s)
    out = []
    for i in range(self.n):
      (w, v), p = Y[i].reshape(2, 3), s[BODY * i:BODY * i + 4]
      spin = np.concatenate([[-p[1:] @ w], p[0] * w + cross(p[1:], w)]) / 2
      out += [spin, R[i] @ v, a[6 * i:6 * i + 6]]
    return np.concatenate(out + [rate])

  # --- starts ---

  def start(self, pose, twist, q):
    """The state of poses (x, y, z, quaternion), twists, and coordinates that are near."""
    body = [np.concatenate([p[3:], p[:3], Y]) for p, Y in zip(pose, twist)]
    return np.concatenate(body + [np.atleast_1d(np.asarray(q, float))])

  def hang(self, q, rate, base=None):
    """The state with coordinates q [joints] and rates (of a ball: the spin in the second body's axes); each joint
    places its second body; base: {body: (R, x, Y)}."""
    base = dict(base or {})
    base[-1] = (np.eye(3), np.zeros(3), np.zeros(6))
    for k, j in enumerate(self.joints):
      if j.of[1] in base:
        continue
      (A, B), (R, x, Y) = self.frame[k], base[j.of[0]]
      p, w = np.atleast_1d(q[k]), np.atleast_1d(rate[k])
      m, spin, shift = np.eye(3), np.zeros(3), np.zeros(3)  # the turn, its rate in the second body, a displacement
      if j.kind == "hinge":
        m, spin = turn(p[0] * Z), w[0] * Z
      elif j.kind == "slide":
        shift = Z
      elif j.kind == "ball":
        m, spin = turn(p), w
      else:
        m, spin = turn(p[0] * X) @ turn(p[1] * Y_AXIS), turn(p[1] * Y_AXIS).T @ X * w[0] + Y_AXIS * w[1]
      axes = R @ A @ m
      own = axes @ B.T
      omega = R @ Y[:3] + axes @ spin
      along = R @ A @ shift
      point = x + R @ j.at + along * p[0]
      speed = R @ (Y[3:] + cross(Y[:3], j.at)) + cross(R @ Y[:3], along * p[0]) + along * w[0]
      velocity = speed - cross(omega, own @ j.into)
      base[j.of[1]] = (own, point - own @ j.into, np.concatenate([own.T @ omega, own.T @ velocity]))
    rows = [np.concatenate([quaternion(base[i][0]), base[i][1], base[i][2]]) for i in range(self.n)]
    return np.concatenate(rows + [np.concatenate([np.atleast_1d(p) for p in q])])

  # --- motions ---

  def solve(self, s, t, tolerance=1e-12, most=np.inf):
    """States [time, ..] at the times t, without limits and friction."""
    return solve_ivp(self.rates, (t[0], t[-1]), s, "DOP853", t, rtol=tolerance, atol=tolerance, max_step=most).y.T

  def blow(self, t, s, i, restitution):
    """The state after a blow at a limit of coordinate i."""
    _, G, _, g, *_ = self.system(t, s)
    Y = self.split(s)[2].ravel()
    G = np.vstack([G] + [g[k] for k in range(self.size) if self.held[k]] + [g[i]])
    change = np.zeros(len(G))
    change[-1] = -(1 + restitution) * (g[i] @ Y)
    S = np.linalg.solve(self.mass(g), G.T)
    Y = Y + S @ np.linalg.lstsq(G @ S, change, rcond=1e-9)[0]
    out = s.copy()
    out[:BODY * self.n].reshape(self.n, BODY)[:, 7:] = Y.reshape(self.n, 6)
    return out

  def solve_events(self, s, t, tolerance=1e-12):
    """States at the times t with limits and dry friction, and the events (time, coordinate, what)."""
    joint_of = [k for k, j in enumerate(self.joints) for _ in range(j.size)]
    dry = [i for i in range(self.size) if self.joints[joint_of[i]].friction]
    def limit(i, side):
      def gap(_, y):
        return (y[BODY * self.n + i] - self.joints[joint_of[i]].limits[side]) * (1 - 2 * side)
      gap.direction = -1
      return gap
    def still(i):
      return lambda time, y: self.accelerate(time, y)[4][i]
    def breaks(i):
      return lambda time, y: self.joints[joint_of[i]].friction - abs(self.accelerate(time, y)[1][i])
    def release(time, y, i):  # at rest: held, or slipping?
      f = self.joints[joint_of[i]].friction
      self.mode[i], self.held[i] = 0, True
      effort = self.accelerate(time, y)[1][i]
      if abs(effort) > f:
        self.mode[i], self.held[i] = -np.sign(effort), False
    for i in dry:
      rate = self.accelerate(t[0], s)[4][i]
      self.mode[i] = np.sign(rate)
      if abs(rate) < 1e-12:
        release(t[0], s, i)
    out, events, now = [s], [], t[0]
    while len(out) < len(t):
      tests, what = [], []
      for i in range(self.size):
        for side in range(2):
          if np.isfinite(self.joints[joint_of[i]].limits[side]):
            tests.append(limit(i, side))
            what.append((i, "limit"))
      for i in dry:
        tests.append(breaks(i) if self.held[i] else still(i))
        what.append((i, "slips" if self.held[i] else "stops"))
        tests[-1].direction = -1 if self.held[i] else -self.mode[i]
      for test in tests:
        test.terminal = True
      rows = t[len(out):]
      part = solve_ivp(self.rates, (now, t[-1]), s, "DOP853", rows, events=tests, rtol=tolerance, atol=tolerance)
      out += list(part.y.T) if np.size(part.y) else []
      if part.status != 1:
        break
      k = next(k for k, times in enumerate(part.t_events) if len(times))
      now, s, (i, kind) = float(part.t_events[k][0]), part.y_events[k][0], what[k]
      events.append((now, i, kind))
      if kind == "limit":
        s = self.blow(now, s, i, self.joints[joint_of[i]].restitution)
        for n in dry:
          if not self.held[n]:
            self.mode[n] = np.sign(self.accelerate(now, s)[4][n])
      elif kind == "stops":
        release(now, s, i)
      else:
        self.mode[i], self.held[i] = -np.sign(self.accelerate(now, s)[1][i]), False
    return np.array(out), events

  # --- quantities of states ---

  def coordinates(self, states):
    return states[:, BODY * self.n:]

  def coordinate_rates(self, t, states):
    return np.array([self.system(time, s)[-1] for time, s in zip(t, states)])

  def places(self, states):
    return states[:, :BODY * self.n].reshape(len(states), self.n, BODY)[:, :, 4:7]

  def kinetic(self, states):
    """Energy of the bodies' motion, without rotors."""
    Y = states[:, :BODY * self.n].reshape(len(states), self.n, BODY)[:, :, 7:].reshape(len(states), -1)
    return np.einsum("ti,ij,tj->t", Y, self.M, Y) / 2

  def momentum(self, s):
    """Total angular momentum about the world's origin, and linear momentum."""
    R, x, Y, _ = self.split(s)
    total = np.zeros(6)
    for i, b in enumerate(self.bodies):
      l, p = (b.inertia @ Y[i]).reshape(2, 3)
      total += [*(R[i] @ l + cross(x[i], R[i] @ p)), *(R[i] @ p)]
    return total
