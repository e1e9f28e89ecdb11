/* Constraints of the shape: bounds of its variables, and lines of the body's drawing that may not cross. Also the
 * logarithmic barrier that keeps a search away from these constraints, and the primal-dual Hessian of the barrier
 * (shape_constraint.h). */
#include "optimum/shape_constraint.h"

#include "core/arena.h"
#include "numerics/tableau.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CANDIDATES = CB_SHAPE_CONSTRAINT_TERMS / 2, SHAPES = 5, NODES = 4 };

static const double difference_step = .02;

struct cb_shape_constraints_work {
  cb_arena *arena;
  double (*x)[3], (*moved)[3]; /* [points]: the plot at the shape, and at a shape nearby */
  cb_jet (*point)[2];          /* [points]: the points of the plot as jets in the shape variables */
};

/* --- the plot --- */

static cb_status plot(const cb_bundle *b, const double *r, double (*x)[3]) {
  double g[CB_GROUP_SIZE];
  b->group->identity(b->group, g);
  return b->class_->plot(b, r, g, x);
}

/* Computes derivatives of the points of the plot by central differences: first[points][2] (or NULL) and
 * second[points][2]. The direction in shape space is e_i + sign e_j, where e_i is the unit vector of variable i. For j
 * < 0 it is e_i. */
static cb_status along(cb_shape_constraints *w, const double *r, int i, int j, double sign, double (*first)[2],
                       double (*second)[2]) {
  static const double two[NODES + 1] = {8. / 5, -1. / 5, 8. / 315, -1. / 560, -205. / 72};
  const int points = w->bundle->points;
  const double h = difference_step;
  for (int p = 0; p < points; p++)
    for (int a = 0; a < 2; a++) {
      if (first) first[p][a] = 0;
      second[p][a] = two[NODES] / (h * h) * w->work->x[p][a];
    }
  for (int s = -NODES; s <= NODES; s++) {
    double at[CB_SHAPE_MAX];
    if (s == 0) continue;
    memcpy(at, r, (size_t)w->n * sizeof *at);
    at[i] += s * h;
    if (j >= 0) at[j] += sign * s * h;
    const cb_status status = plot(w->bundle, at, w->work->moved);
    if (status) return status;
    const int k = s < 0 ? -s - 1 : s - 1;
    for (int p = 0; p < points; p++)
      for (int a = 0; a < 2; a++) {
        if (first) first[p][a] += (s < 0 ? -1 : 1) * cb_central_weight[k] / h * w->work->moved[p][a];
        second[p][a] += two[k] / (h * h) * w->work->moved[p][a];
      }
  }
  return CB_OK;
}

/* Computes all derivatives of the points of the plot. Mixed derivatives are d_i d_j = (D_(i+j)^2 - D_(i-j)^2)/4, where
 * D_(i+j) and D_(i-j) are the derivatives along e_i + e_j and e_i - e_j (see `along`). */
static cb_status differentiate(cb_shape_constraints *w, const double *r) {
  enum { POINTS_MAX = 256 };
  const int points = w->bundle->points, n = w->n;
  double first[POINTS_MAX][2], second[POINTS_MAX][2], other[POINTS_MAX][2];
  if (points > POINTS_MAX)
    return cb_fail(CB_ERROR_UNSUPPORTED, "no_crossing: the drawing has more points than supported, expected at most %d",
                   POINTS_MAX);
  for (int p = 0; p < points; p++)
    for (int a = 0; a < 2; a++) w->work->point[p][a] = cb_jet_constant(n, w->work->x[p][a]);
  for (int i = 0; i < n; i++) {
    cb_status status = along(w, r, i, -1, 0, first, second);
    for (int p = 0; !status && p < points; p++)
      for (int a = 0; a < 2; a++) {
        w->work->point[p][a].g[i] = first[p][a];
        w->work->point[p][a].h[cb_jet_packed(i, i)] = second[p][a];
      }
    for (int j = 0; !status && j < i; j++) {
      status = along(w, r, i, j, 1, NULL, second);
      if (!status) status = along(w, r, i, j, -1, NULL, other);
      for (int p = 0; !status && p < points; p++)
        for (int a = 0; a < 2; a++) w->work->point[p][a].h[cb_jet_packed(i, j)] = (second[p][a] - other[p][a]) / 4;
    }
    if (status) return status;
  }
  return CB_OK;
}

