/* The kernels of the local fluid model, written once over the vectors of an instruction set: included by
 * local_x86_64.c, local_avx2.c and local_avx512.c after WIDTH, vec (one number of WIDTH faces), functions of them,
 * ROWS and KERNELS.
 *
 * A face (x0, x1, x2), e1 = x1 - x0, e2 = x2 - x0, has centre c, area vector a = A n = e1 × e2/2, s = e1 + e2 and
 * t = e1 - e2. With M = A m(c) = (c × a, a), and as x = c + combinations of s and t, the 3-midpoint rule reads
 *
 *   int m m^T = (M M^T + S S^T/72 + T T^T/24)/A,  S = (s × a, 0),  T = (t × a, 0)
 *   int <x',n> m = (<w,a> M + <s',a> S/72 + <t',a> T/24)/A
 *
 * and over the tetrahedron from a part's apex, y = c and u = w about it, V = <y,a>/3,
 *
 *   int x x'^T = V (3/5 y u^T + s s'^T/120 + t t'^T/40),  int x = 3/4 V y,  (int x)' = <u,a> y + <s',a> s/72 + <t',a> t/24
 *
 * (the last over the whole closed surface). A pose is one pass over the faces that leaves c, a and w for the drag and
 * these sums; faces' normals stay with a block, whose edges follow.
 *
 * Drag, with d = <u,a>, r = 1/(A |u|), p = r (|u|^2 a + d u), so that one root does:
 *
 *   force  sum r |u|^2 d M;  Jacobian  sum M (c × p, p)^T
 *
 * Edges e of length l between unit normals n0, n1, S = <e, n0 × n1> = l sin alpha, C = <n0, n1> = cos alpha:
 *
 *   alpha l = S alpha/sin alpha, a series in u = 1 - C: its rounding only meets the small terms that follow the first
 */
#include "fluid/local_private.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef unsigned long long bits __attribute__((vector_size(8 * WIDTH)));
typedef struct vec3 {
  vec x, y, z;
} vec3;

/* Added under roots, so that faces of no area and bodies at rest give 0 and not 0/0. */
static const double tiny = 1e-300;
static const double none[3];

/* Three numbers beside each other. */
INLINE vec3 rows3(const double *p, const int *at) {
  vec3 a;
  rows(p, at, &a.x, &a.y, &a.z);
  return a;
}

