/* Bodies in a fluid: how far energy and momentum of each have gone from the start's. A row measures all of it, whatever
 * is recorded. */
#include "run/fluid_private.h"

#include <string.h>

/* A body that has gone less far, by its pose, is where it was but for round-off. */
static const double rest = 1e-9;

typedef struct cb_body_change {
  cb_immersed_conserved is;
  cb_pose pose;
  double momentum[6]; /* angular about the world's origin, linear; in the world's axes */
  double casimir[2];  /* in place of that in a curved space */
} cb_body_change;

static void momentum_of(const cb_rigid_state *s, double out[6]) {
  double moment[3];
  cb_cross3(s->g.x, s->world + 3, moment);
  for (int i = 0; i < 3; i++) {
    out[i] = s->world[i] + moment[i];
    out[3 + i] = s->world[3 + i];
  }
}

/* Of body and fluid; 0 for what has angular inertia alone. */
static double gyration(const cb_immersed_row *row) {
  double turning = 0, going = 0;
  for (int i = 0; i < 3; i++) {
    turning += row->K[i][i];
    going += row->K[3 + i][3 + i];
  }
  return going > 0 ? sqrt(turning / going) : 0;
}

static double length(const double a[3]) { return sqrt(cb_dot3(a, a)); }

/* The part along up is taken out of a, or all but it. */
static void project(const cb_immersed_conserved *is, bool along, double a[3]) {
  const double up = cb_dot3(a, is->up);
  for (int i = 0; i < 3 && is->upright; i++) a[i] = along ? up * is->up[i] : a[i] - up * is->up[i];
}

static void compare_momentum(const cb_body_change *c, cb_body_watch *w, const cb_rigid_state *s,
                             const cb_immersed_row *row) {
  const double r = gyration(row);
  double by[6];
  momentum_of(s, by);
  for (int i = 0; i < 6; i++) by[i] -= c->momentum[i];
  project(&c->is, true, by);
  project(&c->is, false, by + 3);
  if (r > 0) {
    w->momentum_change = fmax(w->momentum_change, fmax(length(by + 3), length(by) / (r + length(s->g.x))));
    w->momentum_scale = fmax(w->momentum_scale, length(s->world + 3) + length(s->world) / r);
  }
}

/* In a curved space, of |p|^2 + K |l|^2 and l.p, by the size of the momentum: the spatial momentum has no digits far out
 * in a hyperbolic one. */
static void compare_casimirs(double K, const cb_body_change *c, cb_body_watch *w, const cb_rigid_state *s) {
  double is[2];
  const double *m = s->momentum, root = sqrt(fabs(K)), size = cb_dot3(m + 3, m + 3) + root * root * cb_dot3(m, m);
  cb_rigid_casimirs(K, m, is);
  w->momentum_change =
      fmax(w->momentum_change, fmax(fabs(is[0] - c->casimir[0]) / 2, root * fabs(is[1] - c->casimir[1])));
  w->momentum_scale = fmax(w->momentum_scale, size);
}

static bool has_moved(const cb_body_change *c, const cb_rigid_state *s, const cb_immersed_row *row) {
  double by[3], turn = 0;
  for (int i = 0; i < 3; i++) by[i] = s->g.x[i] - c->pose.x[i];
  for (int i = 0; i < 4; i++) turn = fmax(turn, fabs(s->g.q[i] - c->pose.q[i]));
  return turn > rest || length(by) > rest * (gyration(row) + length(c->pose.x));
}

static cb_status remember(cb_run *run, cb_fluid_run_part *part, int body, void *context) {
  (void)context;
  cb_fluid_run *b = run->fluid;
  cb_body_change *c = &b->change[body];
  const cb_rigid_state *s = &b->state[body];
  c->is = cb_immersed_conserves(b->start[body].body);
  if (!c->is.energy && !c->is.momentum) return CB_OK;
  /* a start that cannot be measured is told when it is recorded */
  if (cb_swimmer_measure(part->swimmer[body - part->first], s, &b->row[body])) {
    c->is.energy = c->is.momentum = false;
    return CB_OK;
  }
  c->pose = s->g;
  cb_energy_begin(&b->watch[body].energy, b->row[body].kinetic, b->row[body].potential);
  momentum_of(s, c->momentum);
  cb_rigid_casimirs(b->fluid->curvature, s->momentum, c->casimir);
  return CB_OK;
}

cb_status cb_fluid_run_remember(cb_run *run) {
  cb_fluid_run *b = run->fluid;
  int failed;
  b->change = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *b->change);
  if (!b->change) return cb_fail(CB_ERROR_MEMORY, "no memory for what %d bodies conserve", b->n);
  run->method = b->integrator;
  return cb_fluid_run_each(run, remember, NULL, &failed);
}

void cb_fluid_run_compare(cb_run *run, bool last) {
  cb_fluid_run *b = run->fluid;
  double energy = NAN, momentum = NAN;
  (void)last;
  for (int i = 0; i < b->n; i++) {
    const cb_body_change *c = &b->change[i];
    cb_body_watch *w = &b->watch[i];
    if (!c->is.energy && !c->is.momentum) continue;
    w->moved = w->moved || has_moved(c, &b->state[i], &b->row[i]);
    cb_energy_see(&w->energy, b->row[i].kinetic, b->row[i].potential);
    if (b->fluid->curvature == 0)
      compare_momentum(c, w, &b->state[i], &b->row[i]);
    else
      compare_casimirs(b->fluid->curvature, c, w, &b->state[i]);
    if (c->is.energy) energy = fmax(energy, w->moved ? cb_energy_ratio(&w->energy) : 0);
    if (c->is.momentum) momentum = fmax(momentum, w->moved ? cb_change_by(w->momentum_change, w->momentum_scale) : 0);
  }
  run->change.energy = energy;
  run->change.momentum = momentum;
}