/* --- terms f_cj (shape_constraint.h): the number of a term is 8 a + 4 along + 2 sign + j. Line a of the two lines
 * defines the axis; along = 1: the axis is along this line, 0: at right angles to it; sign = 1: the negative direction;
 * j: the end of the other line --- */

static void term_points(const cb_shape_constraints *w, int k, int term, int p[4]) {
  const int *own = w->bundle->line[w->constraint[k].line[term >> 3]],
            *other = w->bundle->line[w->constraint[k].line[!(term >> 3)]];
  const bool beyond = (term & 4) && !(term & 2);
  p[0] = own[0];
  p[1] = own[1];
  p[2] = own[beyond];
  p[3] = other[term & 1];
}

/* Returns the value of a term. If the line that defines the axis has length 0, the axis separates nothing and the value
 * is -infinity. */
static double term_value(const cb_shape_constraints *w, int k, int term) {
  double(*x)[3] = w->work->x;
  int p[4];
  term_points(w, k, term, p);
  const double dx = x[p[1]][0] - x[p[0]][0], dy = x[p[1]][1] - x[p[0]][1], length = hypot(dx, dy);
  const double bx = x[p[3]][0] - x[p[2]][0], by = x[p[3]][1] - x[p[2]][1];
  if (!(length > DBL_EPSILON * w->size)) return -INFINITY;
  return (term & 2 ? -1 : 1) * (term & 4 ? bx * dx + by * dy : by * dx - bx * dy) / length;
}

static void term_jet(const cb_shape_constraints *w, int k, int term, cb_jet *out) {
  cb_jet(*x)[2] = w->work->point;
  int p[4];
  term_points(w, k, term, p);
  const cb_jet dx = cb_jet_sub(&x[p[1]][0], &x[p[0]][0]), dy = cb_jet_sub(&x[p[1]][1], &x[p[0]][1]);
  const cb_jet bx = cb_jet_sub(&x[p[3]][0], &x[p[2]][0]), by = cb_jet_sub(&x[p[3]][1], &x[p[2]][1]);
  const cb_jet xx = cb_jet_mul(&dx, &dx), yy = cb_jet_mul(&dy, &dy), square = cb_jet_add(&xx, &yy);
  const cb_jet length = cb_jet_sqrt(&square);
  const cb_jet u = term & 4 ? cb_jet_mul(&bx, &dx) : cb_jet_mul(&by, &dx);
  const cb_jet v = term & 4 ? cb_jet_mul(&by, &dy) : cb_jet_mul(&bx, &dy);
  const cb_jet sum = term & 4 ? cb_jet_add(&u, &v) : cb_jet_sub(&u, &v), f = cb_jet_div(&sum, &length);
  *out = cb_jet_scale(&f, term & 2 ? -1 : 1);
}

/* --- smooth max and min --- */

/* Returns e log sum exp(x/e), or the maximum of x for e = 0. Sets share[count] to the derivatives by each x. */
static double softest(int count, const double *x, double e, double *share) {
  double maximum = -INFINITY, sum = 0;
  int best = 0;
  for (int c = 0; c < count; c++)
    if (x[c] > maximum) {
      maximum = x[c];
      best = c;
    }
  for (int c = 0; c < count; c++) sum += share[c] = e > 0 ? exp((x[c] - maximum) / e) : c == best;
  for (int c = 0; c < count; c++) share[c] /= sum;
  return maximum + e * log(sum == 0 ? 1 : sum); /* sum is at least 1, because the largest x adds exp(0) = 1 */
}

