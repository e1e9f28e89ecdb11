/* This file compiles the spring kernels for AVX-512; they evaluate eight springs at once. */
#if defined(__x86_64__)
#include "core/lanes8.h"

#define KERNELS cb_springs_kernels_avx512
enum { WIDTH = 8 };

#include "dynamics/springs_vec4.h"

static inline vec dot(const vec4 *a, const vec4 *b) {
  vec4 low = sums(a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]);
  vec4 high = sums(a[4] * b[4], a[5] * b[5], a[6] * b[6], a[7] * b[7]);
  return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
}
static inline vec inner(const vec4 *a, const vec4 *b, vec4 form) {
  vec4 c[8];
#pragma GCC unroll 8
  for (int l = 0; l < 8; l++) c[l] = b[l] * form;
  return dot(a, c);
}

#include "dynamics/springs_kernel.h"
#include "core/lanes_end.h"
#endif
