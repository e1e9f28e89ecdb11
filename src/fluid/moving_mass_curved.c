/* Mass properties of a body whose shape changes, in a space of curvature K.
 *
 *   solid   on the geodesic cones from the faces to the part's apex the velocity is linear in (x, w):
 *           u = sum l_c u_c/q where y = sum l_c y_c/q, less its part along y; exact where the part moves by an isometry
 *   from the apex, along the ray to q = (S e, C) of a face:  y = s (e, 0) + c (0, 1),  u = s a + c u0,  s = s_K(t)
 *   N = int u y^T dV:  mu_0 = density (N_ji - N_ij of i, j after k; N_k3 - N_3k)
 *   int |u|^2 = int (B(u, u) - K B(u, y)^2) dV,  B(u, u') = u_x.u'_x + u_w u'_w/K;  B(u, y) = s (s alpha + c beta),
 *   alpha = B(a, e), beta = B(a, (0, 1)) + B(u0, e), both 0 of an isometry
 * The weights of int s^2, s c, c^2 over a ray are those of fluid/curved_moments.h. Derived here.
 */
#include "fluid/curved_moments.h"
#include "fluid/moving_mass.h"
#include "numerics/trig.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

typedef struct sums {
  cb_curved_moments solid;
  double N[4][4], square; /* int u y^T, int |u|^2 */
} sums;

static double inner(double K, const double a[4], const double b[4]) { return cb_dot3(a, b) + a[3] * b[3] / K; }

/* int_0^d s^4 (s alpha + c beta)^2 dt by Gauss's rule of 6 points. */
static double along_points(cb_trig t, double d, double alpha, double beta) {
  static const double at[3] = {0.2386191860831969, 0.6612093864662645, 0.9324695142031521},
                      weight[3] = {0.4679139345726910, 0.3607615730481386, 0.1713244923791704};
  double sum = 0;
  for (int k = 0; k < 6; k++) {
    const double r = d / 2 * (1 + (k < 3 ? 1 : -1) * at[k % 3]), s = cb_trig_s(t, r),
                 u = s * alpha + cb_trig_c(t, r) * beta;
    sum += weight[k % 3] * d / 2 * s * s * s * s * u * u;
  }
  return sum;
}

/* The cone to the face y with rates u, from the base point, which moves with u0. */
static void add_cone(double K, const double y[3][4], const double u[3][4], const double u0[4], sums *out) {
  const cb_trig t = cb_trig_of(K);
  double bc[3], q[4];
  cb_cross3(y[1], y[2], bc);
  const double det = cb_dot3(y[0], bc);
  for (int k = 0; k < CB_CURVED_POINTS; k++) {
    const double c = cb_curved_node(K, y, k, q), S = sqrt(cb_dot3(q, q));
    double e[4] = {0}, a[4];
    if (!(S > 0)) continue;
    for (int i = 0; i < 3; i++) e[i] = q[i] / S;
    for (int i = 0; i < 4; i++) {
      a[i] = -q[3] * u0[i];
      for (int l = 0; l < 3; l++) a[i] += cb_curved_rule[k][l] / sqrt(c) * u[l][i];
      a[i] /= S;
    }
    const double d = cb_trig_arc(t, S, q[3]), F4 = cb_curved_f4(K, d), mixed = S * S * S * S / 4,
                 rest = cb_curved_f2(K, d) - K * F4, W = cb_curved_rule[k][3] * det / (2 * c * sqrt(c) * S * S * S),
                 alpha = inner(K, a, e), beta = a[3] / K + cb_dot3(u0, e);
    for (int i = 0; i < 4; i++) {
      for (int j = 0; j < 3; j++) out->N[i][j] += W * (F4 * a[i] + mixed * u0[i]) * e[j];
      out->N[i][3] += W * (mixed * a[i] + rest * u0[i]);
    }
    out->square += W * (F4 * inner(K, a, a) + 2 * mixed * inner(K, a, u0) + rest * inner(K, u0, u0) -
                        K * along_points(t, d, alpha, beta));
  }
}

/* T N T^T, T the transvection from the base point to p. */
static void carry(double K, const double p[4], double N[4][4]) {
  const double back[4] = {-p[0], -p[1], -p[2], p[3]};
  double rows[4][4], column[4], moved[4];
  for (int i = 0; i < 4; i++) cb_curved_towards(K, back, N[i], rows[i]);
  for (int j = 0; j < 4; j++) {
    for (int i = 0; i < 4; i++) column[i] = rows[i][j];
    cb_curved_towards(K, back, column, moved);
    for (int i = 0; i < 4; i++) N[i][j] = moved[i];
  }
}

/* The part's apex, the mean of its surface, and how it moves (v NULL: not at all). */
static void apex(const cb_moving_mass *m, const struct cb_moving_part *p, const double (*x)[3], const double (*v)[3],
                 double o[4], double rate[4]) {
  const double K = m->curvature;
  memset(o, 0, 4 * sizeof *o);
  memset(rate, 0, 4 * sizeof *rate);
  for (int f = p->begin; f < p->end; f++)
    for (int k = 0; k < 3; k++) {
      const int c = m->face[f][k];
      double y[4], u[4];
      cb_curved_point(K, x[c], y);
      if (v) cb_curved_velocity(K, x[c], v[c], u);
      for (int i = 0; i < 4; i++) {
        o[i] += m->share[f] / 3 * y[i];
        if (v) rate[i] += m->share[f] / 3 * u[i];
      }
    }
  const double root = sqrt(cb_curved_form(K, o, o));
  for (int i = 0; i < 4; i++) o[i] /= root, rate[i] /= root;
  const double along = K * inner(K, o, rate);
  for (int i = 0; i < 4; i++) rate[i] -= along * o[i];
}

