/* The local fluid model: what the kernels' sums mean, and the blocks over which they are taken. See local.h. */
#include "fluid/local_private.h"

#include "core/isa.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static void *room(size_t n, size_t size) { return calloc(n + 1, size); }

/* Aligned to a vector, with zeros. */
static double *numbers(size_t n) {
  const size_t size = (n * sizeof(double) + 127) / 64 * 64;
  double *p = aligned_alloc(64, size);
  if (p) memset(p, 0, size);
  return p;
}

static const cb_local_kernels *kernels(void) {
#if defined(__x86_64__)
  if (cb_isa_get() == CB_ISA_AVX512) return &cb_local_kernels_avx512;
  if (cb_isa_get() == CB_ISA_AVX2) return &cb_local_kernels_avx2;
#endif
  return &cb_local_kernels_x86_64;
}

cb_status cb_local_create(const cb_surface *s, cb_local **out) {
  cb_local *l = calloc(1, sizeof *l);
  if (!l) return cb_fail(CB_ERROR_MEMORY, "no memory for a surface of %d faces", s->faces);
  cb_status status = cb_local_order(s, l);
  if (!status) {
    const size_t slots = (size_t)l->slots, parts = (size_t)l->parts;
    l->kernels = kernels();
    l->threads = cb_threads_for((size_t)l->faces);
    l->x = numbers(4 * (size_t)l->vertices);
    l->v = numbers(4 * (size_t)l->vertices);
    l->flat = numbers(CB_LOCAL_FLAT / CB_LOCAL_GROUP * slots);
    l->spread = numbers(CB_LOCAL_SPREAD / CB_LOCAL_GROUP * slots);
    l->rate = numbers(CB_LOCAL_RATE / CB_LOCAL_GROUP * slots);
    l->sum = room((size_t)l->face_blocks, sizeof *l->sum);
    l->edge_sum = room((size_t)l->edge_blocks, sizeof *l->edge_sum);
    l->mean = room(parts, sizeof *l->mean);
    l->folds = room(parts, sizeof *l->folds);
    l->part = room(parts, sizeof *l->part);
    if (!l->x || !l->v || !l->flat || !l->spread || !l->rate || !l->sum || !l->edge_sum || !l->mean || !l->folds ||
        !l->part)
      status = cb_fail(CB_ERROR_MEMORY, "no memory for a surface of %d faces", s->faces);
  }
  if (status) {
    cb_local_free(l);
    return status;
  }
  cb_local_pose(l, (const double(*)[3])s->x, NULL);
  *out = l;
  return CB_OK;
}

void cb_local_free(cb_local *l) {
  if (!l) return;
  void *const all[] = {l->face_block, l->edge_block, l->original, l->face_of, l->corner[0], l->corner[1], l->corner[2],
                       l->edge_face[0], l->edge_face[1], l->edge_end[0], l->edge_end[1], l->open, l->x, l->v, l->flat,
                       l->spread, l->rate, l->sum, l->edge_sum, l->mean, l->folds, l->part, l};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* --- blocks --- */

typedef struct task {
  cb_local *l;
  const double (*x)[3], (*v)[3];
  const double *rho;
  const cb_local_flow *flow;
} task;

static void copy_vertices(void *context, int begin, int end) {
  const task *t = context;
  const cb_local *l = t->l;
  for (int i = begin; i < end; i++) memcpy(l->x + 4 * (size_t)i, t->x[l->original[i]], sizeof *t->x);
  if (t->v)
    for (int i = begin; i < end; i++) memcpy(l->v + 4 * (size_t)i, t->v[l->original[i]], sizeof *t->v);
}
static void face_blocks(void *context, int begin, int end) {
  const task *t = context;
  for (int b = begin; b < end; b++) t->l->kernels->faces(t->l, t->l->face_block + b);
}
static void edge_blocks(void *context, int begin, int end) {
  const task *t = context;
  for (int b = begin; b < end; b++) t->l->kernels->edges(t->l, t->l->edge_block + b, t->l->edge_sum[b]);
}
static void mass_blocks(void *context, int begin, int end) {
  const task *t = context;
  for (int b = begin; b < end; b++) t->l->kernels->mass(t->l, t->l->face_block + b, t->rho, t->l->sum[b]);
}
static void flux_blocks(void *context, int begin, int end) {
  const task *t = context;
  for (int b = begin; b < end; b++) t->l->kernels->flux(t->l, t->l->face_block + b, t->l->sum[b]);
}
static void drag_blocks(void *context, int begin, int end) {
  const task *t = context;
  for (int b = begin; b < end; b++) t->l->kernels->drag(t->l, t->l->face_block + b, t->flow, t->l->sum[b]);
}
static void linear_blocks(void *context, int begin, int end) {
  const task *t = context;
  for (int b = begin; b < end; b++) t->l->kernels->linear(t->l, t->l->face_block + b, t->flow, t->l->sum[b]);
}

/* A sheet's face stands for both its sides. */
static double sides(const cb_local *l, int part) { return l->open[part] ? 2 : 1; }

/* --- the pose --- */

void cb_local_pose(cb_local *l, const double (*x)[3], const double (*v)[3]) {
  task t = {.l = l, .x = x, .v = v};
  l->moving = v != NULL;
  l->turned = false;
  memset(l->mean, 0, (size_t)l->parts * sizeof *l->mean);
  cb_threads_range(l->threads, l->vertices, copy_vertices, &t);
  cb_threads_range(l->threads, l->face_blocks, face_blocks, &t);
}

double cb_local_breathing(cb_local *l, bool subtract) {
  double greatest = 0;
  memset(l->mean, 0, (size_t)l->parts * sizeof *l->mean);
  if (!l->moving) return 0;
  cb_threads_range(l->threads, l->face_blocks, flux_blocks, &(task){.l = l});
  for (int b = 0, next; b < l->face_blocks; b = next) {
    const int p = l->face_block[b].part;
    double through = 0, area = 0;
    for (next = b; next < l->face_blocks && l->face_block[next].part == p; next++) {
      through += l->sum[next][0];
      area += l->sum[next][1];
    }
    if (l->open[p] || !(area > 0)) continue;
    const double mean = through / area;
    if (fabs(mean) > fabs(greatest)) greatest = mean;
    if (subtract) l->mean[p] = mean;
  }
  return greatest;
}

/* --- added mass --- */

void cb_local_delta(bool open, double folds, cb_local_part *part) {
  /* The two sides of a sheet turn oppositely at an edge between two faces, unless it is folded flat. */
  const double turning = open ? PI * part->border + 2 * PI * folds : part->turning,
               most = 0.5 * sqrt(part->area / (4 * PI));
  part->open = open;
  part->delta_uncapped = part->area / turning;
  part->capped = !(turning > 0) || part->delta_uncapped > most;
  part->delta = part->capped ? most : part->delta_uncapped;
}

static void turn(cb_local *l) {
  cb_threads_range(l->threads, l->edge_blocks, edge_blocks, &(task){.l = l});
  memset(l->part, 0, (size_t)l->parts * sizeof *l->part);
  memset(l->folds, 0, (size_t)l->parts * sizeof *l->folds);
  for (int b = 0; b < l->edge_blocks; b++) {
    const cb_local_block *block = l->edge_block + b;
    const double *sum = l->edge_sum[b], share = block->kind == CB_LOCAL_SHARED ? 0.5 : 1;
    if (block->kind == CB_LOCAL_BORDER) {
      l->part[block->part].border += sum[CB_LOCAL_LENGTH];
      continue;
    }
    l->part[block->part].turning += share * sum[CB_LOCAL_TURNING];
    l->folds[block->part] += share * sum[CB_LOCAL_FOLD];
  }
  l->turned = true;
}

static void add_mass(double factor, const double *sum, double mass[6][6], double *mu0) {
  for (int i = 0, k = 0; i < 3; i++)
    for (int j = i; j < 3; j++, k++) {
      mass[i][j] += factor * sum[CB_LOCAL_K + k];
      mass[3 + i][3 + j] += factor * sum[CB_LOCAL_K + 15 + k];
    }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) mass[i][3 + j] += factor * sum[CB_LOCAL_K + 6 + 3 * i + j];
  for (int i = 0; mu0 && i < 6; i++) mu0[i] += factor * sum[CB_LOCAL_MU + i];
}

