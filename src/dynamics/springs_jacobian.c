/* Exact derivatives of spring forces, spring by spring.
 *
 *   e = sum_f psi_f (x-y)_f,  d^2 = sum_f psi_f^2 y_f,  w = x' - y',  s = <e, w>
 *   F = -G e - gamma (s/d^2) e,  G = k (1 - D/d)
 *   M = de/dx = sum_f psi_f I_f + c_f (x-y)_f ((x-y)_f^T form),  c_f = 2 dpsi/dq = (1 - (1 - 2 t) psi) / y_f
 *   -dF/dx = G M + (k D/d^3) e (e^T form) + gamma ((s/d^2) M + e (w^T form M)/d^2 - (2 s/d^4) e (e^T form))
 *   -dF/dv = (gamma/d^2) e (e^T form)
 *
 * with psi, t, q and y of each factor as in springs_series.h and springs_kernel.h. Derivatives in y are the opposite.
 */
#include "dynamics/springs_plan.h"
#include "dynamics/springs_series.h"

enum { K = CB_COORD_MAX };

typedef struct spring_values {
  double stiffness, rest, damping;
} spring_values;

/* e, M and d^2. */
static double chord(const cb_springs_space *space, const double *x, const double *y, double e[K], double m[K][K]) {
  int k = space->k;
  double square = 0;
  for (int a = 0; a < k; a++)
    for (int b = 0; b < k; b++) m[a][b] = 0;
  for (int f = 0; f < CB_FACTOR_MAX; f++) {
    double q = 0;
    for (int a = 0; a < k; a++) q += space->member[f][a] * space->form[a] * (x[a] - y[a]) * (x[a] - y[a]);
    double t = space->quarter[f] * q, y_f = q - q * t, psi = cb_psi(t);
    double c = t == 0 ? 0 : (1 - (1 - 2 * t) * psi) / y_f;
    square += psi * psi * y_f;
    for (int a = 0; a < k; a++) {
      if (space->member[f][a] == 0) continue;
      e[a] = psi * (x[a] - y[a]);
      m[a][a] += psi;
      for (int b = 0; b < k; b++) m[a][b] += space->member[f][b] * c * (x[a] - y[a]) * space->form[b] * (x[b] - y[b]);
    }
  }
  return square;
}

/* dF/dx and, where dv is not NULL, dF/dv: k x k, row-major. */
static void derivatives(const cb_springs_space *space, spring_values s, double square, const double e[K],
                        double m[K][K], const double *w, double *dx, double *dv) {
  int k = space->k;
  double d = sqrt(square), pull = s.stiffness, along = 0, rate = 0, turned[K] = {0};
  if (s.rest > 0) {
    pull = s.stiffness * (1 - s.rest / d);
    along = s.stiffness * s.rest / (d * square);
  }
  if (s.damping != 0) {
    for (int a = 0; a < k; a++) rate += space->form[a] * e[a] * w[a];
    for (int a = 0; a < k; a++)
      for (int b = 0; b < k; b++) turned[b] += space->form[a] * w[a] * m[a][b];
    pull += s.damping * rate / square;
    along -= 2 * s.damping * rate / (square * square);
  }
  for (int a = 0; a < k; a++)
    for (int b = 0; b < k; b++) {
      double ee = e[a] * space->form[b] * e[b];
      dx[a * k + b] = -(pull * m[a][b] + along * ee);
      if (s.damping == 0) continue;
      dx[a * k + b] -= s.damping * e[a] * turned[b] / square;
      if (dv) dv[a * k + b] = -s.damping * ee / square;
    }
}

/* Index of block (row, column) of the pattern, or -1. */
static int find(const cb_pattern *pattern, int row, int column) {
  int low = pattern->start[row], high = pattern->start[row + 1] - 1;
  while (low <= high) {
    int middle = low + (high - low) / 2;
    if (pattern->column[middle] == column) return middle;
    if (pattern->column[middle] < column) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

static void add(double *to, double sign, const double *block, size_t size) {
  for (size_t a = 0; a < size; a++) to[a] += sign * block[a];
}

static cb_status add_spring(const cb_springs *plan, const cb_pattern *pattern, spring_values s, int i, int j,
                            const double *x, const double *v, double *dx, double *dv) {
  size_t k = (size_t)plan->space.k, size = k * k;
  int at[4] = {find(pattern, i, i), find(pattern, j, j), find(pattern, i, j), find(pattern, j, i)};
  for (int b = 0; b < 4; b++)
    if (at[b] < 0)
      return cb_fail(CB_ERROR_ARGUMENT, "the pattern lacks a block of particles %d and %d, which a spring joins", i, j);
  double e[K], m[K][K], w[K] = {0}, in_x[K * K], in_v[K * K] = {0};
  double square = chord(&plan->space, x + k * (size_t)i, x + k * (size_t)j, e, m);
  if (!(square >= 0) || (square == 0 && (s.rest > 0 || s.damping != 0)))
    return cb_fail(CB_STEP_DOMAIN, "particles %d and %d of a spring coincide or are antipodal", i, j);
  if (s.damping != 0)
    for (size_t a = 0; a < k; a++) w[a] = v[k * (size_t)i + a] - v[k * (size_t)j + a];
  derivatives(&plan->space, s, square, e, m, w, in_x, in_v);
  for (int b = 0; b < 4; b++) {
    add(dx + size * (size_t)at[b], b < 2 ? 1 : -1, in_x, size);
    if (dv && s.damping != 0) add(dv + size * (size_t)at[b], b < 2 ? 1 : -1, in_v, size);
  }
  return CB_OK;
}

static cb_status add_run(const cb_springs *plan, const cb_springs_block *block, const cb_spring_run *run,
                         const cb_pattern *pattern, const double *x, const double *v, double *dx, double *dv) {
  for (size_t e = 0; e < run->springs; e++) {
    size_t group = e / CB_GROUP, lane = e % CB_GROUP;
    spring_values s = {run->stiffness[group * run->stiffness_step + lane], run->rest[group * run->rest_step + lane],
                       run->damping ? run->damping[e] : 0};
    int i = block->first + run->a[e] / 4, j;
    if (run->near) j = block->first + run->near[e] / 4;
    else if (plan->space.k == 4) j = (int)(run->far[e] / 4);
    else j = plan->halo[block->halo + run->far[e] / 4 - (size_t)block->count];
    cb_status status = add_spring(plan, pattern, s, i, j, x, v, dx, dv);
    if (status) return status;
  }
  return CB_OK;
}

cb_status cb_springs_jacobian(const cb_springs *plan, const cb_pattern *pattern, const double *x, const double *v,
                              double *dx, double *dv) {
  for (int b = 0; b < plan->n_blocks; b++) {
    const cb_springs_block *block = &plan->block[b];
    cb_spring_run near = cb_springs_near(plan, block, 0, block->near), up = cb_springs_up(plan, block);
    cb_status status = add_run(plan, block, &near, pattern, x, v, dx, dv);
    if (!status) status = add_run(plan, block, &up, pattern, x, v, dx, dv);
    if (status) return status;
  }
  return CB_OK;
}
