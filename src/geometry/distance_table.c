/* Tables of distances: their keys, the boxes that they are halved into, and looking up. See distance_table.h. */
#include "geometry/distance_table_private.h"

#include "core/threads.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = CB_TABLE_DIM, PROBES = 256 };

/* The ball of a box is larger than the reach: its metric is that of the middle. */
static const double margin = 1.1;
/* A metric whose derivative is smaller than this, relative, at all probes does not depend on the coordinate. */
static const double round_off = 1e-14;

typedef struct table_params {
  double error, reach, memory;
  const cb_node *box;
} table_params;

static const cb_param table_keys[] = {
    {"error", CB_PARAM_REAL, offsetof(table_params, error), "1e-10", "length", "[1e-12, 1e-2]", NULL,
     "bound of what interpolation adds to a distance and to its gradient"},
    {"reach", CB_PARAM_REAL, offsetof(table_params, reach), "0.5", "length", "> 0", NULL,
     "pairs nearer than this are looked up"},
    {"memory", CB_PARAM_REAL, offsetof(table_params, memory), "64", "MiB", "> 0", NULL, "most that it may take"},
    {"box", CB_PARAM_NODE, offsetof(table_params, box), "", "", "", NULL,
     "[lowest, highest] of each coordinate of a pair's middle, [] for what is periodic or does not count"},
    {0}};

/* --- the region --- */

typedef struct region {
  double low[N], high[N];
  bool given[N];
} region;

static cb_status read_region(const cb_geometry *g, const cb_node *node, region *r) {
  for (int i = 0; i < g->dim; i++) {
    const double period = g->intrinsic->period[i], base = g->intrinsic->base[i];
    r->low[i] = period > 0 ? 0 : base - 0.5; /* where not given: to probe the metric in */
    r->high[i] = period > 0 ? period : base + 0.5;
    r->given[i] = period > 0;
  }
  if (!node) return CB_OK;
  if (node->kind != CB_NODE_LIST || node->count != (size_t)g->dim)
    return cb_node_fail(node, "box: expected a list of %d ranges [lowest, highest]", g->dim);
  for (int i = 0; i < g->dim; i++) {
    const cb_node *item = node->items[i];
    if (item->kind == CB_NODE_LIST && item->count == 0) continue;
    double range[2];
    const cb_status status = cb_node_reals(item, 2, range);
    if (status) return status;
    if (!(range[0] < range[1]))
      return cb_node_fail(item, "box: expected lowest < highest, found [%.10g, %.10g]", range[0], range[1]);
    if (g->intrinsic->period[i] > 0 && range[1] > range[0] + g->intrinsic->period[i])
      range[1] = range[0] + g->intrinsic->period[i];
    r->low[i] = range[0], r->high[i] = range[1];
    r->given[i] = true;
  }
  return CB_OK;
}

static double fraction(int base, int index) {
  double value = 0, part = 1;
  for (; index; index /= base) value += (index % base) * (part /= base);
  return value;
}

/* Coordinates that the metric depends on, by its derivatives at points of the region. */
static cb_status find_kept(const cb_geometry *g, const cb_node *node, const region *r, bool *kept) {
  static const int bases[N] = {2, 3, 5};
  const int n = g->dim;
  int probed = 0;
  for (int k = 0; k < PROBES; k++) {
    double q[N], gij[N * N], dg[N * N * N];
    for (int i = 0; i < n; i++) q[i] = r->low[i] + (r->high[i] - r->low[i]) * fraction(bases[i], k + 1);
    if (g->intrinsic->inside && g->intrinsic->inside(g, q)) continue;
    if (g->chart->metric(g, q, gij, dg, NULL)) continue;
    probed++;
    for (int l = 0; l < n; l++)
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          const double size = sqrt(gij[i * (n + 1)] * gij[j * (n + 1)]) / (r->high[l] - r->low[l]);
          kept[l] = kept[l] || fabs(dg[(l * n + i) * n + j]) > round_off * size;
        }
  }
  if (!probed) return cb_node_fail(node, "table: no point of its box lies in the space");
  for (int i = 0; i < n; i++)
    if (kept[i] && !r->given[i])
      return cb_node_fail(node, "table: the metric depends on %s: expected its range in the key `box`",
                          g->chart->coordinates[i]);
  return CB_OK;
}

/* --- making --- */

/* Pending boxes of one generation, cut among threads. */
typedef struct generation {
  const cb_geometry *g;
  cb_distance_table *t;
  size_t from, count;
  double (*measured)[3];
  int *split;
} generation;

