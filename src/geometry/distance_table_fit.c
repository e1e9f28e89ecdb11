/* Making one box of a table of distances: what is sampled, how many powers it takes, and the error that is left.
 *
 *   at node x_k of the box:  rows (sigma - g(m)(delta, delta)/2)/r and its derivatives in delta', r = |delta'|, at the
 *   points of the ball; a_k = fit rows;  c_ab = sum_k terms_fit_bk a_ka
 *   errors of sigma and sigma_delta' make those of d and of its gradient: /(R r) and /(R^2 r), R the ball's radius
 *
 * sigma and sigma_delta = (d_q2 - d_q1) d/2 come from the exact distance at m -+ delta/2.
 */
#include "geometry/distance_table_private.h"
#include "numerics/cholesky.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { N = CB_TABLE_DIM, LANES = CB_TABLE_LANES, TESTS = 64, ORDER_TESTS = 8, RAYS = 3 };

/* Parts of the error that may come from too few powers of delta', and from terms left out; and what the tests may show,
 * since they do not find the largest. */
static const double by_order = 0.08, by_length = 0.05, by_tests = 0.3;
/* The metric itself must be told by the polynomials to this many times the error before distances are worth asking. */
static const double by_metric = 1e3;
/* Edges are not halved below this part of the reach. */
static const double shortest_edge = 1.0 / 4;

typedef struct fit {
  const cb_geometry *g;
  const cb_distance_table *t;
  cb_table_box *box;
  double metric[N * N], radius; /* at the middle; of the ball, a length */
} fit;

static double uniform(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* m of the point x of [-1, 1]^kept. */
static void middle(const fit *f, const double *x, double *m) {
  const cb_table_basis *b = &f->t->basis;
  memcpy(m, f->t->still, (size_t)b->n * sizeof *m);
  for (int i = 0; i < b->kept; i++)
    m[b->axis[i]] = 0.5 * ((1 - x[i]) * f->box->low[i] + (1 + x[i]) * f->box->high[i]);
}

static bool metric_at(const fit *f, const double *m, double *gij) {
  if (f->g->intrinsic->inside && f->g->intrinsic->inside(f->g, m)) return false;
  return f->g->chart->metric(f->g, m, gij, NULL, NULL) == CB_OK;
}

/* scale = L^T/R and its inverse. */
static bool set_scale(fit *f) {
  const int n = f->t->basis.n;
  const double zero[N] = {0};
  double m[N], l[N * N] = {0};
  middle(f, zero, m);
  if (!metric_at(f, m, f->metric)) return false;
  if (!cb_cholesky(n, f->metric, 0, l)) return false;
  memset(f->box->inverse, 0, sizeof f->box->inverse);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) f->box->scale[i * n + j] = l[j * n + i] / f->radius;
  for (int c = 0; c < n; c++) /* L^-T by columns, upwards */
    for (int i = c; i >= 0; i--) {
      double sum = i == c ? f->radius : 0;
      for (int k = i + 1; k <= c; k++) sum -= l[k * n + i] * f->box->inverse[k * n + c];
      f->box->inverse[i * n + c] = sum / l[i * n + i];
    }
  return true;
}

/* Value and derivatives in e = delta' of what the metric leaves of sigma, at one point. */
static bool sample(const fit *f, const double *m, const double *gij, const double *e, double *row) {
  const int n = f->t->basis.n;
  double delta[N] = {0}, q1[N], q2[N], d, by[2 * N], left[N];
  for (int i = 0; i < n; i++) {
    for (int a = 0; a < n; a++) delta[i] += f->box->inverse[i * n + a] * e[a];
    q1[i] = m[i] - delta[i] / 2;
    q2[i] = m[i] + delta[i] / 2;
  }
  if (f->t->exact(f->g, q1, q2, &d, by, NULL)) return false;
  row[0] = d * d / 2;
  for (int i = 0; i < n; i++) {
    double lowered = 0;
    for (int j = 0; j < n; j++) lowered += gij[i * n + j] * (q2[j] - q1[j]);
    row[0] -= lowered * (q2[i] - q1[i]) / 2;
    left[i] = d * (by[n + i] - by[i]) / 2 - lowered;
  }
  for (int a = 0; a < n; a++) {
    row[1 + a] = 0;
    for (int i = 0; i < n; i++) row[1 + a] += f->box->inverse[i * n + a] * left[i];
  }
  return true;
}

