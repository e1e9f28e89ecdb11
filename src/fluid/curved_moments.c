/* See fluid/curved_moments.h. */
#include "fluid/curved_moments.h"

#include "numerics/curved.h"
#include "numerics/trig.h"
#include "numerics/vec3.h"

#include <string.h>

/* The integrals of S^2 = (1 - c(2d))/2K and S^4 = (3 - 4 c(2d) + c(4d))/8K^2, by series where they cancel. */
double cb_curved_f2(double K, double d) {
  const cb_trig t = cb_trig_of(K);
  const double z = -K * d * d;
  double sum = 0, term = 1. / 3;
  if (fabs(z) > 0.5) return (d - cb_trig_s(t, d) * cb_trig_c(t, d)) / (2 * K);
  for (int n = 1; n < 15; n++, term *= 4 * z / (2 * n * (2 * n + 1))) sum += term;
  return d * d * d * sum;
}

double cb_curved_f4(double K, double d) {
  const cb_trig t = cb_trig_of(K);
  const double z = -K * d * d;
  double sum = 0, high = 256. / 960, low = 64. / 960;
  if (fabs(z) > 0.5) {
    const double S = cb_trig_s(t, d);
    return (3 * cb_curved_f2(K, d) - S * S * S * cb_trig_c(t, d)) / (4 * K);
  }
  for (int n = 2; n < 18; n++) {
    sum += high - low;
    const double next = z / ((2 * n + 2) * (2 * n + 3));
    high *= 16 * next, low *= 4 * next;
  }
  return d * d * d * d * d * sum;
}

void cb_curved_add(cb_curved_moments *to, double factor, const cb_curved_moments *m) {
  for (int i = 0; i < 4; i++) {
    to->first[i] += factor * m->first[i];
    for (int j = 0; j < 4; j++) to->M[i][j] += factor * m->M[i][j];
  }
}

static void cb_curved_add_point(double mass, const double y[4], cb_curved_moments *m) {
  for (int i = 0; i < 4; i++) {
    m->first[i] += mass * y[i];
    for (int j = 0; j < 4; j++) m->M[i][j] += mass * y[i] * y[j];
  }
}

double cb_curved_add_skin(double K, const double y[3][4], double factor, cb_curved_moments *m) {
  double plane[4], q[4];
  const double N = cb_curved_plane(K, y[0], y[1], y[2], plane);
  for (int k = 0; k < CB_CURVED_POINTS; k++) {
    const double c = cb_curved_node(K, y, k, q);
    cb_curved_add_point(factor * cb_curved_rule[k][3] * N / (2 * c * sqrt(c)), q, m);
  }
  return cb_curved_area(K, y[0], y[1], y[2], N);
}

/* N nu_w = -a.(b × c), which needs no plane: also of a face through the apex. */
void cb_curved_add_cone(double K, const double y[3][4], cb_curved_moments *m) {
  const cb_trig t = cb_trig_of(K);
  double bc[3], q[4];
  cb_cross3(y[1], y[2], bc);
  const double det = cb_dot3(y[0], bc);
  for (int k = 0; k < CB_CURVED_POINTS; k++) {
    const double c = cb_curved_node(K, y, k, q), S = sqrt(cb_dot3(q, q));
    if (!(S > 0) && q[3] > 0) continue; /* the apex itself: of volume det/6 times a share that vanishes with it */
    const double d = cb_trig_arc(t, S, q[3]), half = cb_trig_s(t, d / 2), F2 = cb_curved_f2(K, d),
                 F4 = cb_curved_f4(K, d), F3 = 4. / 3 * half * half * half * half * (2 + q[3]),
                 W = cb_curved_rule[k][3] * det / (2 * c * sqrt(c) * S * S * S);
    for (int i = 0; i < 3; i++) {
      const double u = q[i] / S;
      for (int j = 0; j < 3; j++) m->M[i][j] += W * F4 * u * q[j] / S;
      m->M[i][3] += W * S * S * S * S / 4 * u;
      m->M[3][i] += W * S * S * S * S / 4 * u;
      m->first[i] += W * F3 * u;
    }
    m->M[3][3] += W * (F2 - K * F4);
    m->first[3] += W * S * S * S / 3;
  }
}