typedef struct separation {
  double s, of[CANDIDATES], share[CANDIDATES], within[CANDIDATES][2];
} separation;

static separation separate(const cb_shape_constraints *w, int k, double e) {
  separation at = {0};
  for (int c = 0; c < CANDIDATES; c++) {
    const double minus[2] = {-term_value(w, k, 2 * c), -term_value(w, k, 2 * c + 1)};
    at.of[c] = -softest(2, minus, isinf(minus[0]) ? 0 : e, at.within[c]);
  }
  at.s = softest(CANDIDATES, at.of, e, at.share) - e * log(CANDIDATES);
  return at;
}

/* Adds share (dd + curvature d d') to sum, where d' is the transpose of d. */
static void gather(int n, double share, double curvature, const double *d, const double *dd, double *sum) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum[i * n + j] += share * ((dd ? dd[i * n + j] : 0) + curvature * d[i] * d[j]);
}

static void separation_slopes(const cb_shape_constraints *w, int k, double e, const separation *at, double *ds,
                              double *dds) {
  const int n = w->n;
  const double curvature = e > 0 ? 1 / e : 0;
  memset(ds, 0, (size_t)n * sizeof *ds);
  memset(dds, 0, (size_t)(n * n) * sizeof *dds);
  for (int c = 0; c < CANDIDATES; c++) {
    double d[CB_SHAPE_MAX] = {0}, dd[CB_SHAPE_MAX * CB_SHAPE_MAX] = {0};
    if (at->share[c] < 1e-18) continue;
    for (int j = 0; j < 2; j++) {
      const double share = at->within[c][j];
      if (share < 1e-18) continue;
      cb_jet f = {0};
      term_jet(w, k, 2 * c + j, &f);
      for (int a = 0; a < n; a++) {
        d[a] += share * f.g[a];
        for (int b = 0; b < n; b++) dd[a * n + b] += share * (f.h[cb_jet_packed(a, b)] - curvature * f.g[a] * f.g[b]);
      }
    }
    gather(n, 1, curvature, d, NULL, dd);
    gather(n, at->share[c], curvature, d, dd, dds);
    for (int a = 0; a < n; a++) ds[a] += at->share[c] * d[a];
  }
  gather(n, 1, -curvature, ds, NULL, dds);
}

/* --- constraints --- */

static bool lines_asked(const cb_shape_constraints *w) {
  return w->count > 0 && w->constraint[w->count - 1].variable < 0;
}

cb_status cb_shape_constraints_at(cb_shape_constraints *w, double soft, const double *r, double *s, double *ds,
                                  double *dds) {
  const int n = w->n;
  const double e = soft * w->size;
  cb_status status = CB_OK;
  if (lines_asked(w)) status = plot(w->bundle, r, w->work->x);
  if (!status && ds && lines_asked(w)) status = differentiate(w, r);
  for (int k = 0; !status && k < w->count; k++) {
    const cb_shape_constraint *constraint = &w->constraint[k];
    if (constraint->variable >= 0) {
      s[k] = constraint->sign * (r[constraint->variable] - constraint->at);
      if (!ds) continue;
      memset(ds + k * n, 0, (size_t)n * sizeof *ds);
      memset(dds + k * n * n, 0, (size_t)(n * n) * sizeof *dds);
      ds[k * n + constraint->variable] = constraint->sign;
      continue;
    }
    const separation at = separate(w, k, e);
    s[k] = at.s;
    if (ds) separation_slopes(w, k, e, &at, ds + k * n, dds + k * n * n);
  }
  return status;
}

cb_status cb_shape_constraints_leading(cb_shape_constraints *w, int k, const double *r, int term[2]) {
  const cb_status status = plot(w->bundle, r, w->work->x);
  if (status) return status;
  separation at = separate(w, k, 0);
  for (int i = 0; i < 2; i++) {
    int best = 0;
    for (int c = 1; c < CANDIDATES; c++)
      if (at.of[c] > at.of[best]) best = c;
    term[i] = 2 * best + (at.within[best][1] > 0);
    at.of[best] = -INFINITY;
  }
  return CB_OK;
}