/* a[monomials] at one node. */
static bool fit_node(const fit *f, const double *x, int order, double *rows, double *a) {
  const cb_table_fit *of = &f->t->basis.fit[order];
  const int n = f->t->basis.n, unknowns = f->t->basis.first[order + 1];
  double m[N], gij[N * N];
  middle(f, x, m);
  if (!metric_at(f, m, gij)) return false;
  for (int p = 0; p < of->points; p++)
    if (!sample(f, m, gij, of->point + p * n, rows + p * (1 + n))) return false;
  for (int k = 0; k < unknowns; k++) {
    a[k] = 0;
    for (int r = 0; r < of->rows; r++) a[k] += of->fit[k * of->rows + r] * rows[r];
  }
  return true;
}

static void random_ball(int n, uint64_t *state, double *e) {
  double square;
  do {
    square = 0;
    for (int i = 0; i < n; i++) {
      e[i] = 2 * uniform(state) - 1;
      square += e[i] * e[i];
    }
  } while (!(square < 1 && square > 1e-4));
  const double to = (uniform(state) < 0.5 ? 0.999 : 0.05 + 0.95 * uniform(state)) / sqrt(square);
  for (int i = 0; i < n; i++) e[i] *= to;
}

/* The effect on d and its gradient of what order powers leave at the middle of the box. */
static bool order_error(const fit *f, int order, const double *a, double *error) {
  const cb_table_basis *b = &f->t->basis;
  const int n = b->n;
  const double zero[N] = {0};
  uint64_t state = 1;
  double m[N], gij[N * N];
  middle(f, zero, m);
  if (!metric_at(f, m, gij)) return false;
  *error = 0;
  for (int test = 0; test < ORDER_TESTS; test++) {
    double e[N], row[1 + N], r = 0, slope = 0;
    random_ball(n, &state, e);
    if (!sample(f, m, gij, e, row)) return false;
    for (int k = 0; k < b->first[order + 1]; k++)
      for (int j = 0; j <= n; j++) {
        double value = a[k];
        for (int i = 0; i < n; i++) {
          const int p = b->monomial[k][i];
          value *= i == j - 1 ? (p ? p * pow(e[i], p - 1) : 0) : pow(e[i], p);
        }
        row[j] -= value;
      }
    for (int i = 0; i < n; i++) r += e[i] * e[i], slope += row[1 + i] * row[1 + i];
    r = sqrt(r);
    *error = fmax(*error, fmax(fabs(row[0]) / (f->radius * r), sqrt(slope) / (f->radius * f->radius * r)));
  }
  return true;
}

/* The rows of RAYS points e of the ball at one node. */
static bool sample_rays(const fit *f, const double *x, double e[RAYS][N], double *rows) {
  double m[N], gij[N * N];
  middle(f, x, m);
  if (!metric_at(f, m, gij)) return false;
  for (int ray = 0; ray < RAYS; ray++)
    if (!sample(f, m, gij, e[ray], rows + ray * (1 + f->t->basis.n))) return false;
  return true;
}

/* Which axis the highest terms of sum_b c_b T_b count most on: added to weight. */
static void weigh(const cb_table_basis *b, const double *c, double *weight) {
  for (int k = b->terms_to[b->degree > 0 ? b->degree - 1 : 0]; k < b->terms; k++)
    for (int i = 0; i < b->kept; i++) weight[i] += fabs(c[k]) * b->term[k][i];
}

static int heaviest(int n, const double *weight) {
  int best = 0;
  for (int i = 1; i < n; i++)
    if (weight[i] > weight[best]) best = i;
  return best;
}

