/* Scenes for the tests of gaps. A gap is a function that is 0 at a contact or an event (dynamics/gap.h). Particles,
 * each a separate body, move along curves in any space and chart. A search that does not use the library's code for
 * gaps finds nearest points. */
#pragma once

#include "check_intrinsic.h"
#include "dynamics/gap.h"
#include <gsl/gsl_multimin.h>

enum { POINTS = 4, COORDS = CB_Q_MAX };

/* A particle at time 0: its position y in the embedding (or the coordinates of an intrinsic space), its velocity v and
 * its covariant acceleration w. */
typedef struct mover {
  double y[COORDS], v[COORDS], w[COORDS];
} mover;

static inline double check_length(const cb_space *g, const double *y, const double *v) {
  if (!g->intrinsic) return sqrt(fmax(0, cb_inner(g, v, v)));
  double gij[CB_DIM_MAX * CB_DIM_MAX], sum = 0;
  metric_at(g, y, gij, NULL, NULL);
  for (int i = 0; i < g->dim; i++)
    for (int j = 0; j < g->dim; j++) sum += gij[i * g->dim + j] * v[i] * v[j];
  return sqrt(sum);
}

static inline void random_vector(const cb_space *g, uint64_t *seed, const double *y, double size, double *v) {
  double c[CB_DIM_MAX];
  memset(v, 0, COORDS * sizeof *v);
  for (int i = 0; i < g->dim; i++) c[i] = check_uniform(seed, -size, size);
  check_vector_at(g, y, c, v);
}

/* Returns the length that these tests use as unit. It is less than the distance of antipodes. */
static inline double unit_of(const cb_space *g) { return g->intrinsic ? 0.4 : 0.7 * check_radius(g); }

/* Computes the coordinates x of a mover at the time tau or, if `rate` is not NULL, its coordinates and their rates at
 * time 0. Both have g->k numbers. Returns false where the mover has no coordinates. */
static inline bool mover_at(const cb_space *g, const mover *m, double tau, double *x, double *rate) {
  double v[COORDS], y[COORDS];
  if (rate) {
    if (g->chart && !g->intrinsic) return cb_chart_pull(g, g->chart, m->y, m->v, x, rate) == CB_OK;
    memcpy(x, m->y, (size_t)g->k * sizeof *x);
    memcpy(rate, m->v, (size_t)g->k * sizeof *x);
    return true;
  }
  for (int a = 0; a < g->embedding; a++) v[a] = tau * m->v[a] + tau * tau / 2 * m->w[a];
  cb_exp(g, m->y, v, y, NULL);
  for (int a = 0; a < g->embedding; a++)
    if (!isfinite(y[a])) return false;
  if (g->chart && !g->intrinsic) { /* the result is false outside the chart, too */
    double back[COORDS];
    return g->chart->from_point(g, y, x) == CB_OK && g->chart->to_point(g, x, back, NULL) == CB_OK &&
           check_distance_max(g->embedding, y, back) < 1e-9;
  }
  memcpy(x, y, (size_t)g->k * sizeof *x);
  return true;
}

/* Makes n random movers. Their positions are within `spread` units (unit_of) of a point off the axes, or of a random
 * point in an intrinsic space, and more than `apart` units from each other. The components of velocities and
 * accelerations are at most a unit. */
static inline void random_movers(const cb_space *g, uint64_t *seed, int n, double spread, double apart, mover *m) {
  double middle[COORDS], v[COORDS], u = unit_of(g);
  if (g->intrinsic) {
    random_coordinates(g, seed, middle);
  } else {
    double c[CB_DIM_MAX];
    for (int i = 0; i < g->dim; i++) c[i] = (0.75 + 0.15 * i) * u;
    check_point_at(g, c, middle);
  }
  for (int i = 0; i < n;) {
    bool good = true;
    random_vector(g, seed, middle, spread * u / 2, v);
    cb_exp(g, middle, v, m[i].y, NULL);
    for (int a = 0; a < g->embedding; a++) good = good && isfinite(m[i].y[a]);
    for (int j = 0; j < i && good; j++) good = cb_distance(g, m[i].y, m[j].y) > apart * u;
    if (good && g->intrinsic) good = cb_space_check_point(g, m[i].y, 1e-12) == CB_OK;
    memset(m[i].v, 0, sizeof m[i].v);
    memset(m[i].w, 0, sizeof m[i].w);
    double x[COORDS];
    if (!good || !mover_at(g, &m[i], 0, x, NULL)) continue;
    random_vector(g, seed, m[i].y, u, m[i].v);
    random_vector(g, seed, m[i].y, u, m[i].w);
    i++;
  }
}

