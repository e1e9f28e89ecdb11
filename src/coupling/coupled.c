/* Places, kicks and steps of coupled bodies and particles (equations: coupled.h).
 *
 *   g = T(p) R:  T(p) y = (x + n ((c - 1) n.x + s w), c w - K s n.x) for y = (x, w);  p = |p| n, s = s_K(|p|),
 *   c = c_K(|p|), R a rotation of x
 *   a covector f = (f_x, f_w) at y = g y_0 is mapped to the body frame by the transposed matrix of g; then
 *   W = (x_0 × f_x, w_0 f_x - K f_w x_0), the values of f on the Killing fields of numerics/numerics_curved.h
 * g: the pose of a body; K: the curvature; s_K and c_K: the sine and cosine for this curvature; y_0 = (x_0, w_0): a
 * point in the body frame; W: the wrench of f at this point.
 */
#include "coupling/coupled_private.h"
#include "fluid/rigid_step.h"
#include "numerics/dd.h"
#include "numerics/numerics_curved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAXIMUM = 60 };

/* --- places --- */

static void find_motion(double K, const cb_rigid_state *s, cb_placing *out) {
  const cb_trig of = cb_trig_of(K);
  const double *x = s->g.x, r = sqrt(cb_dot3(x, x));
  cb_pose_rotation(&s->g, out->r);
  out->s = cb_trig_s(of, r);
  out->c = cb_trig_c(of, r);
  for (int i = 0; i < 3; i++) {
    out->p[i] = x[i];
    out->p_low[i] = s->x_low[i];
    out->n[i] = r > 0 ? x[i] / r : i == 0;
  }
}

/* Computes out[k] = g (x, w) in the coordinates of the space. vector: true if (x, w) is a vector; in E3 g only rotates
 * it. For a point in E3 the low part of the position is added to the rotated x first, because both are small
 * numbers. */
static void place_one(const cb_coupled *c, const cb_placing *g, const double x[3], double w, bool vector, double *out) {
  double y[3];
  cb_apply3(g->r, x, y);
  if (c->K == 0) {
    for (int i = 0; i < 3; i++) out[i] = vector ? y[i] : g->p[i] + (g->p_low[i] + y[i]);
    return;
  }
  const double along = cb_dot3(g->n, y);
  for (int i = 0; i < 3; i++) out[i] = y[i] + g->n[i] * ((g->c - 1) * along + g->s * w);
  out[3] = c->R * (g->c * w - c->K * g->s * along);
}

void cb_coupled_place(cb_coupled *c) {
  for (int b = 0; b < c->bodies.n; b++) find_motion(c->K, &c->bodies.state[b], &c->motion[b]);
  for (int i = 0; i < c->n; i++) {
    const cb_carried *own = &c->carried[i];
    if (own->body >= 0) place_one(c, &c->motion[own->body], own->x, own->w, false, c->state->x + i * c->k);
  }
}

void cb_coupled_wrench(const cb_coupled *c, int place, const double *f, double W[6]) {
  const cb_carried *own = &c->carried[place];
  const cb_placing *g = &c->motion[own->body];
  double at[3] = {f[0], f[1], f[2]}, back[3], w = 0;
  if (c->K != 0) {
    const double along = cb_dot3(g->n, f), f_w = c->R * f[3];
    for (int i = 0; i < 3; i++) at[i] += g->n[i] * ((g->c - 1) * along - c->K * g->s * f_w);
    w = g->s * along + g->c * f_w;
  }
  cb_apply3_transposed(g->r, at, back);
  cb_cross3(own->x, back, W);
  for (int i = 0; i < 3; i++) W[3 + i] = own->w * back[i] - c->K * w * own->x[i];
}

void cb_coupled_raise(const cb_coupled *c, int place, const double *f, double *out) {
  const double *x = c->state->x + place * c->k;
  for (int a = 0; a < c->k; a++) out[a] = f[a] / c->g->form[a];
  const double normal = c->K != 0 ? c->K * cb_inner(c->g, x, out) : 0; /* <x, x> = 1/K */
  for (int a = 0; a < c->k; a++) out[a] -= normal * x[a];
}

