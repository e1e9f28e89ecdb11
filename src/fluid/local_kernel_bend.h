/* Edges e of length l between unit normals n0, n1, S = <e, n0 × n1> = l sin alpha, C = <n0, n1> = cos alpha:
 *
 *   alpha l = S alpha/sin alpha, a series in u = 1 - C: its rounding only meets the small terms that follow the first
 *
 * Part of local_kernel.h.
 */
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

/* alpha l of edges e with S and C; *folds: l of those that are folded flat. */
INLINE vec bending(vec3 e, vec S, vec C, vec *folds) {
  const vec u = set(1) - C;
  if (__builtin_expect(!any_above(u, set(narrow_range)), 1)) return bend(S, u, narrow_bend, 8);
  if (__builtin_expect(!any_above(u, set(wide_range)), 1)) return bend(S, u, wide_bend, 16);
  return large_bend(e, S, C, folds);
}

/* Edges that no face has. */
static void edges(const cb_local *l, const cb_local_block *b, double *sum) {
  vec turning = set(0), length = set(0), folds = set(0);
  for (int k = b->begin; k < b->end; k += WIDTH) {
    const vec3 n0 = rows3(l->rim, l->edge_face[0] + k), n1 = rows3(l->rim, l->edge_face[1] + k),
               e = subtract(rows3(l->x, l->edge_end[1] + k), rows3(l->x, l->edge_end[0] + k));
    const vec ee = dot(e, e);
    length = fma3(ee, inverse_root(ee + set(tiny)), length);
    turning += bending(e, dot(e, cross(n0, n1)), dot(n0, n1), &folds);
  }
  sum[CB_LOCAL_EDGE_TURNING] = total(turning);
  sum[CB_LOCAL_EDGE_LENGTH] = total(length);
  sum[CB_LOCAL_EDGE_FOLD] = total(folds);
}
