"""Errors of the code published with the thesis (github.com/bday336/curved_space_dynamics_solver, run unchanged).

MAXIMUM[body, space, bond][stages][step]: largest relative error of the separation on [0, 10] compared with the exact
reduced equations, for Gauss collocation in (q, q') with 1, 2, 3 stages (gs1, gs2, gs3) in the polar chart.
"""
MAXIMUM = {
    ("rod", "h3", 0): {
        1: {0.1: 2.54e-2, 0.01: 2.55e-4}, 2: {0.1: 1.72e-5, 0.01: 1.70e-9}, 3: {0.1: 4.58e-8, 0.01: 1.28e-10}},
    ("rod", "s3", 0): {
        1: {0.1: 1.64e-2, 0.01: 1.66e-4}, 2: {0.1: 8.47e-6, 0.01: 8.49e-10}, 3: {0.1: 1.96e-9, 0.01: 1.8e-13}},
    ("triangle", "h3", 0): {
        1: {0.1: 1.27e-2, 0.01: 1.26e-4}, 2: {0.1: 2.06e-5, 0.01: 2.03e-9}, 3: {0.1: 2.27e-8, 0.01: 9.5e-10}},
    ("triangle", "s3", 0): {
        1: {0.1: 7.85e-3}, 2: {0.1: 4.37e-6, 0.01: 4.39e-10}, 3: {0.1: 1.16e-9, 0.01: 4.6e-14}}}

# Largest error of the angle of the central orbit in H3 on [0, 10], 3 stages, step 0.01.
CENTRAL_ANGLE = 5.5e-9

# MULTIPLIER[stages][step]: largest error of the multiplier on [0, 2] for the rigid rod in H3, by Radau IIA with the
# constraint's derivatives (rs2: 2 stages, rs3: 3).
MULTIPLIER = {2: {0.1: 2.2e-2, 0.01: 2.4e-4}, 3: {0.1: 1.9e-7, 0.01: 1.9e-12}}


def published(body, space, bond, stages, step):
  """The published error, or None."""
  return MAXIMUM.get((body, space, bond), {}).get(stages, {}).get(step)
