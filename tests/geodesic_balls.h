/* The motion of hard balls that move on geodesics and collide, in closed form, as a reference for the tests of
 * contacts. It uses no code of the library except the definition of the space.
 *
 *   x(s) = C(s) x + S(s) v,  C = cos(w s), cosh(w s), 1,  S = int_0^s C,  w^2 = |K| <v,v>,  in each factor
 *   d = 2 R asin(|x-y|/2R), 2 R asinh(|x-y|/2R), |x-y|,  R = 1/sqrt|K|;  root of the sum of squares over factors
 *   impulse:  u = <v1,n1> + <v2,n2>,  v_i <- v_i - 2 u/(1/m1 + 1/m2) n_i/m_i,  n_i = grad_i d
 *
 * A ball has the position x, the velocity v and the mass m; s is a time and w a rate. K is the curvature of a factor;
 * the three cases are K > 0, K < 0 and K = 0. d is the distance of two centres x and y, and u is its rate. Balls may be
 * inside a larger, fixed ball, the room; for a contact with its wall 1/m2 = 0.
 * A gap e > 0 stays open for at least the time e/(|v1| + |v2|). Each step of the search for a contact has this length,
 * with 1e-6 for e if e is smaller. When the sign of the gap has changed, Brent's method finds the contact. */
#pragma once

#include <curvebody/space.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
#include <math.h>
#include <string.h>

enum { ORACLE_BALLS = 8, ORACLE_CONTACTS = 4096 };
static const double oracle_pi = 3.14159265358979323846;

typedef struct oracle {
  const cb_space *g; /* only its factors and its number of coordinates are used */
  int n;
  double mass[ORACLE_BALLS], radius[ORACLE_BALLS], x[ORACLE_BALLS][CB_COORD_MAX], v[ORACLE_BALLS][CB_COORD_MAX];
  double room, centre[CB_COORD_MAX]; /* radius and centre of a fixed ball that contains all balls; radius 0: none */
  double t;
  /* Contact k is between the balls i[k] and j[k]; j[k] = -2 stands for the fixed ball. */
  int contacts, i[ORACLE_CONTACTS], j[ORACLE_CONTACTS];
  double time[ORACLE_CONTACTS], impulse[ORACLE_CONTACTS];
} oracle;

static inline double oracle_form(const cb_factor *f, const double *a, const double *b) {
  double sum = 0;
  for (int e = f->offset; e < f->offset + f->count; e++)
    sum += (f->curvature < 0 && e == f->offset + f->count - 1 ? -1 : 1) * a[e] * b[e];
  return sum;
}

static inline double oracle_square(const oracle *o, const double *v) {
  double sum = 0;
  for (int f = 0; f < o->g->n_factors; f++) sum += oracle_form(&o->g->factor[f], v, v);
  return sum;
}

/* Computes the position y and the velocity w (may be NULL) after the time s on the geodesic that begins at x with the
 * velocity v. */
static inline void oracle_move(const oracle *o, const double *x, const double *v, double s, double *y, double *w) {
  for (int i = 0; i < o->g->n_factors; i++) {
    const cb_factor *f = &o->g->factor[i];
    const double K = f->curvature, speed = sqrt(fmax(0, oracle_form(f, v, v))), rate = sqrt(fabs(K)) * speed;
    const double C = K > 0   ? cos(rate * s)
                     : K < 0 ? cosh(rate * s)
                             : 1,
                 S = rate == 0 ? s
                     : K > 0   ? sin(rate * s) / rate
                     : K < 0   ? sinh(rate * s) / rate
                               : s,
                 slope = K > 0   ? -rate * rate * S
                         : K < 0 ? rate * rate * S
                                 : 0;
    for (int e = f->offset; e < f->offset + f->count; e++) {
      const double at = C * x[e] + S * v[e], velocity = slope * x[e] + C * v[e];
      y[e] = at;
      if (w) w[e] = velocity;
    }
  }
}

static inline double oracle_distance(const oracle *o, const double *x, const double *y, double *of_factor) {
  double sum = 0;
  for (int i = 0; i < o->g->n_factors; i++) {
    const cb_factor *f = &o->g->factor[i];
    const double R = f->curvature == 0 ? 1 : 1 / sqrt(fabs(f->curvature));
    double apart[CB_COORD_MAX], d;
    for (int e = f->offset; e < f->offset + f->count; e++) apart[e] = x[e] - y[e];
    const double chord = sqrt(fmax(0, oracle_form(f, apart, apart)));
    d = f->curvature > 0   ? 2 * R * asin(fmin(1, chord / (2 * R)))
        : f->curvature < 0 ? 2 * R * asinh(chord / (2 * R))
                           : chord;
    if (of_factor) of_factor[i] = d;
    sum += d * d;
  }
  return sqrt(sum);
}

/* Computes the unit vector n at x in the direction away from y. */
static inline void oracle_away(const oracle *o, const double *x, const double *y, double *n) {
  double part[CB_FACTOR_MAX];
  const double d = oracle_distance(o, x, y, part);
  for (int i = 0; i < o->g->n_factors; i++) {
    const cb_factor *f = &o->g->factor[i];
    double to[CB_COORD_MAX];
    for (int e = f->offset; e < f->offset + f->count; e++) to[e] = y[e] - x[e];
    const double along = f->curvature * oracle_form(f, x, to);
    for (int e = f->offset; e < f->offset + f->count; e++) to[e] -= along * x[e];
    const double size = sqrt(fmax(0, oracle_form(f, to, to)));
    for (int e = f->offset; e < f->offset + f->count; e++) n[e] = size > 0 ? -part[i] / d * to[e] / size : 0;
  }
}

