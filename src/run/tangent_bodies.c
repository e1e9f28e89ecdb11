/* The tangent vector of bodies that act on each other: by joints, forces between points, or wrenches that use
 * quantities of other bodies (run/exponent.h). All bodies of the run are one system: w consists of the twist and the
 * change of the momentum of each body (run/tangent_body.c), and then of the changes of the momenta of the joints'
 * coordinates, which are those of rotors (mechanism/mechanism.h).
 *
 * Motions that the joints do not allow are no part of w: a step closes the joints and settles the momenta, so after the
 * first step w is tangent to the motions that they allow. The displacement by e w opens the joints by e^2 only, and the
 * next step closes them.
 *
 * The steps are those of a second run with the same bodies. Its state is copied from the first run, and changed.
 */
#include "core/failure.h"
#include "run/exponent.h"
#include "run/fluid_private.h"

#include <curvebody/contact.h>
#include <math.h>
#include <string.h>

typedef struct all_bodies {
  cb_integrator *integrator;
  cb_run *run;
  void **kept; /* [n_state]: the state z of the run */
  double t[2]; /* its time */
  int n, coordinates;
  double (*unit)[12];   /* [n] */
  cb_rigid_state *side; /* [n]: the bodies after a step from z + e w */
  double *momentum;     /* [coordinates]: the same of the momenta of the coordinates */
  double unit_of_joints;
  bool begun; /* w is tangent to the motions that the joints allow */
} all_bodies;

static size_t size_of(const cb_blob *b) {
  return b->count * (b->type == CB_FIELD_INT32 ? sizeof(int32_t) : sizeof(double));
}

static void keep(all_bodies *o) {
  for (size_t i = 0; i < o->run->layout.n_state; i++)
    memcpy(o->kept[i], o->run->blob[i].data, size_of(&o->run->blob[i]));
  o->t[0] = *o->run->t;
  o->t[1] = *o->run->t_low;
}

static void copy_back(all_bodies *o) {
  for (size_t i = 0; i < o->run->layout.n_state; i++)
    memcpy(o->run->blob[i].data, o->kept[i], size_of(&o->run->blob[i]));
  *o->run->t = o->t[0];
  *o->run->t_low = o->t[1];
}

static double *momenta_of_joints(const all_bodies *o) {
  int count;
  cb_mechanism *m = cb_fluid_joined_mechanism(o->run);
  return m ? cb_mechanism_state(m, &count) + o->coordinates : NULL;
}

/* One step from z + e w; the run then has the state at its end. */
static cb_status step_from(all_bodies *o, const double *w, double e, double h) {
  cb_sink nowhere = {.self = NULL};
  double *momentum = momenta_of_joints(o);
  copy_back(o);
  for (int i = 0; i < o->n && e != 0; i++)
    cb_tangent_move(o->unit[i], w + 12 * i, e, &cb_fluid_run_of(o->run)->state[i]);
  for (int c = 0; c < o->coordinates; c++) momentum[c] += e * o->unit_of_joints * w[12 * o->n + c];
  const cb_status status = o->run->motion->restored(o->run);
  return status ? status : o->run->motion->step(o->run, &nowhere, h);
}

static cb_status step_bodies(cb_tangent *m, double h) {
  all_bodies *o = m->self;
  const double e = CB_EXPONENT_NUDGE;
  double square = 0;
  const cb_rigid_state *state = cb_fluid_run_of(o->run)->state;
  cb_status status = step_from(o, m->w, e, h);
  if (status) return status;
  memcpy(o->side, state, (size_t)o->n * sizeof *o->side);
  if (o->coordinates) memcpy(o->momentum, momenta_of_joints(o), (size_t)o->coordinates * sizeof *o->momentum);
  status = step_from(o, m->w, -e, h);
  if (status) return status;
  for (int i = 0; i < o->n; i++) cb_tangent_difference(o->unit[i], &o->side[i], &state[i], m->w + 12 * i);
  for (int c = 0; c < o->coordinates; c++)
    m->w[12 * o->n + c] = (o->momentum[c] - momenta_of_joints(o)[c]) / (2 * e * o->unit_of_joints);
  /* the part that the joints do not allow was lost in the first step, which is no decay */
  for (size_t i = 0; i < m->n && !o->begun; i++) square += m->w[i] * m->w[i];
  for (size_t i = 0; i < m->n && !o->begun; i++) m->w[i] /= sqrt(square);
  o->begun = true;
  status = step_from(o, m->w, 0, h);
  keep(o);
  return status;
}

