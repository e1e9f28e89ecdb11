/* The largest Lyapunov exponent: one step maps a tangent vector, and the exponent is the mean growth rate of the
 * logarithm of its length. The definition is in exponent.h. */
#include "run/exponent.h"

#include "core/failure.h"
#include "numerics/random.h"
#include "run/fluid_private.h"
#include "run/particles_run.h"
#include "run/run_private.h"
#include <curvebody/contact.h>

#include <math.h>
#include <string.h>

/* --- the sum of logarithms --- */

/* PARTS: the number of parts of the time; FEWEST: the smallest number of steps; SHIFTS: the number of times s that
 * take_out_powers tries; LOST: the largest |log |w|| after one step. In a step that resolves a smooth motion, |w|
 * changes by less than the factor exp(2). */
enum { PARTS = 8, FEWEST = 64, SHIFTS = 80, LOST = 2 };

/* Divides the tangent vector w by its length |w|, and returns log |w| from before the division. */
static double normalise(cb_tangent *m) {
  double square = 0;
  for (size_t i = 0; i < m->n; i++) square += m->w[i] * m->w[i];
  const double length = sqrt(square);
  for (size_t i = 0; i < m->n; i++) m->w[i] /= length;
  return log(length);
}

/* Fits log|w| = lambda t + p log f(t) + c by least squares to the values y of log|w| at the ends t of the parts. Sets
 * *lambda and p = *power, and returns the root mean square residual; INFINITY if the equations are singular. */
static double fit(const double t[PARTS + 1], const double y[PARTS + 1], const double log_f[PARTS + 1], double *lambda,
                  double *power) {
  double a[3][4] = {{0}}, left = 0;
  *lambda = *power = 0;
  for (int i = 0; i <= PARTS; i++) {
    const double row[4] = {t[i], log_f[i], 1, y[i]};
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 4; c++) a[r][c] += row[r] * row[c];
  }
  for (int r = 0; r < 3;
       r++) { /* Gauss-Jordan elimination: the matrix is symmetric, and positive definite if it is not singular */
    if (!(a[r][r] > 0)) return INFINITY;
    for (int q = 0; q < 3; q++) {
      const double factor = a[q][r] / a[r][r];
      for (int c = r; c < 4 && q != r; c++) a[q][c] -= factor * a[r][c];
    }
  }
  *lambda = a[0][3] / a[0][0];
  *power = a[1][3] / a[1][1];
  for (int i = 0; i <= PARTS; i++) {
    const double d = *lambda * t[i] + *power * log_f[i] + a[2][3] / a[2][2] - y[i];
    left += d * d / (PARTS + 1);
  }
  return sqrt(left);
}

/* Neighbouring free motions separate as a power of the time t. For such motions a mean of rates would report an
 * exponent of about log(t)/t. Therefore the growth of |w| is compared with f(t)^p. If the power f(t)^p fits the growth
 * to 1 %, and an exponential explains less than a tenth of the growth, the exponent is 0 and its error is the rate of
 * the last part. Chaotic motion fluctuates by more than 1 %. For some tau and s, f is either 1 + t/tau, with p > 1/2,
 * or sqrt((t - s)^2 + tau^2), with p within 0.1 of 1; the second f is the length of a vector that is linear in t. */
static void take_out_powers(double before, const double sum[PARTS], const long long in_part[PARTS], double h,
                            cb_exponent *out) {
  double t[PARTS + 1] = {before}, y[PARTS + 1] = {0}, least = INFINITY, lambda = 0, power = 0;
  for (int i = 0; i < PARTS; i++) {
    t[i + 1] = t[i] + h * (double)in_part[i];
    y[i + 1] = y[i] + sum[i];
  }
  const double grown = y[PARTS], time = t[PARTS] - t[0];
  bool linear = false;
  for (double tau = t[PARTS] / 1024; tau < 2 * t[PARTS]; tau *= 1.25)
    for (int k = -1; k <= SHIFTS; k++) {
      double own = 0, of = 0, log_f[PARTS + 1];
      for (int i = 0; i <= PARTS; i++)
        log_f[i] = k < 0 ? log1p(t[i] / tau) : log(hypot(t[i] - t[PARTS] * (k / (0.5 * SHIFTS) - 1), tau));
      const double left = fit(t, y, log_f, &own, &of);
      if (k >= 0) {
        linear = linear || (left < 0.01 * grown && fabs(of - 1) < 0.1 && fabs(own) * time < 0.1 * grown);
      } else if (left < least) {
        least = left;
        lambda = own;
        power = of;
      }
    }
  const bool as_power = least < 0.01 * grown && power > 0.5 && fabs(lambda) * time < 0.1 * grown;
  if (!(grown > 0) || !(linear || as_power)) return;
  out->value = 0;
  out->error = fabs(sum[PARTS - 1]) / (h * (double)in_part[PARTS - 1]);
}

