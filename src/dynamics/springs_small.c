/* Few springs: a rod, a triangle, a chain.
 *
 * One or two are computed one by one, as in springs_kernel.h, straight from x. More are computed by the kernels as one
 * network in which the particles of every stage are particles of their own, so that stages fill the vectors.
 */
#include "dynamics/springs_plan.h"
#include "dynamics/springs_series.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { ONE_BY_ONE = 2 };

static int by_one(const cb_springs *plan) {
  int flat = plan->space.shape == CB_SPRINGS_FLAT, k = plan->space.k;
  return plan->m <= ONE_BY_ONE && !plan->damped && plan->space.shape != CB_SPRINGS_PRODUCT && (flat ? k < 4 : k > 2);
}

/* The force on x of one spring of stiffness k and tension k D; that on y is its opposite. */
INLINE void one(size_t k, int flat, const double *form, double quarter, double stiffness, double tension,
                const double *x, const double *y, double *force) {
  double delta[CB_COORD_MAX], q = 0;
  for (size_t a = 0; a < k; a++) {
    delta[a] = x[a] - y[a];
    q += form[a] * delta[a] * delta[a];
  }
  double t = quarter * q;
  double g = stiffness * (flat ? 1 : cb_psi(t)) - tension / sqrt(q - q * t + CB_CHORD_TINY);
  for (size_t a = 0; a < k; a++) force[a] = -g * delta[a];
}

/* Sets what the first spring touches and adds the second: zeros would have to be stored and read again, which takes
 * longer than a spring. */
INLINE void one_by_one(size_t k, int flat, const cb_springs *plan, size_t stages, const double *const *x,
                       double *const *f) {
  size_t rest = (size_t)plan->n * k, i[ONE_BY_ONE] = {0}, j[ONE_BY_ONE] = {0}, m = plan->m;
  double stiffness[ONE_BY_ONE] = {0}, tension[ONE_BY_ONE] = {0}, force[CB_COORD_MAX], form[CB_COORD_MAX],
      quarter = plan->space.quarter[0];
  for (size_t a = 0; a < k; a++) form[a] = plan->space.form[a];
  for (size_t e = 0; e < m; e++) {
    i[e] = plan->a[e] / 4 * k;
    j[e] = plan->near[e] / 4 * k;
    stiffness[e] = plan->stiffness[plan->stiffness_step ? e : 0];
    tension[e] = stiffness[e] * plan->rest[plan->rest_step ? e : 0];
  }
  for (size_t s = 0; s < stages; s++) {
    if (rest > 2 * k) memset(f[s], 0, rest * sizeof **f);
    one(k, flat, form, quarter, stiffness[0], tension[0], x[s] + i[0], x[s] + j[0], force);
    for (size_t a = 0; a < k; a++) {
      f[s][i[0] + a] = force[a];
      f[s][j[0] + a] = -force[a];
    }
    if (m < 2) continue;
    one(k, flat, form, quarter, stiffness[1], tension[1], x[s] + i[1], x[s] + j[1], force);
    for (size_t a = 0; a < k; a++) {
      f[s][i[1] + a] += force[a];
      f[s][j[1] + a] -= force[a];
    }
  }
}

/* One function for each number of coordinates, flat and curved. */
#define SPECIALISE(name, k, flat)                                                                           \
  static __attribute__((noinline)) void name(const cb_springs *plan, size_t stages, const double *const *x, \
                                             double *const *f) {                                            \
    one_by_one(k, flat, plan, stages, x, f);                                                                \
  }
SPECIALISE(flat_2, 2, 1)
SPECIALISE(flat_3, 3, 1)
SPECIALISE(curved_3, 3, 0)
SPECIALISE(curved_4, 4, 0)

static inline void copy_in(size_t n, size_t k, const double *from, double *to) {
  for (size_t i = 0; i < n; i++, from += k, to += 4)
    for (size_t a = 0; a < k; a++) to[a] = from[a];
}

static inline void copy_out(size_t n, size_t k, const double *from, double *to) {
  for (size_t i = 0; i < n; i++, from += 4, to += k)
    for (size_t a = 0; a < k; a++) to[a] = from[a];
}

static inline void together(const cb_springs_work *work, size_t k, size_t stages, const double *const *x,
                            const double *const *v, double *const *f) {
  const cb_springs *plan = work->plan;
  size_t n = (size_t)plan->n, size = 4 * n * CB_TOGETHER;
  double *at_x = work->local, *at_f = at_x + size, *at_v = at_f + size;
  cb_spring_run run = plan->together;
  run.springs = plan->m * stages;
  for (size_t s = 0; s < stages; s++) copy_in(n, k, x[s], at_x + 4 * n * s);
  for (size_t s = 0; v && s < stages; s++) copy_in(n, k, v[s], at_v + 4 * n * s);
  memset(at_f, 0, 4 * n * stages * sizeof *at_f);
  plan->kernels->force(&plan->space, &run, at_x, NULL, at_v, NULL, at_f);
  for (size_t s = 0; s < stages; s++) copy_out(n, k, at_f + 4 * n * s, f[s]);
}

void cb_springs_small_force(const cb_springs_work *work, size_t stages, const double *const *x, const double *const *v,
                            double *const *f) {
  const cb_springs *plan = work->plan;
  int k = plan->space.k;
  if (by_one(plan)) {
    if (k == 4) curved_4(plan, stages, x, f);
    else if (k == 3) (plan->space.shape == CB_SPRINGS_FLAT ? flat_3 : curved_3)(plan, stages, x, f);
    else flat_2(plan, stages, x, f);
    return;
  }
  for (size_t s = 0; s < stages; s += CB_TOGETHER) {
    size_t some = stages - s < CB_TOGETHER ? stages - s : CB_TOGETHER;
    const double *const *rate = plan->damped ? v + s : NULL;
    if (k == 4) together(work, 4, some, x + s, rate, f + s);
    else if (k == 3) together(work, 3, some, x + s, rate, f + s);
    else together(work, 2, some, x + s, rate, f + s);
  }
}
