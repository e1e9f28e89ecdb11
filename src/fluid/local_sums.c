/* The local fluid model (see fluid/local.h). This file calls the kernels for each block and computes the results from
 * their sums. The model in curved spaces follows below. */
#include "fluid/local_private.h"
#include "core/threads.h"
#include "fluid/curved_moments.h"
#include "fluid/local.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static void *allocate(size_t n, size_t size) { return calloc(n + 1, size); }

/* Returns an array of n zeros whose address is aligned for vectors. */
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
    l->x = numbers(8 * (size_t)l->vertices);
    l->v = l->x ? l->x + 4 : NULL;
    l->apex = allocate(parts, sizeof *l->apex);
    l->pose_sum = allocate((size_t)l->face_blocks, sizeof *l->pose_sum);
    l->flat = numbers(CB_LOCAL_FLAT / CB_LOCAL_GROUP * slots);
    l->rate = numbers(CB_LOCAL_RATE / CB_LOCAL_GROUP * slots);
    l->sum = allocate((size_t)l->face_blocks, sizeof *l->sum);
    l->edge_sum = allocate((size_t)l->edge_blocks, sizeof *l->edge_sum);
    l->mean = allocate(parts, sizeof *l->mean);
    l->folds = allocate(parts, sizeof *l->folds);
    l->part = allocate(parts, sizeof *l->part);
    if (!l->x || !l->apex || !l->pose_sum || !l->flat || !l->rate || !l->sum || !l->edge_sum || !l->mean || !l->folds ||
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
  void *const all[] = {l->face_block,  l->edge_block,   l->part_block,
                       l->original,    l->face_of,      l->corner[0],
                       l->corner[1],   l->corner[2],    l->beside[0],
                       l->beside[1],   l->edge_face[0], l->edge_face[1],
                       l->edge_end[0], l->edge_end[1],  l->rim_slot,
                       l->rim_first,   l->rim,          l->row_first,
                       l->share_block, l->share,        l->share_sum,
                       l->apex,        l->open,         l->x,
                       l->flat,        l->rate,         l->pose_sum,
                       l->sum,         l->edge_sum,     l->mean,
                       l->folds,       l->part,         l};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* --- blocks --- */

typedef struct task {
  cb_local *l;
  const cb_local_blend *of;
  const double *rho;
  const cb_local_flow *flow;
} task;

static void faces_of(const task *t, const cb_local_blend *ahead, int b) {
  cb_local *l = t->l;
  l->kernels->faces(l, l->face_block + b, ahead, t->flow, l->pose_sum[b], l->sum[b]);
}
static void face_blocks(void *context, int begin, int end) {
  for (int b = begin; b < end; b++) faces_of(context, NULL, b);
}
static void row_blocks(void *context, int begin, int end) {
  const task *t = context;
  t->l->kernels->rows(t->l, t->l->row_first[begin], t->l->row_first[end], t->of);
}
/* Computes the vertices of a block, and then the sums over its faces while the vertices are still in the cache. */
static void row_and_face_blocks(void *context, int begin, int end) {
  const task *t = context;
  for (int b = begin; b < end; b++) {
    row_blocks(context, b, b + 1);
    faces_of(t, b + 1 < end ? t->of : NULL, b);
  }
}
static void share_blocks(void *context, int begin, int end) {
  const task *t = context;
  for (int b = begin; b < end; b++) t->l->kernels->apex(t->l, t->l->share_block + b, t->of, t->l->share_sum[b]);
}
static void edge_blocks(void *context, int begin, int end) {
  const task *t = context;
  for (int b = begin; b < end; b++) t->l->kernels->edges(t->l, t->l->edge_block + b, t->l->edge_sum[b]);
}
static void mass_blocks(void *context, int begin, int end) {
  const task *t = context;
  for (int b = begin; b < end; b++) t->l->kernels->mass(t->l, t->l->face_block + b, t->rho, t->l->sum[b]);
}
static void drag_blocks(void *context, int begin, int end) {
  const task *t = context;
  for (int b = begin; b < end; b++) t->l->kernels->drag(t->l, t->l->face_block + b, t->flow, t->l->sum[b]);
}
static void flat_blocks(void *context, int begin, int end) {
  const task *t = context;
  for (int b = begin; b < end; b++) t->l->kernels->flatten(t->l, t->l->face_block + b);
}
static void linear_blocks(void *context, int begin, int end) {
  const task *t = context;
  for (int b = begin; b < end; b++) t->l->kernels->linear(t->l, t->l->face_block + b, t->flow, t->l->sum[b]);
}

/* Returns how many sides a face of the part represents: both sides if the part is a sheet. */
static double sides(const cb_local *l, int part) { return l->open[part] ? 2 : 1; }

/* --- the pose --- */

static cb_local_flow flow_of(const double *rho, const double Y[6], const double *flow1, const double (*flow)[3],
                             bool jacobian) {
  cb_local_flow in = {.rho = rho, .flow = flow ? flow[0] : NULL, .jacobian = jacobian};
  for (int i = 0; i < 6; i++) in.Y[i] = i < 3 || flow || !flow1 ? Y[i] : Y[i] - flow1[i - 3];
  return in;
}

static void add_drag(const cb_local *l, double factor, double wrench[6], double (*jacobian)[6]) {
  for (int b = 0; b < l->face_blocks; b++) {
    const double w = factor * sides(l, l->face_block[b].part), *sum = l->sum[b];
    for (int i = 0; i < 6; i++, sum += 7) {
      for (int j = 0; jacobian && j < 6; j++) jacobian[i][j] += w * sum[j];
      wrench[i] += w * sum[6];
    }
  }
}

/* Finds the positions and velocities of the apexes from those of the vertices. */
static void find_apexes(cb_local *l, const cb_local_blend *of) {
  cb_threads_range(l->threads, l->share_blocks, share_blocks, &(task){.l = l, .of = of});
  memset(l->apex, 0, (size_t)l->parts * sizeof *l->apex);
  for (int b = 0; b < l->share_blocks; b++)
    for (int i = 0; i < 8; i++) l->apex[l->share_block[b].part][i] += l->share_sum[b][i];
}

static void blend_apexes(cb_local *l, const cb_local_blend *of) {
  memset(l->apex, 0, (size_t)l->parts * sizeof *l->apex);
  for (int p = 0; p < l->parts; p++)
    for (int k = 0; k < of->n; k++)
      for (int i = 0; i < 3; i++) {
        l->apex[p][i] += of->w[k] * of->apex[k][p][i];
        l->apex[p][4 + i] += of->dw[k] * of->apex[k][p][i];
      }
}

static void pose(cb_local *l, const cb_local_blend *of, bool moving, const cb_local_flow *flow) {
  task t = {.l = l, .of = of, .flow = flow};
  l->moving = moving;
  l->flattened = !flow || l->drags;
  l->drags = false;
  l->turned = false;
  memset(l->mean, 0, (size_t)l->parts * sizeof *l->mean);
  if (of->apex[0])
    blend_apexes(l, of);
  else
    find_apexes(l, of);
  if (l->threads == 1) {
    cb_threads_range(1, l->face_blocks, row_and_face_blocks, &t);
  } else {
    cb_threads_range(l->threads, l->face_blocks, row_blocks, &t);
    cb_threads_range(l->threads, l->face_blocks, face_blocks, &t);
  }
}

bool cb_local_pose_blend(cb_local *l, const cb_local_blend *of, cb_local_at_once *at_once) {
  cb_local_flow in;
  if (at_once) in = flow_of(NULL, at_once->Y, at_once->flow, NULL, true);
  pose(l, of, true, at_once ? &in : NULL);
  if (at_once) {
    memset(at_once->wrench, 0, sizeof at_once->wrench);
    memset(at_once->jacobian, 0, sizeof at_once->jacobian);
    add_drag(l, -0.5 * at_once->rho, at_once->wrench, at_once->jacobian);
  }
  double sum = 0;
  for (int b = 0; b < l->face_blocks; b++) sum += l->pose_sum[b][CB_LOCAL_AREA] + l->pose_sum[b][CB_LOCAL_FLUX];
  return isfinite(sum);
}

void cb_local_pose(cb_local *l, const double (*x)[3], const double (*v)[3]) {
  pose(l, &(cb_local_blend){.n = v ? 2 : 1, .x = {x, v}, .w = {1}, .dw = {0, 1}}, v != NULL, NULL);
}

void cb_local_apexes(cb_local *l, const double (*x)[3], double (*apex)[3]) {
  const cb_local_blend of = {.n = 1, .x = {x}, .w = {1}};
  find_apexes(l, &of);
  for (int p = 0; p < l->parts; p++) memcpy(apex[p], l->apex[p], sizeof *apex);
}

void cb_local_part_sums(const cb_local *l, int part, double sum[CB_LOCAL_POSE_SUMS]) {
  memset(sum, 0, CB_LOCAL_POSE_SUMS * sizeof *sum);
  for (int b = l->part_block[part]; b < l->part_block[part + 1]; b++)
    for (int i = 0; i < CB_LOCAL_POSE_SUMS; i++) sum[i] += l->pose_sum[b][i];
}

double cb_local_removed_normal_velocity(cb_local *l, bool subtract) {
  double greatest = 0;
  memset(l->mean, 0, (size_t)l->parts * sizeof *l->mean);
  if (!l->moving) return 0;
  for (int p = 0; p < l->parts; p++) {
    double sum[CB_LOCAL_POSE_SUMS];
    cb_local_part_sums(l, p, sum);
    if (l->open[p] || !(sum[CB_LOCAL_AREA] > 0)) continue;
    const double mean = sum[CB_LOCAL_FLUX] / sum[CB_LOCAL_AREA];
    if (fabs(mean) > fabs(greatest)) greatest = mean;
    if (subtract) l->mean[p] = mean;
  }
  return greatest;
}

/* --- added mass --- */

void cb_local_delta(bool open, double folds, cb_local_part *part) {
  /* At an edge between two faces of a sheet, the bending angles on the two sides of the sheet cancel, unless the edge
   * is folded flat. */
  const double turning = open ? PI * part->border + 2 * PI * folds : part->turning,
               maximum = 0.5 * sqrt(part->area / (4 * PI));
  part->open = open;
  part->delta_uncapped = part->area / turning;
  part->capped = !(turning > 0) || part->delta_uncapped > maximum;
  part->delta = part->capped ? maximum : part->delta_uncapped;
}

const char *cb_local_doubt(const cb_local_part *part) {
  if (part->delta_uncapped < 0) return "its total bending is negative: delta is the cap, not the value of the model";
  if (part->capped) return "hollow or folded: delta exceeds that of a convex body with the same area, and is capped";
  return NULL;
}

/* For the edges that no face holds, finds the sums of alpha l (bending angle times length), the lengths of the borders
 * and the lengths of the folds. (The sums over faces contain the other edges.) */
static void turn(cb_local *l) {
  cb_threads_range(l->threads, l->edge_blocks, edge_blocks, &(task){.l = l});
  memset(l->part, 0, (size_t)l->parts * sizeof *l->part);
  memset(l->folds, 0, (size_t)l->parts * sizeof *l->folds);
  for (int b = 0; b < l->edge_blocks; b++) {
    const cb_local_block *block = l->edge_block + b;
    const double *sum = l->edge_sum[b], share = block->kind == CB_LOCAL_SHARED ? 0.5 : 1;
    if (block->kind == CB_LOCAL_BORDER) {
      l->part[block->part].border += sum[CB_LOCAL_EDGE_LENGTH];
      continue;
    }
    l->part[block->part].turning += share * sum[CB_LOCAL_EDGE_TURNING];
    l->folds[block->part] += share * sum[CB_LOCAL_EDGE_FOLD];
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
  if (rho) cb_threads_range(l->threads, l->face_blocks, mass_blocks, &(task){.l = l, .rho = rho});
  memset(mass, 0, 36 * sizeof(double));
  if (mu0) memset(mu0, 0, 6 * sizeof *mu0);
  for (int p = 0; p < l->parts; p++) {
    double sum[CB_LOCAL_POSE_SUMS];
    cb_local_part own = l->part[p];
    cb_local_part_sums(l, p, sum);
    own.turning += sum[CB_LOCAL_TURNING];
    own.area = sides(l, p) * sum[CB_LOCAL_AREA];
    own.volume = l->open[p] ? 0 : sum[CB_LOCAL_VOLUME];
    if (own.area > 0) cb_local_delta(l->open[p], l->folds[p] + sum[CB_LOCAL_FOLD], &own);
    if (part) part[p] = own;
    for (int i = 0; i < 6; i++) sum[CB_LOCAL_MU + i] -= l->mean[p] * sum[CB_LOCAL_M + i];
    if (rho) {
      memset(sum, 0, (CB_LOCAL_MU + 6) * sizeof *sum);
      for (int b = l->part_block[p]; b < l->part_block[p + 1]; b++)
        for (int i = 0; i < CB_LOCAL_MU + 6; i++) sum[i] += l->sum[b][i];
    }
    add_mass((rho ? 1 : rho1) * own.delta * sides(l, p), sum, mass, l->moving ? mu0 : NULL);
  }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < i; j++) mass[i][j] = mass[j][i];
}

/* --- drag --- */

void cb_local_drag(cb_local *l, const cb_local_stream *in, const double Y[6], double wrench[6], double jacobian[6][6]) {
  cb_local_flow flow = flow_of(in->rho, Y, in->flow1, in->flow, jacobian != NULL);
  flow.normal = in->c_n;
  flow.along = in->c_t;
  task t = {.l = l, .flow = &flow};
  double total[6] = {0};
  if (jacobian) memset(jacobian, 0, 36 * sizeof(double));
  if (!l->flattened) cb_threads_range(l->threads, l->face_blocks, flat_blocks, &t);
  l->flattened = l->drags = true;
  cb_threads_range(l->threads, l->face_blocks, drag_blocks, &t);
  add_drag(l, -0.5 * (in->rho ? 1 : in->rho1), total, jacobian);
  if (in->c_n != 0 || in->c_t != 0) {
    cb_threads_range(l->threads, l->face_blocks, linear_blocks, &t);
    add_drag(l, -1, total, jacobian);
  }
  memcpy(wrench, total, sizeof total);
}

/* The local model's added mass of closed parts in a space of curvature K (equations: fluid/local.h). Edges have the
 * geodesic lengths l, the areas A follow from the angle excess, and the bending angles alpha from
 * cos alpha = nu.nu' + K nu_w nu_w', with the planes (nu, nu_w) of both faces (numerics/numerics_curved.h).
 *
 *   I_f = sum over parts rho delta int m m^T dA,  delta = (sum of A)/(sum of alpha l)
 *
 * I_f is the added mass, rho the density, m the flux of twists, and delta a length that the model computes for each
 * part. A ball of radius a has delta = tan_K(a)/2, where tan_K = s_K/c_K (numerics/numerics_curved.h). Let a part have
 * the area 4 pi S^2. If K S^2 < 1, delta is at most that of a ball with this area, (S/2) (1 - K S^2)^(-1/2). If K S^2
 * >= 1, a negative or infinite delta is replaced by K^(-1/2). The result is exact for balls in H^3 and E^3. In S^3 it
 * is the added mass of the flow with a sink at the antipode, which is too large by 4 % for a ball of radius .5/sqrt(K),
 * and by 42 % for radius 1/sqrt(K). Derived for this project.
 */

typedef struct face {
  double y[3][4], plane[4], norm;
} face;

static cb_status set_faces(const cb_surface *s, const double (*y)[4], face *out) {
  for (int i = 0; i < s->faces; i++) {
    for (int k = 0; k < 3; k++) memcpy(out[i].y[k], y[s->face[i][k]], sizeof out[i].y[k]);
    const face *f = out + i;
    out[i].norm = cb_curved_plane(s->curvature, f->y[0], f->y[1], f->y[2], out[i].plane);
    if (!(out[i].norm > 0))
      return cb_fail(CB_ERROR_DOMAIN, "face %d has no area in the space of curvature %g: expected an area > 0", i + 1,
                     s->curvature);
  }
  return CB_OK;
}

/* Returns alpha l of the edge e with the bending angle alpha and the length l. alpha is positive if the body is convex
 * at the edge. */
static double turning(const cb_surface *s, const double (*y)[4], const face *faces, const cb_surface_edge *e) {
  const double K = s->curvature, *n = faces[e->face[0]].plane, *m = faces[e->face[1]].plane;
  const double cosine = cb_dot3(n, m) + K * n[3] * m[3], angle = acos(fmin(1, fmax(-1, cosine)));
  double apart = 0; /* sine of the signed distance of the second face's corner from the first face's plane */
  for (int k = 0; k < 3; k++) {
    const double *c = y[s->face[e->face[1]][k]], off = cb_dot3(n, c) + n[3] * c[3];
    if (fabs(off) > fabs(apart)) apart = off;
  }
  return (apart > 0 ? -angle : angle) * cb_curved_distance(K, y[e->a], y[e->b]);
}

static void add_faces(const cb_surface *s, const face *faces, int p, double delta, double mass[6][6]) {
  for (int f = 0; f < s->faces; f++) {
    if (s->part[f] != p) continue;
    for (int k = 0; k < CB_CURVED_POINTS; k++) {
      double q[4], m[6];
      const double c = cb_curved_node(s->curvature, (const double(*)[4])faces[f].y, k, q),
                   weight = delta * cb_curved_rule[k][3] * faces[f].norm / (2 * c * sqrt(c));
      cb_curved_flux(s->curvature, faces[f].plane, q, m);
      for (int i = 0; i < 36; i++) mass[i / 6][i % 6] += weight * m[i / 6] * m[i % 6];
    }
  }
}

static void find_delta(double K, cb_local_part *part) {
  const double square = part->area / (4 * M_PI),
               maximum = K * square < 1 ? sqrt(square / (1 - K * square)) / 2 : INFINITY;
  part->delta = part->delta_uncapped = part->area / part->turning;
  part->capped = !(part->delta >= 0 && isfinite(part->delta) && part->delta <= maximum * (1 + 1e-12));
  if (part->capped) part->delta = isfinite(maximum) ? maximum : 1 / sqrt(K);
}

static cb_status sum_up(const cb_surface *s, const double (*y)[4], face *faces, const cb_surface_edge *edge, int edges,
                        double mass[6][6], cb_local_part *part) {
  const cb_status status = set_faces(s, y, faces);
  if (status) return status;
  for (int p = 0; p < s->parts; p++) {
    cb_curved_moments solid, skin;
    part[p] = (cb_local_part){.area = 0};
    cb_curved_of_part(s, y, p, &solid, &skin, &part[p].area);
    part[p].volume = cb_curved_content(s->curvature, &solid);
  }
  for (int e = 0; e < edges; e++) part[s->part[edge[e].face[0]]].turning += turning(s, y, faces, edge + e);
  for (int p = 0; p < s->parts; p++) {
    find_delta(s->curvature, part + p);
    add_faces(s, faces, p, part[p].delta, mass);
  }
  return CB_OK;
}

cb_status cb_local_curved_added_mass(const cb_surface *s, const double (*x)[3], double mass[6][6],
                                     cb_local_part *part) {
  for (int p = 0; p < s->parts; p++)
    if (s->open[p])
      return cb_fail(
          CB_ERROR_UNSUPPORTED,
          "part `%s` is a sheet, and the local model in a curved space does not support sheets: expected closed parts",
          s->name[p]);
  cb_surface_edge *edge;
  int edges;
  cb_status status = cb_surface_edges(s, &edge, &edges);
  if (status) return status;
  double(*y)[4] = malloc((size_t)s->vertices * sizeof *y);
  face *faces = malloc((size_t)s->faces * sizeof *faces);
  memset(mass, 0, 36 * sizeof(double));
  if (!y || !faces) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d faces", s->faces);
  for (int v = 0; v < s->vertices && !status; v++) cb_curved_point(s->curvature, x[v], y[v]);
  if (!status) status = sum_up(s, (const double(*)[4])y, faces, edge, edges, mass, part);
  free(edge);
  free(faces);
  free(y);
  return status;
}