static cb_status add_halves(cb_distance_table *t, size_t parent, int axis) {
  if (t->boxes + 2 > t->room) {
    cb_table_box *more = realloc(t->box, 2 * t->room * sizeof *more);
    if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for a table of distances");
    t->box = more;
    t->room *= 2;
  }
  cb_table_box *p = &t->box[parent];
  p->split = axis;
  p->child = (int)t->boxes;
  for (int side = 0; side < 2; side++) {
    cb_table_box *half = &t->box[t->boxes++];
    *half = (cb_table_box){0};
    memcpy(half->low, p->low, sizeof half->low);
    memcpy(half->high, p->high, sizeof half->high);
    (side ? half->low : half->high)[axis] = 0.5 * (p->low[axis] + p->high[axis]);
  }
  return CB_OK;
}

static double volume(const cb_distance_table *t, const cb_table_box *box) {
  double v = 1;
  for (int i = 0; i < t->basis.kept; i++) v *= (box->high[i] - box->low[i]) / (t->box[0].high[i] - t->box[0].low[i]);
  return v;
}

static cb_status fit_generation(const generation *w, const cb_node *node) {
  cb_status failed = CB_OK;
#pragma omp parallel for num_threads(cb_threads_for((size_t)-1)) schedule(dynamic, 1)
  for (size_t i = 0; i < w->count; i++) {
    const cb_status status =
        cb_table_box_fit(w->g, w->t, &w->t->box[w->from + i], w->measured[i], &w->split[i]);
#pragma omp critical(cb_distance_table)
    if (status) failed = status;
  }
  return failed ? cb_node_fail(node, "table: no memory for it") : CB_OK;
}

/* What a finished leaf adds to the size. */
static void count_leaf(cb_distance_table *t, const cb_table_box *box, const double *measured) {
  cb_distance_table_size *s = &t->size;
  s->bytes += sizeof *box + cb_table_box_numbers(&t->basis, box) * sizeof *box->c;
  if (!box->order) {
    s->bare++;
    return;
  }
  s->boxes++;
  s->covered += volume(t, box);
  s->distance = fmax(s->distance, measured[0]);
  s->gradient = fmax(s->gradient, measured[1]);
  s->hessian = fmax(s->hessian, measured[2]);
  if (2 * box->order > s->degree) s->degree = 2 * box->order;
}

static cb_status fill(const cb_geometry *g, cb_distance_table *t, const cb_node *node, double memory) {
  cb_status status = CB_OK;
  for (size_t from = 0; !status && from < t->boxes;) {
    generation w = {.g = g, .t = t, .from = from, .count = t->boxes - from};
    w.measured = calloc(w.count, sizeof *w.measured);
    w.split = calloc(w.count, sizeof *w.split);
    status = w.measured && w.split ? fit_generation(&w, node) : cb_fail(CB_ERROR_MEMORY, "no memory for a table");
    for (size_t i = 0; !status && i < w.count; i++) {
      if (w.split[i] >= 0) {
        status = add_halves(t, from + i, w.split[i]);
        t->size.bytes += sizeof *t->box;
      } else {
        count_leaf(t, &t->box[from + i], w.measured[i]);
      }
    }
    if (!status && (double)t->size.bytes > memory * 0x1p20) {
      status = cb_node_fail(node,
                            "table: an error of %g takes more than the %g MiB that `memory` allows: %.3g MiB for %.3g "
                            "%% of its box; expected more memory, a smaller box or reach, or a larger error",
                            t->size.error, memory, (double)t->size.bytes * 0x1p-20, 100 * t->size.covered);
    }
    free(w.measured);
    free(w.split);
    from += w.count;
  }
  if (!status && !t->size.boxes)
    status = cb_node_fail(node, "table: no part of its box can have an error of %g with a reach of %g", t->size.error,
                          t->size.reach);
  return status;
}

/* --- looking up --- */

/* The box of a pair with its middle m, x in [-1, 1] over the box, and delta. NULL: none. */
static const cb_table_box *find(const cb_geometry *g, const double *q1, const double *q2, double *m, double *x,
                                double *delta) {
  const cb_distance_table *t = g->table;
  const cb_table_box *box = t->box;
  const int n = t->basis.n;
  double y[N];
  for (int i = 0; i < n; i++) {
    delta[i] = q2[i] - q1[i];
    if (t->period[i] > 0 && fabs(delta[i]) > 0.5 * t->period[i])
      delta[i] -= t->period[i] * rint(delta[i] / t->period[i]);
    m[i] = q1[i] + 0.5 * delta[i];
  }
  for (int i = 0; i < t->basis.kept; i++) {
    const int a = t->basis.axis[i];
    y[i] = m[a];
    if (t->period[a] > 0) y[i] -= t->period[a] * floor((y[i] - box->low[i]) / t->period[a]);
    if (!(y[i] >= box->low[i] && y[i] <= box->high[i])) return NULL;
  }
  while (box->child) {
    const int s = box->split;
    box = &t->box[box->child + (y[s] >= 0.5 * (box->low[s] + box->high[s]))];
  }
  if (!box->order) return NULL;
  double square = 0;
  for (int i = 0; i < n; i++) {
    double e = 0;
    for (int j = 0; j < n; j++) e += box->scale[i * n + j] * delta[j];
    square += e * e;
  }
  if (!(square < 1)) return NULL;
  for (int i = 0; i < t->basis.kept; i++)
    x[i] = (2 * y[i] - box->low[i] - box->high[i]) / (box->high[i] - box->low[i]);
  return box;
}