typedef struct scene {
  cb_system *s;
  cb_gaps *gaps;
  int n;
} scene;

/* Creates particles at the positions of the movers. `add(b, user)` adds walls and events to the builder b; it may be
 * NULL. All origins are the identity. */
static inline scene scene_of(const cb_space *g, int n, const mover *m, const double *radius,
                             void (*add)(cb_builder *, void *), void *user) {
  scene c = {.n = n};
  cb_builder *b;
  check_ok(cb_builder_create(g, &b));
  for (int i = 0; i < n; i++) {
    double x[COORDS];
    assert_true(mover_at(g, &m[i], 0, x, NULL));
    check_ok(cb_builder_body(b, (char[]){(char)('a' + i), 0}, NULL));
    check_ok(cb_builder_particle(b, NULL, 1 + 0.3 * i, 0, radius[i], x, NULL, NULL));
  }
  check_ok(cb_builder_contacts(b, &(cb_contact_options){.restitution = 0.8}));
  if (add) add(b, user);
  check_ok(cb_builder_finish(b, &c.s));
  cb_builder_free(b);
  check_ok(cb_gaps_create(c.s, &c.gaps));
  cb_origin origin[16];
  for (int i = 0; i < cb_system_components(c.s); i++) cb_origin_identity(g, &origin[i]);
  cb_gaps_set_origins(c.gaps, origin);
  return c;
}

static inline void scene_free(scene *c) {
  cb_gaps_free(c->gaps);
  cb_system_free(c->s);
}

/* Computes the gap at time t + tau, with every particle at the position of its mover at the time tau. Returns false if
 * the gap or a position does not exist. */
static inline bool gap_at(const cb_space *g, cb_gaps *gaps, const cb_gap *gap, const mover *m, double t, double tau,
                          cb_gap_value *out) {
  double x[POINTS][COORDS];
  const double *at[POINTS];
  for (int p = 0; p < gap->n; p++) {
    at[p] = x[p];
    if (!mover_at(g, &m[gap->particle[p]], tau, x[p], NULL)) return false;
  }
  return cb_gap_eval(gaps, gap, t + tau, at, 0, out) == CB_OK;
}

/* Computes the rate of the gap along the movers in two ways, and checks that they agree: from the gradient of the gap,
 * and by a difference quotient of fourth order with the time step h. If the gap does not exist at one of the times,
 * nothing is compared. */
static inline void check_gradient(const cb_space *g, cb_gaps *gaps, const cb_gap *gap, const mover *m, double t,
                                  double h, double tolerance, const char *what) {
  static const int side[4] = {-2, -1, 1, 2};
  static const double weight[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12};
  double x[POINTS][COORDS], rate[COORDS], by_gradient, by_difference = 0;
  const double *at[POINTS];
  cb_gap_value value, near;
  for (int p = 0; p < gap->n; p++) {
    at[p] = x[p];
    assert_true(mover_at(g, &m[gap->particle[p]], 0, x[p], NULL));
  }
  check_ok(cb_gap_eval(gaps, gap, t, at, 1, &value));
  by_gradient = value.rate_t;
  for (int p = 0; p < gap->n; p++) {
    assert_true(mover_at(g, &m[gap->particle[p]], 0, x[p], rate));
    for (int a = 0; a < g->k; a++) by_gradient += value.gradient[p * g->k + a] * rate[a];
  }
  for (int k = 0; k < 4; k++) {
    if (!gap_at(g, gaps, gap, m, t, side[k] * h, &near)) return;
    by_difference += weight[k] / h * near.gap;
  }
  /* The error of the difference quotient is proportional to the fifth derivative of the gap. Where surfaces are sharp,
   * this derivative grows like the fifth power of the rate. */
  const double bound = tolerance * fmax(1, pow(fabs(by_gradient), 5));
  if (!(fabs(by_gradient - by_difference) <= bound)) print_error("%s\n", what);
  check_near(by_gradient, by_difference, bound);
}

/* Makes a random origin: the product of random flows of all Killing fields whose flow an origin can represent. */
static inline void random_frame(const cb_space *g, uint64_t *seed, double size, cb_origin *o) {
  cb_origin_identity(g, o);
  for (int i = 0; i < g->n_killing; i++) {
    cb_origin step;
    if (cb_origin_flow(g, i, check_uniform(seed, -size, size), &step)) continue;
    cb_origin_compose(g, &step, o, o);
  }
}

