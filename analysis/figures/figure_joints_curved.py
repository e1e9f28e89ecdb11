#!/usr/bin/python3
"""Joined bodies in S3 and H3: a hinge and a ball joint in a perfect fluid."""
import functools

import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most, near
from joints_curved import KNOWN, Joint, Joints, axis_angle, frame, known_pair
from runs import Run
from sinking import rotation
from style import BLUE, GREEN, GREY, ORANGE, SPACE_COLOR, SPACE_NAME, VERMILION, panels

TITLE = "Joined bodies in curved spaces: a ball joint and a hinge with a spring"
CAPTION = ("Three ellipsoids in a perfect fluid that fills H³ or S³: a ball joint holds the head to the trunk, and a "
           "hinge with a spring the tail. Upper left: the paths of the three origins in H³, in the ball model; dashed: "
           "the edge of the plot's ball. Upper right: the angle of the hinge. Lines: the program with the step 1/50 "
           "and order 4. Dots: the equations of each body on 4×4 matrices with multipliers for the joints, by the "
           "method of Dormand and Prince of order 8 with the tolerance 1e-12. Lower left: the largest differences from "
           "the dots over five seconds; filled: order 2, open: order 4. Lower right: a motion in H³ of 20000 steps "
           "of 1/50, at whose end the bodies are about 160 radii of curvature away.")
K_OF = {"h3": -1, "s3": 1}
SPACE = {"h3": "{name: h3, curvature: -1}", "s3": "{name: s3, curvature: 1}"}
STEPS = (1 / 25, 1 / 50, 1 / 100)
FINE = 1 / 500
ROWS = 1 / 25  # s, between the rows that are compared
BODIES = (("trunk", BLUE), ("head", ORANGE), ("tail", GREEN))


def run(space, step, order, rows=ROWS):
  return Run("joints/curved-chain", (f"space={SPACE[space]}", f"integrator.step={step}", f"integrator.order={order}",
                                     f"record.every={round(rows / step)}"))


LONG = Run("joints/curved-chain", ("integrator.order=2", "time.end=400", "record.every=40"))


def runs(full):
  return [run(space, h, order) for space in K_OF for order in (2, 4) for h in STEPS] + [
      run(space, FINE, 4) for space in K_OF] + [LONG]


# --- the independent motion ---

def point(K, x):
  """The points of the embedding with the normal coordinates x."""
  r = np.linalg.norm(x, axis=-1, keepdims=True)
  s, c = (np.sin(r), np.cos(r)) if K > 0 else (np.sinh(r), np.cosh(r))
  return np.concatenate([s * x / r, c], axis=-1)


def model(record, K):
  """The model and its start, with the inertias of the record."""
  aligned = axis_angle((1, 0, 0), 0)
  joints = [Joint("ball", (0, 1), (frame(K, (0.35, 0, 0)), frame(K, (-0.25, 0, 0)))),
            Joint("hinge", (0, 2), (frame(K, (-0.35, 0, 0), aligned), frame(K, (0.3, 0, 0), aligned)), 0.02, 0.1)]
  p = Joints(K, list(record["inertia"][0]), joints)
  start = [frame(K, g[:3], rotation(g[3:])) for g in record["pose"][0]]
  return p, p.start(start, record["twist"][0], [0.4])


@functools.cache
def exact(data, space):
  K = K_OF[space]
  record = data[run(space, STEPS[1], 4)]
  p, start = model(record, K)
  return p, p.solve(start, record["time"])


def error(data, space, which):
  p, states = exact(data, space)
  record = data[which]
  places = np.abs(point(K_OF[space], record["pose"][:, :, :3]) - p.points(states))
  angle = np.abs(record["angle"][:, 3] - states[:, -1])
  return float(max(np.max(places), np.max(angle)))


# --- drawing ---

def draw_paths(axes, data):
  record = data[run("h3", STEPS[1], 4)]
  p, states = exact(data, "h3")
  y = p.points(states)
  dots = y[:, :, :3] / (1 + y[:, :, 3:])
  for i, (name, colour) in enumerate(BODIES):
    axes.plot(*record["plot_position"][:, i, :2].T, color=colour, label=name)
    axes.plot(*dots[::5, i, :2].T, ".", color=colour, markersize=4)
  turn = np.linspace(0, 2 * np.pi, 200)
  axes.plot(np.cos(turn), np.sin(turn), "--", color=GREY, linewidth=0.8)
  axes.set(title="paths in H³", xlabel="$x$", ylabel="$y$")
  axes.set_aspect("equal")
  axes.legend(loc="lower left")


