/* Mass properties of a body whose shape changes in a space of curvature K; and the kinetic energy of several motions as
 * a form (below).
 *
 *   solid   on the geodesic cones from the faces to the part's apex the velocity is linear in (x, w):
 *           u = sum l_c u_c/q with y = sum l_c y_c/q, minus its part along y; exact if the part moves by an isometry
 *   from the apex, along the ray to q = (S e, C) of a face:  y = s (e, 0) + c (0, 1),  u = s a + c u0,  s = s_K(t),
 *   c = c_K(t),  a = (u(q) - C u0)/S
 *   N = int u y^T dV:  mu_0 = density (N_ji - N_ij; N_k3 - N_3k) for the axes k, with i and j the axes after k
 *   int |u|^2 = int (B(u, u) - K B(u, y)^2) dV,  B(u, u') = u_x.u'_x + u_w u'_w/K;  B(u, y) = s (s alpha + c beta),
 *   alpha = B(a, e), beta = B(a, (0, 1)) + B(u0, e), both 0 for an isometry
 *
 * y = (x, w) is a point (numerics/numerics_curved.h). y_c are the corners of a face, with the shares l_c and the
 * velocities u_c; in the first line q is the norm of sum l_c y_c. B is the inner product. In the other lines q is a
 * point of the face, in the apex's frame, at the distance t = d in the direction e, with S = s_K(d) and C = c_K(d). u0
 * is the velocity of the apex. Along a ray int s^4 dt, int s^3 c dt and int s^2 c^2 dt are F4, S^4/4 and F2 - K F4 of
 * fluid/curved_moments.h. Derived for this project.
 */
#include "fluid/curved_moments.h"
#include "fluid/moving_mass.h"
#include "numerics/numerics_curved.h"
#include "numerics/vec3.h"
#include "fluid/shape_surface.h"

#include <math.h>
#include <string.h>

typedef struct sums {
  cb_curved_moments solid;
  double N[4][4], square; /* N = int u y^T dV, square = int |u|^2 dV */
} sums;

static double inner(double K, const double a[4], const double b[4]) { return cb_dot3(a, b) + a[3] * b[3] / K; }

/* Returns int_0^d s^4 (s alpha + c beta)^2 dt by Gauss's rule with 6 points, where s = s_K(t) and c = c_K(t). */
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

/* Adds a cone to out->N and out->square. The cone goes from the base point, which moves with u0, to the face with the
 * corners y, which move with u. */
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

/* Replaces N by T N T^T, with the transvection T from the base point to p. */
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

/* Finds the part's apex o, the mean of its surface, and the velocity `rate` of the apex (v NULL: at rest). */
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
  for (int i = 0; i < 4; i++) {
    o[i] /= root;
    rate[i] /= root;
  }
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
    return cb_fail(CB_ERROR_DOMAIN, "part `%s` has the volume %g: expected a surface whose faces point outwards",
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
      return cb_fail(CB_STEP_SINGULAR, "part `%s` has the volume %g: expected a volume > 0", m->name[number], volume);
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

/* The kinetic energy of several motions of a body's shape as a form R, in one pass over the faces for all motions.
 *
 *   R_ij = int rho <u_i, u_j> dV,  u_i linear on simplices with the velocities v_i at their k corners:
 *   int <u_i, u_j> dV = content/(k (k + 1)) (sum_c <v_i, v_j> + <sum_c v_i, sum_c v_j>) on a simplex
 *   k = 4 for the tetrahedron from a solid's apex, 3 for a face of a sheet
 *
 * A solid has the additional uniform velocity d_i = (F_i' - V_i' F/V - P_i)/V, which makes its momentum m c_i'
 * (moving_mass.c): <d_i, p_j> + <d_j, p_i> + V <d_i, d_j> is added to R_ij/rho, with p_i = V o_i' + P_i. rho is the
 * density, V the volume of the solid, F its first moment about the apex, P_i = int (u_i - o_i') dV, and V_i', F_i' and
 * o_i' are the rates of the volume, of F and of the apex in motion i. Derived for this project.
 */

enum { MOTIONS = CB_SHAPE_SURFACE_VARIABLES };

/* Integrals over a part about its apex o, which motion i moves with rate[i]. */
typedef struct motion_sums {
  double o[3], rate[MOTIONS][3];
  double volume, first[3]; /* the volume V and its first moment F about o */
  /* in motion i: change: the rate V_i' of V; first_rate: the rate F_i' of F; momentum: P_i, the momentum relative to o
   * for density 1 */
  double change[MOTIONS], first_rate[MOTIONS][3], momentum[MOTIONS][3];
  double form[MOTIONS][MOTIONS]; /* R_ij/rho */
} motion_sums;

static void find_apex(const cb_moving_mass *m, const struct cb_moving_part *p, const double (*x)[3], double o[3]) {
  o[0] = o[1] = o[2] = 0;
  for (int f = p->begin; f < p->end; f++)
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < 3; i++) o[i] += m->share[f] / 3 * x[m->face[f][k]][i];
}

/* Adds the form of n motions of a simplex to s->form. The corners of the simplex move with u[n][corners]. */
static void add_simplex(int n, int corners, const double u[MOTIONS][4][3], double content, motion_sums *s) {
  double all[MOTIONS][3];
  const double factor = content / (corners * (corners + 1));
  for (int i = 0; i < n; i++) {
    memset(all[i], 0, sizeof all[i]);
    for (int c = 0; c < corners; c++)
      for (int k = 0; k < 3; k++) all[i][k] += u[i][c][k];
    for (int j = 0; j <= i; j++) {
      double own = cb_dot3(all[i], all[j]);
      for (int c = 0; c < corners; c++) own += cb_dot3(u[i][c], u[j][c]);
      s->form[i][j] += factor * own;
    }
  }
}

