/* Numbers of WIDTH bodies side by side, for mechanism_blocks_kernel.h, and vectors and 3x3 matrices of them. Every
 * operation acts on each body alone and nothing is fused, so results do not depend on WIDTH.
 */
#include "mechanism/mechanism_blocks.h"

#include <math.h>
#if WIDTH == 4
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

typedef double lane __attribute__((vector_size(8 * WIDTH)));
typedef long long lane_bits __attribute__((vector_size(8 * WIDTH)));
typedef double loose __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));

INLINE lane get(const double *p) { return *(const loose *)p; }
INLINE void put(double *p, lane x) { *(loose *)p = x; }
INLINE lane same(double x) { return x - (lane){0}; }
#if WIDTH == 4
INLINE lane choose(lane_bits condition, lane x, lane y) {
  return (lane)_mm256_blendv_pd((__m256d)y, (__m256d)x, (__m256d)condition);
}
INLINE lane root(lane x) { return (lane)_mm256_sqrt_pd((__m256d)x); }
#else
INLINE lane choose(lane_bits condition, lane x, lane y) {
  return (lane)((condition & (lane_bits)x) | (~condition & (lane_bits)y));
}
INLINE lane root(lane x) { return (lane){sqrt(x[0]), sqrt(x[1])}; }
#endif

/* Reads number k after each of the addresses `from`. There is one address for each of WIDTH bodies. */
INLINE lane gather(const double *const from[WIDTH], int k) {
#if WIDTH == 4
  return (lane){from[0][k], from[1][k], from[2][k], from[3][k]};
#else
  return (lane){from[0][k], from[1][k]};
#endif
}
INLINE void scatter(double *const to[WIDTH], int k, lane x) {
#pragma GCC unroll 4
  for (int i = 0; i < WIDTH; i++) to[i][k] = x[i];
}
/* Reads two numbers, k and k + 1, after each of the addresses, whereas `gather` reads one. A pair is moved as one
 * vector of two, as in the sweeps, because the processor waits when it loads a pair whose numbers were just stored one
 * by one. */
#if WIDTH == 4
INLINE __m256d two_pairs(const double *a, const double *b) {
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(a)), _mm_loadu_pd(b), 1);
}
INLINE void gather2(const double *const from[WIDTH], int k, lane *x, lane *y) {
  const __m256d even = two_pairs(from[0] + k, from[2] + k), odd = two_pairs(from[1] + k, from[3] + k);
  *x = (lane)_mm256_unpacklo_pd(even, odd);
  *y = (lane)_mm256_unpackhi_pd(even, odd);
}
INLINE void scatter2(double *const to[WIDTH], int k, lane x, lane y) {
  const __m256d even = _mm256_unpacklo_pd((__m256d)x, (__m256d)y), odd = _mm256_unpackhi_pd((__m256d)x, (__m256d)y);
  _mm_storeu_pd(to[0] + k, _mm256_castpd256_pd128(even));
  _mm_storeu_pd(to[1] + k, _mm256_castpd256_pd128(odd));
  _mm_storeu_pd(to[2] + k, _mm256_extractf128_pd(even, 1));
  _mm_storeu_pd(to[3] + k, _mm256_extractf128_pd(odd, 1));
}
#else
#if defined(__clang__)
#define PICK(x, y, i, j) __builtin_shufflevector(x, y, i, j)
#else
#define PICK(x, y, i, j) __builtin_shuffle(x, y, (lane_bits){i, j})
#endif
INLINE void gather2(const double *const from[WIDTH], int k, lane *x, lane *y) {
  const lane first = get(from[0] + k), second = get(from[1] + k);
  *x = PICK(first, second, 0, 2);
  *y = PICK(first, second, 1, 3);
}
INLINE void scatter2(double *const to[WIDTH], int k, lane x, lane y) {
  put(to[0] + k, PICK(x, y, 0, 2));
  put(to[1] + k, PICK(x, y, 1, 3));
}
#endif
/* Makes the array `name` of the addresses of a member of WIDTH structures. */
#define EACH(name, of, member) \
  double *name[WIDTH];         \
  for (int each = 0; each < WIDTH; each++) name[each] = (double *)(of)[each]->member
#define FROM(name) ((const double *const *)(name))

typedef struct v3 {
  lane x, y, z;
} v3;
typedef struct m3 {
  v3 x, y, z; /* the rows of the matrix */
} m3;