/* Computes the wrench of f in the axes in which a state keeps the momentum. In E3 these are the axes of the world, and
 * f itself is the force, so that opposite forces cancel exactly. */
static void wrench_in_world(const cb_coupled *c, int place, const double *f, double W[6]) {
  const cb_carried *own = &c->carried[place];
  const cb_placing *g = &c->motion[own->body];
  double body[6], arm[3];
  if (c->K != 0) {
    cb_coupled_wrench(c, place, f, body);
    cb_turn6(g->r, body, W);
    return;
  }
  cb_apply3(g->r, own->x, arm);
  cb_cross3(arm, f, W);
  memcpy(W + 3, f, 3 * sizeof *f);
}

static void push_body(cb_rigid_state *s, const double r[3][3], const double W[6]) {
  for (int i = 0; i < 6; i++) cb_compensated_add_one(&s->world[i], &s->world_low[i], W[i]);
  cb_turn6_transposed(r, s->world, s->momentum);
}

static void push_particle(cb_coupled *c, int i, double factor, const double *f) {
  double change[CB_COORD_MAX];
  cb_coupled_raise(c, i, f, change);
  double *p = c->state->p + i * c->k, *low = c->state->p_low + i * c->k;
  for (int a = 0; a < c->k; a++) cb_compensated_add_one(&p[a], &low[a], factor * change[a]);
}

void cb_coupled_push_one(cb_coupled *c, int body, int place, double factor, const double *f) {
  double W[6] = {0};
  if (body < 0) {
    push_particle(c, place, factor, f);
    return;
  }
  cb_add6(factor, f, W);
  push_body(&c->bodies.state[body], (const double(*)[3])c->motion[body].r, W);
}

void cb_coupled_push_point(cb_coupled *c, int place, double factor, const double *f) {
  const int body = c->carried[place].body;
  double W[6];
  if (body >= 0) wrench_in_world(c, place, f, W);
  cb_coupled_push_one(c, body, place, factor, body >= 0 ? W : f);
}

void cb_coupled_kick(cb_coupled *c, double factor, const double *f) {
  memset(c->wrench, 0, (size_t)c->bodies.n * sizeof *c->wrench);
  for (int i = 0; i < c->n; i++) {
    double W[6];
    const int body = c->carried[i].body;
    if (body >= 0) {
      wrench_in_world(c, i, f + i * c->k, W);
      cb_add6(factor, W, c->wrench[body]);
    } else {
      push_particle(c, i, factor, f + i * c->k);
    }
  }
  for (int b = 0; b < c->bodies.n; b++)
    push_body(&c->bodies.state[b], (const double(*)[3])c->motion[b].r, c->wrench[b]);
}

cb_status cb_coupled_find_velocities(cb_coupled *c, double t) {
  double Y[6];
  int last = -1;
  const cb_status felt = c->bodies.feel ? c->bodies.feel(c->bodies.self, t, NULL, NULL) : CB_OK;
  if (felt) return felt;
  for (int i = 0; i < c->n; i++) {
    const cb_carried *own = &c->carried[i];
    double *v = c->velocity + i * c->k, moved[3], w;
    if (own->body < 0) {
      for (int a = 0; a < c->k; a++) v[a] = c->mass[i] > 0 ? c->state->p[i * c->k + a] / c->mass[i] : 0;
      continue;
    }
    if (own->body != last) {
      const cb_rigid_state *s = &c->bodies.state[own->body];
      const cb_status status =
          cb_rigid_twist_of(c->bodies.problem(c->bodies.self, own->body), t, &s->g, s->momentum, Y);
      if (status) return status;
      cb_turn6(c->motion[own->body].r, Y, c->twist[own->body]);
      last = own->body;
    }
    cb_cross3(Y, own->x, moved);
    for (int a = 0; a < 3; a++) moved[a] += own->w * Y[3 + a];
    w = -c->K * cb_dot3(Y + 3, own->x);
    place_one(c, &c->motion[own->body], moved, w, true, v);
  }
  return CB_OK;
}

/* --- forces --- */

