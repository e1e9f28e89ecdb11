#!/usr/bin/python3
"""Newton's cradle on a great circle by two rules, and a ball that bounces to rest."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most
from pictures import to_embedding
from runs import Run
from style import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, panels

TITLE = "Several simultaneous contacts, and restitution"
CAPTION = ("Left and middle: angle of each of five balls over time. Four balls touch on a great circle of S³, and a "
           "fifth one hits them. Sequential contacts pass the impulse on; simultaneous contacts move all balls: v ← v "
           "- (1 + e) N (NᵀMN)⁻¹Nᵀv. Both conserve energy and momentum. Right: a ball falls from height 1 on a floor "
           "of restitution 0.8 and comes to rest after infinitely many contacts, after (1 + e)/(1 - e) times the "
           "duration of the first fall.")
RULES = ("sequential", "simultaneous")
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILION)
FALL, REST, GRAVITY, TOUCH = 1.0, 0.8, 9.81, 5e-12
BOUNCING = Run("collisions/bouncing-e3")


def run(rule):
  return Run("collisions/cradle-s3", (f"contacts.rule={rule}",))


def runs(full):
  return [run(rule) for rule in RULES] + [BOUNCING]


def velocities(angle, t, record):
  """Velocities after the first contact, from the rows within a unit of time after it."""
  first = record["event_time"][0]
  rows = [k for k in range(len(t)) if first + 0.05 < t[k] < first + 1]
  return (angle[rows[-1]] - angle[rows[0]]) / (t[rows[-1]] - t[rows[0]])


def all_at_once():
  """Velocities by the simultaneous rule for five equal balls in a row; the first one arrives with speed 1."""
  N = np.zeros((5, 4))
  for k in range(4):
    N[k, k], N[k + 1, k] = -1, 1
  v = np.eye(5)[0]
  return v - 2 * N @ np.linalg.solve(N.T @ N, N.T @ v)


def draw(records, full):
  canvas, ((left, middle, right),) = panels(1, 3, 4.8, 4)
  checks = []
  for ax, rule in ((left, RULES[0]), (middle, RULES[1])):
    record = records[run(rule)]
    t = record["time"]
    points = to_embedding(record["plot_position"], 1)
    angle = np.unwrap(np.arctan2(points[..., 1], points[..., 0]), axis=0)
    for k in range(5):
      ax.plot(t, angle[:, k], color=COLOURS[k])
    ax.set(xlabel="time $t$", ylabel="angle", title=f"rule: {rule}")
    wanted = np.eye(5)[4] if rule == "sequential" else all_at_once()
    error = np.max(np.abs(velocities(angle, t, record) - wanted))
    checks += [at_most(f"{rule}: velocities after the first contact", float(error), 1e-12),
               at_most(f"{rule}: relative drift of the energy", record.drift("energy"), 1e-12),
               at_most(f"{rule}: drift of the Killing momenta", record.drift("killing_momentum"), 1e-12)]
    if rule == "sequential":  # free angles .5 and 2 pi - 1.5 - .6 - .4 + .5: the circle without the angles of the balls
      free = 2 * np.pi - 2.0
      moments = 0.5 + free * np.arange(3)
      found = record["event_time"][::4]
      checks.append(at_most("sequential: error of the times of impact", float(np.max(np.abs(found - moments[:len(found)]))),
                            20 * TOUCH))
  record = records[BOUNCING]
  t, z = record["time"], record["plot_position"][:, 0, 2]
  fall = np.sqrt(2 * FALL / GRAVITY)
  n = np.arange(20)
  moments = fall * (1 + 2 * REST * (1 - REST ** n) / (1 - REST))
  found = record["event_time"][record["event_kind"] == 0]
  ratio = record["event_speed_after"][:20] / -record["event_speed_before"][:20]
  end = fall * (1 + REST) / (1 - REST)
  lies = t > end + 0.01
  checks += [at_most("bouncing: error of the times of the first 20 contacts", float(np.max(np.abs(found[:20] - moments))), 1e-12),
             at_most("bouncing: speed after / speed before - 0.8", float(np.max(np.abs(ratio - REST))), 1e-12),
             at_most("bouncing: height above the floor at rest", float(np.max(np.abs(z[lies] - 0.1))), 1e-9)]
  right.plot(t, z - 0.1, color=BLUE)
  right.plot(moments, 0 * moments, ".", color=ORANGE)
  right.axvline(end, color=GREY, linewidth=0.8, linestyle="--")
  right.set(xlabel="time $t$", ylabel="height of the ball above the floor", title="restitution 0.8")
  return figure.Drawing(canvas, checks)


if __name__ == "__main__":
  figure.main(globals())
