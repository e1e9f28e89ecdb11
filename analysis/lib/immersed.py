"""Reads runs of bodies in a fluid: one body by its name, its wrenches in the world frame, their work; draws its
outline.

    pose (x, y, z, qw, qx, qy, qz), twist Y = (omega, v) and wrenches (torque, force) in the body's frame
    balance    E(t) - E(0) = int <W, Y> dt over the wrenches W without a potential
"""
import h5py
import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb

WATER, AIR, SILICONE, GRAVITY = 998.0, 1.225, 1297.4, 9.81  # kg/m^3, m/s^2


class Body:
  """Arrays of one body over time: body["twist"] is the part of /twist for this body."""

  def __init__(self, record, name):
    self.record, self.index = record, record.labels("body").index(name)
    self.time = record["time"]
    with h5py.File(record.path, "r") as file:
      self.wrenches = sorted(key[len("wrench_"):] for key in file if key.startswith("wrench_"))

  def __getitem__(self, name):
    return self.record[name][:, self.index]

  @property
  def mass(self):
    return float(self.record["body_mass"][self.index])

  def rotation(self):
    """Matrices [time, 3, 3] that map components along the body's axes to components along the world's axes."""
    w, x, y, z = self["pose"][:, 3:].T
    return np.stack([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]).transpose(2, 0, 1)

  def wrench(self, name):
    """The wrench of that name over time; 0 if the body has no such wrench."""
    return self["wrench_" + name] if name in self.wrenches else np.zeros_like(self["twist"])

  def force(self, name):
    """The force of that wrench along the world's axes."""
    return self.world(self.wrench(name)[:, 3:])

  def world(self, v):
    return np.einsum("tij,tj->ti", self.rotation(), v)

  def work(self, names):
    """The work of these wrenches up to each row."""
    power = np.sum(sum(self.wrench(name) for name in names) * self["twist"], axis=1)
    return integral(self.time, power)

  def unbalance(self, names=("drag", "linear_drag")):
    """Largest |E(t) - E(0) - work| divided by the range of the kinetic or the potential energy, whichever is larger."""
    energy = self["body_energy"]
    scale = max(np.ptp(self["body_kinetic_energy"]), np.ptp(self["body_potential_energy"]))
    return float(np.max(np.abs(energy - energy[0] - self.work(names))) / scale)


def integral(t, f):
  """int f dt from the first row to each row, by cubics, and by parabolas in the first and the last interval. Rows are
  evenly spaced; only the last interval may be shorter."""
  f = np.asarray(f, float)
  step = np.diff(t)
  inner = np.empty((len(t) - 1,) + f.shape[1:])
  inner[1:-1] = (-f[:-3] + 13 * f[1:-2] + 13 * f[2:-1] - f[3:]) / 24
  inner[0] = (5 * f[0] + 8 * f[1] - f[2]) / 12
  inner[-1] = (5 * f[-1] + 8 * f[-2] - f[-3]) / 12
  step = step.reshape((-1,) + (1,) * (f.ndim - 1))
  return np.concatenate([np.zeros((1,) + f.shape[1:]), np.cumsum(step * inner, axis=0)])


def fall(t, mass, weight, drag):
  """Distance and speed of a fall from rest with mass v' = weight - drag v^2."""
  end = np.sqrt(weight / drag)
  scale = mass * end / weight
  return end * scale * np.log(np.cosh(t / scale)), end * np.tanh(t / scale)


def hull(points):
  """Corners of the convex hull of points in the plane, counterclockwise (Andrew's monotone chain)."""
  points = sorted(set(map(tuple, np.round(points, 12))))
  def half(row):
    chain = []
    for p in row:
      while len(chain) > 1 and ((chain[-1][0] - chain[-2][0]) * (p[1] - chain[-2][1]) -
                                (chain[-1][1] - chain[-2][1]) * (p[0] - chain[-2][0])) <= 0:
        chain.pop()
      chain.append(p)
    return chain[:-1]
  return np.array(half(points) + half(points[::-1]))


def draw_outline(ax, pieces, pose, rotation, axes=(0, 2), **options):
  """Fills the outlines of convex pieces of a body (vertices in its frame) at a pose, seen along the axis not in
  `axes`."""
  for x in pieces:
    corners = hull((x @ rotation.T + pose[:3])[:, list(axes)])
    ax.fill(*corners.T, **({"linewidth": 0.5, "alpha": 0.5} | options))


def draw_mesh(axes, mesh, pose, rotation, colour, aside=(0, 0)):
  """A shaded body (vertices and triangles in its frame) at a pose, seen along y; `aside` shifts the drawing."""
  draw_surface(axes, mesh[0] @ rotation.T + pose[:3], mesh[1], colour, aside=aside)


def draw_surface(axes, x, faces, colour, seen=(0, 2), aside=(0, 0)):
  """A shaded surface, vertices x in the world frame. seen: (0, 2) from the side, along y, or (0, 1) from above. The
  nearest faces are drawn last."""
  corner = x[faces]
  towards = np.array([0.0, -1, 0]) if seen == (0, 2) else np.array([0.0, 0, 1])
  normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
  normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
  normal *= np.where(normal @ towards < 0, -1, 1)[:, None]
  order = np.argsort(corner.mean(axis=1) @ towards)
  light = 0.55 + 0.45 * np.clip(normal[order] @ (0.64 * towards + [-0.48, 0, 0] + 0.6 * np.array([0, 0.0, 1])), 0, 1)
  shade = light[:, None] * np.array(to_rgb(colour)) + 0.25 * light[:, None] * (1 - np.array(to_rgb(colour)))
  axes.add_collection(PolyCollection(corner[order][:, :, list(seen)] + aside, facecolors=np.clip(shade, 0, 1),
                                     edgecolors=np.clip(shade, 0, 1), linewidths=0.2))
