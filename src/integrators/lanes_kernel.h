/* Steps of rk4 and lobatto in lanes, written once for the vectors of every instruction set. lanes_avx2.c and
 * lanes_avx512.c include this file after they have defined WIDTH, vec with its functions, and KERNEL. The
 * operations and their order are those of the integrators (lanes.h), so that results have the same bits. */
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

/* Computes cb_psi_near (dynamics/springs_series.h) for the numbers of all lanes. */
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

/* --- Lobatto IIIA-IIIB: lobatto_embedding.c, lobatto_sweep.c, lobatto_kernel.h and iteration.c --- */

/* Returns <u,v>. For CB_LANES_QUAD the terms are summed in two halves, otherwise one after the other. */
INLINE vec inner(const cb_lanes *l, const int k, const int shape, const vec *u, const vec *v) {
  if (shape == CB_LANES_QUAD)
    return (set(l->form[0]) * u[0] * v[0] + set(l->form[1]) * u[1] * v[1]) +
           (set(l->form[2]) * u[2] * v[2] + set(l->form[3]) * u[3] * v[3]);
  vec sum = set(0);
#pragma GCC unroll 4
  for (int a = 0; a < k; a++) sum += set(l->form[a]) * u[a] * v[a];
  return sum;
}

/* Returns <x,x> - 1/K for the position x of particle a, where K is the curvature, as cb_compensated_norm does. */
INLINE vec norm(const cb_lanes *l, const int k, int a) {
  vec sum = -(set(1) / load(l->K)), rest = set(0);
#pragma GCC unroll 4
  for (int e = 0; e < k; e++) {
    const vec x = load(AT(l->x, a * k + e)), low = load(AT(l->x_low, a * k + e)), form = set(l->form[e]);
    const vec product = x * x, error = fma3(x, x, -product);
    const vec term = form * product, next = sum + term, back = next - sum;
    rest += (sum - (next - back)) + (term - back) + form * (error + set(2) * x * low);
    sum = next;
  }
  return sum + rest;
}

INLINE void predict(cb_lanes *l, const int s, const int k, const int shape, int a) {
  const cb_lobatto *T = l->tables;
  const vec h = load(l->h), step = h / load(AT(l->mass, a));
#pragma GCC unroll 4
  for (int e = 0; e < k; e++) {
    const int at = a * k + e;
    const vec x0 = load(AT(l->x, at)), p0 = load(AT(l->p, at));
    vec last[CB_LANES_STAGES], G[CB_LANES_STAGES];
#pragma GCC unroll 5
    for (int j = 0; j < s; j++) {
      last[j] = load(AT(l->G[j], at));
      store(AT(l->old[j], at), last[j]);
    }
#pragma GCC unroll 5
    for (int i = 0; i < s; i++) {
      G[i] = set(T->E[i][0]) * last[0];
      if (shape != CB_LANES_QUAD) G[i] = set(0) + G[i];
#pragma GCC unroll 5
      for (int j = 1; j < s; j++) G[i] += set(T->E[i][j]) * last[j];
      store(AT(l->G[i], at), G[i]);
    }
    store(AT(l->X[0], at), x0);
#pragma GCC unroll 5
    for (int i = 1; i < s; i++) {
      vec sum = set(T->W[i][0]) * G[0];
      if (shape != CB_LANES_QUAD) sum = set(0) + sum;
#pragma GCC unroll 5
      for (int j = 1; j < s - 1; j++) sum += set(T->W[i][j]) * G[j];
      const vec D = step * (set(T->c[i]) * p0 + h * sum);
      store(AT(l->D[i], at), D);
      store(AT(l->X[i], at), x0 + D);
    }
  }
}