/* Computes the covectors of all forces between points, and of the particles' weight, at the present places. */
static cb_status find_force(cb_coupled *c, double t) {
  cb_status status = CB_OK;
  const bool moves = cb_forces_uses_velocity(c->forces);
  if (c->known_force && !moves) return CB_OK;
  if (moves) status = cb_coupled_find_velocities(c, t);
  if (!status) status = cb_forces_eval(c->forces, t, c->state->x, moves ? c->velocity : NULL, c->force);
  if (status) return status;
  for (int i = 0; i < c->n; i++) {
    double *f = c->force + i * c->k;
    for (int a = 0; a < c->k; a++) f[a] *= c->g->form[a];
    for (int a = 0; c->K == 0 && c->carried[i].body < 0 && a < 3; a++)
      f[a] += cb_system_masses(c->system)[i] * c->fluid.gravity[a];
  }
  c->known_force = true;
  return CB_OK;
}

/* --- a step --- */

static int rows_of(const cb_coupled *c) { return c->rows ? c->rows->rows : 0; }

/* --- joints --- */

static int joint_numbers(const cb_coupled *c) {
  int n = 0;
  if (c->bodies.mechanism) cb_mechanism_state(c->bodies.mechanism, &n);
  return n;
}

cb_mechanism_bodies cb_coupled_joined(const cb_coupled *c) {
  return (cb_mechanism_bodies){c->bodies.state, c->bodies.self,
                               c->bodies.joined_problem ? c->bodies.joined_problem : c->bodies.problem};
}

bool cb_coupled_has_joints(const cb_coupled *c, int body) {
  return c->bodies.mechanism && cb_mechanism_joins(c->bodies.mechanism, body);
}

/* Adds the impulses of the joints to the momenta, which include what the bodies add to each other through the fluid. */
static cb_status settle_joints(void *self, double t) {
  const cb_coupled *c = self;
  int failed;
  const cb_mechanism_bodies bodies = cb_coupled_joined(c);
  return cb_mechanism_settle(c->bodies.mechanism, &bodies, t, &failed);
}

cb_status cb_coupled_settle(cb_coupled *c, double t) {
  const bool joints = c->bodies.mechanism && !c->bodies.settled;
  if (!c->bodies.mechanism) return CB_OK; /* velocities are found where they are used */
  if (c->bodies.feel) return c->bodies.feel(c->bodies.self, t, joints ? settle_joints : NULL, c);
  return joints ? settle_joints(c, t) : CB_OK;
}

/* Copies the state of the joints to `out` or, if `back` is set, from `out` to the joints. */
static void copy_joints(const cb_coupled *c, double *out, bool back) {
  int n;
  if (!c->bodies.mechanism) return;
  double *own = cb_mechanism_state(c->bodies.mechanism, &n);
  memcpy(back ? own : out, back ? out : own, (size_t)n * sizeof *out);
}

cb_status cb_coupled_snapshot_create(const cb_coupled *c, cb_coupled_snapshot **out) {
  cb_coupled_snapshot *s = calloc(1, sizeof *s);
  if (s) s->bodies = calloc((size_t)c->bodies.n + 1, sizeof *s->bodies);
  if (s) s->impulse = calloc((size_t)rows_of(c) + 1, sizeof *s->impulse);
  if (s) s->joint = calloc((size_t)joint_numbers(c) + 1, sizeof *s->joint);
  if (!s || !s->bodies || !s->impulse || !s->joint || cb_state_create(c->system, &s->state)) {
    cb_coupled_snapshot_free(s);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the state of %d bodies", c->bodies.n);
  }
  *out = s;
  return CB_OK;
}

void cb_coupled_snapshot_free(cb_coupled_snapshot *s) {
  if (!s) return;
  cb_state_free(s->state);
  free(s->bodies);
  free(s->impulse);
  free(s->joint);
  free(s);
}

void cb_coupled_keep(const cb_coupled *c, cb_coupled_snapshot *s) {
  cb_state_copy(s->state, c->state);
  memcpy(s->bodies, c->bodies.state, (size_t)c->bodies.n * sizeof *s->bodies);
  for (int r = 0; r < rows_of(c); r++) s->impulse[r] = c->rows->impulse[r];
  copy_joints(c, s->joint, false);
  s->last_length = c->last_length;
}

