/* Spring kernels for any processor, in vectors of two as x86-64 has them: two springs at once. */
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define KERNELS cb_springs_kernels_x86_64
enum { WIDTH = 2 };
typedef double vec __attribute__((vector_size(16)));
typedef long long vec_mask __attribute__((vector_size(16)));
typedef struct vec4 {
  vec low, high;
} vec4;

static inline vec set(double a) { return (vec){a, a}; }
static inline vec load(const double *p) { return (vec){p[0], p[1]}; }
static inline void store(double *p, vec a) {
  p[0] = a[0];
  p[1] = a[1];
}
static inline vec root(vec a) {
#if defined(__SSE2__)
  return _mm_sqrt_pd(a);
#else
  return (vec){__builtin_sqrt(a[0]), __builtin_sqrt(a[1])};
#endif
}
static inline vec fma3(vec a, vec b, vec c) { return a * b + c; }
static inline int any_above(vec a, vec b) { return (a[0] > b[0]) | (a[1] > b[1]); }
static inline vec where_above(vec a, vec b, vec yes, vec no) {
  vec_mask mask = a > b;
  return (vec)((mask & (vec_mask)yes) | (~mask & (vec_mask)no));
}

static inline vec4 load4(const double *p) { return (vec4){load(p), load(p + 2)}; }
static inline void store4(double *p, vec4 a) {
  store(p, a.low);
  store(p + 2, a.high);
}
static inline vec4 sub4(vec4 a, vec4 b) { return (vec4){a.low - b.low, a.high - b.high}; }
static inline vec4 mul4(vec4 a, vec4 b) { return (vec4){a.low * b.low, a.high * b.high}; }
static inline vec4 zero4(void) { return (vec4){set(0), set(0)}; }
static inline vec4 fma4(double s, vec4 a, vec4 b) {
  return (vec4){b.low + set(s) * a.low, b.high + set(s) * a.high};
} /* b + s a */
static inline vec4 fnma4(double s, vec4 a, vec4 b) {
  return (vec4){b.low - set(s) * a.low, b.high - set(s) * a.high};
} /* b - s a */

static inline vec sums(vec p, vec q) { return (vec){p[0], q[0]} + (vec){p[1], q[1]}; }
static inline vec dot(const vec4 *a, const vec4 *b) {
  return sums(a[0].low * b[0].low + a[0].high * b[0].high, a[1].low * b[1].low + a[1].high * b[1].high);
}
static inline vec inner(const vec4 *a, const vec4 *b, vec4 form) {
  vec4 c[2];
#pragma GCC unroll 2
  for (int l = 0; l < 2; l++) c[l] = (vec4){b[l].low * form.low, b[l].high * form.high};
  return dot(a, c);
}

#include "dynamics/springs_kernel.h"
