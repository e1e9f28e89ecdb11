/* What the motion of a body in a fluid conserves: see immersed.h. */
#include "dynamics/conserved.h"
#include "fluid/immersed_private.h"

#include <math.h>

static bool floor_keeps_energy(const cb_floor *f) {
  switch (f->kind) {
    case CB_FLOOR_NONE: return true;
    case CB_FLOOR_STIFF: return f->damping == 0 && f->friction == 0;
    case CB_FLOOR_REFLECTING: return f->restitution == 1;
  }
  return false;
}

static bool along(const double a[3], const double up[3]) {
  double across[3];
  cb_cross3(a, up, across);
  return sqrt(cb_dot3(across, across)) <= 1e-12 * sqrt(cb_dot3(a, a));
}

cb_immersed_conserved cb_immersed_conserves(const cb_immersed *b) {
  static const cb_wrench_kind free_[] = {CB_WRENCH_FLOW, CB_WRENCH_PRESSURE, CB_WRENCH_DRAG, CB_WRENCH_LINEAR_DRAG,
                                         CB_WRENCH_MODEL};
  const cb_floor *floor = &b->fluid.floor;
  const bool pulled =
      b->potential && (cb_immersed_has(b, CB_WRENCH_POTENTIALS) || cb_immersed_has(b, CB_WRENCH_BUOYANCY));
  const double *g = b->fluid.gravity;
  const double weight = sqrt(cb_dot3(g, g));
  const bool falls = cb_immersed_has(b, CB_WRENCH_GRAVITY) || cb_immersed_has(b, CB_WRENCH_BUOYANCY);
  cb_immersed_conserved out = {.momentum = !b->texts && !b->layered,
                               .upright = falls || b->placed || floor->kind != CB_FLOOR_NONE};
  for (size_t i = 0; i < sizeof free_ / sizeof *free_; i++)
    out.momentum = out.momentum && !cb_immersed_has(b, free_[i]);
  if (pulled) {
    out.energy = out.momentum && cb_system_conserved(b->potential).energy;
    out.momentum = out.upright = false;
    return out;
  }
  out.energy = out.momentum && !b->poses && !b->carried && floor_keeps_energy(floor);
  for (int i = 0; i < 3; i++)
    out.up[i] = floor->kind != CB_FLOOR_NONE ? floor->up[i] : b->placed ? b->up[i] : weight > 0 ? g[i] / weight : 0;
  if (floor->kind == CB_FLOOR_STIFF && floor->friction > 0) out.momentum = false;
  if ((falls && !along(g, out.up)) || (b->placed && !along(b->up, out.up))) out.momentum = false;
  return out;
}
