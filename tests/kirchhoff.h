/* Equations of rigid bodies and particles that act on each other, which share no code with the library, for comparison
 * with its coupled steps.
 *
 *   g' = g hat(Y),  l' = l × w + p × v + torque,  p' = p × w + K l × v + force,  (l, p) = I (w, v)      each body
 *   x'' = F/m                                                                               particles, in flat space
 * Y = (w, v) is the twist of a body, (l, p) its momentum and I its inertia, all in its frame. The pose g is a matrix of
 * 4 x 4 numbers that acts on points (x, c) with c^2 + K |x|^2 = 1, where K is the curvature of the space, and
 * hat(Y) = [[hat(w), v], [-K v^T, 0]] with hat(w) x = w × x. A spring of the stiffness k, the length d and the rest
 * length L acts with the force -k (d - L) along the shortest geodesic. Rods, in flat space, act with forces that make
 * the second derivatives of their lengths vanish. The equations are solved by Dormand and Prince's method of order 8
 * with the tolerance 1e-14 (system_runs.h). */
#pragma once

#include "system_runs.h"

enum { KIRCHHOFF_BODIES = 3, KIRCHHOFF_PARTICLES = 4, KIRCHHOFF_LINKS = 6, KIRCHHOFF_BODY = 22 };

/* An end of a spring or a rod. body >= 0: the point `at` in the frame of this body; -1: the particle with the number
 * `particle`; -2: the fixed point `at`. */
typedef struct kirchhoff_point {
  int body, particle;
  double at[3];
} kirchhoff_point;

typedef struct kirchhoff_link {
  kirchhoff_point end[2];
  double stiffness, length; /* stiffness 0: a rod */
} kirchhoff_link;

typedef struct kirchhoff {
  int bodies, particles, links;
  double K, inertia[KIRCHHOFF_BODIES][6][6], mass[KIRCHHOFF_PARTICLES], gravity[3];
  double weight[KIRCHHOFF_BODIES]; /* mass of a body less that of the displaced fluid; gravity acts at its origin */
  kirchhoff_link link[KIRCHHOFF_LINKS];
} kirchhoff;