static cb_status follow(cb_tangent *m, double h, double time, cb_exponent *out) {
  const long long steps = llround(time / h), before = steps / 10;
  double sum[PARTS] = {0}, square = 0;
  long long in_part[PARTS] = {0}, k = 0;
  uint64_t seed = 1;
  for (size_t i = 0; i < m->n; i++) m->w[i] = cb_uniform(&seed) - 0.5;
  normalise(m);
  for (; k < steps; k++) {
    const cb_status status = m->step(m, h);
    if (status < 0) return status;
    const double growth = status ? NAN : normalise(m);
    if (!(fabs(growth) < LOST))
      return cb_fail(CB_ERROR_STEP, "the tangent vector could not be computed in step %lld of %lld%s%s", k + 1, steps,
                     status ? ": " : "", status ? cb_error_text() : "");
    if (k < before) continue;
    const long long part = (k - before) * PARTS / (steps - before);
    sum[part] += growth;
    in_part[part]++;
  }
  out->value = 0;
  for (int i = 0; i < PARTS; i++) out->value += sum[i] / (h * (double)(steps - before));
  for (int i = 0; i < PARTS; i++) square += pow(sum[i] / (h * (double)in_part[i]) - out->value, 2);
  out->error = sqrt(square / (PARTS * (PARTS - 1)));
  take_out_powers(h * (double)before, sum, in_part, h, out);
  return CB_OK;
}

cb_status cb_run_exponent(const cb_run *run, int body, double time, cb_exponent *out) {
  const double h = cb_run_step(run);
  if (!(time >= FEWEST * h) || !(time / h < 9e15))
    return cb_fail(CB_ERROR_ARGUMENT, "expected a time of at least %d steps of %g, found %g", FEWEST, h, time);
  if (run->options.controls && run->options.controls->sample)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the Lyapunov exponent of a motion with laws of `controls` is not computed: expected numbers");
  cb_tangent m = {.arena = cb_arena_create()};
  if (!m.arena) return cb_fail(CB_ERROR_MEMORY, "no memory for a tangent vector");
  cb_status status = run->motion->tangent
                         ? run->motion->tangent(run, body, &m)
                         : cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent is not available for this motion");
  *out = (cb_exponent){.from = cb_run_time(run), .to = cb_run_time(run) + time};
  if (!status) status = follow(&m, h, time, out);
  out->shared = m.shared;
  if (m.free) m.free(&m);
  cb_arena_free(m.arena);
  return status;
}

/* --- the tangent vector of a body in a fluid ---
 *
 * The components of w (exponent.h) are first the twist xi of the displaced pose g exp(xi), then the change of the
 * momentum in the body frame. tangent_units finds the units.
 */

typedef struct one_body {
  cb_immersed_workspace *workspace;
  cb_integrator *integrator;
  cb_rigid_state state;
  double unit[12];
} one_body;

static cb_status step_of(one_body *o, double h, cb_rigid_state *s) {
  const cb_body_stepper stepper = {o->integrator, cb_fluid_run_integrate};
  int iterations;
  return cb_immersed_workspace_step(o->workspace, &stepper, h, s, &iterations);
}

/* Displaces a state by e w. The pose is displaced by the twist e w[0 .. 5], and the momentum in the body frame by e w[6
 * .. 11]. The numbers w are in the units `unit`. */
static void tangent_move(const double unit[12], const double *w, double e, cb_rigid_state *s) {
  double xi[6], r[3][3];
  cb_pose by;
  for (int i = 0; i < 6; i++) {
    xi[i] = e * unit[i] * w[i];
    s->momentum[i] += e * unit[6 + i] * w[6 + i];
  }
  cb_se3_tau(CB_SE3_EXPONENTIAL, xi, &by);
  cb_pose_multiply(&s->g, &by, &s->g);
  cb_pose_rotation(&s->g, r);
  for (int part = 0; part < 6; part += 3) cb_apply3((const double(*)[3])r, s->momentum + part, s->world + part);
  memset(s->world_low, 0, sizeof s->world_low);
}

/* Computes w[12] from the states `plus` and `minus`, which are displaced by e w and -e w, e = CB_EXPONENT_NUDGE. */
static void tangent_difference(const double unit[12], const cb_rigid_state *plus, const cb_rigid_state *minus,
                               double *w) {
  cb_pose back, between;
  double xi[6];
  cb_pose_inverse(&minus->g, &back);
  cb_pose_multiply(&back, &plus->g, &between);
  cb_se3_log(&between, xi);
  for (int i = 0; i < 6; i++) {
    w[i] = xi[i] / (2 * CB_EXPONENT_NUDGE * unit[i]);
    w[6 + i] = (plus->momentum[i] - minus->momentum[i]) / (2 * CB_EXPONENT_NUDGE * unit[6 + i]);
  }
}

