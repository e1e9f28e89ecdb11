"""Bodies in a fluid: quantities for the figures of leaves, seeds and swimmers, computed from their records."""
import numpy as np


def rotation(record):
  """R [T, body, 3, 3], which maps components along the body's axes to components along the world's axes."""
  w, x, y, z = np.moveaxis(record["pose"][..., 3:], -1, 0)
  rows = ((1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
          (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
          (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)))
  return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def spin(record):
  """Angular velocity along the world's axes [T, body, 3]."""
  return np.einsum("tbij,tbj->tbi", rotation(record), record["twist"][..., :3])


def velocity(record):
  """Velocity of the centres of mass [T, body, 3]: second-order differences of their positions."""
  return np.gradient(record["centre"], record["time"], axis=0)


def over_strokes(record, period):
  """(t, forward, sideways, upward): mean velocity of the first body's centre of mass over one period, with t at its
  middle. Forward is the mean horizontal direction of the body's x axis during the period."""
  t, x, axis = record["time"], record["centre"][:, 0], rotation(record)[:, 0, :, 0]
  n = int(round(period / (t[1] - t[0])))
  mean = (x[n:] - x[:-n]) / (t[n:] - t[:-n])[:, None]
  total = np.vstack([np.zeros(3), np.cumsum((axis[1:] + axis[:-1]) / 2, axis=0)])
  heading = total[n:] - total[:-n]
  heading[:, 2] = 0
  heading /= np.linalg.norm(heading, axis=1)[:, None]
  side = np.stack([-heading[:, 1], heading[:, 0]], axis=1)
  return (t[n:] + t[:-n]) / 2, np.sum(mean * heading, axis=1), np.sum(mean[:, :2] * side, axis=1), mean[:, 2]


def last_third(values):
  return values[2 * len(values) // 3:]


def drift(values):
  """(maximum - minimum)/|mean| over the last third."""
  late = last_third(values)
  return float((np.max(late) - np.min(late)) / abs(np.mean(late)))


def spread(values):
  """(maximum - minimum)/mean of |values|, for several numbers."""
  values = np.asarray(values)
  return float((np.max(values) - np.min(values)) / np.mean(np.abs(values)))