/* Adds a tetrahedron from the apex to a face: its volume and first moment, the rates of both in each motion, and the
 * momentum of each motion. Returns the volume. */
static double add_tetrahedron(int n, const double y[3][3], const double u[MOTIONS][4][3], motion_sums *s) {
  double across[3][3], all[3];
  for (int k = 0; k < 3; k++) {
    cb_cross3(y[(k + 1) % 3], y[(k + 2) % 3], across[k]);
    all[k] = y[0][k] + y[1][k] + y[2][k];
  }
  const double volume = cb_dot3(y[0], across[0]) / 6;
  s->volume += volume;
  for (int k = 0; k < 3; k++) s->first[k] += volume / 4 * all[k];
  for (int i = 0; i < n; i++) {
    double of[3][3], change = 0;
    for (int c = 0; c < 3; c++) {
      for (int k = 0; k < 3; k++) of[c][k] = u[i][c][k] - s->rate[i][k];
      change += cb_dot3(of[c], across[c]) / 6;
    }
    s->change[i] += change;
    for (int k = 0; k < 3; k++) {
      const double push = volume / 4 * (of[0][k] + of[1][k] + of[2][k]);
      s->momentum[i][k] += push;
      s->first_rate[i][k] += change / 4 * all[k] + push;
    }
  }
  return volume;
}

/* Finds the uniform velocities d_i and adds their energy to the form (equations above). */
static void add_drift(int n, motion_sums *s) {
  const double V = s->volume;
  double d[MOTIONS][3], of[MOTIONS][3];
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) {
      d[i][k] = (s->first_rate[i][k] - s->change[i] / V * s->first[k] - s->momentum[i][k]) / V;
      of[i][k] = V * s->rate[i][k] + s->momentum[i][k];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) s->form[i][j] += cb_dot3(d[i], of[j]) + cb_dot3(d[j], of[i]) + V * cb_dot3(d[i], d[j]);
}

static void add_part(const cb_moving_mass *m, const struct cb_moving_part *p, const double (*x)[3], int n,
                     const double (*v)[3], double *R) {
  motion_sums s = {.volume = 0};
  double u[MOTIONS][4][3], y[3][3];
  find_apex(m, p, x, s.o);
  for (int i = 0; i < n; i++) find_apex(m, p, v + i * m->vertices, s.rate[i]);
  for (int f = p->begin; f < p->end; f++) {
    const int *corner = m->face[f];
    for (int c = 0; c < 3; c++)
      for (int k = 0; k < 3; k++) y[c][k] = x[corner[c]][k] - s.o[k];
    for (int i = 0; i < n; i++) {
      for (int c = 0; c < 3; c++) memcpy(u[i][c], v[i * m->vertices + corner[c]], sizeof u[i][c]);
      memcpy(u[i][3], s.rate[i], sizeof u[i][3]);
    }
    if (p->sheet)
      add_simplex(n, 3, (const double(*)[4][3])u, m->weight[f], &s);
    else
      add_simplex(n, 4, (const double(*)[4][3])u,
                  add_tetrahedron(n, (const double(*)[3])y, (const double(*)[4][3])u, &s), &s);
  }
  if (!p->sheet) add_drift(n, &s);
  const double density = p->sheet ? 1 : p->mass / s.volume;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) R[i * n + j] += density * s.form[i][j];
}

/* Finds R_ij = T(u_i + u_j) - T(u_i) - T(u_j) and R_ii = 2 T(u_i), with the kinetic energy T and the motions
 * u_i = v[i]. Only the lower triangle and the diagonal of R are written. sum[vertices] is a work array. */
static void polarise(const cb_moving_mass *m, const double (*x)[3], int n, const double (*v)[3], double (*sum)[3],
                     double *R) {
  double own[MOTIONS];
  for (int i = 0; i < n; i++) {
    own[i] = cb_moving_mass_energy(m, x, v + i * m->vertices);
    R[i * n + i] = 2 * own[i];
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < m->vertices; k++)
        for (int c = 0; c < 3; c++) sum[k][c] = v[i * m->vertices + k][c] + v[j * m->vertices + k][c];
      R[i * n + j] = cb_moving_mass_energy(m, x, (const double(*)[3])sum) - own[i] - own[j];
    }
  }
}

void cb_moving_mass_form(const cb_moving_mass *m, const double (*x)[3], int n, const double (*v)[3], double (*sum)[3],
                         double *R) {
  memset(R, 0, (size_t)(n * n) * sizeof *R);
  if (m->curvature != 0) polarise(m, x, n, v, sum, R);
  for (int p = 0; p < m->parts && m->curvature == 0; p++)
    if (m->part[p].mass > 0) add_part(m, m->part + p, x, n, v, R);
  for (int q = 0; q < m->points && m->curvature == 0; q++) {
    const int at = m->point[q].vertex;
    for (int i = 0; i < n && at >= 0; i++)
      for (int j = 0; j <= i; j++)
        R[i * n + j] += m->point[q].mass * cb_dot3(v[i * m->vertices + at], v[j * m->vertices + at]);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) R[j * n + i] = R[i * n + j];
}