cb_status cb_shape_constraints_term(cb_shape_constraints *w, int k, int term, const double *r, double *f, double *df,
                                    double *ddf) {
  cb_status status = plot(w->bundle, r, w->work->x);
  if (!status && df) status = differentiate(w, r);
  if (status) return status;
  *f = term_value(w, k, term);
  if (!df) return CB_OK;
  cb_jet jet;
  term_jet(w, k, term, &jet);
  memcpy(df, jet.g, (size_t)w->n * sizeof *df);
  for (int i = 0; i < w->n; i++)
    for (int j = 0; j < w->n; j++) ddf[i * w->n + j] = jet.h[cb_jet_packed(i, j)];
  return CB_OK;
}

/* --- the constraints of a problem --- */

static cb_status add_bounds(cb_shape_constraints *w, const cb_optimum_problem *o) {
  for (int i = 0; i < w->n; i++) {
    const double lower = o->lower ? o->lower[i] : -INFINITY, upper = o->upper ? o->upper[i] : INFINITY;
    if (!(lower < upper))
      return cb_fail(CB_ERROR_ARGUMENT, "bounds of %s: expected lower < upper, found %g and %g", w->bundle->shape[i],
                     lower, upper);
    if (isfinite(lower)) w->constraint[w->count++] = (cb_shape_constraint){.variable = i, .sign = 1, .at = lower};
    if (isfinite(upper)) w->constraint[w->count++] = (cb_shape_constraint){.variable = i, .sign = -1, .at = upper};
  }
  return CB_OK;
}

/* Computes the k-th generic shape r, a point of a sequence with irrational steps. Each variable is within its bounds
 * and within the distance 1 of the start shape (or of 0) if some value meets both conditions. Otherwise it lies between
 * the interval of the bounds and the interval around the start shape. */
static void some_shape(const cb_shape_constraints *w, const cb_optimum_problem *o, int k, double *r) {
  for (int i = 0; i < w->n; i++) {
    const double u = fmod((k + 1) * sqrt(2 + i) + .5 * i * M_SQRT1_2, 1);
    const double middle = o->start_shape ? o->start_shape[i] : 0;
    const double lower = fmax(o->lower ? o->lower[i] : -INFINITY, middle - 1);
    const double upper = fmin(o->upper ? o->upper[i] : INFINITY, middle + 1);
    r[i] = lower + u * (upper - lower);
  }
}

/* Finds the longest line, and the pairs of lines that become constraints. Pairs that touch at each of several generic
 * shapes are left out. Returns CB_ERROR_ARGUMENT if a point of the plot is outside the plane. */
static cb_status add_lines(cb_shape_constraints *w, const cb_optimum_problem *o) {
  const cb_bundle *b = w->bundle;
  const int first = w->count;
  cb_status status = CB_OK;
  int met = 0;
  for (int i = 0; i < b->lines; i++)
    for (int j = 0; j < i; j++) {
      bool shared = false;
      for (int e = 0; e < 4; e++) shared |= b->line[i][e / 2] == b->line[j][e % 2];
      if (!shared) w->constraint[w->count++] = (cb_shape_constraint){.variable = -1, .line = {j, i}};
    }
  const int pairs = w->count - first;
  bool *apart = cb_arena_alloc(w->work->arena, (size_t)pairs, sizeof *apart);
  if (!apart) return cb_fail(CB_ERROR_MEMORY, "no memory for %d pairs of lines", pairs);
  for (int k = 0; k < 4 * SHAPES && met < SHAPES; k++) {
    double r[CB_SHAPE_MAX];
    some_shape(w, o, k, r);
    if ((status = plot(b, r, w->work->x))) continue; /* the shape is outside the domain of the bundle */
    met++;
    for (int p = 0; p < b->points; p++)
      if (fabs(w->work->x[p][2]) > 0)
        return cb_fail(CB_ERROR_ARGUMENT,
                       "no_crossing: the drawing of %s is in space, where lines can pass one another: expected a "
                       "drawing in the plane",
                       b->class_->name);
    for (int i = 0; i < b->lines; i++) {
      const double *p = w->work->x[b->line[i][0]], *q = w->work->x[b->line[i][1]];
      w->size = fmax(w->size, hypot(p[0] - q[0], p[1] - q[1]));
    }
    for (int i = 0; i < pairs; i++) apart[i] |= fabs(separate(w, first + i, 0).s) > 1e-9 * w->size;
  }
  if (!met) return status;
  w->count = first;
  for (int i = 0; i < pairs; i++)
    if (apart[i]) w->constraint[w->count++] = w->constraint[first + i];
  return CB_OK;
}