/* Updates the data that depends on the places: the points of bodies, and the masses M of particles. */
void cb_coupled_follow(cb_coupled *c) {
  cb_coupled_place(c);
  for (int i = 0; c->varies && i < c->n; i++)
    if (c->feels[i]) /* does not fail: the density at this place has been evaluated before */
      cb_particle_mass(&c->fluid, cb_system_masses(c->system)[i],
                       cb_system_radius(c->system, cb_system_particle(c->system, i)), c->state->x + i * c->k,
                       &c->mass[i]);
}

/* Restores the momenta and places of a snapshot, but not the impulses. */
static void bring_back(cb_coupled *c, const cb_coupled_snapshot *s) {
  cb_state_copy(c->state, s->state);
  memcpy(c->bodies.state, s->bodies, (size_t)c->bodies.n * sizeof *s->bodies);
  copy_joints(c, s->joint, true);
  cb_coupled_follow(c);
}

void cb_coupled_bring_back(cb_coupled *c, const cb_coupled_snapshot *s) {
  bring_back(c, s);
  for (int r = 0; r < rows_of(c); r++) c->rows->impulse[r] = s->impulse[r];
  c->last_length = s->last_length;
  c->known_force = false;
}

/* Changes the mass M of a particle that has moved in a fluid of varying density. Its velocity p/M stays the same, so
 * that its momentum p changes in proportion. */
static cb_status change_mass(cb_coupled *c, int i) {
  const double old = c->mass[i];
  const double mass = cb_system_masses(c->system)[i],
               radius = cb_system_radius(c->system, cb_system_particle(c->system, i));
  const cb_status status = cb_particle_mass(&c->fluid, mass, radius, c->state->x + i * c->k, &c->mass[i]);
  for (int a = 0; a < c->k && old > 0; a++) {
    c->state->p[i * c->k + a] *= c->mass[i] / old;
    c->state->p_low[i * c->k + a] *= c->mass[i] / old;
  }
  return status;
}

static cb_status drift_particle(cb_coupled *c, int i, double t, double h) {
  double *x = c->state->x + i * c->k, *low = c->state->x_low + i * c->k;
  double *p = c->state->p + i * c->k, *p_low = c->state->p_low + i * c->k, v[CB_COORD_MAX], y[CB_COORD_MAX],
         w[CB_COORD_MAX];
  if (c->feels[i]) {
    const cb_particle_state particle = {cb_system_masses(c->system)[i],
                                        cb_system_radius(c->system, cb_system_particle(c->system, i)),
                                        c->mass[i],
                                        x,
                                        low,
                                        p,
                                        p_low};
    const cb_status status = cb_particle_drift(&c->fluid, &particle, t, h);
    return status || !c->varies ? status : change_mass(c, i);
  }
  if (c->K == 0) {
    for (int a = 0; a < 3; a++) cb_compensated_add_one(&x[a], &low[a], h / c->mass[i] * (p[a] + p_low[a]));
    return CB_OK;
  }
  for (int a = 0; a < c->k; a++) v[a] = h / c->mass[i] * p[a];
  cb_exp(c->g, x, v, y, w);
  cb_space_project_point(c->g, y);
  cb_space_project_tangent(c->g, y, w);
  for (int a = 0; a < c->k; a++) {
    x[a] = y[a];
    p[a] = w[a] * (c->mass[i] / h);
    low[a] = p_low[a] = 0;
  }
  return CB_OK;
}

/* Moves all particles and bodies for the time h. Particles move first, so that wrenches of bodies may use the places of
 * particles in the middle of the step. */
static cb_status drift(cb_coupled *c, double t, double h, int *body) {
  cb_status status = CB_OK;
  *body = -1;
  c->known_force = false;
  for (int i = 0; i < c->n && !status; i++) {
    const double *x = c->state->x + i * c->k, was[3] = {x[0], x[1], x[2]};
    if (c->carried[i].body >= 0) continue;
    status = drift_particle(c, i, t, h);
    for (int a = 0; c->K == 0 && a < 3; a++) {
      c->middle[i * c->k + a] = was[a] + (x[a] - was[a]) / 2;
      c->middle_velocity[i][a] = (x[a] - was[a]) / h;
    }
    if (status)
      status = cb_fail(status, "particle `%s`: %s",
                       cb_system_particle_name(c->system, cb_system_particle(c->system, i)), cb_error_text());
  }
  if (!status) status = c->bodies.drift(c->bodies.self, h, body);
  if (!status) cb_coupled_place(c);
  return status;
}

