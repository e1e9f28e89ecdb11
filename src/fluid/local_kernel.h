/* The kernels of the local fluid model, written once for the vectors of all instruction sets. local_x86_64.c,
 * local_avx2.c and local_avx512.c include this file after they have defined WIDTH (the number of faces in a vector),
 * vec (a vector: one number of WIDTH faces), functions on it, ROWS and KERNELS.
 *
 * A face (x0, x1, x2), e1 = x1 - x0, e2 = x2 - x0, has the centre c and the area vector a = A n = e1 × e2/2. The centre
 * moves with w. s = e1 + e2 and t = e1 - e2 change with the rates s' and t'. M = A m(c) = (c × a, a), with m, n and the
 * velocity x' as in fluid/local.h. Because x - c is a combination of s and t, the 3-midpoint rule is
 *
 *   int m m^T dA = (M M^T + S S^T/72 + T T^T/24)/A,  S = (s × a, 0),  T = (t × a, 0)
 *   int <x',n> m dA = (<w,a> M + <s',a> S/72 + <t',a> T/24)/A
 *
 * A part's apex is the mean of its surface (local_private.h). In the next formulas, places x are measured from
 * the apex, and y and u are the centre of a face and its velocity relative to the apex. Over the tetrahedron from the
 * apex to the face, of volume V = <y,a>/3, the integrals are
 *
 *   int x x'^T dV = V (3/5 y u^T + s s'^T/120 + t t'^T/40),  int x dV = 3/4 V y,
 *   (int x dV)' = <u,a> y + <s',a> s/72 + <t',a> t/24, which is right for the sum over the closed surface.
 *
 * Setting a pose takes one pass over the faces. It computes these sums, and the drag at one twist if this twist is
 * known. Drags at further twists need c, a and w, which the pass stores on request (l->flattened). The normals of the
 * faces of a block stay in the cache until the edges of the block are summed.
 */
#include "fluid/local_private.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef unsigned long long bits __attribute__((vector_size(8 * WIDTH)));
typedef struct vec3 {
  vec x, y, z;
} vec3;

/* This is added under roots, so that faces without area and bodies at rest give 0 instead of 0/0. */
static const double tiny = 1e-300;
static const double none[3];

/* Loads three consecutive numbers p[at[i]], p[at[i] + 1] and p[at[i] + 2] for each face i of the vector. */
INLINE vec3 rows3(const double *p, const int *at) {
  vec3 a;
  rows(p, at, &a.x, &a.y, &a.z);
  return a;
}

