/* Springs: blocks of particles, each computed by itself. */
#include "dynamics/springs_plan.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Below this many springs (times stages) one thread is taken: what two could save, well under a millisecond, is less
 * than the wait for a thread that is not running. */
enum { SERIAL_BELOW = 300000 };

/* A thread's copies. */
typedef struct local {
  double *x, *f, *v;
} local;

static local local_copy(const cb_springs_work *work, int thread) {
  double *at = work->local + (size_t)thread * work->local_stride;
  size_t size = 4 * work->plan->local_max;
  return (local){at, at + size, at + 2 * size};
}

/* What is done with a block. */
typedef void block_task(const cb_springs_work *work, const void *context, int block, local at);

static void each_block(const cb_springs_work *work, size_t stages, block_task *task, const void *context) {
  const cb_springs *plan = work->plan;
  if (work->threads == 1 || plan->m * stages < SERIAL_BELOW) { /* even a region of one thread takes a microsecond */
    for (int b = 0; b < plan->n_blocks; b++) task(work, context, b, local_copy(work, 0));
    return;
  }
#pragma omp parallel for num_threads(work->threads) schedule(dynamic, 1)
  for (int b = 0; b < plan->n_blocks; b++) task(work, context, b, local_copy(work, omp_get_thread_num()));
}

/* The positions of a block's particles and of its halo, with zeros for the coordinates that there are not. */
static inline void copy_in_k(size_t k, const cb_springs *plan, const cb_springs_block *block, const double *x,
                             double *to) {
  const int *halo = plan->halo + block->halo;
  const double *from = x + k * (size_t)block->first;
  for (size_t i = 0; i < (size_t)block->count; i++, from += k, to += 4)
    for (size_t a = 0; a < 4; a++) to[a] = a < k ? from[a] : 0;
  for (size_t h = 0; h < block->halo_count; h++, to += 4)
    for (size_t a = 0; a < 4; a++) to[a] = a < k ? x[k * (size_t)halo[h] + a] : 0;
}

/* Positions that the kernels take: x itself, or a copy. */
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

/* Processors match a load to an earlier store by the low 20 bits of their addresses first, and lose time where that
 * misleads: forces then go to a thread's own memory. (Measured: twice the time, for large pages and distances below 192
 * bytes.) */
static int collide(const double *x, const double *f) {
  uintptr_t distance = ((uintptr_t)x - (uintptr_t)f + 256) & 0xfffff;
  return distance <= 512;
}

/* Where a block's particles begin in the positions that the kernels take. */
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
  /* Zeros go just ahead of the springs, while what they touch is in the first cache. */
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
    cb_springs_small_force(work, (size_t)stages, x, v, force);
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

/* d of one group, into the order that springs were given in. */
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
  if (threads < 1) return cb_fail(CB_ERROR_ARGUMENT, "%d threads", threads);
  cb_springs_work *work = calloc(1, sizeof *work);
  if (work) {
    work->plan = plan;
    work->threads = threads < plan->n_blocks ? threads : plan->n_blocks;
    /* Threads' copies begin on their own pages. */
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