INLINE v3 get3(const cb_four p[3], int at) { return (v3){get(p[0] + at), get(p[1] + at), get(p[2] + at)}; }
INLINE void put3(cb_four p[3], int at, v3 a) {
  put(p[0] + at, a.x);
  put(p[1] + at, a.y);
  put(p[2] + at, a.z);
}
INLINE m3 get9(const cb_four p[3][3], int at) { return (m3){get3(p[0], at), get3(p[1], at), get3(p[2], at)}; }
INLINE void put9(cb_four p[3][3], int at, m3 a) {
  put3(p[0], at, a.x);
  put3(p[1], at, a.y);
  put3(p[2], at, a.z);
}
INLINE v3 gather3(const double *const from[WIDTH], int k) {
  v3 a = {.z = gather(from, k + 2)};
  gather2(from, k, &a.x, &a.y);
  return a;
}
INLINE void scatter3(double *const to[WIDTH], int k, v3 a) {
  scatter2(to, k, a.x, a.y);
  scatter(to, k + 2, a.z);
}
INLINE m3 gather9(const double *const from[WIDTH]) {
  m3 m = {.z = {.z = gather(from, 8)}};
  gather2(from, 0, &m.x.x, &m.x.y);
  gather2(from, 2, &m.x.z, &m.y.x);
  gather2(from, 4, &m.y.y, &m.y.z);
  gather2(from, 6, &m.z.x, &m.z.y);
  return m;
}
INLINE void scatter9(double *const to[WIDTH], m3 m) {
  scatter2(to, 0, m.x.x, m.x.y);
  scatter2(to, 2, m.x.z, m.y.x);
  scatter2(to, 4, m.y.y, m.y.z);
  scatter2(to, 6, m.z.x, m.z.y);
  scatter(to, 8, m.z.z);
}