/* Makes one pass of the fixed-point iteration for particle a. Only lanes with run > 0 change. */
INLINE void sweep(cb_lanes *l, const int s, const int k, const int shape, int a, vec run, vec *change, vec *size,
                  vec *poison) {
  const cb_lobatto *T = l->tables;
  const vec h = load(l->h), inv_mass = set(1) / load(AT(l->mass, a)), hhw = h * h * inv_mass, K = load(l->K),
            zero = set(0);
  vec x0[4], p0[4], X[CB_LANES_STAGES][4], G[CB_LANES_STAGES][4], D[CB_LANES_STAGES][4];
  load_point(k, l->x, a, x0);
  load_point(k, l->p, a, p0);
#pragma GCC unroll 5
  for (int i = 0; i < s - 1; i++) {
    vec F[4], old[4], off[4];
    load_point(k, l->F[i], a, F);
    load_point(k, i ? l->X[i] : l->x, a, X[i]);
    if (shape == CB_LANES_FLAT) {
#pragma GCC unroll 4
      for (int e = 0; e < k; e++) G[i][e] = F[e];
      continue;
    }
    load_point(k, l->G[i], a, old);
#pragma GCC unroll 4
    for (int e = 0; e < k; e++) off[e] = old[e] - F[e];
    const vec normal = shape == CB_LANES_QUAD ? K * inner(l, k, shape, off, X[i])
                                              : K * (inner(l, k, shape, old, X[i]) - inner(l, k, shape, F, X[i]));
#pragma GCC unroll 4
    for (int e = 0; e < k; e++) G[i][e] = F[e] + normal * X[i][e];
  }
#pragma GCC unroll 5
  for (int i = 1; i < s; i++) {
    const vec drift = h * set(T->c[i]) * inv_mass;
#pragma GCC unroll 4
    for (int e = 0; e < k; e++) {
      vec sum = set(T->W[i][0]) * G[0][e];
      if (shape != CB_LANES_QUAD) sum = zero + sum;
#pragma GCC unroll 5
      for (int j = 1; j < s - 1; j++) sum += set(T->W[i][j]) * G[j][e];
      D[i][e] = drift * p0[e] + hhw * sum;
    }
  }
  if (shape != CB_LANES_FLAT) {
    const vec residual = load(AT(l->off, a)), half = set(0.5) * K, per_hhw = set(1) / hhw;
    vec r[CB_LANES_STAGES], y[CB_LANES_STAGES];
#pragma GCC unroll 5
    for (int i = 1; i < s; i++) {
      if (shape == CB_LANES_QUAD) {
        vec both[4], product[4];
#pragma GCC unroll 4
        for (int e = 0; e < 4; e++) {
          const vec form = set(l->form[e]);
          both[e] = set(2) * (form * x0[e]) + form * D[i][e];
          product[e] = both[e] * D[i][e];
        }
        r[i] = residual + ((product[0] + product[1]) + (product[2] + product[3]));
      } else {
        r[i] = residual + set(2) * inner(l, k, shape, x0, D[i]) + inner(l, k, shape, D[i], D[i]);
      }
    }
#pragma GCC unroll 5
    for (int j = 0; j < s - 1; j++) {
      vec sum = zero;
#pragma GCC unroll 5
      for (int i = 1; i < s; i++) sum += set(T->Winv[j][i - 1]) * r[i];
      y[j] = half * sum;
    }
#pragma GCC unroll 5
    for (int j = 0; j < s - 1; j++) {
      const vec per = y[j] / hhw;
#pragma GCC unroll 4
      for (int e = 0; e < k; e++) {
        if (shape == CB_LANES_QUAD) {
          const vec yX = y[j] * X[j][e];
          G[j][e] -= per_hhw * yX;
#pragma GCC unroll 5
          for (int i = 1; i < s; i++) D[i][e] -= set(T->W[i][j]) * yX;
        } else {
          G[j][e] -= per * X[j][e];
#pragma GCC unroll 5
          for (int i = 1; i < s; i++) D[i][e] -= set(T->W[i][j]) * y[j] * X[j][e];
        }
      }
    }
  }
#pragma GCC unroll 5
  for (int i = 0; i < s - 1; i++)
#pragma GCC unroll 4
    for (int e = 0; e < k; e++) {
      double *to = AT(l->G[i], a * k + e);
      store(to, where_above(run, zero, G[i][e], load(to)));
    }
#pragma GCC unroll 5
  for (int i = 1; i < s; i++)
#pragma GCC unroll 4
    for (int e = 0; e < k; e++) {
      double *d = AT(l->D[i], a * k + e), *x = AT(l->X[i], a * k + e);
      const vec before = load(d), delta = D[i][e] - before;
      *change = larger(absolute(delta), *change);
      *size = larger(absolute(D[i][e]), *size);
      *poison += zero * delta;
      store(d, where_above(run, zero, D[i][e], before));
      store(x, where_above(run, zero, x0[e] + D[i][e], load(x)));
    }
}