void cb_local_added_mass(cb_local *l, double rho1, const double *rho, double mass[6][6], double mu0[6],
                         cb_local_part *part) {
  if (!l->turned) turn(l);
  cb_threads_range(l->threads, l->face_blocks, mass_blocks, &(task){.l = l, .rho = rho});
  memset(mass, 0, 36 * sizeof(double));
  if (mu0) memset(mu0, 0, 6 * sizeof *mu0);
  for (int b = 0, next; b < l->face_blocks; b = next) {
    const int p = l->face_block[b].part;
    double sum[CB_LOCAL_MASS_SUMS] = {0};
    for (next = b; next < l->face_blocks && l->face_block[next].part == p; next++)
      for (int i = 0; i < CB_LOCAL_MASS_SUMS; i++) sum[i] += l->sum[next][i];
    l->part[p].area = sides(l, p) * sum[CB_LOCAL_AREA];
    l->part[p].volume = l->open[p] ? 0 : sum[CB_LOCAL_VOLUME];
    cb_local_delta(l->open[p], l->folds[p], l->part + p);
    add_mass((rho ? 1 : rho1) * l->part[p].delta * sides(l, p), sum, mass, l->moving ? mu0 : NULL);
  }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < i; j++) mass[i][j] = mass[j][i];
  if (part) memcpy(part, l->part, (size_t)l->parts * sizeof *part);
}

/* --- drag --- */

static void add_drag(const cb_local *l, double factor, double wrench[6], double (*jacobian)[6]) {
  for (int b = 0; b < l->face_blocks; b++) {
    const double w = factor * sides(l, l->face_block[b].part), *sum = l->sum[b];
    for (int i = 0; i < 6; i++, sum += 7) {
      for (int j = 0; jacobian && j < 6; j++) jacobian[i][j] += w * sum[j];
      wrench[i] += w * sum[6];
    }
  }
}

void cb_local_drag(cb_local *l, double rho1, const double *rho, const double Y[6], const double flow1[3],
                   const double (*flow)[3], double c_n, double c_t, double wrench[6], double jacobian[6][6]) {
  cb_local_flow in = {.rho = rho, .flow = flow ? flow[0] : NULL, .normal = c_n, .along = c_t, .jacobian = jacobian};
  for (int i = 0; i < 6; i++) in.Y[i] = i < 3 || flow || !flow1 ? Y[i] : Y[i] - flow1[i - 3];
  task t = {.l = l, .flow = &in};
  double total[6] = {0};
  if (jacobian) memset(jacobian, 0, 36 * sizeof(double));
  cb_threads_range(l->threads, l->face_blocks, drag_blocks, &t);
  add_drag(l, -0.5 * (rho ? 1 : rho1), total, jacobian);
  if (c_n != 0 || c_t != 0) {
    cb_threads_range(l->threads, l->face_blocks, linear_blocks, &t);
    add_drag(l, -1, total, jacobian);
  }
  memcpy(wrench, total, sizeof total);
}
