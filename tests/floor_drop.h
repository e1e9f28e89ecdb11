/* Bodies above a reflecting floor for the tests. The shape of a body is a set of points that may move. A stepper
 * records how impacts change the state between its steps. */
#pragma once

#include "fluid/floor.h"
#include "rigid.h"

enum { SEEN = 64, MOST_POINTS = 4000 };

/* A body in free fall. At time t its points are at x + sin(beat t) move in the body frame. */
typedef struct drop {
  body b;
  cb_floor floor;
  int n, method;
  double x[MOST_POINTS][3], move[MOST_POINTS][3], beat;
  double now[MOST_POINTS][3], rate[MOST_POINTS][3];
  cb_rigid_problem p;
  cb_floor_work *work;
  /* `seen` contains the last states that the stepper returned. `blows` is the number of impulses, which are changes of
   * the momentum between two steps, and `hits` the number of impacts that the library reported. The step with the
   * number fail_at fails. energy_lost is the sum of the losses of kinetic energy in these impulses, energy_gained the
   * maximum relative gain in one of them, and worst_energy the maximum relative change. */
  cb_rigid_state seen[SEEN];
  int n_seen, blows, hits, steps, fail_at;
  double energy_lost, energy_gained, worst_energy;
  cb_floor_hit first, last;
} drop;

static inline cb_status drop_shape(void *self, double t, int *n, const double (**x)[3], const double (**v)[3]) {
  drop *d = self;
  for (int i = 0; i < d->n; i++)
    for (int k = 0; k < 3; k++) {
      d->now[i][k] = d->x[i][k] + sin(d->beat * t) * d->move[i][k];
      d->rate[i][k] = d->beat * cos(d->beat * t) * d->move[i][k];
    }
  *n = d->n;
  *x = (const double(*)[3])d->now;
  *v = d->beat != 0 ? (const double(*)[3])d->rate : NULL;
  return CB_OK;
}

/* Returns the kinetic energy <p - mu0, K^-1 (p - mu0)>/2 of a state, where p is its momentum, K the inertia and mu0 the
 * momentum of the body at rest. */
static inline double node_energy(drop *d, const cb_rigid_state *s) {
  double K[6][6], mu0[6], y[6], sum = 0;
  check_ok(d->p.inertia(d->p.self, s->t, &s->g, K, mu0));
  check_ok(cb_rigid_velocity(K, s->momentum, mu0, y));
  for (int i = 0; i < 6; i++) sum += y[i] * (s->momentum[i] - mu0[i]) / 2;
  return sum;
}

/* Returns the kinetic energy plus the potential energy of gravity. Gravity is the force b.weight b.g, which acts at the
 * point b.moment/b.weight of the body frame. */
static inline double drop_energy(drop *d, const cb_rigid_state *s) {
  double r[3][3], arm[3];
  cb_pose_rotation(&s->g, r);
  cb_apply3(r, d->b.moment, arm);
  double sum = node_energy(d, s);
  for (int i = 0; i < 3; i++) sum -= d->b.g[i] * (d->b.weight * (s->g.x[i] + s->x_low[i]) + arm[i]);
  return sum;
}

static inline cb_status drop_step(void *self, const cb_rigid_problem *p, double h, cb_rigid_state *s, int *iterations) {
  drop *d = self;
  d->steps++;
  if (d->steps == d->fail_at) return cb_fail(CB_STEP_DOMAIN, "as asked");
  for (int i = 0; i < SEEN; i++) {
    const cb_rigid_state *old = &d->seen[i];
    if (old->t != s->t || memcmp(&old->g, &s->g, sizeof s->g)) continue;
    if (memcmp(old->x_low, s->x_low, sizeof s->x_low)) continue;
    if (memcmp(old->world, s->world, sizeof s->world) == 0) continue;
    const double before = node_energy(d, old), after = node_energy(d, s);
    d->worst_energy = fmax(d->worst_energy, fabs(after - before) / fmax(before, 1e-3));
    d->energy_lost += before - after;
    d->energy_gained = fmax(d->energy_gained, (after - before) / before);
    d->blows++;
    memset(d->seen, 0, sizeof d->seen);
    break;
  }
  const cb_status status = d->method == RKMK4 ? cb_rigid_step_rkmk4(p, h, s)
                                              : cb_rigid_step_pontryagin(p, (cb_se3_map)d->method, h, s, iterations);
  d->seen[d->n_seen++ % SEEN] = *s;
  return status;
}

static inline void drop_hit(void *user, const cb_floor_hit *hit) {
  drop *d = user;
  if (!d->hits++) d->first = *hit;
  d->last = *hit;
}

static inline drop *drop_create(const body *b, double restitution, int n, const double (*x)[3], int method) {
  drop *d = calloc(1, sizeof *d);
  d->b = *b;
  d->floor = (cb_floor){.kind = CB_FLOOR_REFLECTING, .up = {0, 0, 1}, .restitution = restitution};
  d->n = n;
  d->method = method;
  memcpy(d->x, x, (size_t)n * sizeof *x);
  d->p = problem_of(&d->b);
  check_ok(cb_floor_work_create(&d->work));
  return d;
}

static inline void drop_free(drop *d) {
  cb_floor_work_free(d->work);
  free(d);
}

static inline cb_status drop_try(drop *d, double h, cb_rigid_state *s) {
  const cb_floor_shape shape = {d, drop_shape};
  const cb_body_stepper stepper = {d, drop_step};
  const cb_floor_setup with = {&d->floor, &shape, &stepper, &d->p, drop_hit, d, d->work};
  return cb_floor_step(&with, h, s, NULL);
}

static inline double drop_gap(drop *d, const cb_rigid_state *s) {
  int n;
  const double(*x)[3], (*v)[3];
  double least = INFINITY;
  drop_shape(d, s->t, &n, &x, &v);
  for (int i = 0; i < n; i++) {
    double y[3];
    cb_pose_point(&s->g, x[i], y);
    least = fmin(least, cb_dot3(y, d->floor.up) + cb_dot3(s->x_low, d->floor.up) - d->floor.height);
  }
  return least;
}

/* Returns a solid of mass 1 with the principal moments of inertia a, b and c, which falls with the acceleration 10. */
static inline body drop_body(double a, double b, double c) {
  body s = {.weight = 1, .g = {0, 0, -10}};
  const double J[3] = {a, b, c};
  for (int i = 0; i < 3; i++) {
    s.K0[i][i] = J[i];
    s.K0[3 + i][3 + i] = 1;
  }
  return s;
}
