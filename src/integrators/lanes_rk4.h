/* The classical Runge-Kutta method in lanes: integrators/rk4.c. Part of lanes_kernel.h. */
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

/* cb_factor_project_point and cb_factor_project_tangent. */
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