/* Repeats the drift from node k with corrected impulses until the constraints hold at node k+1. */
static cb_status drift_onto_constraints(cb_coupled *c, double t, double h, int *body, int *iterations) {
  bool done = !c->rows;
  cb_status status = CB_OK;
  if (done) {
    *iterations = 1;
    return drift(c, t, h, body);
  }
  cb_coupled_keep(c, c->kicked);
  status = cb_coupled_rows_begin(c, t);
  for (int n = 0; !done && !status; n++) {
    bring_back(c, c->kicked);
    cb_coupled_rows_apply(c);
    status = drift(c, t, h, body);
    if (!status) status = cb_coupled_rows_correct(c, t + h, h, n, &done);
    *iterations = n + 1;
  }
  return status;
}

/* Makes the kick at the end of a step, and changes the velocities so that they satisfy the constraints. Forces that
 * depend on velocities are found by a fixed-point iteration; each iteration multiplies the error by about h c/(2 m),
 * for the damping c of a mass m. */
static cb_status second_kick(cb_coupled *c, double t, double h) {
  const bool moves = cb_forces_uses_velocity(c->forces);
  double last = INFINITY;
  if (!moves) {
    cb_status status = find_force(c, t);
    if (!status) cb_coupled_kick(c, h / 2, c->force);
    if (!status) status = cb_coupled_settle(c, t);
    return status || !c->rows ? status : cb_coupled_rows_project(c, t);
  }
  cb_status status = cb_coupled_settle(c, t);
  cb_coupled_keep(c, c->kicked);
  double *old = c->last_force;
  memset(old, 0, (size_t)(c->n * c->k) * sizeof *old);
  for (int n = 0; !status; n++) {
    double change = 0, size = 0;
    status = find_force(c, t);
    if (status) break;
    for (int e = 0; e < c->n * c->k; e++) {
      change = fmax(change, fabs(c->force[e] - old[e]));
      size = fmax(size, fabs(c->force[e]));
      old[e] = c->force[e];
    }
    bring_back(c, c->kicked);
    cb_coupled_kick(c, h / 2, c->force);
    status = cb_coupled_settle(c, t);
    if (c->rows && !status) status = cb_coupled_rows_project(c, t);
    if (status || change <= 1e-15 * size || (n > 2 && change >= last && change <= 1e-12 * size)) break;
    last = change;
    if (n == MAXIMUM)
      status = cb_fail(CB_STEP_NO_CONVERGENCE,
                       "forces that depend on velocities change too much within a step of %g at t = %g: use a smaller "
                       "`step`",
                       h, t);
  }
  return status;
}

/* Makes one part of a step, of length h. It is itself a step of order 2. */
static cb_status make_part(cb_coupled *c, double t, double h, int *body, int *iterations) {
  for (int b = 0; b < c->bodies.n; b++) c->bodies.state[b].t = t;
  cb_status status = find_force(c, t);
  if (status) return status;
  cb_coupled_kick(c, h / 2, c->force);
  status = drift_onto_constraints(c, t, h, body, iterations);
  return status ? status : second_kick(c, t + h, h);
}

cb_status cb_coupled_whole(cb_coupled *c, double t, double h, int *body, int *iterations) {
  cb_status status = CB_OK;
  *body = -1;
  *iterations = 0;
  for (int i = 0; i < c->bodies.substeps && !status; i++) {
    const double part = c->last_length = c->bodies.substep[i] * h;
    int drifts = 0;
    status = make_part(c, t, part, body, &drifts);
    if (drifts > *iterations) *iterations = drifts;
    t += part;
  }
  return status;
}

/* In hyperbolic space the round-off of the coordinates of a point grows like exp(2 d/R) with its distance d from the
 * origin. At 8 R a distance of two points has nine digits. */
static const double farthest = 8;