/* Decides which lanes continue to iterate, as cb_iterate does with cb_end_by_change. Returns the bits of these lanes,
 * and adds the bits of lanes that failed to *failed. */
INLINE unsigned judge(cb_lanes *l, unsigned on, int iteration, const double *change, const double *size, double *before,
                      unsigned *failed) {
  for (int lane = 0; lane < WIDTH; lane++) {
    const unsigned bit = 1u << lane;
    if (!(on & bit)) continue;
    const double c = change[lane], was = before[lane];
    before[lane] = c;
    l->iterations[lane] = iteration;
    if (!(c < INFINITY && size[lane] < INFINITY)) {
      *failed |= bit;
      on &= ~bit;
      continue;
    }
    const double relative = l->residual_of[lane] = size[lane] > 0 ? c / size[lane] : 0;
    const bool small = relative <= 1e-12, unresolved = c <= 0;
    if (relative <= l->tolerance[lane] || (small && c > was / 4) || (unresolved && c > 0.8 * was))
      on &= ~bit;
    else if ((iteration > 3 && !small && !unresolved && c > 1e3 * was) || iteration >= l->maximum[lane]) {
      *failed |= bit;
      on &= ~bit;
    }
  }
  return on;
}

INLINE unsigned iterate(cb_lanes *l, const int s, const int k, const int shape) {
  unsigned on = (1u << l->lanes) - 1, failed = 0;
  double before[WIDTH], change_of[WIDTH], size_of[WIDTH];
  for (int lane = 0; lane < WIDTH; lane++) before[lane] = INFINITY;
  for (int iteration = 1; on; iteration++) {
    const vec run = mask_of(on);
    vec change = set(0), size = set(0), poison = set(0);
#pragma GCC unroll 3
    for (int i = 1; i < s - 1; i++) forces(l, k, shape == CB_LANES_FLAT, l->X[i], l->F[i]);
    for (int a = 0; a < l->n; a++) sweep(l, s, k, shape, a, run, &change, &size, &poison);
    store(change_of, change + poison);
    store(size_of, size);
    on = judge(l, on, iteration, change_of, size_of, before, &failed);
  }
  return failed;
}

/* Adds an increment to a compensated sum in each lane, as cb_compensated_add_one does for one number. Only lanes with
 * run > 0 change. */
INLINE vec add(const cb_lanes *l, double *high_, double *low_, vec increment, vec low, vec run) {
  const vec high = load(high_), y = increment + low, sum = high + y, back = sum - high;
  const vec rest = either(l->compensated, (high - (sum - back)) + (y - back), set(0));
  store(low_, where_above(run, set(0), rest, load(low_)));
  const vec now = where_above(run, set(0), sum, high);
  store(high_, now);
  return now;
}

