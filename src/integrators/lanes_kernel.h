/* Steps of rk4 and lobatto in lanes, written once for the vectors of every instruction set. lanes_avx2.c and
 * lanes_avx512.c include this file after they have defined WIDTH, vec with its functions, and KERNEL. Each line is an
 * operation of the integrator itself, in the same order (lanes.h). */
#include "dynamics/springs_series.h"
#include "integrators/lanes.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define AT(array, index) ((array) + (size_t)(index)*WIDTH)

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

/* --- one or two springs: dynamics/springs.c --- */

INLINE int all_within(vec t, int sphere) {
  return sphere ? !any_above(set(0), t) && !any_above(t, set(0.5))
                : !any_above(set(-1), t) && !any_above(t, set(-1e-300));
}

/* Does the same as cb_psi_near (dynamics/springs_series.h) for the numbers of all lanes. */
INLINE vec psi_near(vec t, int sphere) {
  const double *p = cb_series[sphere ? CB_SERIES_SPHERE : CB_SERIES_HYPERBOLOID];
  const vec s = t + set(sphere ? -0.25 : 0.5), s2 = s * s, s4 = s2 * s2;
  vec a = set(p[16]) + set(p[20]) * s4, b = set(p[17]), c = set(p[18]), d = set(p[19]);
#pragma GCC unroll 4
  for (int i = 12; i >= 0; i -= 4) {
    a = a * s4 + set(p[i]);
    b = b * s4 + set(p[i + 1]);
    c = c * s4 + set(p[i + 2]);
    d = d * s4 + set(p[i + 3]);
  }
  a += c * s2;
  b += d * s2;
  return set(1) + t * (a + b * s);
}

static __attribute__((noinline)) vec psi_each(vec t) {
  double number[WIDTH];
  store(number, t);
  for (int l = 0; l < WIDTH; l++) number[l] = cb_psi(number[l]);
  return load(number);
}

INLINE void spring(const cb_lanes *l, const int k, const int flat, int e, const double *x, vec *force) {
  vec delta[4], q = set(0);
#pragma GCC unroll 4
  for (int a = 0; a < k; a++) {
    delta[a] = load(AT(x, l->i[e] + (size_t)a)) - load(AT(x, l->j[e] + (size_t)a));
    q += set(l->form[a]) * delta[a] * delta[a];
  }
  const vec t = load(l->quarter) * q;
  vec psi = set(1);
  if (!flat) {
    const int sphere = l->K[0] > 0;
    psi = all_within(t, sphere) ? psi_near(t, sphere) : psi_each(t);
  }
  const vec g = load(AT(l->stiffness, e)) * psi - load(AT(l->tension, e)) / root(q - q * t + set(CB_CHORD_TINY));
#pragma GCC unroll 4
  for (int a = 0; a < k; a++) force[a] = -g * delta[a];
}

INLINE void forces(const cb_lanes *l, const int k, const int flat, const double *x, double *f) {
  vec force[4];
  if (l->n > 2 || !l->m) memset(f, 0, (size_t)(l->n * k) * WIDTH * sizeof *f);
  for (int e = 0; e < l->m; e++) {
    spring(l, k, flat, e, x, force);
#pragma GCC unroll 4
    for (int a = 0; a < k; a++) {
      double *i = AT(f, l->i[e] + (size_t)a), *j = AT(f, l->j[e] + (size_t)a);
      store(i, either(e, load(i) + force[a], force[a]));
      store(j, either(e, load(j) - force[a], -force[a]));
    }
  }
}

#include "integrators/lanes_lobatto.h"

/* --- the classical Runge-Kutta method: integrators/rk4.c --- */

INLINE void rates(cb_lanes *l, const int k, const int shape) {
  double *x = l->X[0], *p = l->at_p, *F = l->F[0];
  for (int a = 0; a < l->n; a++)
#pragma GCC unroll 4
    for (int e = 0; e < k; e++) store(AT(l->dx, a * k + e), load(AT(p, a * k + e)) / load(AT(l->mass, a)));
  forces(l, k, shape == CB_LANES_FLAT, x, F);
  for (int a = 0; a < l->n; a++) {
    vec xx = set(0), fx = set(0), pp = set(0);
#pragma GCC unroll 4
    for (int e = 0; e < k && shape != CB_LANES_FLAT; e++) {
      const vec form = set(l->form[e]), at = load(AT(x, a * k + e)), of = load(AT(p, a * k + e));
      xx += form * at * at;
      fx += form * load(AT(F, a * k + e)) * at;
      pp += form * of * of;
    }
    const vec normal = (fx + pp / load(AT(l->mass, a))) / xx;
#pragma GCC unroll 4
    for (int e = 0; e < k; e++) {
      const vec f = load(AT(F, a * k + e));
      store(AT(l->dp, a * k + e), either(shape == CB_LANES_FLAT, f, f - normal * load(AT(x, a * k + e))));
    }
  }
}