static cb_status step_body(cb_tangent *m, double h) {
  one_body *o = m->self;
  cb_rigid_state side[2] = {o->state, o->state};
  cb_status status = CB_OK;
  for (int i = 0; i < 2 && !status; i++) {
    tangent_move(o->unit, m->w, i ? -CB_EXPONENT_NUDGE : CB_EXPONENT_NUDGE, &side[i]);
    status = step_of(o, h, &side[i]);
  }
  if (status) return status;
  tangent_difference(o->unit, &side[0], &side[1], m->w);
  return step_of(o, h, &o->state);
}

static void free_body(cb_tangent *m) {
  one_body *o = m->self;
  cb_integrator_free(o->integrator);
  cb_immersed_workspace_free(o->workspace);
}

/* Sets the units of angles and lengths of the pose to 1 and r, and those of angular and linear momentum to m r^2 and m
 * r, which the caller multiplies by a rate. r = sqrt(J/m) is the radius of gyration, with J the sum of the principal
 * moments of inertia and m the mass. *rate is the largest of sqrt(g/r) (g: gravity) and of the present momenta, each
 * divided by its unit. */
static cb_status tangent_units(const cb_immersed *b, const cb_rigid_state *s, double unit[12], double *rate) {
  cb_mass mass;
  double moment[3], axis[3][3];
  cb_status status = cb_immersed_mass(b, s->t, &mass, NULL);
  if (!status) status = cb_mass_principal(&mass, moment, axis);
  if (status) return status;
  const double *g = cb_immersed_fluid_about(b)->gravity, *p = s->momentum;
  const double r = sqrt((moment[0] + moment[1] + moment[2]) / mass.mass);
  const double momentum =
      fmax(mass.mass * sqrt(sqrt(cb_dot3(g, g)) * r), fmax(sqrt(cb_dot3(p + 3, p + 3)), sqrt(cb_dot3(p, p)) / r));
  if (!(r > 0)) return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent needs a body that has mass");
  *rate = momentum / (mass.mass * r);
  for (int i = 0; i < 3; i++) {
    unit[i] = 1;
    unit[3 + i] = r;
    unit[6 + i] = mass.mass * r * r;
    unit[9 + i] = mass.mass * r;
  }
  return CB_OK;
}

static cb_status find_units(one_body *o, const cb_immersed *b) {
  double rate = 0;
  const cb_status status = tangent_units(b, &o->state, o->unit, &rate);
  if (!status && !(rate > 0))
    return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent needs a body that moves or has weight");
  for (int i = 6; i < 12; i++) o->unit[i] *= rate;
  return status;
}

cb_status cb_fluid_run_tangent(const cb_run *run, int body, cb_tangent *m) {
  const cb_fluid_run *f = run->own;
  if (f->fluid->curvature != 0)
    return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent of a body is available only in flat space");
  if (f->fluid->floor.kind == CB_FLOOR_REFLECTING)
    return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent needs a smooth motion: expected no reflecting floor");
  if (f->coupling || f->controls) return cb_fluid_run_tangent_of_all(run, m);
  one_body *o = m->self = cb_arena_alloc(m->arena, 1, sizeof *o);
  m->n = 12;
  m->w = cb_arena_alloc(m->arena, m->n, sizeof *m->w);
  if (!o || !m->w) return cb_fail(CB_ERROR_MEMORY, "no memory for a tangent vector");
  m->step = step_body;
  m->free = free_body;
  o->state = f->state[body];
  cb_status status = cb_immersed_workspace_create(f->start[body].body, &o->workspace);
  if (!status) status = cb_integrator_like(f->integrator, NULL, &o->integrator);
  return status ? status : find_units(o, f->start[body].body);
}

/* --- the tangent vector of bodies that act on each other ---
 *
 * The bodies act on each other by joints, by forces between points, or by wrenches that use quantities of other bodies
 * (exponent.h). All bodies of the run are one system: w consists of the twist and the change of the momentum of each
 * body, and then of the changes of the momenta of the joints' coordinates, which are momenta of rotors
 * (mechanism/mechanism.h).
 *
 * Motions that the joints do not allow are no part of w. The reason is that a step closes the joints and settles the
 * momenta, so that after the first step w is tangent to the motions that the joints allow. The displacement by e w
 * opens the joints by e^2 only, and the next step closes them.
 *
 * A second run with the same bodies makes the steps. Its state is a changed copy of the state of the first run.
 */

