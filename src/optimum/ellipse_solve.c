/* Moves small ellipses to minima of their cost (find.h). r: centre; p, q: half-axes; W: cost; y = -B(p, q):
 * displacement; c: conditions; nu: their multipliers; A, B, M: connection, curvature and cost metric at the centre; D:
 * covariant derivative. */
#include "optimum/find.h"

#include "core/arena.h"
#include "optimum/reduced.h"

#include <math.h>
#include <string.h>

enum { UNKNOWNS = 3 * CB_SHAPE_MAX, ROWS = CB_CONDITIONS_MAX + 1 };

/* The connection, the cost metric, its derivative, the curvature B and its covariant derivative DB at a shape. */
typedef struct local {
  double A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX];
  double *dM, *B, *DB;
} local;

/* The values of an ellipse (find.h): cost W, conditions c, and their gradients dW and J. */
typedef struct state {
  double W, c[ROWS], dW[UNKNOWNS], J[ROWS][UNKNOWNS];
} state;

struct cb_ellipse_work {
  const cb_optimum_problem *o;
  const cb_small_target *target;
  int n, dim, rows;
  local here, there;
  cb_reduced *qp;
  struct cb_arena *arena;
  double x[UNKNOWNS], nu[ROWS];
  bool held[UNKNOWNS];
};

static bool allocate(local *l, struct cb_arena *arena, size_t n, size_t dim) {
  const size_t pairs = n * (n - 1) / 2;
  l->dM = cb_arena_alloc(arena, n * n * n, sizeof *l->dM);
  l->B = cb_arena_alloc(arena, pairs * dim, sizeof *l->B);
  l->DB = cb_arena_alloc(arena, n * pairs * dim, sizeof *l->DB);
  return l->dM && l->B && l->DB;
}

cb_status cb_ellipse_work_create(const cb_optimum_problem *o, const cb_small_target *t, cb_ellipse_work **out) {
  const cb_bundle *b = o->bundle;
  struct cb_arena *arena = cb_arena_create();
  cb_ellipse_work *w = cb_arena_alloc(arena, 1, sizeof *w);
  const size_t n = (size_t)b->n, dim = (size_t)b->group->dim;
  if (!w || !allocate(&w->here, arena, n, dim) || !allocate(&w->there, arena, n, dim)) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for an ellipse");
  }
  w->o = o;
  w->target = t;
  w->n = b->n;
  w->dim = b->group->dim;
  w->rows = 1 + t->zeros;
  w->arena = arena;
  const cb_status status = cb_reduced_create(3 * w->n, w->rows, &w->qp);
  if (status) {
    cb_arena_free(arena);
    return status;
  }
  *out = w;
  return CB_OK;
}

void cb_ellipse_work_free(cb_ellipse_work *w) {
  if (!w) return;
  cb_reduced_free(w->qp);
  cb_arena_free(w->arena);
}

/* Evaluates the bundle at the shape r. */
static cb_status look(const cb_ellipse_work *w, const double *r, local *at) {
  cb_status status = cb_bundle_connection(w->o->bundle, r, at->A, NULL, at->M, at->dM);
  if (!status) status = cb_bundle_curvatures(w->o->bundle, r, at->B);
  if (!status) status = cb_bundle_covariant(w->o->bundle, r, at->DB);
  return status;
}

static double quadratic(int n, const double *M, const double *a, double *Ma) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double row = 0;
    for (int j = 0; j < n; j++) row += M[i * n + j] * a[j];
    if (Ma) Ma[i] = row;
    sum += a[i] * row;
  }
  return sum;
}

/* Computes y = -B(p, q) and dy[dim][3n], its derivatives in (r, p, q); in r they are d_k y = -D_k B(p, q) + [A_k,
 * y]. */
