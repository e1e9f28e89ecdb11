/* The spring kernels, written once for the vectors of any instruction set. springs_x86_64.c, springs_avx2.c and
 * springs_avx512.c include this file after they have defined WIDTH, vec (one number of WIDTH springs), vec4 (the
 * coordinates of one particle), functions of both, and KERNELS.
 *
 *   q = <x-y, x-y>,  t = K q/4,  y = q (1 - t),  r = 1/sqrt(y),  psi(t) as in springs_series.h,  d = psi sqrt(y)
 *   force on x:  -g (x - y),  g = k (psi - D r) + gamma <x-y, x'-y'> r^2
 *
 * and in a product, with the parts (x-y)_f of the factors,
 *
 *   d^2 = sum_f psi_f^2 y_f,  r = 1/d,  e = sum_f psi_f (x-y)_f
 *   force on x:  -g e,  g = k (1 - D r) + gamma <e, x'-y'> r^2
 *
 * In x-y and y', the letter y is the second end of a spring; elsewhere y is the number q (1 - t). k, D, gamma, K and d
 * are as in springs.h. The result for a spring depends on its own numbers only, not on the springs next to it in a
 * vector.
 */
#include "dynamics/springs.h"
#include "dynamics/springs_series.h"

#define INLINE static inline __attribute__((always_inline))

enum { PARTICLES_AHEAD = 256 }; /* data are prefetched this many particles ahead: 16 kB, which fit into the cache */

/* Returns P(s) of springs_series.h. The even and odd powers are summed separately. */
INLINE vec polynomial(const double *coefficient, vec s) {
  vec ss = s * s, even = set(coefficient[20]), odd = set(coefficient[19]);
#pragma GCC unroll 16
  for (int i = 18; i >= 0; i -= 2) even = fma3(even, ss, set(coefficient[i]));
#pragma GCC unroll 16
  for (int i = 17; i >= 1; i -= 2) odd = fma3(odd, ss, set(coefficient[i]));
  return fma3(odd, s, even);
}

INLINE vec psi_near(cb_springs_shape shape, vec t) {
  if (shape == CB_SPRINGS_SPHERE) return fma3(t, polynomial(cb_series[CB_SERIES_SPHERE], t - set(0.25)), set(1));
  return fma3(t, polynomial(cb_series[CB_SERIES_HYPERBOLOID], t + set(0.5)), set(1));
}

/* Returns by how much t exceeds the interval of the polynomial; negative inside the interval. */
INLINE vec excess(cb_springs_shape shape, vec t) { return shape == CB_SPRINGS_SPHERE ? t - set(0.5) : set(-1) - t; }

static __attribute__((noinline)) vec psi_far(cb_springs_shape shape, vec t) {
  vec zero = set(0), one = set(1), cosine = one;
  while (any_above(excess(shape, t), zero)) {
    vec above = excess(shape, t), c = root(one - t);
    t = where_above(above, zero, t / (set(2) * (one + c)), t);
    cosine = where_above(above, zero, cosine * c, cosine);
  }
  return psi_near(shape, t) / cosine;
}

INLINE vec psi(cb_springs_shape shape, vec t) {
  if (shape == CB_SPRINGS_FLAT) return set(1);
  if (__builtin_expect(any_above(excess(shape, t), set(0)), 0)) return psi_far(shape, t);
  return psi_near(shape, t);
}

/* Returns y = q (1 - t) of the springs with the squared chords q, and writes their psi to *p. quarter is K/4. */
INLINE vec chord(cb_springs_shape shape, double quarter, vec q, vec *p) {
  vec t = set(quarter) * q;
  *p = psi(shape, t);
  return shape == CB_SPRINGS_FLAT ? q : fma3(set(0) - q, t, q);
}

/* Computes x - y of WIDTH springs of a run, from spring e on. */
INLINE void differences(int near, const cb_spring_run *run, size_t e, const double *x, const double *y, vec4 *delta) {
#pragma GCC unroll 8
  for (int l = 0; l < WIDTH; l++)
    delta[l] = sub4(load4(x + run->a[e + l]), near ? load4(x + run->near[e + l]) : load4(y + run->far[e + l]));
}

/* For a space that is a product: returns d^2, and replaces the differences x - y in delta by the vectors e of the file
 * header. */