INLINE vec3 add(vec3 a, vec3 b) { return (vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
INLINE vec3 subtract(vec3 a, vec3 b) { return (vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
INLINE vec3 scaled(vec s, vec3 a) { return (vec3){s * a.x, s * a.y, s * a.z}; }
/* b + s a */
INLINE vec3 along(vec s, vec3 a, vec3 b) { return (vec3){fma3(s, a.x, b.x), fma3(s, a.y, b.y), fma3(s, a.z, b.z)}; }
INLINE vec dot(vec3 a, vec3 b) { return fma3(a.z, b.z, fma3(a.y, b.y, a.x * b.x)); }
INLINE vec3 cross(vec3 a, vec3 b) {
  return (vec3){fnma3(a.z, b.y, a.y * b.z), fnma3(a.x, b.z, a.z * b.x), fnma3(a.y, b.x, a.x * b.y)};
}
INLINE vec3 load3(const double *p) {
  return (vec3){load(p), load(p + CB_LOCAL_GROUP), load(p + 2 * CB_LOCAL_GROUP)};
}
INLINE void store3(double *p, vec3 a) {
  store(p, a.x);
  store(p + CB_LOCAL_GROUP, a.y);
  store(p + 2 * CB_LOCAL_GROUP, a.z);
}
/* Of vertices and of area vectors: the numbers of one lie `step` apart. */
INLINE vec3 gather3(const double *p, const int *at, int step) {
  return (vec3){gather(p, at), gather(p + step, at), gather(p + 2 * step, at)};
}
/* Where the numbers of face f begin, if a group of faces has `group` of them. */
INLINE size_t place(int f, int group) {
  return (size_t)(f / CB_LOCAL_GROUP) * (size_t)group + (size_t)(f % CB_LOCAL_GROUP);
}

/* 1/sqrt(x) for x > 0: a start from the exponent, good to 3.5e-2, and Newton's method, which squares 1.5 times the
 * error. Quicker by far than a root and a division, and the same on all processors.
 * Source of the constant: Lomont, Fast inverse square root (2003), for doubles. */
INLINE vec inverse_root(vec x) {
  const bits start = (bits){0} + 0x5FE6EB50C7B537A9ULL - ((bits)x >> 1);
  vec y = (vec)start, half = set(0.5) * x;
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) y = fma3(y, fnma3(half * y, y, set(0.5)), y);
  return y;
}

/* In the order of the lanes. */
INLINE double total(vec a) {
  double lane[WIDTH], sum = 0;
  store(lane, a);
  for (int i = 0; i < WIDTH; i++) sum += lane[i];
  return sum;
}

/* --- a face --- */

typedef struct triangle {
  vec3 c, s, t, a, w, ds, dt; /* w, s', t' */
  vec r;                      /* 1/A */
} triangle;

/* All but r. */
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

/* --- bending angles --- */

/* asin z for |z| <= 0.4: z (1 + z^2 Q(z^2)), Q by interpolation at Chebyshev's points of [0, 0.16]; error 3e-18. */
static const double asin_series[] = {
    0.166666666666666679, 0.0749999999999812041, 0.0446428571475420571, 0.0303819439902223862,
    0.0223721816048187376, 0.0173521160725346175, 0.0139764177489021308, 0.011420252360583682,
    0.0107081478475466792, 0.00428139000014606235, 0.0166780797813572859};
enum { ASIN_TERMS = sizeof asin_series / sizeof *asin_series };
INLINE vec small_asin(vec z) {
  const vec zz = z * z;
  vec sum = set(asin_series[ASIN_TERMS - 1]);
#pragma GCC unroll 16
  for (int i = ASIN_TERMS - 2; i >= 0; i--) sum = fma3(sum, zz, set(asin_series[i]));
  return fma3(z * zz, sum, z);
}

INLINE vec size_of(vec a) { return where_above(set(0), a, -a, a); }

/* The angle of any cosine and sine: halved three times it is at most pi/8. *fold: 1 where it is +pi or -pi, which is
 * taken for +pi. */
static __attribute__((noinline)) vec large_angle(vec c, vec s, vec *fold) {
  const vec zero = set(0), one = set(1), half = set(0.5);
  vec size = size_of(s);
  *fold = where_above(zero, c, where_above(set(CB_LOCAL_FOLDED), size, one, zero), zero);
  const vec sign = where_above(zero, s, *fold - (one - *fold), one);
  /* The root without cancellation is the half's cosine, or its sine where c < 0. */
  vec root1 = root(half * (one + size_of(c))), other = half * size / root1;
  size = where_above(zero, c, root1, other);
  c = where_above(zero, c, other, root1);
  for (int i = 0; i < 2; i++) {
    c = root(half * (one + c));
    size = half * size / c;
  }
  return set(8) * sign * small_asin(size);
}

/* alpha/sin alpha for u = 1 - cos alpha in [0, 1/2] and in [0, 0.06], which is 20 degrees, by interpolation at
 * Chebyshev's points; errors 1.2e-17 and 1.4e-17. */
static const double wide_bend[] = {
    1.0, 0.3333333333333307, 0.13333333333372238, 0.05714285712004413, 0.025396826095510895, 0.011543998697724114,
    0.0053281589108542336, 0.0024851493652995054, 0.001177252107675855, 0.000524948435414062, 0.0003490773923383807,
    -4.7511156402644795e-05, 0.0003003772379845992, -0.00017750329837568318, 0.00010516768010353911, 0};
static const double narrow_bend[] = {1.0, 0.3333333333333477, 0.13333333332831643, 0.057142857810307486,
                                     0.025396781855373467, 0.011545550295759906, 0.005298019376796255,
                                     0.0027872197156268083};
static const double wide_range = 0.5, narrow_range = 0.06;

/* S times the series of an even number of terms. */
INLINE vec bend(vec S, vec u, const double *series, int terms) {
  const vec uu = u * u;
  vec odd = set(series[terms - 1]), even = set(series[terms - 2]);
#pragma GCC unroll 8
  for (int i = terms - 4; i >= 0; i -= 2) {
    odd = fma3(odd, uu, set(series[i + 1]));
    even = fma3(even, uu, set(series[i]));
  }
  return S * fma3(odd, u, even);
}

/* Any angle. */
static __attribute__((noinline)) vec large_bend(vec3 e, vec S, vec C, vec *fold) {
  const vec ee = dot(e, e), r = inverse_root(ee + set(tiny)), size = ee * r;
  vec flat;
  const vec angle = large_angle(C, S * r, &flat);
  *fold = fma3(flat, size, *fold);
  return angle * size;
}

/* Edges e with S and C. */
typedef struct hinge {
  vec3 e;
  vec S, C;
} hinge;

INLINE hinge hinge_of(vec3 e, vec3 n0, vec3 n1) { return (hinge){e, dot(e, cross(n0, n1)), dot(n0, n1)}; }

/* alpha l of n of them; *folds: l of those that are folded flat. */
INLINE vec bending(int n, const hinge *h, vec *folds) {
  vec sum = set(0);
  for (int k = 0; k < n; k++) {
    const vec u = set(1) - h[k].C;
    if (__builtin_expect(!any_above(u, set(narrow_range)), 1)) sum += bend(h[k].S, u, narrow_bend, 8);
    else if (__builtin_expect(!any_above(u, set(wide_range)), 1)) sum += bend(h[k].S, u, wide_bend, 16);
    else sum += large_bend(h[k].e, h[k].S, h[k].C, folds);
  }
  return sum;
}

INLINE vec3 unit(vec3 a) { return scaled(inverse_root(dot(a, a) + set(tiny)), a); }

/* Edges between blocks or parts, and borders. */
static void edges(const cb_local *l, const cb_local_block *b, double *sum) {
  vec turning = set(0), length = set(0), folds = set(0);
  for (int k = b->begin; k < b->end; k += WIDTH) {
    const double *area = l->flat + 3 * CB_LOCAL_GROUP;
    const vec3 n0 = unit(gather3(area, l->edge_face[0] + k, CB_LOCAL_GROUP)),
               n1 = unit(gather3(area, l->edge_face[1] + k, CB_LOCAL_GROUP)),
               e = subtract(gather3(l->x, l->edge_end[1] + k, 1), gather3(l->x, l->edge_end[0] + k, 1));
    const vec ee = dot(e, e);
    length = fma3(ee, inverse_root(ee + set(tiny)), length);
    const hinge h = hinge_of(e, n0, n1);
    turning += bending(1, &h, &folds);
  }
  sum[CB_LOCAL_EDGE_TURNING] = total(turning);
  sum[CB_LOCAL_EDGE_LENGTH] = total(length);
  sum[CB_LOCAL_EDGE_FOLD] = total(folds);
}

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

/* int m m^T and int <x',n> m with a density, as the weight w = rho/A of a face. */
INLINE void add_mass(const triangle *q, vec w, bool moving, vec *sum) {
  const vec3 M = cross(q->c, q->a), S = cross(q->s, q->a), T = cross(q->t, q->a), wM = scaled(w, M),
             wa = scaled(w, q->a), wS = scaled(w * set(1. / 72), S), wT = scaled(w * set(1. / 24), T);
  symmetric(sum, wM, M);
  symmetric(sum, wS, S);
  symmetric(sum, wT, T);
  add_row(sum + 6, wM.x, q->a);
  add_row(sum + 9, wM.y, q->a);
  add_row(sum + 12, wM.z, q->a);
  symmetric(sum + 15, wa, q->a);
  if (!moving) return;
  const vec d = dot(q->w, q->a);
  vec *mu = sum + CB_LOCAL_MU;
  add_row(mu, d, wM);
  add_row(mu, dot(q->ds, q->a), wS);
  add_row(mu, dot(q->dt, q->a), wT);
  add_row(mu + 3, d, wa);
}

/* A face's density differs from others': the pose is gathered once more. */
static void mass(const cb_local *l, const cb_local_block *b, const double *rho, double *out) {
  vec sum[CB_LOCAL_MU + 6];
  for (int i = 0; i < CB_LOCAL_MU + 6; i++) sum[i] = set(0);
  const vec mean = set(l->mean[b->part]);
  for (int f = b->begin; f < b->end; f += WIDTH) {
    triangle q;
    take(l, f, &q);
    q.r = inverse_root(dot(q.a, q.a) + set(tiny));
    const vec density = gather(rho, l->face_of + f);
    add_mass(&q, density * q.r, l->moving, sum);
    if (!l->moving) continue;
    const vec less = -mean * density;
    add_row(sum + CB_LOCAL_MU, less, cross(q.c, q.a));
    add_row(sum + CB_LOCAL_MU + 3, less, q.a);
  }
  for (int i = 0; i < CB_LOCAL_MU + 6; i++) out[i] = total(sum[i]);
}

/* Sums of the mass of a solid about its apex at[0] that moves with at[1]. */
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

/* Edges within a block: each comes with the later of its faces, which for the others has itself beside it. */
INLINE void inner_hinges(const cb_local *l, const triangle *q, int f, const double *normals, hinge h[3]) {
  const vec3 n = scaled(q->r, q->a), s = scaled(set(0.5), q->s), t = scaled(set(0.5), q->t),
             e[3] = {add(s, t), scaled(set(-1), q->t), subtract(t, s)}; /* e1, e2 - e1, -e2 */
  for (int k = 0; k < 3; k++) h[k] = hinge_of(e[k], n, rows3(normals, l->beside[k] + f));
}

enum { CHUNK = 32 }; /* faces that stay in the first cache */

static void faces(cb_local *l, const cb_local_block *b, double *out) {
  double normals[4 * CB_LOCAL_BLOCK];
  vec sum[CB_LOCAL_POSE_SUMS];
  for (int i = 0; i < CB_LOCAL_POSE_SUMS; i++) sum[i] = set(0);
  const double *o = l->apex[b->part];
  const vec3 apex[2] = {{set(o[0]), set(o[1]), set(o[2])}, {set(o[4]), set(o[5]), set(o[6])}};
  const bool solid = l->moving && !l->open[b->part];
  for (int begin = b->begin; begin < b->end; begin += CHUNK) {
    const int end = begin + CHUNK < b->end ? begin + CHUNK : b->end;
    triangle q[CHUNK / WIDTH];
    int n = 0;
    for (int f = begin; f < end; f += WIDTH, n++) {
      double *flat = l->flat + place(f, CB_LOCAL_FLAT);
      take(l, f, q + n);
      store3(flat, q[n].c);
      store3(flat + 3 * CB_LOCAL_GROUP, q[n].a);
      if (l->moving) store3(l->rate + place(f, CB_LOCAL_RATE), q[n].w);
    }
    /* Loops of their own for what is one long chain a face, so that many chains run side by side. */
    for (int i = 0; i < n; i++) {
      q[i].r = inverse_root(dot(q[i].a, q[i].a) + set(tiny));
      const vec3 normal = scaled(q[i].r, q[i].a);
      store_rows(normals + 4 * (begin - b->begin + i * WIDTH), normal.x, normal.y, normal.z);
    }
    for (int i = 0; i < n; i++) add_mass(q + i, q[i].r, l->moving, sum);
    for (int i = 0; i < n; i++) {
      const vec3 a = q[i].a;
      add_cross(sum + CB_LOCAL_M, q[i].c, a);
      sum[CB_LOCAL_M + 3] += a.x, sum[CB_LOCAL_M + 4] += a.y, sum[CB_LOCAL_M + 5] += a.z;
      sum[CB_LOCAL_AREA] = fma3(dot(a, a), q[i].r, sum[CB_LOCAL_AREA]);
      sum[CB_LOCAL_VOLUME] = fma3(set(1. / 3), dot(q[i].c, a), sum[CB_LOCAL_VOLUME]);
      if (l->moving) sum[CB_LOCAL_FLUX] += dot(q[i].w, a);
    }
    hinge h[3 * CHUNK / WIDTH];
    for (int i = 0; i < n; i++) inner_hinges(l, q + i, begin + i * WIDTH, normals, h + 3 * i);
    sum[CB_LOCAL_TURNING] += bending(3 * n, h, sum + CB_LOCAL_FOLD);
    if (solid)
      for (int i = 0; i < n; i++) add_solid(q + i, apex, sum);
  }
  for (int i = 0; i < CB_LOCAL_POSE_SUMS; i++) out[i] = total(sum[i]);
}

/* Rows (x, 0, x', 0) of a part's vertices, and the sum of their shares. */
static void apex(const cb_local *l, const cb_local_block *b, const double (*x)[3], const double (*v)[3], double *out) {
  enum { PER = 8 / WIDTH, AT_ONCE = 4 };
  vec sum[AT_ONCE][PER];
#pragma GCC unroll 16
  for (int k = 0; k < AT_ONCE * PER; k++) sum[k / PER][k % PER] = set(0);
  for (int begin = b->begin; begin < b->end; begin += AT_ONCE) {
#pragma GCC unroll 4
    for (int j = 0; j < AT_ONCE; j++) {
      const int i = begin + j;
      if (i >= b->end) break;
      const int from = l->apex_from[i], to = l->apex_to[i];
      vec row[PER];
      join(x[from], v ? v[from] : none, row);
#pragma GCC unroll 4
      for (int k = 0; k < PER; k++) {
        if (to >= 0) store(l->x + to + k * WIDTH, row[k]);
        sum[j][k] = fma3(set(l->apex_share[i]), row[k], sum[j][k]);
      }
    }
  }
#pragma GCC unroll 4
  for (int k = 0; k < PER; k++) store(out + k * WIDTH, (sum[0][k] + sum[1][k]) + (sum[2][k] + sum[3][k]));
}

/* --- lift and drag --- */

/* Velocity of the body's surface relative to the flow at the centres of faces f... */
INLINE vec3 relative(const cb_local *l, const cb_local_flow *in, int f, vec3 c) {
  const vec3 omega = {set(in->Y[0]), set(in->Y[1]), set(in->Y[2])}, v = {set(in->Y[3]), set(in->Y[4]), set(in->Y[5])};
  vec3 u = {fma3(omega.y, c.z, fnma3(omega.z, c.y, v.x)), fma3(omega.z, c.x, fnma3(omega.x, c.z, v.y)),
            fma3(omega.x, c.y, fnma3(omega.y, c.x, v.z))};
  if (l->moving) u = add(u, load3(l->rate + place(f, CB_LOCAL_RATE)));
  if (in->flow) {
    int at[WIDTH];
    for (int i = 0; i < WIDTH; i++) at[i] = 3 * l->face_of[f + i];
    u = subtract(u, gather3(in->flow, at, 1));
  }
  return u;
}

enum { COLUMNS = 7 };

/* sum[row][column] += M_row p_column: ROWS rows at once stay in registers. */
INLINE void rank_update(int rows, int n, vec (*M)[CHUNK / WIDTH], vec (*p)[CHUNK / WIDTH], vec (*sum)[COLUMNS]) {
  for (int r0 = 0; r0 < rows; r0 += ROWS) {
    vec s[ROWS][COLUMNS];
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 8
      for (int k = 0; k < COLUMNS; k++) s[r][k] = sum[r0 + r][k];
    for (int i = 0; i < n; i++)
#pragma GCC unroll 8
      for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 8
        for (int k = 0; k < COLUMNS; k++) s[r][k] = fma3(M[r0 + r][i], p[k][i], s[r][k]);
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 8
      for (int k = 0; k < COLUMNS; k++) sum[r0 + r][k] = s[r][k];
  }
}

static void drag(const cb_local *l, const cb_local_block *b, const cb_local_flow *in, double *out) {
  vec sum[6][COLUMNS], M[6][CHUNK / WIDTH], p[COLUMNS][CHUNK / WIDTH];
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < COLUMNS; k++) sum[i][k] = set(0);
  for (int begin = b->begin; begin < b->end; begin += CHUNK) {
    const int end = begin + CHUNK < b->end ? begin + CHUNK : b->end;
    int i = 0;
    for (int f = begin; f < end; f += WIDTH, i++) {
      const double *flat = l->flat + place(f, CB_LOCAL_FLAT);
      const vec3 c = load3(flat), a = load3(flat + 3 * CB_LOCAL_GROUP), u = relative(l, in, f, c), m = cross(c, a);
      const vec uu = dot(u, u), d = dot(u, a);
      vec r = inverse_root(fma3(uu, dot(a, a), set(tiny)));
      if (in->rho) r *= gather(in->rho, l->face_of + f);
      const vec force = r * uu, slope = r * d;
      p[6][i] = force * d;
      if (!in->jacobian) {
        sum[0][6] = fma3(p[6][i], m.x, sum[0][6]);
        sum[1][6] = fma3(p[6][i], m.y, sum[1][6]);
        sum[2][6] = fma3(p[6][i], m.z, sum[2][6]);
        sum[3][6] = fma3(p[6][i], a.x, sum[3][6]);
        sum[4][6] = fma3(p[6][i], a.y, sum[4][6]);
        sum[5][6] = fma3(p[6][i], a.z, sum[5][6]);
        continue;
      }
      const vec3 q = {fma3(force, a.x, slope * u.x), fma3(force, a.y, slope * u.y), fma3(force, a.z, slope * u.z)},
                 cq = cross(c, q);
      M[0][i] = m.x, M[1][i] = m.y, M[2][i] = m.z;
      M[3][i] = a.x, M[4][i] = a.y, M[5][i] = a.z;
      p[0][i] = cq.x, p[1][i] = cq.y, p[2][i] = cq.z;
      p[3][i] = q.x, p[4][i] = q.y, p[5][i] = q.z;
    }
    if (in->jacobian) rank_update(6, i, M, p, sum);
  }
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < COLUMNS; k++) out[COLUMNS * i + k] = total(sum[i][k]);
}

/* Linear drag, with B = (c_n - c_t) a a^T/A + c_t A 1 at each face:
 * force sum (c × B u, B u);  Jacobian sum (c × B (e_j × c), B (e_j × c)) and (c × B e_j, B e_j). */
static void linear(const cb_local *l, const cb_local_block *b, const cb_local_flow *in, double *out) {
  vec sum[6][COLUMNS];
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < COLUMNS; k++) sum[i][k] = set(0);
  const vec along = set(in->along), difference = set(in->normal - in->along), zero = set(0);
  for (int f = b->begin; f < b->end; f += WIDTH) {
    const double *flat = l->flat + place(f, CB_LOCAL_FLAT);
    const vec3 c = load3(flat), a = load3(flat + 3 * CB_LOCAL_GROUP);
    const vec3 column[COLUMNS] = {{zero, -c.z, c.y}, {c.z, zero, -c.x}, {-c.y, c.x, zero}, {set(1), zero, zero},
                                  {zero, set(1), zero}, {zero, zero, set(1)}, relative(l, in, f, c)};
    const vec aa = dot(a, a), r = inverse_root(aa + set(tiny)), A = along * aa * r, w = difference * r;
    for (int k = in->jacobian ? 0 : COLUMNS - 1; k < COLUMNS; k++) {
      const vec3 Bu = add(scaled(A, column[k]), scaled(w * dot(a, column[k]), a)), cBu = cross(c, Bu);
      sum[0][k] += cBu.x, sum[1][k] += cBu.y, sum[2][k] += cBu.z;
      sum[3][k] += Bu.x, sum[4][k] += Bu.y, sum[5][k] += Bu.z;
    }
  }
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < COLUMNS; k++) out[COLUMNS * i + k] = total(sum[i][k]);
}

const cb_local_kernels KERNELS = {faces, edges, apex, mass, drag, linear};