static void displacement(const cb_ellipse_work *w, const local *at, const double *x, double *y, double *dy) {
  const cb_group *G = w->o->bundle->group;
  const int n = w->n, dim = w->dim, u = 3 * n, pairs = n * (n - 1) / 2;
  const double *p = x + n, *q = p + n;
  memset(y, 0, (size_t)dim * sizeof *y);
  memset(dy, 0, (size_t)(dim * u) * sizeof *dy);
  for (int i = 0, pair = 0; i < n; i++)
    for (int j = i + 1; j < n; j++, pair++)
      for (int a = 0; a < dim; a++) {
        const double B = at->B[pair * dim + a], area = p[i] * q[j] - p[j] * q[i];
        double *row = dy + a * u;
        y[a] -= B * area;
        row[n + i] -= B * q[j];
        row[n + j] += B * q[i];
        row[2 * n + j] -= B * p[i];
        row[2 * n + i] += B * p[j];
        for (int k = 0; k < n; k++) row[k] -= at->DB[(k * pairs + pair) * dim + a] * area;
      }
  for (int k = 0; k < n && !G->abelian; k++) {
    double A[CB_GROUP_DIM], bracket[CB_GROUP_DIM];
    for (int a = 0; a < dim; a++) A[a] = at->A[a * n + k];
    G->bracket(G, A, y, bracket);
    for (int a = 0; a < dim; a++) dy[a * u + k] += bracket[a];
  }
}

/* Computes W, c and their gradients (find.h) at x = (r, p, q). `at` holds the values of the bundle at r. */
static void measure(const cb_ellipse_work *w, const local *at, const double *x, state *s) {
  const cb_small_target *t = w->target;
  const int n = w->n, dim = w->dim, u = 3 * n;
  const double *p = x + n, *q = p + n;
  double y[CB_GROUP_DIM], dy[CB_GROUP_DIM * UNKNOWNS];
  s->W = (quadratic(n, at->M, p, s->dW + n) + quadratic(n, at->M, q, s->dW + 2 * n)) / 2;
  for (int k = 0; k < n; k++)
    s->dW[k] = (quadratic(n, at->dM + k * n * n, p, NULL) + quadratic(n, at->dM + k * n * n, q, NULL)) / 2;
  displacement(w, at, x, y, dy);
  memset(s->J, 0, sizeof s->J);
  s->c[0] = -.5;
  for (int k = 0; k < t->wanted + t->zeros; k++) {
    const double *form = k < t->wanted ? t->P[k] : t->Z[k - t->wanted];
    const int row = k < t->wanted ? 0 : 1 + k - t->wanted;
    double value = 0;
    for (int a = 0; a < dim; a++) value += form[a] * y[a];
    for (int a = 0; a < dim; a++)
      for (int i = 0; i < u; i++) s->J[row][i] += (row ? 1 : value) * form[a] * dy[a * u + i];
    if (row)
      s->c[row] = value;
    else
      s->c[0] += value * value / 2;
  }
}

static void lagrangian(const cb_ellipse_work *w, const state *s, double *g) {
  for (int i = 0; i < 3 * w->n; i++) {
    g[i] = s->dW[i];
    for (int k = 0; k < w->rows; k++) g[i] += w->nu[k] * s->J[k][i];
  }
}

/* Computes the second derivatives of L = W + nu c (find.h) by central differences of the gradient of L. These
 * differences lose a third of the digits, but Newton's steps still converge almost quadratically. */
static cb_status second_variation(cb_ellipse_work *w, double *H) {
  const int n = w->n, u = 3 * n;
  double x[UNKNOWNS], g[2][UNKNOWNS], size = 0;
  memcpy(x, w->x, (size_t)u * sizeof *x);
  for (int i = n; i < u; i++) size = fmax(size, fabs(x[i]));
  for (int j = 0; j < u; j++) {
    const double h = 1e-5 * (j < n ? fmax(1, fabs(x[j])) : size);
    for (int side = 0; side < 2 && !w->held[j]; side++) {
      state s;
      x[j] = w->x[j] + (side ? h : -h);
      const cb_status status = j < n ? look(w, x, &w->there) : CB_OK;
      if (status) return status;
      measure(w, j < n ? &w->there : &w->here, x, &s);
      lagrangian(w, &s, g[side]);
    }
    x[j] = w->x[j];
    for (int i = 0; i < u; i++) H[i * u + j] = w->held[i] || w->held[j] ? i == j : (g[1][i] - g[0][i]) / (2 * h);
  }
  for (int i = 0; i < u; i++)
    for (int j = 0; j < i; j++) H[i * u + j] = H[j * u + i] = (H[i * u + j] + H[j * u + i]) / 2;
  return CB_OK;
}