static void free_bodies(cb_tangent *m) {
  all_bodies *o = m->self;
  cb_run_free(o->run);
  cb_integrator_free(o->integrator);
}

/* The units of each body, with the largest of their rates in place of its own, so that a body that rests has units,
 * too. */
static cb_status find_units(all_bodies *o) {
  const cb_fluid_run *b = o->run->own;
  double rate = 0;
  cb_status status = CB_OK;
  for (int i = 0; i < o->n && !status; i++) {
    double own;
    status = cb_tangent_units(b->start[i].body, &b->state[i], o->unit[i], &own);
    rate = fmax(rate, own);
  }
  if (!status && !(rate > 0))
    return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent needs bodies that move or have weight");
  for (int i = 0; i < o->n && !status; i++) {
    for (int k = 6; k < 12; k++) o->unit[i][k] *= rate;
    o->unit_of_joints = fmax(o->unit_of_joints, o->unit[i][6]);
  }
  return status;
}

static cb_status check(const cb_run *run, const cb_fluid_points *points) {
  const cb_mechanism *mechanism = cb_fluid_joined_mechanism(run);
  if (!points) return CB_OK;
  if (cb_system_contacts(points->system) || (mechanism && cb_mechanism_has_modes(mechanism)))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the Lyapunov exponent needs a smooth motion: expected no contacts, walls or events, and joints "
                   "without `friction` and without `limits` that reflect");
  if (cb_system_particles(points->system) > points->n_points)
    return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent of bodies is not available next to particles");
  if (mechanism && !cb_fluid_run_of(run)->integrator->class_->drift_joined)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the Lyapunov exponent of joined bodies is not available with the integrator `%s`: expected "
                   "hamilton_pontryagin",
                   cb_fluid_run_of(run)->integrator->class_->name);
  return CB_OK;
}

/* A run with the same bodies, in the same state. */
static cb_status copy_run(const cb_run *run, const cb_fluid_points *points, all_bodies *o, cb_arena *arena) {
  const cb_fluid_run *f = run->own;
  cb_status status = cb_integrator_like(f->integrator, NULL, &o->integrator);
  if (!status) status = cb_run_create_fluid(f->fluid, f->n, f->start, points, o->integrator, &run->options, &o->run);
  if (status) return status;
  o->kept = cb_arena_alloc(arena, run->layout.n_state, sizeof *o->kept);
  for (size_t i = 0; i < run->layout.n_state && o->kept; i++) {
    if (!(o->kept[i] = cb_arena_alloc(arena, size_of(&run->blob[i]), 1)))
      return cb_fail(CB_ERROR_MEMORY, "no memory for the state of a run");
    memcpy(o->kept[i], run->blob[i].data, size_of(&run->blob[i]));
  }
  o->t[0] = *run->t;
  o->t[1] = *run->t_low;
  if (!o->kept) return cb_fail(CB_ERROR_MEMORY, "no memory for the state of a run");
  copy_back(o);
  return CB_OK;
}

cb_status cb_fluid_run_tangent_of_all(const cb_run *run, cb_tangent *m) {
  const cb_fluid_run *f = run->own;
  const cb_fluid_points *points = f->coupling ? cb_fluid_coupling_origin(f->coupling) : NULL;
  cb_status status = check(run, points);
  if (status) return status;
  all_bodies *o = m->self = cb_arena_alloc(m->arena, 1, sizeof *o);
  if (!o) return cb_fail(CB_ERROR_MEMORY, "no memory for a tangent vector");
  m->shared = true;
  m->step = step_bodies;
  m->free = free_bodies;
  o->n = f->n;
  o->coordinates = f->joined ? cb_mechanism_coordinates(cb_fluid_joined_mechanism(run)) : 0;
  m->n = 12 * (size_t)o->n + (size_t)o->coordinates;
  m->w = cb_arena_alloc(m->arena, m->n, sizeof *m->w);
  o->unit = cb_arena_alloc(m->arena, (size_t)o->n, sizeof *o->unit);
  o->side = cb_arena_alloc(m->arena, (size_t)o->n, sizeof *o->side);
  o->momentum = cb_arena_alloc(m->arena, (size_t)o->coordinates, sizeof *o->momentum);
  if (!m->w || !o->unit || !o->side || !o->momentum) return cb_fail(CB_ERROR_MEMORY, "no memory for a tangent vector");
  status = copy_run(run, points, o, m->arena);
  return status ? status : find_units(o);
}
