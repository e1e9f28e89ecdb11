/* Evaluation of springs by their plan: in blocks of particles, or one by one if there are only a few; and the Jacobian
 * of the forces (equations in springs.h).
 */
#include "dynamics/springs.h"

#include "dynamics/springs_series.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Plans with few springs, such as those of a triangle or a short chain.
 *
 * One or two springs without damping, in a space of one factor, are computed one by one, directly from x. All other
 * small plans are computed by the kernels as one network, in which each stage has its own particles. The springs of
 * several stages then fill the vectors. */

#define INLINE static inline __attribute__((always_inline))

enum { ONE_BY_ONE = 2 };

static int by_one(const cb_springs *plan) {
  int flat = plan->space.shape == CB_SPRINGS_FLAT, k = plan->space.k;
  return plan->m <= ONE_BY_ONE && !plan->damped && plan->space.shape != CB_SPRINGS_PRODUCT && (flat ? k < 4 : k > 2);
}

/* One spring: its stiffness k, and the product k D of stiffness and rest length. */
typedef struct single {
  double stiffness, tension;
} single;

/* Computes the force of one spring on its end x; the force on its end y is the opposite. */
INLINE void one(size_t k, int flat, const double *form, double quarter, single spring, const double *x, const double *y,
                double *force) {
  double delta[CB_COORD_MAX], q = 0;
  for (size_t a = 0; a < k; a++) {
    delta[a] = x[a] - y[a];
    q += form[a] * delta[a] * delta[a];
  }
  double t = quarter * q;
  double g = spring.stiffness * (flat ? 1 : cb_psi(t)) - spring.tension / sqrt(q - q * t + CB_CHORD_TINY);
  for (size_t a = 0; a < k; a++) force[a] = -g * delta[a];
}

/* Sets the forces of the first spring, then adds the forces of the second. Storing zeros first and reading them again
 * would take longer than the computation of a spring. */
INLINE void one_by_one(size_t k, int flat, const cb_springs *plan, size_t stages, const double *const *x,
                       double *const *f) {
  size_t rest = (size_t)plan->n * k, i[ONE_BY_ONE] = {0}, j[ONE_BY_ONE] = {0}, m = plan->m;
  single spring[ONE_BY_ONE] = {0};
  double force[CB_COORD_MAX], form[CB_COORD_MAX], quarter = plan->space.quarter[0];
  for (size_t a = 0; a < k; a++) form[a] = plan->space.form[a];
  for (size_t e = 0; e < m; e++) {
    i[e] = plan->a[e] / 4 * k;
    j[e] = plan->near[e] / 4 * k;
    spring[e].stiffness = plan->stiffness[plan->stiffness_step ? e : 0];
    spring[e].tension = spring[e].stiffness * plan->rest[plan->rest_step ? e : 0];
  }
  for (size_t s = 0; s < stages; s++) {
    if (rest > 2 * k) memset(f[s], 0, rest * sizeof **f);
    one(k, flat, form, quarter, spring[0], x[s] + i[0], x[s] + j[0], force);
    for (size_t a = 0; a < k; a++) {
      f[s][i[0] + a] = force[a];
      f[s][j[0] + a] = -force[a];
    }
    if (m < 2) continue;
    one(k, flat, form, quarter, spring[1], x[s] + i[1], x[s] + j[1], force);
    for (size_t a = 0; a < k; a++) {
      f[s][i[1] + a] += force[a];
      f[s][j[1] + a] -= force[a];
    }
  }
}

/* Defines the function `name`, which evaluates springs one by one in a space with k coordinates, flat or curved. k and
 * flat are constants, so that the compiler can unroll the loops. */
#define SPECIALISE(name, k, flat)                                                                           \
  static __attribute__((noinline)) void name(const cb_springs *plan, size_t stages, const double *const *x, \
                                             double *const *f) {                                            \
    one_by_one(k, flat, plan, stages, x, f);                                                                \
  }
SPECIALISE(flat_2, 2, 1)
SPECIALISE(flat_3, 3, 1)
SPECIALISE(curved_3, 3, 0)
SPECIALISE(curved_4, 4, 0)

static inline void take_stage(size_t n, size_t k, const double *from, double *to) {
  for (size_t i = 0; i < n; i++, from += k, to += 4)
    for (size_t a = 0; a < k; a++) to[a] = from[a];
}