static void give(cb_ellipse_work *w, const state *s) {
  const int u = 3 * w->n;
  for (int i = 0; i < u; i++) {
    w->qp->g[i] = w->held[i] ? 0 : s->dW[i];
    for (int k = 0; k < w->rows; k++) w->qp->J[k * u + i] = w->held[i] ? 0 : s->J[k][i];
  }
  memcpy(w->qp->c, s->c, (size_t)w->rows * sizeof *s->c);
}

/* Returns -1 or 1 if a shape variable is at its lower or upper bound, and otherwise 0. */
static int edge(const cb_optimum_problem *o, const double *x, int i) {
  if (o->lower && x[i] <= o->lower[i]) return -1;
  return o->upper && x[i] >= o->upper[i];
}

/* Finds the shape variables that stay constant. If there is a start shape, these are all. Otherwise they are the
 * variables at a bound for which L = W + nu c decreases towards the other side of the bound. */
static void hold(cb_ellipse_work *w, const state *s) {
  double g[UNKNOWNS];
  lagrangian(w, s, g);
  for (int i = 0; i < w->n; i++) w->held[i] = w->o->start_shape || edge(w->o, w->x, i) * g[i] < 0;
}

/* Computes a step from the state s, and the multipliers nu for which the gradient of L = W + nu c is smallest. */
static cb_status step(cb_ellipse_work *w, const state *s) {
  for (int pass = 0; pass < 2; pass++) {
    give(w, s);
    cb_reduced_slope(w->qp);
    memcpy(w->nu, w->qp->multiplier, (size_t)w->rows * sizeof *w->nu);
    if (pass == 0) hold(w, s);
  }
  give(w, s);
  cb_status status = second_variation(w, w->qp->H);
  if (!status) status = cb_reduced_solve(w->qp);
  return status;
}

static double merit(const cb_ellipse_work *w, const state *s, double weight) {
  double sum = s->W;
  for (int k = 0; k < w->rows; k++) sum += weight * fabs(s->c[k]);
  return sum;
}

/* Computes x after the fraction `share` of the step, clipped to the bounds. */
static void moved(const cb_ellipse_work *w, double share, double *x) {
  const cb_optimum_problem *o = w->o;
  for (int i = 0; i < 3 * w->n; i++) {
    x[i] = w->x[i] + share * w->qp->step[i];
    if (i < w->n && o->lower) x[i] = fmax(x[i], o->lower[i]);
    if (i < w->n && o->upper) x[i] = fmin(x[i], o->upper[i]);
  }
}

/* Halves the step until it decreases the merit. In the first trial no variable changes by more than a quarter of its
 * window (cb_shape_window). Returns false if none of 30 trials decreases the merit. */
static bool advance(cb_ellipse_work *w, state *s) {
  enum { HALVINGS = 30 };
  double weight = 0, share = 1, slope = 0;
  for (int k = 0; k < w->rows; k++) weight = fmax(weight, 2 * fabs(w->nu[k]));
  for (int i = 0; i < w->n; i++) {
    double low, high;
    cb_shape_window(w->o, i, 1, &low, &high);
    share = fmin(share, .25 * (high - low) / fabs(w->qp->step[i]));
  }
  for (int i = 0; i < 3 * w->n; i++) slope += s->dW[i] * w->qp->step[i];
  for (int k = 0; k < w->rows; k++) slope -= weight * fabs(s->c[k]);
  const double before = merit(w, s, weight);
  for (int k = 0; k < HALVINGS; k++, share /= 2) {
    double x[UNKNOWNS];
    state trial;
    moved(w, share, x);
    if (look(w, x, &w->there)) continue;
    measure(w, &w->there, x, &trial);
    if (!(merit(w, &trial, weight) <= before + 1e-4 * share * slope + 1e-14 * before)) continue;
    const local swap = w->here;
    w->here = w->there;
    w->there = swap;
    memcpy(w->x, x, sizeof x);
    *s = trial;
    return true;
  }
  return false;
}

