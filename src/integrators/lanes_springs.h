/* One or two springs in lanes: dynamics/springs_small.c. Part of lanes_kernel.h. */
INLINE int all_within(vec t, int sphere) {
  return sphere ? !any_above(set(0), t) && !any_above(t, set(0.5))
                : !any_above(set(-1), t) && !any_above(t, set(-1e-300));
}

/* cb_psi_near in lanes. */
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
