/* Vectors of two doubles, for the kernels that run on any processor. Every x86-64 processor has such vectors (SSE2). */
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef double vec __attribute__((vector_size(16)));
typedef long long vec_mask __attribute__((vector_size(16)));

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
  const vec_mask mask = a > b;
  return (vec)((mask & (vec_mask)yes) | (~mask & (vec_mask)no));
}