/* Returns whether the cost rises in all free directions. It may stay constant in the direction along the ellipse
 * itself, which is a shift of time. */
static bool least(const cb_ellipse_work *w) {
  const cb_reduced *qp = w->qp;
  return qp->convex || qp->values == 0 || qp->eigen[0] > -1e-5 * fabs(qp->eigen[qp->values - 1]);
}

static void report(cb_ellipse_work *w, const state *s, cb_ellipse *e) {
  const cb_small_target *t = w->target;
  const size_t row = (size_t)w->n * sizeof *e->r;
  double y[CB_GROUP_DIM], dy[CB_GROUP_DIM * UNKNOWNS];
  memcpy(e->r, w->x, row);
  memcpy(e->p, w->x + w->n, row);
  memcpy(e->q, w->x + 2 * w->n, row);
  e->price = 4 * M_PI * s->W;
  e->unwanted = 0;
  give(w, s);
  cb_reduced_slope(w->qp);
  const double *nu = w->qp->multiplier;
  displacement(w, &w->here, w->x, y, dy);
  memset(e->lambda, 0, sizeof e->lambda);
  for (int k = 0; k < t->wanted; k++) {
    double value = 0;
    for (int a = 0; a < w->dim; a++) value += t->P[k][a] * y[a];
    for (int a = 0; a < w->dim; a++) e->lambda[a] -= 2 * M_PI * nu[0] * value * t->P[k][a];
  }
  for (int k = 0; k < t->zeros; k++)
    for (int a = 0; a < w->dim; a++) e->lambda[a] -= 2 * M_PI * nu[1 + k] * t->Z[k][a];
}

/* Returns the largest change by the last step. Changes of the means are relative to the larger of 1 and their size;
 * changes of the amplitudes are relative to the largest amplitude. */
static double last_change(const cb_ellipse_work *w) {
  double change = 0, size = 0, step = 0;
  for (int i = 0; i < w->n; i++) change = fmax(change, fabs(w->qp->step[i]) / fmax(1, fabs(w->x[i])));
  for (int i = w->n; i < 3 * w->n; i++) {
    size = fmax(size, fabs(w->x[i]));
    step = fmax(step, fabs(w->qp->step[i]));
  }
  return fmax(change, step / size);
}

cb_status cb_ellipse_solve(cb_ellipse_work *w, cb_ellipse *e) {
  enum { STEPS = 60 };
  const size_t row = (size_t)w->n * sizeof *e->r;
  state s;
  memcpy(w->x, e->r, row);
  memcpy(w->x + w->n, e->p, row);
  memcpy(w->x + 2 * w->n, e->q, row);
  memset(w->held, 0, sizeof w->held);
  cb_status status = look(w, w->x, &w->here);
  if (!status) measure(w, &w->here, w->x, &s);
  for (int k = 0; !status && k < STEPS; k++) {
    status = step(w, &s);
    if (status) break;
    double off = 0;
    const double change = last_change(w);
    const bool minimum = least(w);
    if (!advance(w, &s)) break;
    for (int i = 0; i < w->rows; i++) off = fmax(off, fabs(s.c[i]));
    if (change > 1e-7 || off > 1e-12) continue;
    if (minimum) {
      report(w, &s, e);
      return CB_OK;
    }
    break;
  }
  return status
             ? status
             : cb_fail(CB_STEP_NO_CONVERGENCE,
                       "the search for a small ellipse found no minimum: try more `starts`, or a `gait` to start from");
}