static void integrate(const cb_moving_mass *m, const struct cb_moving_part *p, const double (*x)[3],
                      const double (*v)[3], sums *out) {
  const double K = m->curvature;
  double o[4], rate[4], u0[4];
  *out = (sums){.square = 0};
  apex(m, p, x, v, o, rate);
  cb_curved_towards(K, o, rate, u0);
  for (int f = p->begin; f < p->end; f++) {
    double y[3][4], u[3][4];
    for (int k = 0; k < 3; k++) {
      const int c = m->face[f][k];
      double at[4], moves[4];
      cb_curved_point(K, x[c], at);
      cb_curved_towards(K, o, at, y[k]);
      if (!v) continue;
      cb_curved_velocity(K, x[c], v[c], moves);
      cb_curved_towards(K, o, moves, u[k]);
    }
    cb_curved_add_cone(K, (const double(*)[4])y, &out->solid);
    if (v) add_cone(K, (const double(*)[4])y, (const double(*)[4])u, u0, out);
  }
  cb_curved_move(K, o, &out->solid);
  carry(K, o, out->N);
}

cb_status cb_moving_mass_curved_part(const cb_moving_mass *m, struct cb_moving_part *p, const double (*x)[3],
                                     double density) {
  sums s;
  if (p->sheet)
    return cb_fail(CB_ERROR_UNSUPPORTED, "part `%s` is a sheet: expected closed parts in a curved space",
                   m->name[p - m->part]);
  integrate(m, p, x, NULL, &s);
  const double volume = cb_curved_content(m->curvature, &s.solid);
  if (p->closed && volume < 0)
    return cb_fail(CB_ERROR_DOMAIN, "part `%s` has the volume %g: expected a surface whose faces look outwards",
                   m->name[p - m->part], volume);
  p->mass = p->closed ? density * volume : 0;
  for (int f = p->begin; f < p->end; f++) m->weight[f] = p->mass * m->share[f];
  return CB_OK;
}

static void add_momentum(double factor, const double N[4][4], double mu0[6]) {
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    mu0[k] += factor * (N[j][i] - N[i][j]);
    mu0[3 + k] += factor * (N[k][3] - N[3][k]);
  }
}

static void add_point(double K, const cb_point_mass *point, const double x[3], const double v[3],
                      cb_curved_moments *weight, double mu0[6]) {
  double y[4], u[4], N[4][4], I[6][6] = {{0}};
  cb_curved_moments own;
  cb_curved_point(K, x, y);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      I[i][j] = point->inertia[i][j];
      I[3 + i][3 + j] = (i == j ? point->mass : 0) - K * point->inertia[i][j];
    }
  }
  cb_curved_of_inertia(K, point->mass, (const double(*)[6])I, &own);
  cb_curved_move(K, y, &own);
  cb_curved_add(weight, 1, &own);
  if (!v) return;
  cb_curved_velocity(K, x, v, u);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) N[i][j] = u[i] * y[j];
  add_momentum(point->mass, (const double(*)[4])N, mu0);
}

cb_status cb_moving_mass_curved(const cb_moving_mass *m, const double (*x)[3], const double (*v)[3], cb_mass *out,
                                double mu0[6]) {
  const double K = m->curvature;
  cb_curved_moments weight = {.first = {0}}, fluid = weight;
  memset(mu0, 0, 6 * sizeof *mu0);
  for (int number = 0; number < m->parts; number++) {
    const struct cb_moving_part *p = m->part + number;
    sums s;
    integrate(m, p, x, v, &s);
    const double volume = cb_curved_content(K, &s.solid);
    cb_curved_add(&fluid, 1, &s.solid);
    if (!(p->mass > 0)) continue;
    if (!(volume > 0))
      return cb_fail(CB_STEP_SINGULAR, "part `%s` has the volume %g: expected one above 0", m->name[number], volume);
    cb_curved_add(&weight, p->mass / volume, &s.solid);
    if (v) add_momentum(p->mass / volume, (const double(*)[4])s.N, mu0);
  }
  for (int i = 0; i < m->points; i++) {
    const int at = m->point[i].vertex;
    add_point(K, &m->point[i], at < 0 ? m->point[i].x : x[at], v && at >= 0 ? v[at] : NULL, &weight, mu0);
  }
  cb_curved_mass(K, &weight, &fluid, 0, out);
  return CB_OK;
}

double cb_moving_mass_curved_energy(const cb_moving_mass *m, const double (*x)[3], const double (*v)[3]) {
  const double K = m->curvature;
  double sum = 0;
  for (int number = 0; number < m->parts; number++) {
    const struct cb_moving_part *p = m->part + number;
    sums s;
    if (!(p->mass > 0)) continue;
    integrate(m, p, x, v, &s);
    sum += p->mass / cb_curved_content(K, &s.solid) * s.square / 2;
  }
  for (int i = 0; i < m->points; i++) {
    const int at = m->point[i].vertex;
    double u[4];
    if (at < 0) continue;
    cb_curved_velocity(K, x[at], v[at], u);
    sum += m->point[i].mass / 2 * inner(K, u, u);
  }
  return sum;
}