typedef struct all_bodies {
  cb_integrator *integrator;
  cb_run *run;
  void **kept; /* [n_state]: the state z of the run */
  double t[2]; /* the time of the state z: high and low part */
  int n, coordinates;
  double (*unit)[12];   /* [n]: the units of the entries of each body's part of w (tangent_units) */
  cb_rigid_state *side; /* [n]: the bodies after a step from z + e w (see exponent.h) */
  double *momentum;     /* [coordinates]: the momenta of the joints' coordinates after a step from z + e w */
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

/* Makes one step from z + e w. The state of the run is then the state at the end of this step. */
static cb_status step_from(all_bodies *o, const double *w, double e, double h) {
  cb_sink nowhere = {.self = NULL};
  double *momentum = momenta_of_joints(o);
  copy_back(o);
  for (int i = 0; i < o->n && e != 0; i++) tangent_move(o->unit[i], w + 12 * i, e, &cb_fluid_run_of(o->run)->state[i]);
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
  for (int i = 0; i < o->n; i++) tangent_difference(o->unit[i], &o->side[i], &state[i], m->w + 12 * i);
  for (int c = 0; c < o->coordinates; c++)
    m->w[12 * o->n + c] = (o->momentum[c] - momenta_of_joints(o)[c]) / (2 * e * o->unit_of_joints);
  /* the first step has removed the part of w that the joints do not allow; this change of length is not growth or decay
   * of w, and must not count */
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

/* Finds the units in which the tangent vector is measured for each body. The units of momentum contain a rate: it is
 * the largest rate of all bodies, so that a body at rest has units too. */
static cb_status find_units_of_all(all_bodies *o) {
  const cb_fluid_run *b = o->run->own;
  double rate = 0;
  cb_status status = CB_OK;
  for (int i = 0; i < o->n && !status; i++) {
    double own;
    status = tangent_units(b->start[i].body, &b->state[i], o->unit[i], &own);
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

/* Makes a second run with the same bodies in the same state. */
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
  return status ? status : find_units_of_all(o);
}

/* --- the tangent vector of particles ---
 *
 * The components of w (exponent.h) are first the changes of the coordinates, then the changes of the momenta.
 */

typedef struct particles {
  const cb_space *space;
  cb_state *state[3]; /* z, z + e w, z - e w */
  cb_integrator *integrator[3];
} particles;

static cb_status step_particles(cb_tangent *m, double h) {
  particles *o = m->self;
  cb_state *const z = o->state[0], *const plus = o->state[1], *const minus = o->state[2];
  const size_t half = m->n / 2;
  for (int side = 1; side <= 2; side++) {
    cb_state *s = o->state[side];
    const double e = side == 1 ? CB_EXPONENT_NUDGE : -CB_EXPONENT_NUDGE;
    cb_state_copy(s, z);
    for (size_t i = 0; i < half; i++) {
      s->x[i] += e * m->w[i];
      s->p[i] += e * m->w[half + i];
    }
    for (int a = 0; !o->space->chart && a < s->n; a++) {
      cb_space_project_point(o->space, s->x + a * s->k);
      cb_space_project_tangent(o->space, s->x + a * s->k, s->p + a * s->k);
    }
    const cb_status status = cb_integrator_step(o->integrator[side], s, h);
    if (status) return status;
  }
  for (size_t i = 0; i < half; i++) {
    m->w[i] = (plus->x[i] - minus->x[i] + (plus->x_low[i] - minus->x_low[i])) / (2 * CB_EXPONENT_NUDGE);
    m->w[half + i] = (plus->p[i] - minus->p[i] + (plus->p_low[i] - minus->p_low[i])) / (2 * CB_EXPONENT_NUDGE);
  }
  return cb_integrator_step(o->integrator[0], z, h);
}

static void free_particles(cb_tangent *m) {
  particles *o = m->self;
  for (int i = 0; i < 3; i++) {
    cb_state_free(o->state[i]);
    cb_integrator_free(o->integrator[i]);
  }
}

cb_status cb_particles_tangent(const cb_run *run, int body, cb_tangent *m) {
  (void)body;
  const cb_particles *p = run->own;
  if (cb_system_contacts(p->system))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the Lyapunov exponent needs a smooth motion: expected no contacts, walls or events");
  particles *o = m->self = cb_arena_alloc(m->arena, 1, sizeof *o);
  m->n = 2 * (size_t)p->state->n * (size_t)p->state->k;
  m->w = cb_arena_alloc(m->arena, m->n, sizeof *m->w);
  if (!o || !m->w) return cb_fail(CB_ERROR_MEMORY, "no memory for a tangent vector");
  m->step = step_particles;
  m->free = free_particles;
  o->space = cb_system_space(p->system);
  cb_status status = CB_OK;
  for (int i = 0; i < 3 && !status; i++) {
    status = cb_state_create(p->system, &o->state[i]);
    if (!status) status = cb_integrator_like(p->integrator, p->system, &o->integrator[i]);
    if (!status) status = cb_forces_set_origins(o->integrator[i]->forces, p->state->origin);
    if (!status) cb_state_copy(o->state[i], p->state);
  }
  return status;
}
