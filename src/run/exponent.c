/* The largest Lyapunov exponent: one step maps a tangent vector of particles or of a body, and the exponent is the mean
 * growth rate of the logarithm of its length. The definition is in exponent.h. */
#include "run/exponent.h"
#include "numerics/random.h"
#include "run/particles_run.h"
#include "run/fluid_private.h"
#include <curvebody/contact.h>

#include <math.h>
#include <string.h>

/* The number e in the central difference of exponent.h. */

#define CB_EXPONENT_NUDGE 1e-6

/* A motion of particles or of a body, with a tangent vector. */
typedef struct cb_tangent {
  cb_arena *arena;
  size_t n;
  double *w; /* [n], at the present state */
  /* Makes one step of the state and of w. */
  cb_status (*step)(struct cb_tangent *m, double h);
  void (*free)(struct cb_tangent *m);
  void *self;
} cb_tangent;

/* --- particles: the tangent vector has coordinates, then momenta --- */

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

static cb_status tangent_of_particles(const cb_run *run, cb_tangent *m) {
  const cb_particles *p = run->particles;
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

/* --- a body in a fluid: the tangent vector contains xi of the pose g exp(xi), then the momentum in the body frame, in
 * the units that exponent.h defines --- */

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

static void move(const one_body *o, const double *w, double e, cb_rigid_state *s) {
  double xi[6], r[3][3];
  cb_pose by;
  for (int i = 0; i < 6; i++) {
    xi[i] = e * o->unit[i] * w[i];
    s->momentum[i] += e * o->unit[6 + i] * w[6 + i];
  }
  cb_se3_tau(CB_SE3_EXPONENTIAL, xi, &by);
  cb_pose_multiply(&s->g, &by, &s->g);
  cb_pose_rotation(&s->g, r);
  for (int part = 0; part < 6; part += 3) cb_apply3((const double(*)[3])r, s->momentum + part, s->world + part);
  memset(s->world_low, 0, sizeof s->world_low);
}

static cb_status step_body(cb_tangent *m, double h) {
  one_body *o = m->self;
  cb_rigid_state side[2] = {o->state, o->state};
  cb_pose back, between;
  double xi[6];
  cb_status status = CB_OK;
  for (int i = 0; i < 2 && !status; i++) {
    move(o, m->w, i ? -CB_EXPONENT_NUDGE : CB_EXPONENT_NUDGE, &side[i]);
    status = step_of(o, h, &side[i]);
  }
  if (status) return status;
  cb_pose_inverse(&side[1].g, &back);
  cb_pose_multiply(&back, &side[0].g, &between);
  cb_se3_log(&between, xi);
  for (int i = 0; i < 6; i++) {
    m->w[i] = xi[i] / (2 * CB_EXPONENT_NUDGE * o->unit[i]);
    m->w[6 + i] = (side[0].momentum[i] - side[1].momentum[i]) / (2 * CB_EXPONENT_NUDGE * o->unit[6 + i]);
  }
  return step_of(o, h, &o->state);
}

static void free_body(cb_tangent *m) {
  one_body *o = m->self;
  cb_integrator_free(o->integrator);
  cb_immersed_workspace_free(o->workspace);
}

/* Sets the units: 1 and r for the pose, p r and p for the momentum. r = sqrt(J/m) is the radius of gyration, with J
 * the sum of the principal moments of inertia and m the mass; p is the largest of m sqrt(g r) (g: gravity), the
 * present linear momentum, and the angular one divided by r. */
static cb_status find_units(one_body *o, const cb_immersed *b, double t) {
  cb_mass mass;
  double moment[3], axis[3][3];
  cb_status status = cb_immersed_mass(b, t, &mass, NULL);
  if (!status) status = cb_mass_principal(&mass, moment, axis);
  if (status) return status;
  const double *g = cb_immersed_fluid_about(b)->gravity, *p = o->state.momentum;
  const double r = sqrt((moment[0] + moment[1] + moment[2]) / mass.mass);
  const double momentum =
      fmax(mass.mass * sqrt(sqrt(cb_dot3(g, g)) * r), fmax(sqrt(cb_dot3(p + 3, p + 3)), sqrt(cb_dot3(p, p)) / r));
  if (!(r > 0) || !(momentum > 0))
    return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent needs a body that has mass, and moves or has weight");
  for (int i = 0; i < 3; i++) {
    o->unit[i] = 1;
    o->unit[3 + i] = r;
    o->unit[6 + i] = momentum * r;
    o->unit[9 + i] = momentum;
  }
  return CB_OK;
}

static cb_status tangent_of_body(const cb_run *run, int body, cb_tangent *m) {
  if (!cb_run_body(run, body))
    return cb_fail(
        CB_ERROR_UNSUPPORTED,
        "a gait in a bundle has no Lyapunov exponent, because its shape is prescribed: expected particles or a body");
  const cb_fluid_run *f = run->fluid;
  if (f->fluid->curvature != 0)
    return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent of a body is available only in flat space");
  if (f->fluid->floor.kind == CB_FLOOR_REFLECTING)
    return cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent needs a smooth motion: expected no reflecting floor");
  if (cb_immersed_externals(f->start[body].body))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the Lyapunov exponent of a body is available only if its wrenches use no quantities of other "
                   "bodies");
  one_body *o = m->self = cb_arena_alloc(m->arena, 1, sizeof *o);
  m->n = 12;
  m->w = cb_arena_alloc(m->arena, m->n, sizeof *m->w);
  if (!o || !m->w) return cb_fail(CB_ERROR_MEMORY, "no memory for a tangent vector");
  m->step = step_body;
  m->free = free_body;
  o->state = f->state[body];
  cb_status status = cb_immersed_workspace_create(f->start[body].body, &o->workspace);
  if (!status) status = cb_integrator_like(f->integrator, NULL, &o->integrator);
  return status ? status : find_units(o, f->start[body].body, o->state.t);
}