static inline void kirchhoff_cross(const double a[3], const double b[3], double *out) {
  for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Solves m x = b by elimination with pivots, and writes x to b. Changes m. */
static inline void kirchhoff_solve(int n, double m[6][6], double *b) {
  for (int c = 0; c < n; c++) {
    int pivot = c;
    for (int r = c; r < n; r++)
      if (fabs(m[r][c]) > fabs(m[pivot][c])) pivot = r;
    for (int k = 0; k < n; k++) {
      const double swapped = m[c][k];
      m[c][k] = m[pivot][k];
      m[pivot][k] = swapped;
    }
    const double swapped = b[c];
    b[c] = b[pivot];
    b[pivot] = swapped;
    for (int r = 0; r < n; r++) {
      const double factor = r == c ? 0 : m[r][c] / m[c][c];
      for (int k = 0; k < n; k++) m[r][k] -= factor * m[c][k];
      b[r] -= factor * b[c];
    }
  }
  for (int c = 0; c < n; c++) b[c] /= m[c][c];
}

typedef struct kirchhoff_state {
  const kirchhoff *k;
  const double *z;
  double Y[KIRCHHOFF_BODIES][6];
  double force[KIRCHHOFF_BODIES][6], push[KIRCHHOFF_PARTICLES][3]; /* wrenches in body frames; forces on particles */
} kirchhoff_state;

static inline const double *kirchhoff_particle(const kirchhoff_state *s, int i) {
  return s->z + KIRCHHOFF_BODY * s->k->bodies + 6 * i;
}

/* Computes the coordinates y = (x, c) of a point in the world, and its velocity u. */
static inline void kirchhoff_place(const kirchhoff_state *s, const kirchhoff_point *p, double y[4], double u[4]) {
  const double K = s->k->K;
  if (p->body < 0) {
    const double *z = p->body == -1 ? kirchhoff_particle(s, p->particle) : NULL;
    for (int i = 0; i < 3; i++) {
      y[i] = z ? z[i] : p->at[i];
      u[i] = z ? z[3 + i] : 0;
    }
    y[3] = 1;
    u[3] = 0;
    return;
  }
  const double *g = s->z + KIRCHHOFF_BODY * p->body, *Y = s->Y[p->body];
  double r2 = 0, local[4], moved[4];
  for (int i = 0; i < 3; i++) r2 += p->at[i] * p->at[i];
  const double r = sqrt(r2), root = sqrt(fabs(K)),
               size = r == 0 || K == 0 ? 1
                      : K > 0          ? sin(root * r) / (root * r)
                                       : sinh(root * r) / (root * r);
  for (int i = 0; i < 3; i++) local[i] = size * p->at[i];
  local[3] = K == 0 ? 1 : K > 0 ? cos(root * r) : cosh(root * r);
  kirchhoff_cross(Y, local, moved);
  moved[3] = 0;
  for (int i = 0; i < 3; i++) {
    moved[i] += local[3] * Y[3 + i];
    moved[3] -= K * Y[3 + i] * local[i];
  }
  for (int i = 0; i < 4; i++) {
    y[i] = u[i] = 0;
    for (int j = 0; j < 4; j++) {
      y[i] += g[4 * i + j] * local[j];
      u[i] += g[4 * i + j] * moved[j];
    }
  }
}

/* Adds the force f, a covector on the coordinates (x, c), at the point p. For a body, component e of the wrench is f
 * applied to the velocity that the point has under the unit twist e. */
static inline void kirchhoff_push(kirchhoff_state *s, const kirchhoff_point *p, const double f[4]) {
  if (p->body == -2) return;
  if (p->body == -1) {
    for (int i = 0; i < 3; i++) s->push[p->particle][i] += f[i];
    return;
  }
  for (int e = 0; e < 6; e++) { /* u: the velocity of the point under the unit twist e */
    double y[4], u[4], sum = 0;
    kirchhoff_state unit = {.k = s->k, .z = s->z};
    unit.Y[p->body][e] = 1;
    kirchhoff_place(&unit, p, y, u);
    for (int i = 0; i < 4; i++) sum += f[i] * u[i];
    s->force[p->body][e] += sum;
  }
}

/* Returns the distance of the ends of a link. f[0] and f[1] are its gradients by the coordinates of the two ends. */
static inline double kirchhoff_distance(const kirchhoff_state *s, const kirchhoff_link *l, double f[2][4]) {
  double y[2][4], u[4];
  const double K = s->k->K;
  for (int e = 0; e < 2; e++) kirchhoff_place(s, &l->end[e], y[e], u);
  if (K == 0) {
    double square = 0;
    for (int i = 0; i < 3; i++) square += (y[0][i] - y[1][i]) * (y[0][i] - y[1][i]);
    const double d = sqrt(square);
    for (int i = 0; i < 3; i++) {
      f[0][i] = (y[0][i] - y[1][i]) / d;
      f[1][i] = -f[0][i];
    }
    f[0][3] = f[1][3] = 0;
    return d;
  }
  double c = y[0][3] * y[1][3];
  for (int i = 0; i < 3; i++) c += K * y[0][i] * y[1][i];
  const double root = sqrt(fabs(K)), d = (K > 0 ? acos(c) : acosh(c)) / root,
               slope = K > 0 ? -root * sin(root * d) : root * sinh(root * d); /* the derivative of c by d */
  for (int e = 0; e < 2; e++)
    for (int i = 0; i < 4; i++) f[e][i] = (i < 3 ? K : 1) * y[1 - e][i] / slope;
  return d;
}

/* Computes the rates dmu of the momenta and dY of the twists of all bodies under the forces in s. */
static inline void kirchhoff_rates(const kirchhoff_state *s, double dmu[][6], double dY[][6]) {
  for (int b = 0; b < s->k->bodies; b++) {
    const double *mu = s->z + KIRCHHOFF_BODY * b + 16, *Y = s->Y[b];
    double m[6][6], part[3];
    kirchhoff_cross(mu, Y, dmu[b]);
    kirchhoff_cross(mu + 3, Y + 3, part);
    for (int i = 0; i < 3; i++) dmu[b][i] += part[i];
    kirchhoff_cross(mu + 3, Y, dmu[b] + 3);
    kirchhoff_cross(mu, Y + 3, part);
    for (int i = 0; i < 3; i++) dmu[b][3 + i] += s->k->K * part[i];
    for (int i = 0; i < 6; i++) dY[b][i] = dmu[b][i] += s->force[b][i];
    memcpy(m, s->k->inertia[b], sizeof m);
    kirchhoff_solve(6, m, dY[b]);
  }
}

/* Returns half the second derivative of the squared length of a rod in flat space: |x' - y'|^2 + (x - y).(x'' - y''),
 * where x and y are the positions of its ends. */
static inline double kirchhoff_second(const kirchhoff_state *s, const kirchhoff_link *l) {
  double dmu[KIRCHHOFF_BODIES][6], dY[KIRCHHOFF_BODIES][6], y[2][4], u[2][4], a[2][3] = {{0}}, sum = 0;
  kirchhoff_rates(s, dmu, dY);
  for (int e = 0; e < 2; e++) {
    const kirchhoff_point *p = &l->end[e];
    kirchhoff_place(s, p, y[e], u[e]);
    if (p->body == -1)
      for (int i = 0; i < 3; i++) a[e][i] = s->push[p->particle][i] / s->k->mass[p->particle] + s->k->gravity[i];
    if (p->body < 0) continue;
    const double *g = s->z + KIRCHHOFF_BODY * p->body, *Y = s->Y[p->body];
    double once[3], twice[3], spun[3], local[3];
    kirchhoff_cross(Y, p->at, once);
    for (int i = 0; i < 3; i++) once[i] += Y[3 + i];
    kirchhoff_cross(Y, once, twice);
    kirchhoff_cross(dY[p->body], p->at, spun);
    for (int i = 0; i < 3; i++) local[i] = twice[i] + spun[i] + dY[p->body][3 + i];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) a[e][i] += g[4 * i + j] * local[j];
  }
  for (int i = 0; i < 3; i++)
    sum += (u[0][i] - u[1][i]) * (u[0][i] - u[1][i]) + (y[0][i] - y[1][i]) * (a[0][i] - a[1][i]);
  return sum;
}