cb_status cb_coupled_check_distances(const cb_coupled *c) {
  for (int i = 0; i < c->n && c->K < 0; i++) {
    const double d = acosh(fmax(1, c->state->x[i * c->k + 3] / c->R));
    if (d > farthest)
      return cb_fail(CB_ERROR_DOMAIN,
                     "point `%s` is %.3g from the origin, where coordinates have too few digits for forces between "
                     "bodies: expected at most %.3g",
                     cb_system_particle_name(c->system, cb_system_particle(c->system, i)), d * c->R, farthest * c->R);
  }
  return CB_OK;
}

cb_status cb_coupled_step(cb_coupled *c, double t, double *h, const char **stop, int *body, int *iterations) {
  cb_coupled_keep(c, c->before);
  cb_status status = cb_coupled_step_to_events(c, t, h, stop, body, iterations);
  if (!status) status = cb_coupled_check_distances(c);
  if (status) cb_coupled_bring_back(c, c->before);
  return status;
}

/* --- queries --- */

cb_state *cb_coupled_state(cb_coupled *c) { return c->state; }
cb_forces *cb_coupled_forces(cb_coupled *c) { return c->forces; }
int cb_coupled_body(const cb_coupled *c, int particle) { return c->carried[cb_system_index(c->system, particle)].body; }
bool cb_coupled_moves(const cb_coupled *c, int particle) { return cb_coupled_body(c, particle) < 0; }
void cb_coupled_middle(const cb_coupled *c, int particle, double out[6]) {
  const int i = cb_system_index(c->system, particle);
  for (int a = 0; a < 3; a++) {
    out[a] = c->middle[i * c->k + a];
    out[3 + a] = c->middle_velocity[i][a];
  }
}
bool cb_coupled_feels_fluid(const cb_coupled *c) {
  bool any = false;
  for (int i = 0; i < c->n; i++) any = any || c->feels[i];
  return any;
}
double cb_coupled_last_length(const cb_coupled *c) { return c->last_length; }
double cb_coupled_mass(const cb_coupled *c, int particle) { return c->mass[cb_system_index(c->system, particle)]; }

double *cb_coupled_impulses(cb_coupled *c, int *rows) {
  *rows = c->rows ? c->rows->rows : 0;
  return c->rows ? c->rows->impulse : NULL;
}

cb_status cb_coupled_measure(cb_coupled *c, double t, cb_coupled_row *out) {
  int row = 0;
  *out = (cb_coupled_row){0};
  cb_status status = cb_forces_potential(c->forces, t, c->state->x, &out->potential);
  for (int i = 0; i < c->n && !status; i++) {
    const double *p = c->state->p + i * c->k, *x = c->state->x + i * c->k;
    if (c->carried[i].body >= 0) continue;
    if (c->mass[i] > 0) out->kinetic += cb_inner(c->g, p, p) / (2 * c->mass[i]);
    if (c->K == 0)
      out->potential += cb_particle_weight_energy(&c->fluid, cb_system_masses(c->system)[i],
                                                  cb_system_radius(c->system, cb_system_particle(c->system, i)), x);
  }
  return status || !c->rows ? status : cb_coupled_rows_residual(c, t, false, &out->residual, &row);
}

cb_status cb_coupled_residuals(cb_coupled *c, double t, const double **g) {
  *g = c->rows ? c->rows->g : NULL;
  return c->rows ? cb_constraints_eval(c->rows->own, t, c->state->x, c->rows->g, NULL) : CB_OK;
}

void cb_coupled_momentum(const cb_coupled *c, double out[6]) {
  for (int i = 0; i < c->n; i++) {
    const double *x = c->state->x + i * c->k, *p = c->state->p + i * c->k;
    double moment[3];
    if (c->carried[i].body >= 0) continue;
    cb_cross3(x, p, moment);
    for (int a = 0; a < 3; a++) {
      out[a] += moment[a];
      out[3 + a] += c->K == 0 ? p[a] : (x[3] * p[a] - x[a] * p[3]) / c->R;
    }
  }
}

cb_status cb_coupled_velocities(cb_coupled *c, double t, const double **v) {
  *v = c->velocity;
  return cb_coupled_find_velocities(c, t);
}