/* Computes the gap and its rate twice, first with all particles in the frame of the world, then with every particle in
 * a random frame of its own. Checks that the results agree. */
static inline void check_frames(const cb_space *g, cb_gaps *gaps, const cb_gap *gap, const mover *m, double t,
                                uint64_t *seed, double size, const char *what) {
  cb_gap_value value[2];
  cb_origin origin[16];
  double rate[2] = {0, 0};
  for (int moved = 0; moved < 2; moved++) {
    double x[POINTS][COORDS], v[POINTS][COORDS];
    const double *at[POINTS];
    for (int i = 0; i < 16; i++) cb_origin_identity(g, &origin[i]);
    for (int p = 0; p < gap->n; p++) {
      const int who = gap->particle[p];
      cb_isometry to, back;
      if (moved) random_frame(g, seed, size, &origin[who]);
      cb_origin_isometry(g, &origin[who], &to);
      cb_isometry_inverse(g, &to, &back);
      cb_isometry_point(g, &back, m[who].y, x[p]);
      cb_isometry_vector(g, &back, m[who].v, v[p]);
      at[p] = x[p];
    }
    cb_gaps_set_origins(gaps, origin);
    check_ok(cb_gap_eval(gaps, gap, t, at, 1, &value[moved]));
    rate[moved] = value[moved].rate_t;
    for (int p = 0; p < gap->n; p++)
      for (int a = 0; a < g->k; a++) rate[moved] += value[moved].gradient[p * g->k + a] * v[p][a];
  }
  /* the tolerances allow for round-off of coordinates that have the size of exp(distance from the base point of a
   * frame), or the square of this size if two frames take part */
  if (!(fabs(value[1].gap - value[0].gap) <= 1e-9)) print_error("%s\n", what);
  check_near(value[1].gap, value[0].gap, 1e-9);
  check_near(rate[1], rate[0], 1e-8 * fmax(1, fabs(rate[0])));
}

/* Returns the minimum of f over n <= 3 numbers and writes its position to at[n] (may be NULL). Three simplex searches
 * follow each other. The first one begins at `start` with steps of `size`. */
static inline double least_of(int n, double (*f)(const gsl_vector *, void *), void *user, const double *start,
                              double size, double *at) {
  gsl_multimin_function function = {f, (size_t)n, user};
  gsl_multimin_fminimizer *s = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, (size_t)n);
  gsl_vector *x = gsl_vector_alloc((size_t)n), *step = gsl_vector_alloc((size_t)n);
  double least = INFINITY;
  for (int i = 0; i < n; i++) gsl_vector_set(x, (size_t)i, start[i]);
  for (int again = 0; again < 3; again++) { /* begins again at the last result, because the simplex may be too flat */
    gsl_vector_set_all(step, size / (again + 1));
    gsl_multimin_fminimizer_set(s, &function, x, step);
    for (int i = 0; i < 2000 && gsl_multimin_fminimizer_size(s) > 1e-9; i++) gsl_multimin_fminimizer_iterate(s);
    gsl_vector_memcpy(x, s->x);
    least = s->fval;
  }
  for (int i = 0; at && i < n; i++) at[i] = gsl_vector_get(x, (size_t)i);
  gsl_multimin_fminimizer_free(s);
  gsl_vector_free(x);
  gsl_vector_free(step);
  return least;
}

/* Returns whether surfaces can have contacts in this space. */
static inline bool has_surfaces(const cb_space *g) { return !g->intrinsic && g->n_factors == 1 && g->dim >= 2; }

/* Lists the kinds of gaps that surfaces have in this space, and returns their number. */
static inline int kinds_of(const cb_space *g, int *kind) {
  if (g->dim == 2) {
    kind[0] = CB_GAP_VERTEX_EDGE;
    return 1;
  }
  kind[0] = CB_GAP_VERTEX_FACE;
  kind[1] = CB_GAP_EDGE_EDGE;
  return 2;
}

/* Computes the point at the fraction s, 0 to 1, of the geodesic from x to y. */
static inline void between(const cb_space *g, const double *x, const double *y, double s, double *out) {
  double v[COORDS];
  check_ok(cb_log(g, x, y, v));
  for (int a = 0; a < g->embedding; a++) v[a] *= s;
  cb_exp(g, x, v, out, NULL);
}