static inline void put_stage(size_t n, size_t k, const double *from, double *to) {
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
  for (size_t s = 0; s < stages; s++) take_stage(n, k, x[s], at_x + 4 * n * s);
  for (size_t s = 0; v && s < stages; s++) take_stage(n, k, v[s], at_v + 4 * n * s);
  memset(at_f, 0, 4 * n * stages * sizeof *at_f);
  plan->kernels->force(&plan->space, &run, at_x, NULL, at_v, NULL, at_f);
  for (size_t s = 0; s < stages; s++) put_stage(n, k, at_f + 4 * n * s, f[s]);
}

/* Does the same as cb_springs_force for a small plan (CB_SMALL). */
static void small_force(const cb_springs_work *work, size_t stages, const double *const *x, const double *const *v,
                        double *const *f) {
  const cb_springs *plan = work->plan;
  int k = plan->space.k;
  if (by_one(plan)) {
    if (k == 4)
      curved_4(plan, stages, x, f);
    else if (k == 3)
      (plan->space.shape == CB_SPRINGS_FLAT ? flat_3 : curved_3)(plan, stages, x, f);
    else
      flat_2(plan, stages, x, f);
    return;
  }
  for (size_t s = 0; s < stages; s += CB_TOGETHER) {
    size_t some = stages - s < CB_TOGETHER ? stages - s : CB_TOGETHER;
    const double *const *rate = plan->damped ? v + s : NULL;
    if (k == 4)
      together(work, 4, some, x + s, rate, f + s);
    else if (k == 3)
      together(work, 3, some, x + s, rate, f + s);
    else
      together(work, 2, some, x + s, rate, f + s);
  }
}

/* Below this number of springs times stages, one thread is used. A second thread would save well under a millisecond,
 * which is less than the time to start it. */
enum { SERIAL_BELOW = 300000 };

/* The memory of one thread for its copies of positions, forces and velocities. */
typedef struct local {
  double *x, *f, *v;
} local;

static local local_copy(const cb_springs_work *work, int thread) {
  double *at = work->local + (size_t)thread * work->local_stride;
  size_t size = 4 * work->plan->local_max;
  return (local){at, at + size, at + 2 * size};
}

/* A function that does the work for one block of particles, with the memory `at` of the calling thread. */
typedef void block_task(const cb_springs_work *work, const void *context, int block, local at);

static void each_block(const cb_springs_work *work, size_t stages, block_task *task, const void *context) {
  const cb_springs *plan = work->plan;
  /* even a parallel region of one thread costs a microsecond */
  if (work->threads == 1 || plan->m * stages < SERIAL_BELOW) {
    for (int b = 0; b < plan->n_blocks; b++) task(work, context, b, local_copy(work, 0));
    return;
  }
#pragma omp parallel for num_threads(work->threads) schedule(dynamic, 1)
  for (int b = 0; b < plan->n_blocks; b++) task(work, context, b, local_copy(work, omp_get_thread_num()));
}

/* Copies the positions (or velocities) of a block's particles and of its halo. Each particle has four numbers in the
 * copy; numbers without a coordinate are 0. */
static inline void copy_in_k(size_t k, const cb_springs *plan, const cb_springs_block *block, const double *x,
                             double *to) {
  const int *halo = plan->halo + block->halo;
  const double *from = x + k * (size_t)block->first;
  for (size_t i = 0; i < (size_t)block->count; i++, from += k, to += 4)
    for (size_t a = 0; a < 4; a++) to[a] = a < k ? from[a] : 0;
  for (size_t h = 0; h < block->halo_count; h++, to += 4)
    for (size_t a = 0; a < 4; a++) to[a] = a < k ? x[k * (size_t)halo[h] + a] : 0;
}

/* Returns the positions that the kernels read: x itself if points have four coordinates, otherwise a copy in `to`. */
static const double *copy_in(const cb_springs *plan, const cb_springs_block *block, const double *x, double *to) {
  if (plan->space.k == 4) return x;
  if (plan->space.k == 3)
    copy_in_k(3, plan, block, x, to);
  else
    copy_in_k(2, plan, block, x, to);
  return to;
}