typedef struct oracle_gap {
  const oracle *o;
  int i, j;
} oracle_gap;

/* Returns the gap after the time s, and writes its rate to *rate unless `rate` is NULL. */
static inline double oracle_gap_at(const oracle_gap *g, double s, double *rate) {
  const oracle *o = g->o;
  double x[CB_COORD_MAX], y[CB_COORD_MAX], v[CB_COORD_MAX], w[CB_COORD_MAX] = {0}, n[CB_COORD_MAX], m[CB_COORD_MAX];
  oracle_move(o, o->x[g->i], o->v[g->i], s, x, v);
  if (g->j >= 0)
    oracle_move(o, o->x[g->j], o->v[g->j], s, y, w);
  else
    memcpy(y, o->centre, sizeof y);
  const double d = oracle_distance(o, x, y, NULL), sign = g->j >= 0 ? 1 : -1;
  if (rate) {
    oracle_away(o, x, y, n);
    oracle_away(o, y, x, m);
    *rate = 0;
    for (int f = 0; f < o->g->n_factors; f++)
      *rate += sign * (oracle_form(&o->g->factor[f], n, v) + oracle_form(&o->g->factor[f], m, w));
  }
  return sign > 0 ? d - o->radius[g->i] - o->radius[g->j] : o->room - o->radius[g->i] - d;
}

static inline double oracle_function(double s, void *gap) { return oracle_gap_at(gap, s, NULL); }

/* Returns the time until the first contact of ball i with ball j (-2: the wall of the room), or INFINITY if there is
 * none within the time `most`. If the gap is closed and decreasing at the start, the result is 0. */
static inline double oracle_first(const oracle *o, int i, int j, double most) {
  const oracle_gap gap = {o, i, j};
  const double fastest =
      sqrt(fmax(0, oracle_square(o, o->v[i]))) + (j >= 0 ? sqrt(fmax(0, oracle_square(o, o->v[j]))) : 0);
  double before = 0, s = 0;
  if (fastest == 0) return INFINITY;
  while (s <= most) {
    double rate, value = oracle_gap_at(&gap, s, &rate);
    if (value <= 0 && rate < 0) {
      if (s == before) return s;
      gsl_function function = {oracle_function, (void *)&gap};
      double low = before, high = s;
      if (oracle_gap_at(&gap, low, NULL) <= 0) return low;
      gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
      gsl_root_fsolver_set(solver, &function, low, high);
      for (int k = 0; k < 200 && high - low > 2e-16 * high; k++) {
        gsl_root_fsolver_iterate(solver);
        low = gsl_root_fsolver_x_lower(solver);
        high = gsl_root_fsolver_x_upper(solver);
      }
      const double root = gsl_root_fsolver_root(solver);
      gsl_root_fsolver_free(solver);
      return root <= most ? root : INFINITY;
    }
    before = s;
    s += fmax(value / fastest, 1e-6 / fastest);
  }
  return INFINITY;
}

static inline void oracle_reflect(oracle *o, int i, int j) {
  double n[2][CB_COORD_MAX], u = 0, inverse = 1 / o->mass[i] + (j >= 0 ? 1 / o->mass[j] : 0);
  const double *other = j >= 0 ? o->x[j] : o->centre;
  oracle_away(o, o->x[i], other, n[0]);
  oracle_away(o, other, o->x[i], n[1]);
  for (int f = 0; f < o->g->n_factors; f++) {
    u += oracle_form(&o->g->factor[f], n[0], o->v[i]);
    if (j >= 0) u += oracle_form(&o->g->factor[f], n[1], o->v[j]);
  }
  for (int e = 0; e < o->g->embedding; e++) {
    o->v[i][e] -= 2 * u / inverse / o->mass[i] * n[0][e];
    if (j >= 0) o->v[j][e] -= 2 * u / inverse / o->mass[j] * n[1][e];
  }
  o->impulse[o->contacts] = 2 * fabs(u) / inverse;
}

static inline void oracle_drift(oracle *o, double s) {
  for (int i = 0; i < o->n; i++) oracle_move(o, o->x[i], o->v[i], s, o->x[i], o->v[i]);
  o->t += s;
}

/* Moves the balls until the time `end` and lists their contacts. After ORACLE_CONTACTS contacts the balls no longer
 * collide. */
static inline void oracle_run(oracle *o, double end) {
  gsl_set_error_handler_off();
  for (;;) {
    double first = INFINITY;
    int a = -1, b = -1;
    for (int i = 0; i < o->n; i++)
      for (int j = o->room > 0 ? -2 : i + 1; j < o->n; j = j < 0 ? i + 1 : j + 1) {
        const double s = oracle_first(o, i, j, fmin(first, end - o->t));
        if (s < first) {
          first = s;
          a = i;
          b = j;
        }
      }
    if (!(first <= end - o->t) || o->contacts == ORACLE_CONTACTS) break;
    oracle_drift(o, first);
    oracle_reflect(o, a, b);
    o->i[o->contacts] = a;
    o->j[o->contacts] = b;
    o->time[o->contacts++] = o->t;
  }
  oracle_drift(o, end - o->t);
}