cb_status cb_shape_constraints_create(const cb_optimum_problem *o, cb_shape_constraints **out) {
  const cb_bundle *b = o->bundle;
  *out = NULL;
  if (o->no_crossing && (!b->class_->plot || b->lines == 0))
    return cb_fail(CB_ERROR_ARGUMENT,
                   "no_crossing: bundle %s has no drawing with lines that could cross: leave `no_crossing` out",
                   b->class_->name);
  if (o->no_crossing && b->n > CB_JET_MAX)
    return cb_fail(CB_ERROR_UNSUPPORTED, "no_crossing: %d shape variables, expected at most %d", b->n, CB_JET_MAX);
  if (!o->lower && !o->upper && !o->no_crossing) return CB_OK;
  cb_arena *arena = cb_arena_create();
  cb_shape_constraints *w = cb_arena_alloc(arena, 1, sizeof *w);
  struct cb_shape_constraints_work *work = cb_arena_alloc(arena, 1, sizeof *work);
  if (!w || !work) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for constraints");
  }
  const size_t points = (size_t)b->points, pairs = o->no_crossing ? (size_t)b->lines * (size_t)(b->lines - 1) / 2 : 0;
  *w = (cb_shape_constraints){.bundle = b, .n = b->n, .work = work};
  w->constraint = cb_arena_alloc(arena, pairs + 2 * (size_t)b->n, sizeof *w->constraint);
  work->arena = arena;
  work->x = cb_arena_alloc(arena, points, sizeof *work->x);
  work->moved = cb_arena_alloc(arena, points, sizeof *work->moved);
  work->point = cb_arena_alloc(arena, points, sizeof *work->point);
  cb_status status = cb_arena_lost(arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for constraints") : CB_OK;
  if (!status) status = add_bounds(w, o);
  if (!status && o->no_crossing) status = add_lines(w, o);
  if (status || w->count == 0) {
    cb_arena_free(arena);
    return status;
  }
  *out = w;
  return CB_OK;
}

void cb_shape_constraints_free(cb_shape_constraints *w) {
  if (w) cb_arena_free(w->work->arena);
}

/* --- the barrier --- */

static const double keep = .005;       /* the share of the distance to a constraint that must remain after a step */
static const double dual_range = 1e10; /* the multipliers z stay within this factor of tau/s (shape_constraint.h) */

cb_status cb_barrier_create(const cb_optimum_problem *o, const cb_basis *basis, cb_barrier **out) {
  cb_shape_constraints *constraints;
  *out = NULL;
  cb_status status = cb_shape_constraints_create(o, &constraints);
  if (status || !constraints) return status;
  cb_arena *arena = cb_arena_create();
  cb_barrier *b = cb_arena_alloc(arena, 1, sizeof *b);
  const size_t n = (size_t)constraints->n, each = (size_t)basis->nodes * (size_t)constraints->count;
  if (b) {
    *b = (cb_barrier){.constraints = constraints, .basis = basis, .n = constraints->n, .arena = arena};
    b->ds = cb_arena_alloc(arena, each * n, sizeof *b->ds);
    b->dds = cb_arena_alloc(arena, each * n * n, sizeof *b->dds);
    cb_arena_doubles(arena, each, &b->s, &b->z, &b->trial);
  }
  if (cb_arena_lost(arena)) {
    status = cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", constraints->count);
    cb_arena_free(arena);
    cb_shape_constraints_free(constraints);
    return status;
  }
  *out = b;
  return CB_OK;
}

