/* Few springs: a rod, a triangle, a chain.
 *
 * One or two are computed one by one, as in springs_kernel.h, straight from x. More are computed by the kernels as one network
 * in which the particles of every stage are particles of their own, so that stages fill the vectors.
 */
#include "dynamics/springs_plan.h"
#include "dynamics/springs_series.h"

#include <string.h>

enum { ONE_BY_ONE = 2 };

static inline void one(const cb_springs_space *space, int k, double stiffness, double rest, const double *x, const double *y, double *fx,
                       double *fy) {
  double delta[CB_COORD_MAX], q = 0;
  for (int a = 0; a < k; a++) {
    delta[a] = x[a] - y[a];
    q += space->form[a] * delta[a] * delta[a];
  }
  double t = space->quarter[0] * q, r = 1 / sqrt(q - q * t + CB_CHORD_TINY);
  double g = stiffness * ((space->shape == CB_SPRINGS_FLAT ? 1 : cb_psi(t)) - rest * r);
  for (int a = 0; a < k; a++) {
    fx[a] -= g * delta[a];
    fy[a] += g * delta[a];
  }
}

static inline void one_by_one(const cb_springs *plan, size_t k, const double *x, double *f) {
  const cb_spring_group *group = plan->group;
  memset(f, 0, (size_t)plan->n * k * sizeof *f);
  for (size_t e = 0; e < plan->m; e++) {
    size_t i = group->a[e] / 4 * k, j = group->b[e] / 4 * k;
    one(&plan->space, (int)k, group->stiffness[e], group->rest[e], x + i, x + j, f + i, f + j);
  }
}

static inline void copy_in(size_t n, size_t k, const double *from, double *to) {
  for (size_t i = 0; i < n; i++, from += k, to += 4)
    for (size_t a = 0; a < k; a++) to[a] = from[a];
}

static inline void copy_out(size_t n, size_t k, const double *from, double *to) {
  for (size_t i = 0; i < n; i++, from += 4, to += k)
    for (size_t a = 0; a < k; a++) to[a] = from[a];
}

static inline void together(const cb_springs_work *work, size_t k, size_t stages, const double *const *x, const double *const *v,
                            double *const *f) {
  const cb_springs *plan = work->plan;
  size_t n = (size_t)plan->n, size = 4 * n * CB_TOGETHER, groups = (plan->m * stages + CB_GROUP - 1) / CB_GROUP;
  double *at_x = work->local, *at_f = at_x + size, *at_v = at_f + size;
  for (size_t s = 0; s < stages; s++) copy_in(n, k, x[s], at_x + 4 * n * s);
  memset(at_f, 0, 4 * n * stages * sizeof *at_f);
  if (plan->damped) {
    for (size_t s = 0; s < stages; s++) copy_in(n, k, v[s], at_v + 4 * n * s);
    plan->kernels->damped(&plan->space, groups, 0, plan->together, plan->together_damping, at_x, at_v, at_f);
  } else {
    plan->kernels->force(&plan->space, groups, 0, plan->together, at_x, at_f);
  }
  for (size_t s = 0; s < stages; s++) copy_out(n, k, at_f + 4 * n * s, f[s]);
}

void cb_springs_small_force(const cb_springs_work *work, size_t stages, const double *const *x, const double *const *v, double *const *f) {
  const cb_springs *plan = work->plan;
  int k = plan->space.k;
  if (plan->m * stages <= ONE_BY_ONE && !plan->damped && plan->space.shape != CB_SPRINGS_PRODUCT) {
    for (size_t s = 0; s < stages; s++)
      if (k == 4)
        one_by_one(plan, 4, x[s], f[s]);
      else if (k == 3)
        one_by_one(plan, 3, x[s], f[s]);
      else
        one_by_one(plan, 2, x[s], f[s]);
    return;
  }
  for (size_t s = 0; s < stages; s += CB_TOGETHER) {
    size_t some = stages - s < CB_TOGETHER ? stages - s : CB_TOGETHER;
    const double *const *rate = v ? v + s : NULL;
    if (k == 4)
      together(work, 4, some, x + s, rate, f + s);
    else if (k == 3)
      together(work, 3, some, x + s, rate, f + s);
    else
      together(work, 2, some, x + s, rate, f + s);
  }
}