/* --- the sum of logarithms --- */

/* LOST: the largest |log|w|| after one step. In a resolved step of a smooth motion |w| changes by less than a factor
 * exp(2). */
enum { PARTS = 8, FEWEST = 64, SHIFTS = 80, LOST = 2 };

/* Makes |w| = 1 and returns log |w|. */
static double normalise(cb_tangent *m) {
  double square = 0;
  for (size_t i = 0; i < m->n; i++) square += m->w[i] * m->w[i];
  const double length = sqrt(square);
  for (size_t i = 0; i < m->n; i++) m->w[i] /= length;
  return log(length);
}

/* Fits log|w| = lambda t + p log f(t) + c to the values y of log|w| at the ends t of the parts by least squares. Sets
 * lambda and p (*power), and returns the root mean square residual; INFINITY if the equations are singular. */
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

/* Neighbouring free motions separate as a power of the time. A mean of rates would report an exponent of about log(t)/t
 * for this. Therefore, if f(t)^p fits the growth to 1 %, and an exponential explains less than a tenth of it, the
 * exponent is 0, and its error is the rate of the last part; chaotic motion fluctuates more than that. For some tau and
 * s, f is either 1 + t/tau with p > 1/2, or sqrt((t - s)^2 + tau^2), the length of a vector a + b t, with p within 0.1
 * of 1. */
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
  cb_tangent m = {.arena = cb_arena_create()};
  if (!m.arena) return cb_fail(CB_ERROR_MEMORY, "no memory for a tangent vector");
  cb_status status = cb_run_current(run) ? tangent_of_particles(run, &m) : tangent_of_body(run, body, &m);
  *out = (cb_exponent){.from = cb_run_time(run), .to = cb_run_time(run) + time};
  if (!status) status = follow(&m, h, time, out);
  if (m.free) m.free(&m);
  cb_arena_free(m.arena);
  return status;
}
