/* This file compiles the spring kernels for AVX2 with FMA; they evaluate four springs at once. */
#if defined(__x86_64__)
#include "core/lanes4.h"

#define KERNELS cb_springs_kernels_avx2
enum { WIDTH = 4 };

#include "dynamics/springs_vec4.h"

static inline vec dot(const vec4 *a, const vec4 *b) { return sums(a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]); }
static inline vec inner(const vec4 *a, const vec4 *b, vec4 form) {
  return sums(a[0] * b[0] * form, a[1] * b[1] * form, a[2] * b[2] * form, a[3] * b[3] * form);
}

#include "dynamics/springs_kernel.h"
#include "core/lanes_end.h"
#endif