INLINE vec product_chord(const cb_springs_space *space, vec4 *delta) {
  vec4 form = load4(space->form), part[2][WIDTH];
  double p[2][WIDTH] __attribute__((aligned(64)));
  vec sum = set(0);
  for (int i = 0; i < 2; i++) {
    vec4 member = load4(space->member[i]);
#pragma GCC unroll 8
    for (int l = 0; l < WIDTH; l++) part[i][l] = mul4(delta[l], member);
    double quarter = space->quarter[i];
    vec pi, y, q = inner(part[i], part[i], form);
    /* in a flat factor t is 0, and both series give psi(0) = 1 */
    y = chord(quarter > 0 ? CB_SPRINGS_SPHERE : CB_SPRINGS_HYPERBOLOID, quarter, q, &pi);
    sum = fma3(pi * pi, y, sum);
    store(p[i], pi);
  }
#pragma GCC unroll 8
  for (int l = 0; l < WIDTH; l++) delta[l] = fma4(p[0][l], part[0][l], fma4(p[1][l], part[1][l], zero4()));
  return sum;
}

/* Returns the factor g of the force -g (x - y). In a product the force is -g e, and delta is replaced by e. */
INLINE vec pull(cb_springs_shape shape, const cb_springs_space *space, const double *stiffness, const double *rest,
                const double *damping, vec4 *delta, const vec4 *rate) {
  vec4 form = load4(space->form);
  vec p = set(1), y;
  if (shape == CB_SPRINGS_PRODUCT)
    y = product_chord(space, delta);
  else
    y = chord(shape, space->quarter[0], shape == CB_SPRINGS_HYPERBOLOID ? inner(delta, delta, form) : dot(delta, delta),
              &p);
  vec r = set(1) / root(y + set(CB_CHORD_TINY));
  vec g = load(stiffness) * (p - load(rest) * r);
  if (damping) g += load(damping) * inner(delta, rate, form) * (r * r);
  return g;
}

INLINE void force(cb_springs_shape shape, int near, int damped, const cb_springs_space *space, const cb_spring_run *all,
                  const double *x, const double *y, const double *v, const double *w, double *f) {
  const cb_spring_run run = *all; /* a local copy: the compiler then knows that writes to f do not change it */
  const double *stiffness = run.stiffness, *rest = run.rest;
  for (size_t group = 0; group < run.springs; group += CB_GROUP) {
    if (near) {
      /* The ends `a` ascend, so the particles PARTICLES_AHEAD numbers further on are needed soon. f is prefetched for
       * writing, because the hardware does this too late. */
#pragma GCC unroll 2
      for (int l = 0; l < CB_GROUP; l += CB_GROUP / 2) {
        __builtin_prefetch(x + run.a[group + l] + 4 * PARTICLES_AHEAD);
        __builtin_prefetch(f + run.a[group + l] + 4 * PARTICLES_AHEAD, 1);
      }
    } else { /* The hardware cannot predict which particles of other blocks are read, so they are prefetched. */
#pragma GCC unroll 8
      for (int l = 0; l < CB_GROUP; l++) __builtin_prefetch(y + run.far[group + CB_AHEAD * CB_GROUP + l]);
    }
#pragma GCC unroll 1
    for (int s = 0; s < CB_GROUP; s += WIDTH) {
      size_t e = group + s;
      vec4 delta[WIDTH], rate[WIDTH];
      differences(near, &run, e, x, y, delta);
      if (damped) differences(near, &run, e, v, w, rate);
      double g[WIDTH] __attribute__((aligned(64)));
      store(g, pull(shape, space, stiffness + s, rest + s, damped ? run.damping + e : NULL, delta, rate));
      __asm__("" : "+m"(g)); /* Keeps g in memory: loads that broadcast a number are cheaper than permutations. */
#pragma GCC unroll 8
      for (int l = 0; l < WIDTH; l++) {
        double *at = f + run.a[e + l];
        store4(at, fnma4(g[l], delta[l], load4(at)));
        if (!near) continue;
        at = f + run.near[e + l];
        store4(at, fma4(g[l], delta[l], load4(at)));
      }
    }
    stiffness += run.stiffness_step;
    rest += run.rest_step;
  }
}

