/* Steps in lanes, written once over the vectors of an instruction set: included by lanes_avx2.c and lanes_avx512.c
 * after WIDTH, vec, functions of it and KERNEL. Each line is one of the method's own, in its order: see lanes.h. */
#include "dynamics/springs_series.h"
#include "integrators/lanes.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define AT(array, index) ((array) + (size_t)(index) * WIDTH)

INLINE vec absolute(vec a) { return where_above(set(0), a, -a, a); }
INLINE vec either(int yes, vec a, vec b) {
  if (yes) return a;
  return b;
}
INLINE vec larger(vec a, vec b) { return where_above(a, b, a, b); }

INLINE void load_point(const int k, const double *from, int a, vec *to) {
#pragma GCC unroll 4
  for (int e = 0; e < k; e++) to[e] = load(AT(from, a * k + e));
}
INLINE vec mask_of(unsigned bits) {
  double number[WIDTH];
  for (int lane = 0; lane < WIDTH; lane++) number[lane] = bits >> lane & 1;
  return load(number);
}

#include "integrators/lanes_springs.h"

#include "integrators/lanes_lobatto.h"

#include "integrators/lanes_rk4.h"

/* --- origins --- */

/* Whether a component may have drifted: by a little less than run/particles_recentre.c asks for. In H^n cosh(1)^2 =
 * 2.38 is compared with 2.25; in E^n the squares of way and sizes. */
static unsigned drifted(const cb_lanes *l) {
  unsigned found = 0;
  const int k = l->k;
  for (int c = 0; c < l->components; c++) {
    if (cb_system_held(l->system, c)) continue;
    const int count = l->start[c + 1] - l->start[c];
    vec mean[4], square = set(0), size = set(0);
    for (int e = 0; e < k; e++) {
      mean[e] = set(0);
      for (int a = l->start[c]; a < l->start[c + 1]; a++) mean[e] += load(AT(l->x, a * k + e));
      mean[e] = mean[e] / set(count);
      if (l->shape == CB_LANES_FLAT || e < k - 1) square += mean[e] * mean[e];
      size = larger(size, absolute(load(AT(l->x, l->start[c] * k + e)) - mean[e]));
    }
    double way[WIDTH], limit[WIDTH];
    if (l->shape == CB_LANES_FLAT) {
      store(way, square);
      store(limit, set(0.99) * larger(set(1), set(16) * size * size));
    } else {
      const vec last = mean[k - 1] * mean[k - 1];
      store(way, last);
      store(limit, set(2.25) * (last - square));
    }
    for (size_t lane = 0; lane < l->lanes; lane++) found |= (unsigned)!(way[lane] <= limit[lane]) << lane;
  }
  return found;
}

const cb_lanes_kernel KERNEL = {WIDTH, lobatto, rk4, drifted};
