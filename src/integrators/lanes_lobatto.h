/* Lobatto IIIA-IIIB in lanes: the operations of lobatto_embedding.c, lobatto_sweep.c, lobatto_kernel.h and iteration.c.
 * This is a part of lanes_kernel.h. */

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

/* The sweep of one particle; only lanes with run > 0 change. */
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

/* Does what cb_iterate does with cb_end_by_change. Returns the bits of lanes that continue, and adds the bits of lanes
 * that failed to *failed. */
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

/* Does the same as cb_compensated_add_one. Only lanes with run > 0 change. */
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