void cb_curved_move(double K, const double p[4], cb_curved_moments *m) {
  const double back[4] = {-p[0], -p[1], -p[2], p[3]};
  double half[4][4], row[4];
  for (int i = 0; i < 4; i++) cb_curved_towards(K, back, m->M[i], half[i]);
  for (int j = 0; j < 4; j++) {
    const double column[4] = {half[0][j], half[1][j], half[2][j], half[3][j]};
    cb_curved_towards(K, back, column, row);
    for (int i = 0; i < 4; i++) m->M[i][j] = row[i];
  }
  memcpy(row, m->first, sizeof row);
  cb_curved_towards(K, back, row, m->first);
}

double cb_curved_content(double K, const cb_curved_moments *m) {
  return m->M[3][3] + K * (m->M[0][0] + m->M[1][1] + m->M[2][2]);
}

void cb_curved_add_sphere(double K, cb_curved_moments *m) {
  const double R = 1 / sqrt(K), quarter = 9.8696044010893586 / 2 * R * R * R; /* of 2 pi^2 R^3 */
  for (int i = 0; i < 4; i++) m->M[i][i] += i < 3 ? quarter / K : quarter;
}

/* c = (M_ww 1 - K P) p to first order, by Newton's iteration from the mean. */
void cb_curved_centre(double K, const cb_curved_moments *m, double p[4]) {
  const double square = cb_curved_form(K, m->first, m->first), content = cb_curved_content(K, m);
  double at[4] = {0, 0, 0, 1};
  if (square > 1e-12 * content * content && m->first[3] > -0.999999 * sqrt(square))
    for (int i = 0; i < 4; i++) at[i] = m->first[i] / sqrt(square);
  for (int n = 0; n < 30; n++) {
    const double back[4] = {-at[0], -at[1], -at[2], at[3]};
    cb_curved_moments own = *m;
    cb_curved_move(K, back, &own);
    double H[3][3], adj[3][3], step[3] = {0}, size = 0, length = 0;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) H[i][j] = (i == j ? own.M[3][3] : 0) - K * own.M[i][j];
    for (int i = 0; i < 3; i++) cb_cross3(H[(i + 1) % 3], H[(i + 2) % 3], adj[i]);
    const double det = cb_dot3(H[0], adj[0]);
    for (int i = 0; i < 3; i++) size += fabs(H[i][i]);
    if (!(size > 1e-9 * fabs(content))) break;            /* likewise, as of half a sphere */
    if (!(fabs(det) > 1e-12 * size * size * size)) break; /* every point near is a centre */
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) step[i] += adj[j][i] * own.M[j][3] / det;
    length = sqrt(cb_dot3(step, step));
    const double most = 0.5 / sqrt(fabs(K)), factor = length > most ? most / length : 1;
    double move[4], next[4];
    for (int i = 0; i < 3; i++) step[i] *= factor;
    cb_curved_point(K, step, move);
    cb_curved_towards(K, back, move, next);
    memcpy(at, next, sizeof at);
    if (length * sqrt(fabs(K)) < 1e-15) break;
  }
  memcpy(p, at, sizeof at);
}

void cb_curved_inertia(double K, const cb_curved_moments *m, double I[6][6]) {
  const double trace = m->M[0][0] + m->M[1][1] + m->M[2][2], mass = m->M[3][3] + K * trace;
  memset(I, 0, 36 * sizeof(double));
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    for (int l = 0; l < 3; l++) {
      I[i][l] = (i == l ? trace : 0) - m->M[i][l];
      I[3 + i][3 + l] = (i == l ? mass : 0) - K * I[i][l];
    }
    I[j][3 + k] = I[3 + k][j] = -m->M[i][3];
    I[k][3 + j] = I[3 + j][k] = m->M[i][3];
  }
}

void cb_curved_of_inertia(double K, double mass, const double (*I)[6], cb_curved_moments *m) {
  const double half = (I[0][0] + I[1][1] + I[2][2]) / 2;
  memset(m, 0, sizeof *m);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) m->M[i][j] = (i == j ? half : 0) - I[i][j];
    m->M[i][3] = m->M[3][i] = I[(i + 2) % 3][3 + (i + 1) % 3];
  }
  m->M[3][3] = mass - K * half;
}