def draw_angles(axes, data):
  for space in K_OF:
    record = data[run(space, STEPS[1], 4)]
    axes.plot(record["time"], record["angle"][:, 3], color=SPACE_COLOR[space], label=SPACE_NAME[space])
    axes.plot(record["time"][::3], exact(data, space)[1][::3, -1], ".", color=SPACE_COLOR[space], markersize=4)
  axes.set(title="angle of the hinge", xlabel="time (s)", ylabel="angle (rad)")
  axes.legend()


def draw_errors(axes, errors):
  for (space, order), row in errors.items():
    axes.loglog(STEPS, row, "o-", color=SPACE_COLOR[space], markersize=4, linewidth=1,
                markerfacecolor="none" if order == 4 else None, label=SPACE_NAME[space] if order == 2 else None)
  axes.set(title="largest difference from the dots", xlabel="step (s)", ylabel="difference (rad; radii)")
  axes.set_xticks(STEPS, [f"1/{1 / h:.0f}" for h in STEPS])
  axes.minorticks_off()
  axes.legend()


def draw_long(axes, record):
  t, energy, casimir = record["time"], record["energy"], record["tree_casimir"][:, 0]
  axes.semilogy(t[1:], np.abs(energy / energy[0] - 1)[1:], color=VERMILION, label="energy")
  for i, name in enumerate(("$|p|^2 - |l|^2$", "$l\\cdot p$")):
    axes.semilogy(t[1:], np.maximum(np.abs(casimir[1:, i] / casimir[0, i] - 1), 1e-17), ".", markersize=2,
                  color=(BLUE, GREEN)[i], label=name)
  axes.set(title="changes in 20000 steps, order 2", xlabel="time (s)", ylabel="relative change")
  axes.legend(loc="center right")


# --- checks ---

def check_references():
  out = []
  for K, places in KNOWN.items():
    p, start = known_pair(K, K > 0)
    last = p.points(p.solve(start, [0, 2]))[-1]
    out.append(at_most(f"dots, two bodies on a ball joint in {'S³' if K > 0 else 'H³'}: difference at 2 s from digits "
                       "of another formulation", float(np.max(np.abs(last - places))), 1e-10))
  return out


def check_motions(data, errors):
  out = [near(f"{SPACE_NAME[space]}, order {order}: log2 of the ratio of the errors for 1/50 and 1/100",
              float(np.log2(row[1] / row[2])), order, 0.05 if order == 2 else 0.1)
         for (space, order), row in errors.items()]
  for space in K_OF:
    fine = run(space, FINE, 4)
    out += [at_most(f"{SPACE_NAME[space]}, order 4, step 1/500: largest difference from the dots",
                    error(data, space, fine), 1e-9),
            at_most(f"{SPACE_NAME[space]}: largest gap of a joint (m, rad)",
                    float(np.max(data[fine]["joint_residual"])), 1e-15)]
  return out


def check_long(record):
  energy, casimir = np.abs(record["energy"] / record["energy"][0] - 1), record["tree_casimir"][:, 0]
  half = len(energy) // 2
  return [at_most("H³, 20000 steps: relative change of the Casimirs",
                  float(np.max(np.abs(casimir / casimir[0] - 1))), 1e-13),
          at_most("H³, 20000 steps: largest gap of a joint (m, rad)", float(np.max(record["joint_residual"])), 1e-14),
          at_most("H³, 20000 steps: energy error of the second half / first half",
                  float(np.max(energy[half:]) / np.max(energy[:half])), 1.5)]


def draw(records, full):
  errors = {(space, order): [error(records, space, run(space, h, order)) for h in STEPS]
            for space in K_OF for order in (2, 4)}
  canvas, ((paths, angles), (lower, long)) = panels(2, 2)
  draw_paths(paths, records)
  draw_angles(angles, records)
  draw_errors(lower, errors)
  draw_long(long, records[LONG])
  return figure.Drawing(canvas, check_references() + check_motions(records, errors) + check_long(records[LONG]))


if __name__ == "__main__":
  figure.main(globals())