static bool lookup(const cb_geometry *g, const double *q1, const double *q2, double *d, double *gradient,
                   double *hessian) {
  double m[N], x[N], delta[N];
  const cb_table_box *box = find(g, q1, q2, m, x, delta);
  if (!box) return false;
  if (g->intrinsic->inside && (g->intrinsic->inside(g, q1) || g->intrinsic->inside(g, q2))) return false;
  return cb_table_box_distance(g, g->table, box, m, x, delta, d, gradient, hessian);
}

static cb_status distance(const cb_geometry *g, const double *q1, const double *q2, double *d, double *gradient,
                          double *hessian) {
  return lookup(g, q1, q2, d, gradient, hessian) ? CB_OK : g->table->exact(g, q1, q2, d, gradient, hessian);
}

bool cb_distance_table_covers(const cb_geometry *g, const double *q1, const double *q2) {
  double d;
  return g->table && lookup(g, q1, q2, &d, NULL, NULL);
}

cb_status cb_distance_exact(const cb_geometry *g, const double *q1, const double *q2, double *d, double *gradient,
                            double *hessian) {
  return (g->table ? g->table->exact : g->chart->distance)(g, q1, q2, d, gradient, hessian);
}

/* --- of a space --- */

static cb_status make(cb_geometry *g, const cb_node *node, const table_params *p, cb_distance_table *t) {
  region r;
  bool counts[N] = {false};
  int axis[N], kept = 0;
  const int n = g->dim;
  cb_status status = read_region(g, p->box, &r);
  if (!status) status = find_kept(g, p->box ? p->box : node, &r, counts);
  if (status) return status;
  for (int i = 0; i < n; i++) {
    t->still[i] = 0.5 * (r.low[i] + r.high[i]);
    t->period[i] = g->intrinsic->period[i];
    if (counts[i]) axis[kept++] = i;
  }
  t->exact = g->chart->distance;
  t->radius = margin;
  t->size = (cb_distance_table_size){.error = p->error, .reach = p->reach, .variables = kept};
  status = cb_table_basis_create(&t->basis, n, kept, axis);
  if (status) return status;
  t->room = 64;
  t->box = calloc(t->room, sizeof *t->box);
  if (!t->box) return cb_fail(CB_ERROR_MEMORY, "no memory for a table of distances");
  t->boxes = 1;
  for (int i = 0; i < kept; i++) t->box[0].low[i] = r.low[axis[i]], t->box[0].high[i] = r.high[axis[i]];
  return fill(g, t, node, p->memory);
}

cb_status cb_distance_table_read(cb_geometry *g, const cb_node *node) {
  table_params p;
  if (!node) return CB_OK;
  if (!g->intrinsic)
    return cb_node_fail(node, "table: the distances of space %s are in closed form and need none", g->class->name);
  if (!g->chart->distance) return cb_node_fail(node, "table: space %s has no distances", g->class->name);
  if (g->dim > N) return cb_node_fail(node, "table: expected a space of dimension 1 to %d, found %d", N, g->dim);
  cb_status status = cb_params_bind(table_keys, node, node, NULL, 0, &p);
  if (status) return status;
  cb_distance_table *t = calloc(1, sizeof *t);
  if (!t) return cb_fail(CB_ERROR_MEMORY, "no memory for a table of distances");
  status = make(g, node, &p, t);
  if (status) {
    cb_distance_table_free(t);
    return status;
  }
  g->table = t;
  g->charts[0].distance = distance;
  return CB_OK;
}

void cb_distance_table_free(cb_distance_table *t) {
  if (!t) return;
  for (size_t i = 0; i < t->boxes; i++) free(t->box[i].c);
  free(t->box);
  cb_table_basis_free(&t->basis);
  free(t);
}

const cb_distance_table_size *cb_distance_table_size_of(const cb_geometry *g) {
  return g->table ? &g->table->size : NULL;
}