/* Is the metric itself, in the frame of the middle, told by the terms? Otherwise weight says where to halve. */
static bool metric_is_smooth(const fit *f, double *rows, double *weight) {
  const cb_table_basis *b = &f->t->basis;
  const int n = b->n;
  double c[N * N][CB_TABLE_TERMS], error = 0;
  for (int k = 0; k < b->nodes; k++) {
    double m[N];
    middle(f, b->node + k * b->kept, m);
    if (!metric_at(f, m, rows + k * n * n)) return false;
  }
  for (int e = 0; e < n * n; e++) {
    for (int term = 0; term < b->terms; term++) {
      c[e][term] = 0;
      for (int k = 0; k < b->nodes; k++) c[e][term] += b->terms_fit[term * b->nodes + k] * rows[k * n * n + e];
      c[e][term] /= sqrt(f->metric[e / n * (n + 1)] * f->metric[e % n * (n + 1)]);
    }
    weigh(b, c[e], weight);
  }
  uint64_t state = 2;
  for (int test = 0; test < ORDER_TESTS; test++) {
    double x[N], m[N], gij[N * N], value[CB_TABLE_TERMS + LANES];
    for (int i = 0; i < b->kept; i++) x[i] = 2 * uniform(&state) - 1;
    middle(f, x, m);
    cb_table_terms(b, x, value);
    if (!metric_at(f, m, gij)) return false;
    for (int e = 0; e < n * n; e++) {
      double sum = -gij[e] / sqrt(f->metric[e / n * (n + 1)] * f->metric[e % n * (n + 1)]);
      for (int term = 0; term < b->terms; term++) sum += c[e][term] * value[term];
      error = fmax(error, fabs(sum));
    }
  }
  return error <= by_metric * f->t->size.error;
}

/* Are the distances of three deltas, all over the box? A hundredth of the cost of a fit, it tells nearly as much. */
static bool rays_are_smooth(const fit *f, double *rows, double *weight) {
  const cb_table_basis *b = &f->t->basis;
  const int n = b->n, width = RAYS * (1 + n);
  double e[RAYS][N], c[RAYS * (1 + N)][CB_TABLE_TERMS], error = 0;
  uint64_t state = 4;
  for (int ray = 0; ray < RAYS; ray++) {
    double square = 0;
    random_ball(n, &state, e[ray]);
    for (int i = 0; i < n; i++) square += e[ray][i] * e[ray][i];
    for (int i = 0; i < n; i++) e[ray][i] /= sqrt(square);
  }
  for (int k = 0; k < b->nodes; k++)
    if (!sample_rays(f, b->node + k * b->kept, e, rows + k * width)) return false;
  for (int j = 0; j < width; j++) {
    for (int term = 0; term < b->terms; term++) {
      c[j][term] = 0;
      for (int k = 0; k < b->nodes; k++) c[j][term] += b->terms_fit[term * b->nodes + k] * rows[k * width + j];
    }
    weigh(b, c[j], weight);
  }
  for (int test = 0; test < ORDER_TESTS; test++) {
    double x[N], value[CB_TABLE_TERMS + LANES], row[RAYS * (1 + N)];
    for (int i = 0; i < b->kept; i++) x[i] = 2 * uniform(&state) - 1;
    cb_table_terms(b, x, value);
    if (!sample_rays(f, x, e, row)) return false;
    for (int j = 0; j < width; j++) {
      for (int term = 0; term < b->terms; term++) row[j] -= c[j][term] * value[term];
      error = fmax(error, fabs(row[j]) / f->radius / (j % (1 + n) ? f->radius : 1));
    }
  }
  return error <= by_tests * f->t->size.error;
}

static double edge(const fit *f, int axis) {
  const int at = f->t->basis.axis[axis];
  return (f->box->high[axis] - f->box->low[axis]) * sqrt(f->metric[at * (f->t->basis.n + 1)]);
}

/* Whole vectors of terms that are kept in the rows of each degree. */
static void set_lengths(const fit *f, const double *c) {
  const cb_table_basis *b = &f->t->basis;
  double shortest = f->radius;
  for (int i = 0; i < b->kept; i++) shortest = fmin(shortest, edge(f, i) / 2);
  for (int k = 2; k <= f->box->order; k++) {
    double left_out = 0;
    int p = b->degree;
    for (; p > 0; p--) {
      for (int a = b->first[k]; a < b->first[k + 1]; a++)
        for (int term = b->terms_to[p]; term < b->terms_to[p + 1]; term++) left_out += fabs(c[a * b->terms + term]);
      const double effect = left_out * fmax(2 * k / f->radius, p / shortest) / f->radius;
      if (effect > by_length / f->box->order * f->t->size.error) break;
    }
    f->box->length[k] = (b->terms_to[p + 1] + LANES - 1) / LANES * LANES;
  }
  for (int k = f->box->order; k > 2; k--) /* s_b is as long as the first rows */
    if (f->box->length[2] < f->box->length[k]) f->box->length[2] = f->box->length[k];
}