void cb_barrier_free(cb_barrier *b) {
  if (!b) return;
  cb_shape_constraints_free(b->constraints);
  cb_arena_free(b->arena);
}

cb_status cb_barrier_at(cb_barrier *b, const double *r, bool slopes) {
  const int n = b->n, count = b->constraints->count;
  b->value = 0;
  for (int q = 0; q < b->basis->nodes; q++) {
    double *s = (slopes ? b->s : b->trial) + q * count;
    const cb_status status =
        cb_shape_constraints_at(b->constraints, b->soft, r + q * n, s, slopes ? b->ds + q * count * n : NULL,
                                slopes ? b->dds + q * count * n * n : NULL);
    if (status) return status;
    for (int k = 0; k < count; k++) b->value -= s[k] > 0 ? b->tau * b->basis->weight[q] * log(s[k]) : -INFINITY;
  }
  return CB_OK;
}

void cb_barrier_begin(cb_barrier *b, bool afresh) {
  for (int e = 0; e < b->basis->nodes * b->constraints->count; e++) {
    const double z = b->tau / b->s[e];
    b->z[e] = afresh ? z : fmin(fmax(b->z[e], z / dual_range), z * dual_range);
  }
}

void cb_barrier_gradient(const cb_barrier *b, double *g) {
  const int n = b->n, count = b->constraints->count, f = b->basis->functions;
  for (int q = 0; q < b->basis->nodes; q++)
    for (int i = 0; i < n; i++) {
      double force = 0;
      for (int k = q * count; k < (q + 1) * count; k++) force -= b->tau / b->s[k] * b->ds[k * n + i];
      for (int a = 0; a < f; a++) g[i * f + a] += b->basis->weight[q] * force * b->basis->phi[q * f + a];
    }
}

void cb_barrier_hessian(const cb_barrier *b, int columns, double *H) {
  const int n = b->n, count = b->constraints->count, f = b->basis->functions;
  for (int q = 0; q < b->basis->nodes; q++) {
    const double *phi = b->basis->phi + q * f;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double curvature = 0;
        for (int k = q * count; k < (q + 1) * count; k++)
          curvature += b->z[k] * (b->ds[k * n + i] * b->ds[k * n + j] / b->s[k] - b->dds[(k * n + i) * n + j]);
        curvature *= b->basis->weight[q];
        for (int a = 0; curvature != 0 && a < f; a++)
          for (int c = 0; c < f; c++) H[(i * f + a) * columns + j * f + c] += curvature * phi[a] * phi[c];
      }
  }
}

/* Returns the change of the constraint s_k at node q that the step causes to first order. */
static double change(const cb_barrier *b, int q, int k, const double *step) {
  const int n = b->n, f = b->basis->functions;
  const double *phi = b->basis->phi + q * f, *ds = b->ds + (q * b->constraints->count + k) * n;
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int a = 0; ds[i] != 0 && a < f; a++) sum += ds[i] * phi[a] * step[i * f + a];
  return sum;
}

double cb_barrier_reach(const cb_barrier *b, const double *step) {
  const int count = b->constraints->count;
  double maximum = 1;
  for (int q = 0; q < b->basis->nodes; q++)
    for (int k = 0; k < count; k++) {
      const double ds = change(b, q, k, step);
      if (ds < 0) maximum = fmin(maximum, (1 - keep) * b->s[q * count + k] / -ds);
    }
  return maximum;
}