static void copy_out(size_t k, size_t count, const double *from, double *f) {
  for (size_t i = 0; i < count; i++, from += 4, f += k)
    for (size_t a = 0; a < k; a++) f[a] = from[a];
}

/* Returns whether the addresses of x and f agree in their low 20 bits, up to a difference of 256 bytes. Processors
 * first compare a load with earlier stores by these bits only, and lose time on a false match. If this function returns
 * true, forces are therefore written to the thread's own memory. (Measured: a factor of two in time, for large pages
 * and distances below 192 bytes.) */
static int collide(const double *x, const double *f) {
  uintptr_t distance = ((uintptr_t)x - (uintptr_t)f + 256) & 0xfffff;
  return distance <= 512;
}

/* Returns the index of the first number of a block's first particle in the positions that the kernels read. */
static size_t own_offset(const cb_springs *plan, const cb_springs_block *block) {
  return plan->space.k == 4 ? 4 * (size_t)block->first : 0;
}

static void block_force(const cb_springs *plan, const cb_springs_block *block, local at, const double *x,
                        const double *v, double *force) {
  const cb_springs_space *space = &plan->space;
  size_t k = (size_t)space->k, count = (size_t)block->count, own = own_offset(plan, block);
  int direct = k == 4 && !collide(x, force);
  double *f = direct ? force + own : at.f;
  x = copy_in(plan, block, x, at.x);
  if (plan->damped) v = copy_in(plan, block, v, at.v);
  const double *v_own = v ? v + own : NULL;
  /* Forces are set to 0 just before springs are added, so that these numbers are still in the first-level cache. */
  size_t zeroed = 0, slice = CB_GROUP * CB_SLICE;
  const int *reach = plan->reach + block->slice;
  for (size_t e = 0; e < block->near; e += slice, reach++) {
    memset(f + 4 * zeroed, 0, 4 * ((size_t)*reach - zeroed) * sizeof *f);
    zeroed = (size_t)*reach;
    cb_spring_run near = cb_springs_near(plan, block, e, block->near - e < slice ? block->near - e : slice);
    plan->kernels->force(space, &near, x + own, NULL, v_own, NULL, f);
  }
  memset(f + 4 * zeroed, 0, 4 * (count - zeroed) * sizeof *f);
  cb_spring_run up = cb_springs_up(plan, block), down = cb_springs_down(plan, block);
  plan->kernels->force(space, &up, x + own, x, v_own, v, f);
  plan->kernels->force(space, &down, x + own, x, v_own, v, f);
  if (!direct) copy_out(k, count, f, force + k * (size_t)block->first);
}

typedef struct force_arguments {
  int stages;
  const double *const *x, *const *v;
  double *const *force;
} force_arguments;

static void force_task(const cb_springs_work *work, const void *context, int block, local at) {
  const force_arguments *to = context;
  const cb_springs *plan = work->plan;
  for (int s = 0; s < to->stages; s++)
    block_force(plan, &plan->block[block], at, to->x[s], plan->damped ? to->v[s] : NULL, to->force[s]);
}

void cb_springs_force(cb_springs_work *work, int stages, const double *const *x, const double *const *v,
                      double *const *force) {
  if (work->plan->together.a)
    small_force(work, (size_t)stages, x, v, force);
  else
    each_block(work, (size_t)stages, force_task, &(force_arguments){stages, x, v, force});
}

static void potential_task(const cb_springs_work *work, const void *context, int b, local at) {
  const cb_springs *plan = work->plan;
  const cb_springs_block *block = &plan->block[b];
  const double *x = copy_in(plan, block, context, at.x);
  double sum[2] = {0, 0};
  const double *own = x + own_offset(plan, block);
  cb_spring_run near = cb_springs_near(plan, block, 0, block->near), up = cb_springs_up(plan, block);
  plan->kernels->potential(&plan->space, &near, own, NULL, sum);
  plan->kernels->potential(&plan->space, &up, own, x, sum);
  work->partial[2 * b] = sum[0];
  work->partial[2 * b + 1] = sum[1];
}

double cb_springs_potential(cb_springs_work *work, const double *x) {
  each_block(work, 1, potential_task, x);
  double high = 0, low = 0;
  for (int b = 0; b < work->plan->n_blocks; b++) {
    double term = work->partial[2 * b], total = high + term, part = total - high;
    low += (high - (total - part)) + (term - part) + work->partial[2 * b + 1];
    high = total;
  }
  return high + low;
}

