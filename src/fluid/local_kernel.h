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
 * Drag, with d = <u,a>, r = 1/(A |u|), p = r (|u|^2 a + d u), so that one root does:
 *
 *   force  sum r |u|^2 d M;  Jacobian  sum M (c × p, p)^T
 *
 * Edges e with area vectors a0, a1 of their faces, S = <e, a0 × a1>, C = <a0, a1>:
 *
 *   sin alpha = S/sqrt(S^2 + e^2 C^2)
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

INLINE vec3 add(vec3 a, vec3 b) { return (vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
INLINE vec3 subtract(vec3 a, vec3 b) { return (vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
INLINE vec3 scaled(vec s, vec3 a) { return (vec3){s * a.x, s * a.y, s * a.z}; }
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

/* --- the pose --- */

static void faces(cb_local *l, const cb_local_block *b) {
  for (int f = b->begin; f < b->end; f += WIDTH) {
    const int *at[3] = {l->corner[0] + f, l->corner[1] + f, l->corner[2] + f};
    const vec3 x0 = gather3(l->x, at[0], 1), e1 = subtract(gather3(l->x, at[1], 1), x0),
               e2 = subtract(gather3(l->x, at[2], 1), x0), s = add(e1, e2),
               a = scaled(set(0.5), cross(e1, e2));
    double *flat = l->flat + place(f, CB_LOCAL_FLAT), *spread = l->spread + place(f, CB_LOCAL_SPREAD);
    store3(flat, add(x0, scaled(set(1. / 3), s)));
    store3(flat + 3 * CB_LOCAL_GROUP, a);
    store3(spread, s);
    store3(spread + 3 * CB_LOCAL_GROUP, subtract(e1, e2));
    if (!l->moving) continue;
    const vec3 v0 = gather3(l->v, at[0], 1), v1 = subtract(gather3(l->v, at[1], 1), v0),
               v2 = subtract(gather3(l->v, at[2], 1), v0), vs = add(v1, v2);
    double *rate = l->rate + place(f, CB_LOCAL_RATE);
    store3(rate, add(v0, scaled(set(1. / 3), vs)));
    store(rate + 3 * CB_LOCAL_GROUP, dot(vs, a));
    store(rate + 4 * CB_LOCAL_GROUP, dot(subtract(v1, v2), a));
  }
}

/* --- bending angles --- */

/* asin z for |z| <= 0.4: z (1 + z^2 Q(z^2)), Q by interpolation at Chebyshev's points of [0, 0.16]; error 3e-18. */
static const double asin_series[] = {
    0.166666666666666679, 0.0749999999999812041, 0.0446428571475420571, 0.0303819439902223862,
    0.0223721816048187376, 0.0173521160725346175, 0.0139764177489021308, 0.011420252360583682,
    0.0107081478475466792, 0.00428139000014606235, 0.0166780797813572859};
enum { ASIN_TERMS = sizeof asin_series / sizeof *asin_series };
static const double asin_range = 0.4;

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

static void edges(const cb_local *l, const cb_local_block *b, double *sum) {
  vec turning = set(0), length = set(0), folds = set(0);
  for (int k = b->begin; k < b->end; k += WIDTH) {
    const double *area = l->flat + 3 * CB_LOCAL_GROUP;
    const vec3 a0 = gather3(area, l->edge_face[0] + k, CB_LOCAL_GROUP),
               a1 = gather3(area, l->edge_face[1] + k, CB_LOCAL_GROUP),
               e = subtract(gather3(l->x, l->edge_end[1] + k, 1), gather3(l->x, l->edge_end[0] + k, 1));
    const vec ee = dot(e, e), S = dot(e, cross(a0, a1)), C = dot(a0, a1), zero = set(0),
              r = inverse_root(fma3(S, S, fma3(ee * C, C, set(tiny)))), sine = S * r, edge = ee * inverse_root(ee + set(tiny));
    vec angle, fold = zero;
    if (__builtin_expect(any_above(where_above(zero, C, set(1), size_of(sine)), set(asin_range)), 0))
      angle = large_angle(edge * C * r, sine, &fold);
    else
      angle = small_asin(sine);
    turning = fma3(angle, edge, turning);
    length += edge;
    folds = fma3(fold, edge, folds);
  }
  sum[CB_LOCAL_TURNING] = total(turning);
  sum[CB_LOCAL_LENGTH] = total(length);
  sum[CB_LOCAL_FOLD] = total(folds);
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

INLINE void add_row(vec *k, vec w, vec3 a) {
  k[0] = fma3(w, a.x, k[0]);
  k[1] = fma3(w, a.y, k[1]);
  k[2] = fma3(w, a.z, k[2]);
}

static void mass(const cb_local *l, const cb_local_block *b, const double *rho, double *out) {
  const vec mean = set(l->mean[b->part]), third = set(1. / 3), s72 = set(1. / 72), t24 = set(1. / 24);
  vec sum[CB_LOCAL_MASS_SUMS];
  for (int i = 0; i < CB_LOCAL_MASS_SUMS; i++) sum[i] = set(0);
  vec *mu = sum + CB_LOCAL_MU;
  for (int f = b->begin; f < b->end; f += WIDTH) {
    const double *flat = l->flat + place(f, CB_LOCAL_FLAT), *spread = l->spread + place(f, CB_LOCAL_SPREAD);
    const vec3 c = load3(flat), a = load3(flat + 3 * CB_LOCAL_GROUP), M = cross(c, a), S = cross(load3(spread), a),
               T = cross(load3(spread + 3 * CB_LOCAL_GROUP), a);
    const vec aa = dot(a, a), r = inverse_root(aa + set(tiny)), A = aa * r;
    vec w = r;
    if (rho) w *= gather(rho, l->face_of + f);
    const vec ws = w * s72, wt = w * t24;
    const vec3 wM = scaled(w, M), wa = scaled(w, a);
    symmetric(sum, wM, M);
    symmetric(sum, scaled(ws, S), S);
    symmetric(sum, scaled(wt, T), T);
    add_row(sum + 6, wM.x, a);
    add_row(sum + 9, wM.y, a);
    add_row(sum + 12, wM.z, a);
    symmetric(sum + 15, wa, a);
    sum[CB_LOCAL_AREA] += A;
    sum[CB_LOCAL_VOLUME] = fma3(third, dot(c, a), sum[CB_LOCAL_VOLUME]);
    if (!l->moving) continue;
    const double *rate = l->rate + place(f, CB_LOCAL_RATE);
    const vec d = fnma3(mean, A, dot(load3(rate), a));
    add_row(mu, d, wM);
    add_row(mu, ws * load(rate + 3 * CB_LOCAL_GROUP), S);
    add_row(mu, wt * load(rate + 4 * CB_LOCAL_GROUP), T);
    add_row(mu + 3, d, wa);
  }
  for (int i = 0; i < CB_LOCAL_MASS_SUMS; i++) out[i] = total(sum[i]);
}

/* int <x', n> and the area. */
static void flux(const cb_local *l, const cb_local_block *b, double *out) {
  vec through = set(0), area = set(0);
  for (int f = b->begin; f < b->end; f += WIDTH) {
    const vec3 a = load3(l->flat + place(f, CB_LOCAL_FLAT) + 3 * CB_LOCAL_GROUP);
    const vec aa = dot(a, a);
    through += dot(load3(l->rate + place(f, CB_LOCAL_RATE)), a);
    area = fma3(aa, inverse_root(aa + set(tiny)), area);
  }
  out[0] = total(through);
  out[1] = total(area);
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

enum { CHUNK = 64, COLUMNS = 7 }; /* faces whose M and p stay in the first cache */

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

const cb_local_kernels KERNELS = {faces, edges, mass, flux, drag, linear};