/* How short pairs must be for their higher powers not to count: the bound of what they add to the gradient of d is
 * sum_j b_j r^(2j-2) over the degrees left out. */
static void set_enough(const fit *f, const double *c) {
  const cb_table_basis *b = &f->t->basis;
  double bound[CB_TABLE_ORDER + 1] = {0}, shortest = f->radius;
  for (int i = 0; i < b->kept; i++) shortest = fmin(shortest, edge(f, i) / 2);
  for (int k = f->box->order; k >= 2; k--) {
    for (int i = b->first[k] * b->terms; i < b->first[k + 1] * b->terms; i++) bound[k] += fabs(c[i]);
    bound[k] *= fmax(2 * k / f->radius, b->degree / shortest) / f->radius;
    double low = 0, high = 1;
    for (int step = 0; step < 40; step++) {
      const double square = 0.5 * (low + high);
      double sum = 0;
      for (int j = f->box->order; j >= k; j--) sum += bound[j] * pow(square, j - 1);
      *(sum <= by_length * f->t->size.error ? &low : &high) = square;
    }
    f->box->enough[k] = low;
  }
}

size_t cb_table_box_numbers(const cb_table_basis *b, const cb_table_box *box) {
  size_t numbers = 0;
  for (int k = 2; k <= box->order; k++) numbers += (size_t)(b->first[k + 1] - b->first[k]) * (size_t)box->length[k];
  return numbers;
}

/* Norm of a covector in the metric at the middle. */
static double norm(const fit *f, const double *p) {
  const int n = f->t->basis.n;
  double square = 0;
  for (int a = 0; a < n; a++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += f->box->inverse[i * n + a] * p[i];
    square += sum * sum;
  }
  return sqrt(square) / f->radius;
}

/* Largest errors at random pairs. */
static bool test_box(const fit *f, double measured[3]) {
  const cb_table_basis *b = &f->t->basis;
  const int n = b->n, ends = 2 * n;
  uint64_t state = 3;
  measured[0] = measured[1] = measured[2] = 0;
  for (int test = 0; test < TESTS; test++) {
    double x[N], e[N], m[N], delta[N] = {0}, q1[N], q2[N], d[2], by[2][2 * N], bend[2][4 * N * N];
    for (int i = 0; i < b->kept; i++) x[i] = fmax(-1, fmin(1, 2.6 * uniform(&state) - 1.3)); /* edges too */
    random_ball(n, &state, e);
    middle(f, x, m);
    for (int i = 0; i < n; i++) {
      for (int a = 0; a < n; a++) delta[i] += f->box->inverse[i * n + a] * e[a];
      q1[i] = m[i] - delta[i] / 2;
      q2[i] = m[i] + delta[i] / 2;
    }
    if (f->t->exact(f->g, q1, q2, &d[0], by[0], bend[0])) return false;
    if (!cb_table_box_distance(f->g, f->t, f->box, m, x, delta, &d[1], by[1], bend[1])) return false;
    for (int i = 0; i < ends; i++) by[1][i] -= by[0][i];
    measured[0] = fmax(measured[0], fabs(d[1] - d[0]));
    measured[1] = fmax(measured[1], fmax(norm(f, by[1]), norm(f, by[1] + n)));
    for (int i = 0; i < ends; i++)
      for (int j = 0; j < ends; j++) {
        const double size = sqrt(f->metric[i % n * (n + 1)] * f->metric[j % n * (n + 1)]);
        measured[2] = fmax(measured[2], fabs(bend[1][i * ends + j] - bend[0][i * ends + j]) / size);
      }
  }
  return isfinite(measured[0] + measured[1] + measured[2]);
}

/* Coefficients of all rows at full length, from all nodes; false where a distance is missing. */
static bool fit_all(const fit *f, double *rows, double *a, double *c) {
  const cb_table_basis *b = &f->t->basis;
  const int unknowns = b->first[f->box->order + 1];
  memset(c, 0, (size_t)(unknowns * b->terms) * sizeof *c);
  for (int k = 0; k < b->nodes; k++) {
    if (!fit_node(f, b->node + k * b->kept, f->box->order, rows, a)) return false;
    for (int i = 0; i < unknowns; i++)
      for (int term = 0; term < b->terms; term++)
        c[i * b->terms + term] += a[i] * b->terms_fit[term * b->nodes + k];
  }
  return true;
}

