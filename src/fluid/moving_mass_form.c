/* The kinetic energy of a body's own motions as a form, all of them in one pass over the faces.
 *
 *   R_ij = int rho <u_i, u_j>,  u_i linear on simplices with velocities v_i at the corners:  content/(d (d + 1)) times
 *   (sum_c <v_i, v_j> + <sum_c v_i, sum_c v_j>), d = 4 for the tetrahedron from a solid's apex, 3 for a face of a sheet
 * A solid has the velocity d_i = (F_i' - V_i' F/V - P_i)/V more everywhere, which makes its momentum m c_i'
 * (moving_mass.c):  R_ij += <d_i, m_j> + <d_j, m_i> + V <d_i, d_j>,  m_i = V o_i' + P_i. Derived here.
 */
#include "fluid/moving_mass.h"
#include "fluid/shape_surface.h"
#include "numerics/vec3.h"

#include <string.h>

enum { MOTIONS = CB_SHAPE_SURFACE_VARIABLES };

/* Integrals over a part about its apex o, which motion i moves with rate[i]. */
typedef struct sums {
  double o[3], rate[MOTIONS][3];
  double volume, first[3];
  double change[MOTIONS], first_rate[MOTIONS][3], momentum[MOTIONS][3];
  double form[MOTIONS][MOTIONS];
} sums;

static void find_apex(const cb_moving_mass *m, const struct cb_moving_part *p, const double (*x)[3], double o[3]) {
  o[0] = o[1] = o[2] = 0;
  for (int f = p->begin; f < p->end; f++)
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < 3; i++) o[i] += m->share[f] / 3 * x[m->face[f][k]][i];
}

/* The form of n motions of a simplex with u[n][corners]. */
static void add_simplex(int n, int corners, const double u[MOTIONS][4][3], double content, sums *s) {
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

/* A tetrahedron from the apex: what a motion changes of its volume and first moment, and its momentum. */
static double add_tetrahedron(int n, const double y[3][3], const double u[MOTIONS][4][3], sums *s) {
  double across[3][3], all[3];
  for (int k = 0; k < 3; k++)
    cb_cross3(y[(k + 1) % 3], y[(k + 2) % 3], across[k]), all[k] = y[0][k] + y[1][k] + y[2][k];
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

/* d_i, into the form. */
static void add_drift(int n, sums *s) {
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
  sums s = {.volume = 0};
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

/* R_ij = T(u_i + u_j) - T(u_i) - T(u_j), R_ii = 2 T(u_i) */
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