INLINE vec3 add(vec3 a, vec3 b) { return (vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
INLINE vec3 subtract(vec3 a, vec3 b) { return (vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
INLINE vec3 scaled(vec s, vec3 a) { return (vec3){s * a.x, s * a.y, s * a.z}; }
/* Returns b + s a. */
INLINE vec3 along(vec s, vec3 a, vec3 b) { return (vec3){fma3(s, a.x, b.x), fma3(s, a.y, b.y), fma3(s, a.z, b.z)}; }
INLINE vec dot(vec3 a, vec3 b) { return fma3(a.z, b.z, fma3(a.y, b.y, a.x * b.x)); }
INLINE vec3 cross(vec3 a, vec3 b) {
  return (vec3){fnma3(a.z, b.y, a.y * b.z), fnma3(a.x, b.z, a.z * b.x), fnma3(a.y, b.x, a.x * b.y)};
}
INLINE vec3 load3(const double *p) { return (vec3){load(p), load(p + CB_LOCAL_GROUP), load(p + 2 * CB_LOCAL_GROUP)}; }
INLINE void store3(double *p, vec3 a) {
  store(p, a.x);
  store(p + CB_LOCAL_GROUP, a.y);
  store(p + 2 * CB_LOCAL_GROUP, a.z);
}
/* Returns the place of the first number of face f in an array where each group of CB_LOCAL_GROUP faces takes `group`
 * numbers. The other numbers of the face follow, each CB_LOCAL_GROUP entries after the previous one. */
INLINE size_t place(int f, int group) {
  return (size_t)(f / CB_LOCAL_GROUP) * (size_t)group + (size_t)(f % CB_LOCAL_GROUP);
}

/* Returns 1/sqrt(x) for x > 0. The first guess, made from the exponent of x, has a relative error of 3.5e-2. Each of
 * four steps of Newton's method changes a relative error e to 1.5 e^2. The method is much faster than a root and a
 * division, and gives identical results on all processors with the same instruction set. Source of the constant:
 * Lomont, Fast inverse square root (2003), for doubles. */
INLINE vec inverse_root(vec x) {
  const bits start = (bits){0} + 0x5FE6EB50C7B537A9ULL - ((bits)x >> 1);
  vec y = (vec)start, half = set(0.5) * x;
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) y = fma3(y, fnma3(half * y, y, set(0.5)), y);
  return y;
}

/* Returns the sum of the numbers of the vector, added in their order. */
INLINE double total(vec a) {
  double lane[WIDTH], sum = 0;
  store(lane, a);
  for (int i = 0; i < WIDTH; i++) sum += lane[i];
  return sum;
}

/* --- a face --- */

typedef struct triangle {
  vec3 c, s, t, a, w, ds, dt; /* c, s, t, a and w of the equations above; ds = s', dt = t' */
  vec3 M, S, T;               /* the first three components of M, S and T */
  vec aa, r, d;               /* aa = <a,a>, r = 1/A, d = <w,a> */
} triangle;

/* Computes c, s, t, a and w, s', t' of the faces from f on, from their corners. The other members are computed later.
 */
INLINE void take(const cb_local *l, int f, triangle *q) {
  const int *at[3] = {l->corner[0] + f, l->corner[1] + f, l->corner[2] + f};
  const vec3 x0 = rows3(l->x, at[0]), e1 = subtract(rows3(l->x, at[1]), x0), e2 = subtract(rows3(l->x, at[2]), x0),
             s = add(e1, e2);
  q->s = s;
  q->t = subtract(e1, e2);
  q->c = along(set(1. / 3), s, x0);
  q->a = scaled(set(0.5), cross(e1, e2));
  q->w = q->ds = q->dt = (vec3){set(0), set(0), set(0)};
  if (!l->moving) return;
  const vec3 v0 = rows3(l->v, at[0]), v1 = subtract(rows3(l->v, at[1]), v0), v2 = subtract(rows3(l->v, at[2]), v0),
             ds = add(v1, v2);
  q->ds = ds;
  q->dt = subtract(v1, v2);
  q->w = along(set(1. / 3), ds, v0);
}

#include "fluid/local_kernel_drag.h"

/* --- added mass and the momentum of the shape's motion --- */

INLINE void symmetric(vec *k, vec3 wa, vec3 a) {
  k[0] = fma3(wa.x, a.x, k[0]);
  k[1] = fma3(wa.x, a.y, k[1]);
  k[2] = fma3(wa.x, a.z, k[2]);
  k[3] = fma3(wa.y, a.y, k[3]);
  k[4] = fma3(wa.y, a.z, k[4]);
  k[5] = fma3(wa.z, a.z, k[5]);
}

INLINE void add_cross(vec *k, vec3 a, vec3 b) {
  k[0] = fma3(a.y, b.z, fnma3(a.z, b.y, k[0]));
  k[1] = fma3(a.z, b.x, fnma3(a.x, b.z, k[1]));
  k[2] = fma3(a.x, b.y, fnma3(a.y, b.x, k[2]));
}

INLINE void add_row(vec *k, vec w, vec3 a) {
  k[0] = fma3(w, a.x, k[0]);
  k[1] = fma3(w, a.y, k[1]);
  k[2] = fma3(w, a.z, k[2]);
}

INLINE void take_size(triangle *q) {
  q->aa = dot(q->a, q->a);
  q->r = inverse_root(q->aa + set(tiny));
}

/* These two functions add int m m^T dA and int <x',n> m dA, times a density, to `sum`. w = density/A is the weight of a
 * face. The sums are divided between two functions, so that the sums of one function stay in registers. The first
 * function adds the terms in which both factors are angular; they contain M, S and T. The second function adds all
 * other terms. */
INLINE void add_angular_mass(triangle *q, vec w, bool moving, vec *sum) {
  const vec3 M = cross(q->c, q->a), S = cross(q->s, q->a), T = cross(q->t, q->a), wM = scaled(w, M),
             wS = scaled(w * set(1. / 72), S), wT = scaled(w * set(1. / 24), T);
  q->M = M;
  q->S = S;
  q->T = T;
  symmetric(sum + CB_LOCAL_K, wM, M);
  symmetric(sum + CB_LOCAL_K, wS, S);
  symmetric(sum + CB_LOCAL_K, wT, T);
  if (!moving) return;
  q->d = dot(q->w, q->a);
  add_row(sum + CB_LOCAL_MU, q->d, wM);
  add_row(sum + CB_LOCAL_MU, dot(q->ds, q->a), wS);
  add_row(sum + CB_LOCAL_MU, dot(q->dt, q->a), wT);
}

INLINE void add_linear_mass(const triangle *q, vec w, bool moving, vec *sum) {
  const vec3 wM = scaled(w, q->M), wa = scaled(w, q->a);
  add_row(sum + CB_LOCAL_K + 6, wM.x, q->a);
  add_row(sum + CB_LOCAL_K + 9, wM.y, q->a);
  add_row(sum + CB_LOCAL_K + 12, wM.z, q->a);
  symmetric(sum + CB_LOCAL_K + 15, wa, q->a);
  if (moving) add_row(sum + CB_LOCAL_MU + 3, q->d, wa);
}

/* Computes the sums of a block for the added mass if the densities of the faces differ. It reads the corners once more.
 */
static void mass(const cb_local *l, const cb_local_block *b, const double *rho, double *out) {
  vec sum[CB_LOCAL_MU + 6];
  for (int i = 0; i < CB_LOCAL_MU + 6; i++) sum[i] = set(0);
  const vec mean = set(l->mean[b->part]);
  for (int f = b->begin; f < b->end; f += WIDTH) {
    triangle q;
    take(l, f, &q);
    take_size(&q);
    const vec density = gather(rho, l->face_of + f);
    add_angular_mass(&q, density * q.r, l->moving, sum);
    add_linear_mass(&q, density * q.r, l->moving, sum);
    if (!l->moving) continue;
    const vec less = -mean * density;
    add_row(sum + CB_LOCAL_MU, less, q.M);
    add_row(sum + CB_LOCAL_MU + 3, less, q.a);
  }
  for (int i = 0; i < CB_LOCAL_MU + 6; i++) out[i] = total(sum[i]);
}

/* Adds the sums over the tetrahedra for the mass of a solid. The apex is at at[0] and has the velocity at[1]. */
INLINE void add_solid(const triangle *q, const vec3 at[2], vec *sum) {
  const vec3 y = subtract(q->c, at[0]), u = subtract(q->w, at[1]);
  const vec V = set(1. / 3) * dot(y, q->a), V34 = set(0.75) * V;
  const vec3 Vy = scaled(set(0.6) * V, y), Vs = scaled(V * set(1. / 120), q->s), Vt = scaled(V * set(1. / 40), q->t);
  add_row(sum + CB_LOCAL_ONE, V34, y);
  symmetric(sum + CB_LOCAL_TWO, Vy, y);
  symmetric(sum + CB_LOCAL_TWO, Vs, q->s);
  symmetric(sum + CB_LOCAL_TWO, Vt, q->t);
  add_row(sum + CB_LOCAL_MOMENTUM, V34, u);
  add_cross(sum + CB_LOCAL_SPIN, Vy, u);
  add_cross(sum + CB_LOCAL_SPIN, Vs, q->ds);
  add_cross(sum + CB_LOCAL_SPIN, Vt, q->dt);
  add_row(sum + CB_LOCAL_FIRST_RATE, dot(u, q->a), y);
  add_row(sum + CB_LOCAL_FIRST_RATE, set(1. / 72) * dot(q->ds, q->a), q->s);
  add_row(sum + CB_LOCAL_FIRST_RATE, set(1. / 24) * dot(q->dt, q->a), q->t);
}

/* Returns the sum of alpha l of the two edges of a face at its first corner, e1 and -e2, with the bending angle alpha
 * and the length l of an edge (fluid/local.h). For an edge that the face does not hold, l->beside has the number of the
 * face itself in place of the neighbour's, so that alpha is 0. n1 is the normal of the neighbour. <e, n × n1> is
 * computed as <e × n, n1>, with e × n = (S ± T)/(2 A) for an edge e. */
INLINE vec bends_of(const cb_local *l, const triangle *q, int f, const double *normals, vec *folds) {
  const vec3 n1 = rows3(normals, l->beside[0] + f), n2 = rows3(normals, l->beside[1] + f);
  const vec half = set(0.5) * q->r;
  return bending(scaled(set(0.5), add(q->s, q->t)), half * dot(add(q->S, q->T), n1), q->r * dot(q->a, n1), folds) +
         bending(scaled(set(0.5), subtract(q->t, q->s)), half * dot(subtract(q->T, q->S), n2), q->r * dot(q->a, n2),
                 folds);
}

/* --- rows (x, 0, x', 0) of vertices: x = sum w_k x_k and x' = sum dw_k x_k over n poses --- */

enum { PER = 8 / WIDTH };
typedef struct weights {
  vec w[CB_LOCAL_POSES][PER];
} weights;

INLINE weights weights_of(const cb_local_blend *of, int n) {
  weights a = {0};
  for (int k = 0; k < n; k++) {
    const double w = of->w[k], dw = of->dw[k], both[8] = {w, w, w, w, dw, dw, dw, dw};
#pragma GCC unroll 4
    for (int j = 0; j < PER; j++) a.w[k][j] = load(both + j * WIDTH);
  }
  return a;
}

INLINE void row_of(const cb_local_blend *of, const weights *a, int n, int from, vec row[PER]) {
#pragma GCC unroll 4
  for (int k = 0; k < n; k++) {
    vec three[PER];
    twice(of->x[k][from], three);
#pragma GCC unroll 4
    for (int j = 0; j < PER; j++) {
      if (k == 0)
        row[j] = a->w[k][j] * three[j];
      else
        row[j] = fma3(a->w[k][j], three[j], row[j]);
    }
  }
}

INLINE void rows_of(const cb_local *l, int begin, int end, const cb_local_blend *of, int n) {
  const weights a = weights_of(of, n);
  for (int i = begin; i < end; i++) {
    vec row[PER];
    row_of(of, &a, n, l->original[i], row);
#pragma GCC unroll 4
    for (int j = 0; j < PER; j++) store(l->x + 8 * i + j * WIDTH, row[j]);
  }
}

static void blend(const cb_local *l, int begin, int end, const cb_local_blend *of) {
  if (of->n == 1)
    rows_of(l, begin, end, of, 1);
  else if (of->n == 2)
    rows_of(l, begin, end, of, 2);
  else
    rows_of(l, begin, end, of, CB_LOCAL_POSES);
}

/* Prefetches the data from which the vertices begin .. end - 1 are computed. */
INLINE void approach(const cb_local *l, int begin, int end, const cb_local_blend *of) {
  for (int i = begin; i < end; i++)
    for (int k = 0; k < of->n; k++) __builtin_prefetch(of->x[k][l->original[i]], 0, 2);
}

/* Adds up the positions and velocities of the vertices of a block of shares. The weight of a vertex is its share in the
 * part. */
INLINE void apex_of(const cb_local *l, const cb_local_block *b, const cb_local_blend *of, int n, double *out) {
  const weights a = weights_of(of, n);
  vec sum[PER], row[PER];
#pragma GCC unroll 4
  for (int j = 0; j < PER; j++) sum[j] = set(0);
  for (int i = b->begin; i < b->end; i++) {
    row_of(of, &a, n, l->share[i].from, row);
#pragma GCC unroll 4
    for (int j = 0; j < PER; j++) sum[j] = fma3(set(l->share[i].share), row[j], sum[j]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < PER; j++) store(out + j * WIDTH, sum[j]);
}

static void apex(const cb_local *l, const cb_local_block *b, const cb_local_blend *of, double *out) {
  if (of->n == 1)
    apex_of(l, b, of, 1, out);
  else if (of->n == 2)
    apex_of(l, b, of, 2, out);
  else
    apex_of(l, b, of, CB_LOCAL_POSES, out);
}

INLINE void keep(const cb_local *l, int f, const triangle *q) {
  double *flat = l->flat + place(f, CB_LOCAL_FLAT);
  store3(flat, q->c);
  store3(flat + 3 * CB_LOCAL_GROUP, q->a);
  if (l->moving) store3(l->rate + place(f, CB_LOCAL_RATE), q->w);
}

static void flatten(const cb_local *l, const cb_local_block *b) {
  for (int f = b->begin; f < b->end; f += WIDTH) {
    triangle q;
    take(l, f, &q);
    keep(l, f, &q);
  }
}

enum { CHUNK = CB_LOCAL_CHUNK };

INLINE void pass(const cb_local *l, const cb_local_block *b, const cb_local_blend *of, const cb_local_flow *in,
                 double *out, double *drag_out) {
  double normals[4 * CB_LOCAL_BLOCK];
  vec sum[CB_LOCAL_POSE_SUMS];
  loads on;
  int loaded = 0;
  if (in) begin_loads(&on);
  for (int i = 0; i < CB_LOCAL_POSE_SUMS; i++) sum[i] = set(0);
  const double *o = l->apex[b->part];
  const vec3 apex[2] = {{set(o[0]), set(o[1]), set(o[2])}, {set(o[4]), set(o[5]), set(o[6])}};
  const bool solid = l->moving && !l->open[b->part];
  const int number = (int)(b - l->face_block), chunks = (b->end - b->begin + CHUNK - 1) / CHUNK;
  int next = l->row_first[number + 1], per = of ? (l->row_first[number + 2] - next + chunks - 1) / chunks : 0;
  for (int begin = b->begin; begin < b->end; begin += CHUNK) {
    const int end = begin + CHUNK < b->end ? begin + CHUNK : b->end;
    triangle q[CHUNK / WIDTH];
    int n = 0;
    if (of) approach(l, next, next + per < l->row_first[number + 2] ? next + per : l->row_first[number + 2], of);
    next += per;
    for (int f = begin; f < end; f += WIDTH, n++) {
      take(l, f, q + n);
      if (l->flattened) keep(l, f, q + n);
    }
    /* Each long chain of operations per face has its own loop, so that the processor can overlap the chains of several
     * faces. */
    for (int i = 0; i < n; i++) {
      take_size(q + i);
      const vec3 normal = scaled(q[i].r, q[i].a);
      store_rows(normals + 4 * (begin - b->begin + i * WIDTH), normal.x, normal.y, normal.z);
    }
    for (int i = 0; i < n; i++) add_angular_mass(q + i, q[i].r, l->moving, sum);
    for (int i = 0; i < n; i++) add_linear_mass(q + i, q[i].r, l->moving, sum);
    for (int i = 0; i < n; i++) {
      const vec3 M = q[i].M, a = q[i].a;
      sum[CB_LOCAL_M] += M.x;
      sum[CB_LOCAL_M + 1] += M.y;
      sum[CB_LOCAL_M + 2] += M.z;
      sum[CB_LOCAL_M + 3] += a.x;
      sum[CB_LOCAL_M + 4] += a.y;
      sum[CB_LOCAL_M + 5] += a.z;
      sum[CB_LOCAL_AREA] = fma3(q[i].aa, q[i].r, sum[CB_LOCAL_AREA]);
      sum[CB_LOCAL_VOLUME] = fma3(set(1. / 3), dot(q[i].c, a), sum[CB_LOCAL_VOLUME]);
      if (l->moving) sum[CB_LOCAL_FLUX] += q[i].d;
    }
    vec folds = set(0);
    for (int i = 0; i < n; i++) sum[CB_LOCAL_TURNING] += bends_of(l, q + i, begin + i * WIDTH, normals, &folds);
    sum[CB_LOCAL_FOLD] += folds;
    if (solid)
      for (int i = 0; i < n; i++) add_solid(q + i, apex, sum);
    if (!in) continue;
    for (int i = 0; i < n; i++) load_face(l, in, begin + i * WIDTH, q + i, loaded + i, &on);
    loaded += n;
    if (loaded < AT_ONCE && end < b->end) continue;
    add_loads(loaded, &on);
    loaded = 0;
  }
  for (int k = l->rim_first[number]; k < l->rim_first[number + 1]; k++)
    memcpy(l->rim + 4 * k, normals + 4 * (l->rim_slot[k] - b->begin), 4 * sizeof *normals);
  for (int i = 0; i < CB_LOCAL_POSE_SUMS; i++) out[i] = total(sum[i]);
  if (in) give_loads(&on, drag_out);
}

static void faces(const cb_local *l, const cb_local_block *b, const cb_local_blend *of, const cb_local_flow *in,
                  double *out, double *drag_out) {
  if (in)
    pass(l, b, of, in, out, drag_out);
  else
    pass(l, b, of, NULL, out, NULL);
}

const cb_local_kernels KERNELS = {faces, flatten, edges, blend, apex, mass, drag, linear};