/* The fewest powers that are enough at the middle; CB_TABLE_ORDER + 1 where none are. */
static int find_order(const fit *f, double *rows, double *a) {
  for (int order = 2; order <= CB_TABLE_ORDER; order++) {
    const double zero[N] = {0};
    double error;
    if (!fit_node(f, zero, order, rows, a) || !order_error(f, order, a, &error)) break;
    if (error <= by_order * f->t->size.error) return order;
  }
  return CB_TABLE_ORDER + 1;
}

/* Fits at this middle; true where it is good, else weight says where to halve. */
static cb_status try_box(fit *f, double *rows, double *a, double *c, double measured[3], double *weight, bool *good) {
  const cb_table_basis *b = &f->t->basis;
  cb_table_box *box = f->box;
  *good = false;
  if (!metric_is_smooth(f, rows, weight)) return CB_OK;
  box->order = find_order(f, rows, a);
  if (box->order <= CB_TABLE_ORDER) {
    memset(weight, 0, N * sizeof *weight);
    if (!rays_are_smooth(f, rows, weight)) {
      box->order = 0;
      return CB_OK;
    }
  }
  if (box->order > CB_TABLE_ORDER || !fit_all(f, rows, a, c)) {
    box->order = 0;
    memset(weight, 0, N * sizeof *weight);
    return CB_OK;
  }
  set_lengths(f, c);
  set_enough(f, c);
  box->c = calloc(cb_table_box_numbers(b, box), sizeof *box->c);
  if (!box->c) return cb_fail(CB_ERROR_MEMORY, "no memory for a box of a table of distances");
  double *to = box->c;
  for (int k = 2; k <= box->order; k++)
    for (int i = b->first[k]; i < b->first[k + 1]; i++, to += box->length[k])
      memcpy(to, c + i * b->terms, (size_t)(box->length[k] < b->terms ? box->length[k] : b->terms) * sizeof *to);
  *good = test_box(f, measured) && fmax(measured[0], measured[1]) <= by_tests * f->t->size.error;
  if (*good) return CB_OK;
  memset(weight, 0, N * sizeof *weight);
  for (int i = 0; i < b->first[box->order + 1]; i++) weigh(b, c + i * b->terms, weight);
  free(box->c);
  box->c = NULL;
  box->order = 0;
  return CB_OK;
}

cb_status cb_table_box_fit(const cb_geometry *g, const cb_distance_table *t, cb_table_box *box, double measured[3],
                           int *split) {
  const cb_table_basis *b = &t->basis;
  fit f = {.g = g, .t = t, .box = box, .radius = t->radius * t->size.reach};
  const size_t most = (size_t)b->fit[CB_TABLE_ORDER].rows + (size_t)(b->nodes * RAYS * (1 + N));
  const size_t unknowns = (size_t)b->first[CB_TABLE_ORDER + 1];
  double *rows = malloc(most * sizeof *rows), *a = malloc(unknowns * sizeof *a);
  double *c = malloc(unknowns * (size_t)b->terms * sizeof *c), weight[N] = {0};
  cb_status status = rows && a && c ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a table of distances");
  bool good = false;
  const bool scaled = set_scale(&f);
  if (!status && scaled) status = try_box(&f, rows, a, c, measured, weight, &good);
  free(rows);
  free(a);
  free(c);
  if (status) return status;
  *split = -1;
  if (good || !b->kept) return CB_OK;
  if (!scaled) /* the middle lies outside the domain: parts may not */
    for (int i = 0; i < b->n; i++) f.metric[i * (b->n + 1)] = 1;
  double lengths[N] = {0};
  for (int i = 0; i < b->kept; i++) {
    lengths[i] = edge(&f, i);
    if (lengths[i] < shortest_edge * t->size.reach) weight[i] = lengths[i] = 0;
  }
  int axis = heaviest(b->kept, weight);
  if (!(weight[axis] > 0)) axis = heaviest(b->kept, lengths);
  if (lengths[axis] > 0) *split = axis;
  return CB_OK;
}