/* Computes the lengths of the springs of one group, and stores them in d. The order in d is that in which the springs
 * were given.
 */
static void separate_group(const cb_springs *plan, const cb_spring_run *run, const double *x, const double *y,
                           double *d) {
  double eight[CB_GROUP];
  const uint32_t *number = plan->number + (run->a - plan->a);
  plan->kernels->separation(&plan->space, run, x, y, eight);
  for (size_t l = 0; l < run->springs; l++) d[number[l]] = eight[l];
}

typedef struct separation_arguments {
  const double *x;
  double *d;
} separation_arguments;

static void separation_task(const cb_springs_work *work, const void *context, int b, local at) {
  const separation_arguments *to = context;
  const cb_springs *plan = work->plan;
  const cb_springs_block *block = &plan->block[b];
  const double *x = copy_in(plan, block, to->x, at.x);
  const double *own = x + own_offset(plan, block);
  for (size_t e = 0; e < block->near; e += CB_GROUP) {
    cb_spring_run run = cb_springs_near(plan, block, e, block->near - e < CB_GROUP ? block->near - e : CB_GROUP);
    separate_group(plan, &run, own, NULL, to->d);
  }
  for (cb_spring_run run = cb_springs_up(plan, block), rest = run; rest.springs;) {
    run = rest;
    if (run.springs > CB_GROUP) run.springs = CB_GROUP;
    separate_group(plan, &run, own, x, to->d);
    rest.springs -= run.springs;
    rest.a += CB_GROUP;
    rest.far += CB_GROUP;
  }
}

void cb_springs_separation(cb_springs_work *work, const double *x, double *d) {
  each_block(work, 1, separation_task, &(separation_arguments){x, d});
}

cb_status cb_springs_work_create(const cb_springs *plan, int threads, cb_springs_work **out) {
  if (threads < 1) return cb_fail(CB_ERROR_ARGUMENT, "%d threads: expected at least 1", threads);
  cb_springs_work *work = calloc(1, sizeof *work);
  if (work) {
    work->plan = plan;
    work->threads = threads < plan->n_blocks ? threads : plan->n_blocks;
    /* The copies of each thread begin on a page of their own. */
    work->local_stride = (4 * plan->local_max * (plan->damped ? 3 : 2) + 1023) / 512 * 512;
    size_t size = (size_t)work->threads * work->local_stride * sizeof(double);
    work->local = aligned_alloc(4096, size);
    if (work->local) memset(work->local, 0, size);
    work->partial = malloc(2 * (size_t)plan->n_blocks * sizeof(double));
  }
  if (!work || !work->local || !work->partial) {
    cb_springs_work_free(work);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the springs of %d particles", plan->n);
  }
  *out = work;
  return CB_OK;
}

void cb_springs_work_free(cb_springs_work *work) {
  if (!work) return;
  free(work->local);
  free(work->partial);
  free(work);
}

/* Exact derivatives of spring forces, spring by spring.
 *
 *   e = sum_f psi_f (x-y)_f,  d^2 = sum_f psi_f^2 y_f,  w = x' - y',  s = <e, w>
 *   F = -G e - gamma (s/d^2) e,  G = k (1 - D/d)
 *   M = de/dx = sum_f psi_f I_f + c_f (x-y)_f ((x-y)_f^T form),  c_f = 2 dpsi/dq = (1 - (1 - 2 t) psi) / y_f
 *   -dF/dx = G M + (k D/d^3) e (e^T form) + gamma ((s/d^2) M + e (w^T form M)/d^2 - (2 s/d^4) e (e^T form))
 *   -dF/dv = (gamma/d^2) e (e^T form)
 *
 * x and y are the ends, k, D and gamma are as in springs.h, and I_f is the unit matrix of factor f. psi and t of each
 * factor are those of springs_series.h, and q and y_f (called y in that file) are those of springs_kernel.h. The
 * derivatives by the end y have the opposite sign. */

enum { K = CB_COORD_MAX };

typedef struct spring_values {
  double stiffness, rest, damping;
} spring_values;