/* Computes the lengths d of WIDTH springs. */
INLINE vec distance(cb_springs_shape shape, const cb_springs_space *space, const cb_spring_run *run, size_t e,
                    const double *x, const double *y) {
  vec4 delta[WIDTH];
  differences(run->near != NULL, run, e, x, y, delta);
  if (shape == CB_SPRINGS_PRODUCT) return root(product_chord(space, delta));
  vec p, square = chord(shape, space->quarter[0], inner(delta, delta, load4(space->form)), &p);
  return p * root(square);
}

/* Adds the potential of a run to sum. Each lane keeps a compensated sum (D. E. Knuth, The Art of Computer Programming
 * 2, section 4.2.2, theorem B). The lanes are added in their order. */
INLINE void potential(cb_springs_shape shape, const cb_springs_space *space, const cb_spring_run *run, const double *x,
                      const double *y, double sum[2]) {
  vec high[CB_GROUP / WIDTH], low[CB_GROUP / WIDTH];
  for (int i = 0; i < CB_GROUP / WIDTH; i++) high[i] = low[i] = set(0);
  for (size_t e = 0; e < run->springs; e += WIDTH) {
    size_t i = e % CB_GROUP / WIDTH, group = e / CB_GROUP;
    const double *stiffness = run->stiffness + group * run->stiffness_step + e % CB_GROUP;
    const double *rest = run->rest + group * run->rest_step + e % CB_GROUP;
    vec stretch = distance(shape, space, run, e, x, y) - load(rest);
    vec term = set(0.5) * load(stiffness) * stretch * stretch;
    /* Lanes without a spring may have a stiffness and a rest length. Their energy must not count. */
    if (run->springs - e < WIDTH) {
      double each[WIDTH];
      store(each, term);
      for (size_t l = run->springs - e; l < WIDTH; l++) each[l] = 0;
      term = load(each);
    }
    vec total = high[i] + term, part = total - high[i];
    low[i] += (high[i] - (total - part)) + (term - part);
    high[i] = total;
  }
  for (int i = 0; i < CB_GROUP / WIDTH; i++) {
    double h[WIDTH], l[WIDTH];
    store(h, high[i]);
    store(l, low[i]);
    for (int lane = 0; lane < WIDTH; lane++) {
      double total = sum[0] + h[lane], part = total - sum[0];
      sum[1] += (sum[0] - (total - part)) + (h[lane] - part) + l[lane];
      sum[0] = total;
    }
  }
}

INLINE void separation(cb_springs_shape shape, const cb_springs_space *space, const cb_spring_run *run, const double *x,
                       const double *y, double *d) {
  for (size_t e = 0; e < CB_GROUP * cb_springs_groups(run->springs); e += WIDTH)
    store(d + e, distance(shape, space, run, e, x, y));
}

#define SPECIALISE(name, shape)                                                                                       \
  static void force_##name(const cb_springs_space *space, const cb_spring_run *run, const double *x, const double *y, \
                           const double *v, const double *w, double *f) {                                             \
    if (run->near && !run->damping)                                                                                   \
      force(shape, 1, 0, space, run, x, y, v, w, f);                                                                  \
    else if (run->near)                                                                                               \
      force(shape, 1, 1, space, run, x, y, v, w, f);                                                                  \
    else if (!run->damping)                                                                                           \
      force(shape, 0, 0, space, run, x, y, v, w, f);                                                                  \
    else                                                                                                              \
      force(shape, 0, 1, space, run, x, y, v, w, f);                                                                  \
  }                                                                                                                   \
  static void potential_##name(const cb_springs_space *space, const cb_spring_run *run, const double *x,              \
                               const double *y, double sum[2]) {                                                      \
    potential(shape, space, run, x, y, sum);                                                                          \
  }                                                                                                                   \
  static void separation_##name(const cb_springs_space *space, const cb_spring_run *run, const double *x,             \
                                const double *y, double *d) {                                                         \
    separation(shape, space, run, x, y, d);                                                                           \
  }

SPECIALISE(flat, CB_SPRINGS_FLAT)
SPECIALISE(sphere, CB_SPRINGS_SPHERE)
SPECIALISE(hyperboloid, CB_SPRINGS_HYPERBOLOID)
SPECIALISE(product, CB_SPRINGS_PRODUCT)

const cb_springs_kernels KERNELS[CB_SPRINGS_SHAPES] = {
    {force_flat, potential_flat, separation_flat},
    {force_sphere, potential_sphere, separation_sphere},
    {force_hyperboloid, potential_hyperboloid, separation_hyperboloid},
    {force_product, potential_product, separation_product},
};