INLINE void finish(cb_lanes *l, const int s, const int k, const int shape, int a, vec run) {
  const cb_lobatto *T = l->tables;
  const vec h = load(l->h), K = load(l->K), zero = set(0), last = set(T->b[s - 1]);
  vec x1[4], F[4], G[4], p1[4], change[4], low[4];
#pragma GCC unroll 4
  for (int e = 0; e < k; e++) {
    const int at = a * k + e;
    x1[e] = add(l, AT(l->x, at), AT(l->x_low, at), load(AT(l->D[s - 1], at)), load(AT(l->x_low, at)), run);
  }
  load_point(k, l->F[s - 1], a, F);
  load_point(k, l->G[s - 1], a, G);
  vec normal = zero, off[4];
#pragma GCC unroll 4
  for (int e = 0; e < k; e++) off[e] = G[e] - F[e];
  if (shape == CB_LANES_QUAD)
    normal = K * inner(l, k, shape, x1, off);
  else if (shape == CB_LANES_CURVED)
    normal = K * (inner(l, k, shape, G, x1) - inner(l, k, shape, F, x1));
#pragma GCC unroll 4
  for (int e = 0; e < k; e++) {
    const int at = a * k + e;
    vec sum = zero, rest = zero;
    G[e] = F[e] + normal * x1[e];
#pragma GCC unroll 5
    for (int i = 0; i < s - 1; i++) {
      const vec Gi = load(AT(l->G[i], at));
      sum += set(T->b[i]) * Gi;
      rest += set(T->b_low[i]) * Gi;
    }
    sum += last * G[e];
    rest += set(T->b_low[s - 1]) * G[e];
    low[e] = load(AT(l->p_low, at)) + h * rest;
    change[e] = h * sum;
    p1[e] = load(AT(l->p, at)) + change[e];
  }
  if (shape != CB_LANES_FLAT) {
    const vec over = K * inner(l, k, shape, x1, p1), back = over / (h * last);
#pragma GCC unroll 4
    for (int e = 0; e < k; e++) {
      change[e] -= over * x1[e];
      G[e] -= back * x1[e];
    }
  }
#pragma GCC unroll 4
  for (int e = 0; e < k; e++) {
    const int at = a * k + e;
    add(l, AT(l->p, at), AT(l->p_low, at), change[e], low[e], run);
    store(AT(l->G[s - 1], at), G[e]);
  }
}

INLINE unsigned lobatto_of(cb_lanes *l, const int s, const int k, const int shape) {
  for (int a = 0; a < l->n; a++) {
    if (shape != CB_LANES_FLAT) store(AT(l->off, a), norm(l, k, a));
    predict(l, s, k, shape, a);
  }
  const unsigned failed = iterate(l, s, k, shape);
  const vec run = mask_of(~failed);
  forces(l, k, shape == CB_LANES_FLAT, l->X[s - 1], l->F[s - 1]);
  for (int a = 0; a < l->n; a++) finish(l, s, k, shape, a, run);
  double *swap = l->F[0];
  l->F[0] = l->F[s - 1];
  l->F[s - 1] = swap;
  return failed;
}

INLINE unsigned lobatto_in(cb_lanes *l, const int k, const int shape) {
  switch (l->s) {
    case 2: return lobatto_of(l, 2, k, shape);
    case 3: return lobatto_of(l, 3, k, shape);
    case 4: return lobatto_of(l, 4, k, shape);
    default: return lobatto_of(l, 5, k, shape);
  }
}

static __attribute__((noinline)) unsigned lobatto_quad(cb_lanes *l) { return lobatto_in(l, 4, CB_LANES_QUAD); }
static __attribute__((noinline)) unsigned lobatto_curved(cb_lanes *l) { return lobatto_in(l, 3, CB_LANES_CURVED); }
static __attribute__((noinline)) unsigned lobatto_flat3(cb_lanes *l) { return lobatto_in(l, 3, CB_LANES_FLAT); }
static __attribute__((noinline)) unsigned lobatto_flat2(cb_lanes *l) { return lobatto_in(l, 2, CB_LANES_FLAT); }

static unsigned lobatto(cb_lanes *l) {
  if (l->shape == CB_LANES_QUAD) return lobatto_quad(l);
  if (l->shape == CB_LANES_CURVED) return lobatto_curved(l);
  return l->k == 3 ? lobatto_flat3(l) : lobatto_flat2(l);
}

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

/* Projects point and momentum in all lanes, as cb_factor_project_point and cb_factor_project_tangent do for one
 * point. */
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

/* Returns one bit per lane: it is set if the mean of a component may have moved too far from its origin. The limits are
 * slightly smaller than those of run/particles_change.c. In H^n cosh(distance)^2 is compared with 2.25 (there:
 * cosh(1)^2 = 2.38). In E^n distance^2 is compared with 0.99 max(1, 16 size^2), with the size of the component. */
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
