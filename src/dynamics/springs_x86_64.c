/* This file compiles the spring kernels for any processor. They evaluate two springs at once, because every x86-64
 * processor has vectors of two numbers. */
#include "core/lanes2.h"

#define KERNELS cb_springs_kernels_x86_64
enum { WIDTH = 2 };
typedef struct vec4 {
  vec low, high;
} vec4;

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