static inline void kirchhoff_act(kirchhoff_state *s, const kirchhoff_link *l, double size) {
  double f[2][4];
  kirchhoff_distance(s, l, f);
  for (int e = 0; e < 2; e++) {
    for (int i = 0; i < 4; i++) f[e][i] *= size;
    kirchhoff_push(s, &l->end[e], f[e]);
  }
}

static inline int kirchhoff_rhs(double t, const double *z, double *dz, void *user) {
  const kirchhoff *k = user;
  kirchhoff_state s = {.k = k, .z = z};
  int rods = 0, rod[KIRCHHOFF_LINKS];
  for (int b = 0; b < k->bodies; b++) {
    double m[6][6];
    memcpy(m, k->inertia[b], sizeof m);
    memcpy(s.Y[b], z + KIRCHHOFF_BODY * b + 16, sizeof s.Y[b]);
    kirchhoff_solve(6, m, s.Y[b]);
  }
  for (int b = 0; b < k->bodies; b++) {
    const double f[4] = {k->weight[b] * k->gravity[0], k->weight[b] * k->gravity[1], k->weight[b] * k->gravity[2], 0};
    kirchhoff_push(&s, &(kirchhoff_point){.body = b}, f);
  }
  for (int l = 0; l < k->links; l++) {
    double f[2][4];
    if (k->link[l].stiffness > 0)
      kirchhoff_act(&s, &k->link[l],
                    -k->link[l].stiffness * (kirchhoff_distance(&s, &k->link[l], f) - k->link[l].length));
    else
      rod[rods++] = l;
  }
  double M[6][6], lambda[6];
  for (int r = 0; r < rods; r++) lambda[r] = -kirchhoff_second(&s, &k->link[rod[r]]);
  for (int c = 0; c < rods; c++) {
    kirchhoff_state more = s;
    kirchhoff_act(&more, &k->link[rod[c]], 1);
    for (int r = 0; r < rods; r++)
      M[r][c] = kirchhoff_second(&more, &k->link[rod[r]]) - kirchhoff_second(&s, &k->link[rod[r]]);
  }
  kirchhoff_solve(rods, M, lambda);
  for (int r = 0; r < rods; r++) kirchhoff_act(&s, &k->link[rod[r]], lambda[r]);
  double dmu[KIRCHHOFF_BODIES][6], dY[KIRCHHOFF_BODIES][6];
  kirchhoff_rates(&s, dmu, dY);
  for (int b = 0; b < k->bodies; b++) {
    const double *g = z + KIRCHHOFF_BODY * b, *Y = s.Y[b],
                 hat[4][4] = {{0, -Y[2], Y[1], Y[3]},
                              {Y[2], 0, -Y[0], Y[4]},
                              {-Y[1], Y[0], 0, Y[5]},
                              {-k->K * Y[3], -k->K * Y[4], -k->K * Y[5], 0}};
    double *out = dz + KIRCHHOFF_BODY * b;
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        out[4 * i + j] = 0;
        for (int e = 0; e < 4; e++) out[4 * i + j] += g[4 * i + e] * hat[e][j];
      }
    memcpy(out + 16, dmu[b], sizeof dmu[b]);
  }
  for (int p = 0; p < k->particles; p++) {
    const double *x = kirchhoff_particle(&s, p);
    double *out = dz + KIRCHHOFF_BODY * k->bodies + 6 * p;
    for (int i = 0; i < 3; i++) {
      out[i] = x[3 + i];
      out[3 + i] = s.push[p][i] / k->mass[p] + k->gravity[i];
    }
  }
  (void)t;
  return 0;
}