/* Computes the vector e and the matrix M = de/dx (equations at the head of this section) of the spring between x and y.
 * Returns the square d^2 of its length. */
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

/* Computes dF/dx and, unless dv is NULL, dF/dv: k x k numbers each, row by row. square is d^2. */
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

/* Returns the index of block (row, column) of the pattern, or -1. */
static int find(const cb_pattern *pattern, int row, int column) {
  int low = pattern->start[row], high = pattern->start[row + 1] - 1;
  while (low <= high) {
    int middle = low + (high - low) / 2;
    if (pattern->column[middle] == column) return middle;
    if (pattern->column[middle] < column)
      low = middle + 1;
    else
      high = middle - 1;
  }
  return -1;
}

static void add(double *to, double sign, const double *block, size_t size) {
  for (size_t a = 0; a < size; a++) to[a] += sign * block[a];
}

/* The plan, the positions x and velocities v, and the blocks dx (dF/dx) and dv (dF/dv) to which each spring adds its
 * derivatives. */
typedef struct jacobian {
  const cb_springs *plan;
  const cb_pattern *pattern;
  const double *x, *v;
  double *dx, *dv;
} jacobian;

static cb_status add_spring(const jacobian *to, spring_values s, int i, int j) {
  const cb_springs_space *space = &to->plan->space;
  const cb_pattern *pattern = to->pattern;
  const double *x = to->x, *v = to->v;
  size_t k = (size_t)space->k, size = k * k;
  int at[4] = {find(pattern, i, i), find(pattern, j, j), find(pattern, i, j), find(pattern, j, i)};
  for (int b = 0; b < 4; b++)
    if (at[b] < 0)
      return cb_fail(CB_ERROR_ARGUMENT,
                     "the pattern has no block of particles %d and %d, which a spring joins: expected the pattern of "
                     "the same system",
                     i, j);
  double e[K], m[K][K], w[K] = {0}, in_x[K * K], in_v[K * K] = {0};
  double square = chord(space, x + k * (size_t)i, x + k * (size_t)j, e, m);
  if (!(square >= 0) || (square == 0 && (s.rest > 0 || s.damping != 0)))
    return cb_fail(CB_STEP_DOMAIN,
                   "particles %d and %d of a spring coincide or are antipodal: expected different positions", i, j);
  if (s.damping != 0)
    for (size_t a = 0; a < k; a++) w[a] = v[k * (size_t)i + a] - v[k * (size_t)j + a];
  derivatives(space, s, square, e, m, w, in_x, in_v);
  for (int b = 0; b < 4; b++) {
    add(to->dx + size * (size_t)at[b], b < 2 ? 1 : -1, in_x, size);
    if (to->dv && s.damping != 0) add(to->dv + size * (size_t)at[b], b < 2 ? 1 : -1, in_v, size);
  }
  return CB_OK;
}

static cb_status add_run(const jacobian *to, const cb_springs_block *block, const cb_spring_run *run) {
  const cb_springs *plan = to->plan;
  for (size_t e = 0; e < run->springs; e++) {
    size_t group = e / CB_GROUP, lane = e % CB_GROUP;
    spring_values s = {run->stiffness[group * run->stiffness_step + lane], run->rest[group * run->rest_step + lane],
                       run->damping ? run->damping[e] : 0};
    int i = block->first + run->a[e] / 4, j;
    if (run->near)
      j = block->first + run->near[e] / 4;
    else if (plan->space.k == 4)
      j = (int)(run->far[e] / 4);
    else
      j = plan->halo[block->halo + run->far[e] / 4 - (size_t)block->count];
    cb_status status = add_spring(to, s, i, j);
    if (status) return status;
  }
  return CB_OK;
}

cb_status cb_springs_jacobian(const cb_springs *plan, const cb_pattern *pattern, const double *x, const double *v,
                              double *dx, double *dv) {
  const jacobian to = {plan, pattern, x, v, dx, dv};
  for (int b = 0; b < plan->n_blocks; b++) {
    const cb_springs_block *block = &plan->block[b];
    cb_spring_run near = cb_springs_near(plan, block, 0, block->near), up = cb_springs_up(plan, block);
    cb_status status = add_run(&to, block, &near);
    if (!status) status = add_run(&to, block, &up);
    if (status) return status;
  }
  return CB_OK;
}