/* Does the same as cb_factor_project_point and cb_factor_project_tangent for the numbers of all lanes. */
INLINE void project(const cb_lanes *l, const int k, vec *x, vec *p) {
  const vec K = load(l->K), zero = set(0);
  vec square = zero;
#pragma GCC unroll 4
  for (int e = 0; e < k - 1; e++) square += x[e] * x[e];
  if (l->K[0] < 0) {
    x[k - 1] = root(square - set(1) / K);
    vec sum = zero;
#pragma GCC unroll 4
    for (int e = 0; e < k - 1; e++) sum += x[e] * p[e];
    p[k - 1] = sum / x[k - 1];
    return;
  }
  const vec scale = set(1) / root(K * (square + x[k - 1] * x[k - 1]));
#pragma GCC unroll 4
  for (int e = 0; e < k; e++) x[e] *= scale;
  vec sum = zero;
#pragma GCC unroll 4
  for (int e = 0; e < k - 1; e++) sum += x[e] * p[e];
  const vec normal = K * (sum + x[k - 1] * p[k - 1]);
#pragma GCC unroll 4
  for (int e = 0; e < k; e++) p[e] -= normal * x[e];
}

INLINE unsigned rk4_of(cb_lanes *l, const int k, const int shape) {
  static const double time[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
  const int count = l->n * k;
  const vec h = load(l->h), zero = set(0);
  for (int i = 0; i < 4; i++) {
    for (int e = 0; e < count; e++) {
      const vec x = load(AT(l->x, e)), p = load(AT(l->p, e));
      store(AT(l->X[0], e), x + either(i, h * set(time[i]) * load(AT(l->dx, e)), zero));
      store(AT(l->at_p, e), p + either(i, h * set(time[i]) * load(AT(l->dp, e)), zero));
    }
    rates(l, k, shape);
    for (int e = 0; e < count; e++) {
      store(AT(l->sum_x, e), either(i, load(AT(l->sum_x, e)), zero) + set(weight[i]) * load(AT(l->dx, e)));
      store(AT(l->sum_p, e), either(i, load(AT(l->sum_p, e)), zero) + set(weight[i]) * load(AT(l->dp, e)));
    }
  }
  vec total = zero;
  const vec sixth = h / set(6);
  for (int e = 0; e < count; e++) {
    const vec x = load(AT(l->x, e)) + sixth * load(AT(l->sum_x, e)),
              p = load(AT(l->p, e)) + sixth * load(AT(l->sum_p, e));
    store(AT(l->X[0], e), x);
    store(AT(l->at_p, e), p);
    total += absolute(x) + absolute(p);
  }
  double sum[WIDTH];
  unsigned failed = 0;
  store(sum, total);
  for (size_t lane = 0; lane < l->lanes; lane++)
    if (!(sum[lane] < INFINITY)) failed |= 1u << lane;
  const vec run = mask_of(~failed);
  for (int a = 0; a < l->n; a++) {
    vec x[4], p[4];
    load_point(k, l->X[0], a, x);
    load_point(k, l->at_p, a, p);
    if (shape != CB_LANES_FLAT) project(l, k, x, p);
#pragma GCC unroll 4
    for (int e = 0; e < k; e++) {
      const int at = a * k + e;
      store(AT(l->x, at), where_above(run, zero, x[e], load(AT(l->x, at))));
      store(AT(l->p, at), where_above(run, zero, p[e], load(AT(l->p, at))));
      store(AT(l->x_low, at), where_above(run, zero, zero, load(AT(l->x_low, at))));
      store(AT(l->p_low, at), where_above(run, zero, zero, load(AT(l->p_low, at))));
    }
  }
  return failed;
}

static unsigned rk4(cb_lanes *l) {
  if (l->shape == CB_LANES_FLAT) return l->k == 3 ? rk4_of(l, 3, CB_LANES_FLAT) : rk4_of(l, 2, CB_LANES_FLAT);
  return l->k == 4 ? rk4_of(l, 4, CB_LANES_CURVED) : rk4_of(l, 3, CB_LANES_CURVED);
}

/* --- origins --- */

/* Returns the bits of the lanes in which a component may have drifted, with a slightly smaller limit than in
 * run/particles_recentre.c: in H^n 2.25 in place of cosh(1)^2 = 2.38. In E^n the squares of the distance and of the
 * size are compared. */
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