INLINE v3 plus(v3 a, v3 b) { return (v3){a.x + b.x, a.y + b.y, a.z + b.z}; }
INLINE v3 minus(v3 a, v3 b) { return (v3){a.x - b.x, a.y - b.y, a.z - b.z}; }
INLINE v3 times(lane c, v3 a) { return (v3){c * a.x, c * a.y, c * a.z}; }
/* Returns a + c b. */
INLINE v3 more(v3 a, lane c, v3 b) { return (v3){a.x + c * b.x, a.y + c * b.y, a.z + c * b.z}; }
INLINE lane dot(v3 a, v3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
INLINE v3 cross(v3 a, v3 b) { return (v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
/* apply returns m a, and apply_transposed returns m^T a. */
INLINE v3 apply(m3 m, v3 a) { return (v3){dot(m.x, a), dot(m.y, a), dot(m.z, a)}; }
INLINE v3 apply_transposed(m3 m, v3 a) { return more(more(times(a.x, m.x), a.y, m.y), a.z, m.z); }

INLINE m3 plus9(m3 a, m3 b) { return (m3){plus(a.x, b.x), plus(a.y, b.y), plus(a.z, b.z)}; }
INLINE m3 times9(lane c, m3 a) { return (m3){times(c, a.x), times(c, a.y), times(c, a.z)}; }
INLINE m3 none9(void) {
  const v3 none = {{0}, {0}, {0}};
  return (m3){none, none, none};
}
INLINE m3 transposed(m3 m) { return (m3){{m.x.x, m.y.x, m.z.x}, {m.x.y, m.y.y, m.z.y}, {m.x.z, m.y.z, m.z.z}}; }
/* Returns m - hat(a), where hat(a) b = a × b. */
INLINE m3 less_hat(m3 m, v3 a) {
  return (m3){{m.x.x, m.x.y + a.z, m.x.z - a.y}, {m.y.x - a.z, m.y.y, m.y.z + a.x}, {m.z.x + a.y, m.z.y - a.x, m.z.z}};
}
/* Returns m + a b^T. */
INLINE m3 more_outer(m3 m, v3 a, v3 b) { return (m3){more(m.x, a.x, b), more(m.y, a.y, b), more(m.z, a.z, b)}; }
/* Returns hat(a) m, where hat(a) b = a × b. */
INLINE m3 hat_times(v3 a, m3 m) {
  return (m3){minus(times(a.y, m.z), times(a.z, m.y)), minus(times(a.z, m.x), times(a.x, m.z)),
              minus(times(a.x, m.y), times(a.y, m.x))};
}
/* turned returns r m r^T, and turned_diagonal the same product for a diagonal m. */
INLINE m3 turned(m3 r, m3 m) {
  const m3 half = {apply_transposed(m, r.x), apply_transposed(m, r.y), apply_transposed(m, r.z)};
  return (m3){apply(r, half.x), apply(r, half.y), apply(r, half.z)};
}
INLINE m3 turned_diagonal(m3 r, v3 m) {
  const v3 x = {r.x.x * m.x, r.x.y * m.y, r.x.z * m.z}, y = {r.y.x * m.x, r.y.y * m.y, r.y.z * m.z},
           z = {r.z.x * m.x, r.z.y * m.y, r.z.z * m.z};
  const lane xy = dot(x, r.y), yz = dot(y, r.z), zx = dot(z, r.x);
  return (m3){{dot(x, r.x), xy, zx}, {xy, dot(y, r.y), yz}, {zx, yz, dot(z, r.z)}};
}

/* --- quaternions (numerics/vec3.h); matrices have the same bits as there --- */

typedef struct v4 {
  lane w, x, y, z;
} v4;

INLINE v4 gather4(const double *const from[WIDTH]) {
  v4 q;
  gather2(from, 0, &q.w, &q.x);
  gather2(from, 2, &q.y, &q.z);
  return q;
}
INLINE void scatter4(double *const to[WIDTH], v4 q) {
  scatter2(to, 0, q.w, q.x);
  scatter2(to, 2, q.y, q.z);
}
INLINE v4 get4(const cb_four p[4], int at) {
  return (v4){get(p[0] + at), get(p[1] + at), get(p[2] + at), get(p[3] + at)};
}
INLINE v4 multiply(v4 p, v4 q) {
  return (v4){p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z, p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y,
              p.w * q.y - p.x * q.z + p.y * q.w + p.z * q.x, p.w * q.z + p.x * q.y - p.y * q.x + p.z * q.w};
}
INLINE v4 unit(v4 q) {
  const lane scale = 1 / root(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  return (v4){q.w * scale, q.x * scale, q.y * scale, q.z * scale};
}
INLINE m3 rotation(v4 q) {
  const lane x = q.x, y = q.y, z = q.z, w2 = 2 * q.w, x2 = 2 * x, y2 = 2 * y, z2 = 2 * z;
  const lane xx = x2 * x, yy = y2 * y, zz = z2 * z, xy = x2 * y, yz = y2 * z, zx = z2 * x, wx = w2 * x, wy = w2 * y,
             wz = w2 * z;
  return (m3){{1 - (yy + zz), xy - wz, zx + wy}, {xy + wz, 1 - (xx + zz), yz - wx}, {zx - wy, yz + wx, 1 - (xx + yy)}};
}

/* 2 atan(s/w) for w >= 0. The argument is reduced to |x| <= tan(pi/8), where x is s/w, (s - w)/(s + w) for angles near
 * pi/4, or -w/s for angles near pi/2. The polynomial in x is that of fdlibm 5.3, s_atan.c. The error is below 1 unit in
 * the last place. */
INLINE lane twice_atan(lane s, lane w) {
  const lane_bits sign = (lane_bits)s & (lane_bits)(lane)(same(-0.0));
  const lane n = (lane)((lane_bits)s ^ sign), tangent = same(0.41421356237309503);
  const lane_bits steep = tangent * n > w, middle = ~steep & (n > tangent * w);
  const lane top = choose(steep, -w, choose(middle, n - w, n)), below = choose(steep, n, choose(middle, n + w, w)),
             high = choose(steep, same(0x1.921fb54442d18p+0), choose(middle, same(0x1.921fb54442d18p-1), same(0))),
             low = choose(steep, same(0x1.1a62633145c07p-54), choose(middle, same(0x1.1a62633145c07p-55), same(0))),
             x = top / choose(below == 0, same(1), below), z = x * x, u = z * z;
  const lane even = z * (3.33333333333329318027e-01 +
                         u * (1.42857142725034663711e-01 +
                              u * (9.09088713343650656196e-02 +
                                   u * (6.66107313738753120669e-02 +
                                        u * (4.97687799461593236017e-02 + u * 1.62858201153657823623e-02)))));
  const lane odd =
      u *
      (-1.99999999998764832476e-01 +
       u * (-1.11111104054623557880e-01 +
            u * (-7.69187620504482999495e-02 + u * (-5.83357013379057348645e-02 + u * -3.65315727442169155270e-02))));
  return (lane)((lane_bits)(2 * (high - ((x * (even + odd) - low) - x))) ^ sign);
}

/* --- sums of two numbers (numerics/dd.h) --- */

typedef struct pair {
  lane high, low;
} pair;

INLINE pair two_sum(lane a, lane b) {
  const lane s = a + b, t = s - a;
  return (pair){s, (a - (s - t)) + (b - t)};
}
INLINE pair fast_two_sum(lane a, lane b) {
  const lane s = a + b;
  return (pair){s, b - (s - a)};
}
INLINE lane upper(lane a) {
  const lane c = a * 134217729;
  return c - (c - a);
}
/* Computes a b exactly, from halves of the numbers: Dekker, Numer. Math. 18 (1971) 224, doi:10.1007/BF01397083. */
INLINE pair two_product(lane a, lane b) {
  const lane p = a * b, a1 = upper(a), b1 = upper(b), a2 = a - a1, b2 = b - b1;
  return (pair){p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}
INLINE pair plus_one(pair a, lane b) {
  const pair s = two_sum(a.high, b);
  return fast_two_sum(s.high, s.low + a.low);
}
INLINE pair plus_pair(pair a, pair b) {
  pair s = two_sum(a.high, b.high);
  const pair t = two_sum(a.low, b.low);
  s = fast_two_sum(s.high, s.low + t.high);
  return fast_two_sum(s.high, s.low + t.low);
}
INLINE pair minus_pair(pair a, pair b) { return plus_pair(a, (pair){-b.high, -b.low}); }
INLINE pair times_one(pair a, lane b) {
  const pair p = two_product(a.high, b);
  return fast_two_sum(p.high, p.low + a.low * b);
}
/* Adds an increment to a compensated sum, as cb_compensated_add_one (numerics/dd.h) does. */
INLINE pair compensated(pair a, lane increment) {
  const lane y = increment + a.low, sum = a.high + y, back = sum - a.high;
  return (pair){sum, (a.high - (sum - back)) + (y - back)};
}

/* --- twists and covectors: angular and linear part --- */

typedef struct v6 {
  v3 a, l;
} v6;

INLINE v6 get6(const cb_four p[6], int at) { return (v6){get3(p, at), get3(p + 3, at)}; }
INLINE void put6(cb_four p[6], int at, v6 V) {
  put3(p, at, V.a);
  put3(p + 3, at, V.l);
}
INLINE v6 gather6_at(const double *const from[WIDTH], int k) {
  v6 V;
  gather2(from, k, &V.a.x, &V.a.y);
  gather2(from, k + 2, &V.a.z, &V.l.x);
  gather2(from, k + 4, &V.l.y, &V.l.z);
  return V;
}
INLINE void scatter6_at(double *const to[WIDTH], int k, v3 a, v3 l) {
  scatter2(to, k, a.x, a.y);
  scatter2(to, k + 2, a.z, l.x);
  scatter2(to, k + 4, l.y, l.z);
}
INLINE v6 gather6(const double *const from[WIDTH]) { return gather6_at(from, 0); }
INLINE void scatter6(double *const to[WIDTH], v6 V) { scatter6_at(to, 0, V.a, V.l); }
/* scatter_row stores one row of the matrix A of WIDTH links, and scatter_matrix stores the whole of A from its four 3x3
 * blocks. gather_block reads a 3x3 block of a 6x6 matrix stored by rows; k is the index of the block's first entry. */
INLINE void scatter_row(double *const to[WIDTH], int row, v3 a, v3 l) {
  scatter2(to, 8 * row, a.x, a.y);
  scatter2(to, 8 * row + 2, a.z, same(0));
  scatter2(to, 8 * row + 4, l.x, l.y);
  scatter2(to, 8 * row + 6, l.z, same(0));
}
INLINE void scatter_matrix(double *const to[WIDTH], m3 aa, m3 al, m3 la, m3 ll) {
  scatter_row(to, 0, aa.x, al.x);
  scatter_row(to, 1, aa.y, al.y);
  scatter_row(to, 2, aa.z, al.z);
  scatter_row(to, 3, la.x, ll.x);
  scatter_row(to, 4, la.y, ll.y);
  scatter_row(to, 5, la.z, ll.z);
}
INLINE m3 gather_block(const double *const from[WIDTH], int k) {
  return (m3){gather3(from, k), gather3(from, k + 6), gather3(from, k + 12)};
}
INLINE v6 plus6(v6 x, v6 y) { return (v6){plus(x.a, y.a), plus(x.l, y.l)}; }
INLINE v6 minus6(v6 x, v6 y) { return (v6){minus(x.a, y.a), minus(x.l, y.l)}; }
INLINE v6 times6(lane c, v6 x) { return (v6){times(c, x.a), times(c, x.l)}; }
INLINE v6 turn6(m3 r, v6 x) { return (v6){apply(r, x.a), apply(r, x.l)}; }
INLINE v6 turn_back6(m3 r, v6 x) { return (v6){apply_transposed(r, x.a), apply_transposed(r, x.l)}; }
INLINE lane dot6(v6 x, v6 y) { return dot(x.a, y.a) + dot(x.l, y.l); }