void cb_barrier_follow(cb_barrier *b, const double *step) {
  const int count = b->constraints->count;
  double part = 1;
  for (int pass = 0; pass < 2; pass++)
    for (int q = 0; q < b->basis->nodes; q++)
      for (int k = 0; k < count; k++) {
        const int e = q * count + k;
        const double dz = b->tau / b->s[e] - b->z[e] - b->z[e] / b->s[e] * change(b, q, k, step);
        if (pass)
          b->z[e] += part * dz;
        else if (dz < 0)
          part = fmin(part, (1 - keep) * b->z[e] / -dz);
      }
}

/* --- moving a gait into the allowed region --- */

static double least_at(cb_barrier *b, const double *r) {
  double least = INFINITY, *s = b->trial;
  if (cb_shape_constraints_at(b->constraints, 0, r, s, NULL, NULL)) return -INFINITY;
  for (int k = 0; k < b->constraints->count; k++) least = fmin(least, s[k]);
  return least;
}

double cb_barrier_least(cb_barrier *b, const double *c) {
  const int f = b->basis->functions;
  double least = INFINITY;
  for (int q = 0; q < b->basis->nodes; q++) {
    double r[CB_SHAPE_MAX];
    for (int i = 0; i < b->n; i++) {
      r[i] = 0;
      for (int a = 0; a < f; a++) r[i] += c[i * f + a] * b->basis->phi[q * f + a];
    }
    least = fmin(least, least_at(b, r));
  }
  return least;
}

/* Chooses the shape that is farthest from constraints among three: the mean of the gait, the start shape (0 if there is
 * none), and the middle of the bounds. Returns the minimum of the values s at this shape. */
static double centre_of(cb_barrier *b, const double *start_shape, const double *c, double *centre) {
  const int n = b->n, f = b->basis->functions;
  double at[3][CB_SHAPE_MAX] = {{0}}, best = -INFINITY;
  for (int q = 0; q < b->basis->nodes; q++)
    for (int i = 0; i < n; i++)
      for (int a = 0; a < f; a++) at[0][i] += b->basis->weight[q] * c[i * f + a] * b->basis->phi[q * f + a];
  if (start_shape) memcpy(at[1], start_shape, (size_t)n * sizeof *start_shape);
  for (int k = 0; k < b->constraints->count; k++) {
    const cb_shape_constraint *constraint = &b->constraints->constraint[k], *next = constraint + 1;
    const bool both =
        k + 1 < b->constraints->count && constraint->variable >= 0 && next->variable == constraint->variable;
    if (constraint->variable >= 0 && at[2][constraint->variable] == 0)
      at[2][constraint->variable] =
          both ? (constraint->at + next->at) / 2 : constraint->sign * fmax(0, constraint->sign * constraint->at + 1);
  }
  for (int k = 0; k < 3; k++) {
    const double least = least_at(b, at[k]);
    if (least > best) {
      best = least;
      memcpy(centre, at[k], sizeof at[k]);
    }
  }
  return best;
}

cb_status cb_barrier_enter(cb_barrier *b, const double *start_shape, double *c) {
  const int n = b->n, f = b->basis->functions, constant = b->basis->harmonics ? 1 : b->basis->arcs;
  const double factor = .9;
  double centre[CB_SHAPE_MAX];
  const double clearance = centre_of(b, start_shape, c, centre);
  if (!(clearance > 0))
    return cb_fail(CB_STEP_NO_CONVERGENCE, "no shape within the bounds was found: give a gait or a start shape");
  for (int k = 0; k < 200; k++) {
    if (cb_barrier_least(b, c) > .02 * clearance) return CB_OK;
    for (int i = 0; i < n; i++)
      for (int a = 0; a < f; a++) c[i * f + a] = factor * c[i * f + a] + (a < constant ? (1 - factor) * centre[i] : 0);
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE, "no gait within the bounds was found: give a gait or a start shape");
}
