/* Bases of functions of time for gaits: Fourier's functions, and polynomials on arcs. Their values are stored at the
 * nodes of Gauss's rule on panels (variation.h). */
#include "core/arena.h"
#include "numerics/small.h"
#include "optimum/reduced.h"
#include "optimum/variation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HARMONICS_MAX = 256, DEGREE_MAX = 64 };

static void fourier_at(const cb_basis *b, double t, double *phi, double *rate, double *curve) {
  phi[0] = 1;
  if (rate) rate[0] = 0;
  if (curve) curve[0] = 0;
  for (int k = 1; k <= b->harmonics; k++) {
    const double w = 2 * M_PI * k, c = M_SQRT2 * cos(w * t), s = M_SQRT2 * sin(w * t);
    phi[2 * k - 1] = c / w;
    phi[2 * k] = s / w;
    if (rate) {
      rate[2 * k - 1] = -s;
      rate[2 * k] = c;
    }
    if (curve) {
      curve[2 * k - 1] = -w * c;
      curve[2 * k] = -w * s;
    }
  }
}

/* Computes the functions, their rates and their second derivatives at a time t on an arc. The functions of the vertices
 * come first: function k is 1 at the time end[k] and falls linearly to 0 at the neighbouring vertices. Then come the
 * integrals of Legendre's polynomials on each arc. */
static void arcs_at(const cb_basis *b, int arc, double t, double *phi, double *rate, double *curve) {
  const double length = b->end[arc + 1] - b->end[arc], x = 2 * (t - b->end[arc]) / length - 1;
  memset(phi, 0, (size_t)b->functions * sizeof *phi);
  if (rate) memset(rate, 0, (size_t)b->functions * sizeof *rate);
  if (curve) memset(curve, 0, (size_t)b->functions * sizeof *curve);
  const int next = (arc + 1) % b->arcs;
  phi[arc] += (1 - x) / 2;
  phi[next] += (1 + x) / 2;
  if (rate) {
    rate[arc] -= 1 / length;
    rate[next] += 1 / length;
  }
  double before = 1, p = x, slope_before = 0, slope = 1; /* Legendre's polynomials and their derivatives */
  for (int k = 1; k < b->degree; k++) {
    const double after = ((2 * k + 1) * x * p - k * before) / (k + 1), scale = sqrt((2 * k + 1) / length);
    const int at = b->arcs + arc * (b->degree - 1) + k - 1;
    phi[at] = scale * length / 2 * (after - before) / (2 * k + 1);
    if (rate) rate[at] = scale * p;
    if (curve) curve[at] = scale * slope * 2 / length;
    const double slope_after = slope_before + (2 * k + 1) * p;
    slope_before = slope;
    slope = slope_after;
    before = p;
    p = after;
  }
}

static int arc_of(const cb_basis *b, double t) {
  int arc = 0;
  while (arc + 1 < b->arcs && t >= b->end[arc + 1]) arc++;
  return arc;
}

void cb_basis_at(const cb_basis *b, double t, double *phi, double *rate) {
  t -= floor(t);
  if (b->harmonics)
    fourier_at(b, t, phi, rate, NULL);
  else
    arcs_at(b, arc_of(b, t), t, phi, rate, NULL);
}

/* Returns the beginning of panel k as a share of its arc. With Fourier's functions all panels have the same length.
 * Polynomials change fastest at the ends of their arc, so with polynomials the edges of the panels are Chebyshev's
 * points. */
static double edge_at(const cb_basis *b, int k, int panels) {
  return b->harmonics ? (double)k / panels : (1 - cos(M_PI * k / panels)) / 2;
}

static cb_status finish(cb_basis *b, const int *panels_of, cb_basis **out) {
  const int s = CB_BASIS_STAGES;
  const size_t nodes = (size_t)b->panels * s;
  b->nodes = (int)nodes;
  b->edge = cb_arena_alloc(b->arena, (size_t)b->panels + 1, sizeof(double));
  b->time = cb_arena_alloc(b->arena, nodes, sizeof(double));
  b->weight = cb_arena_alloc(b->arena, nodes, sizeof(double));
  b->phi = cb_arena_alloc(b->arena, nodes * (size_t)b->functions + CB_OUTER_SLACK, sizeof(double));
  b->rate = cb_arena_alloc(b->arena, nodes * (size_t)b->functions + CB_OUTER_SLACK, sizeof(double));
  b->curve = cb_arena_alloc(b->arena, nodes * (size_t)b->functions + CB_OUTER_SLACK, sizeof(double));
  b->first = cb_arena_alloc(b->arena, 3 * (size_t)b->functions, sizeof(double));
  b->last = b->first ? b->first + b->functions : NULL;
  cb_status status = cb_tableau_gauss(s, &b->gauss);
  if (!b->edge || !b->time || !b->weight || !b->phi || !b->rate || !b->curve || !b->first)
    status = cb_fail(CB_ERROR_MEMORY, "no memory for %d functions of time", b->functions);
  if (status) {
    cb_basis_free(b);
    return status;
  }
  int panel = 0;
  for (int arc = 0; arc < b->arcs; arc++)
    for (int k = 0; k < panels_of[arc]; k++, panel++) {
      const double whole = b->end[arc + 1] - b->end[arc];
      b->edge[panel] = b->end[arc] + whole * edge_at(b, k, panels_of[arc]);
      const double length = b->end[arc] + whole * edge_at(b, k + 1, panels_of[arc]) - b->edge[panel];
      for (int i = 0; i < s; i++) {
        const int q = panel * s + i;
        b->time[q] = b->edge[panel] + b->gauss.c[i] * length;
        b->weight[q] = b->gauss.b[i] * length;
        double *phi = b->phi + q * b->functions, *rate = b->rate + q * b->functions,
               *curve = b->curve + q * b->functions;
        if (b->harmonics)
          fourier_at(b, b->time[q], phi, rate, curve);
        else
          arcs_at(b, arc, b->time[q], phi, rate, curve);
      }
    }
  b->edge[panel] = 1;
  for (int end = 0; end < 2; end++) {
    double *phi = b->first + 2 * b->functions, *rate = end ? b->last : b->first;
    if (b->harmonics)
      fourier_at(b, end, phi, rate, NULL);
    else
      arcs_at(b, end ? b->arcs - 1 : 0, end, phi, rate, NULL);
  }
  *out = b;
  return CB_OK;
}

static cb_basis *begin(int arcs, const double *ends) {
  cb_arena *arena = cb_arena_create();
  cb_basis *b = cb_arena_alloc(arena, 1, sizeof *b);
  if (b) b->end = cb_arena_alloc(arena, (size_t)arcs + 1, sizeof *b->end);
  if (!b || !b->end) {
    cb_arena_free(arena);
    return NULL;
  }
  b->arena = arena;
  b->arcs = arcs;
  memcpy(b->end, ends, ((size_t)arcs + 1) * sizeof *ends);
  return b;
}

cb_status cb_basis_fourier(int harmonics, int panels, cb_basis **out) {
  if (harmonics < 1 || harmonics > HARMONICS_MAX)
    return cb_fail(CB_ERROR_ARGUMENT, "%d harmonics: expected 1 to %d", harmonics, HARMONICS_MAX);
  cb_basis *b = begin(1, (const double[2]){0, 1});
  if (!b) return cb_fail(CB_ERROR_MEMORY, "no memory for %d harmonics", harmonics);
  b->harmonics = harmonics;
  b->functions = 2 * harmonics + 1;
  b->panels = panels > 0 ? panels : (int)fmax(8, 2 * harmonics);
  return finish(b, &b->panels, out);
}

cb_status cb_basis_arcs(int arcs, const double *ends, int degree, int panels, cb_basis **out) {
  int panels_of[CB_BASIS_ARCS_MAX];
  if (arcs < 1 || arcs > CB_BASIS_ARCS_MAX || degree < 2 || degree > DEGREE_MAX)
    return cb_fail(CB_ERROR_ARGUMENT, "found %d arcs of degree %d: expected 1 to %d arcs of degree 2 to %d", arcs,
                   degree, CB_BASIS_ARCS_MAX, DEGREE_MAX);
  for (int k = 0; k < arcs; k++)
    if (!(ends[k + 1] > ends[k]))
      return cb_fail(CB_ERROR_ARGUMENT, "arc %d does not end after it begins: expected times that increase", k);
  cb_basis *b = begin(arcs, ends);
  if (!b) return cb_fail(CB_ERROR_MEMORY, "no memory for %d arcs", arcs);
  b->degree = degree;
  b->functions = arcs * degree;
  for (int k = 0; k < arcs; k++) {
    const double share = panels > 0 ? panels * (ends[k + 1] - ends[k]) : degree;
    panels_of[k] = (int)fmax(2, ceil(share));
    b->panels += panels_of[k];
  }
  return finish(b, panels_of, out);
}

void cb_basis_free(cb_basis *b) {
  if (b) cb_arena_free(b->arena);
}

static cb_status fourier_gait(const cb_basis *b, int n, const double *c, cb_gait **out) {
  const int harmonics = b->harmonics;
  double mean[CB_SHAPE_MAX], *rows = malloc(2 * (size_t)(harmonics * n) * sizeof *rows);
  if (!rows) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d harmonics", harmonics);
  double *cosine = rows, *sine = rows + harmonics * n;
  for (int i = 0; i < n; i++) {
    const double *row = c + i * b->functions;
    mean[i] = row[0];
    for (int k = 1; k <= harmonics; k++) {
      const double scale = M_SQRT2 / (2 * M_PI * k);
      cosine[(k - 1) * n + i] = scale * row[2 * k - 1];
      sine[(k - 1) * n + i] = scale * row[2 * k];
    }
  }
  const cb_status status = cb_gait_fourier(n, harmonics, mean, cosine, sine, out);
  free(rows);
  return status;
}

/* Creates a gait from its values at the Chebyshev-Lobatto points of each arc. */
static cb_status arcs_gait(const cb_basis *b, int n, const double *c, cb_gait **out) {
  const int rows = b->degree + 1;
  double *phi = malloc((size_t)b->functions * sizeof *phi);
  double *value = malloc((size_t)(b->arcs * rows * n) * sizeof *value);
  cb_status status = phi && value ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d arcs", b->arcs);
  for (int arc = 0; !status && arc < b->arcs; arc++)
    for (int k = 0; k < rows; k++) {
      const double s = (1 - cos(M_PI * k / b->degree)) / 2;
      arcs_at(b, arc, b->end[arc] + s * (b->end[arc + 1] - b->end[arc]), phi, NULL, NULL);
      for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int a = 0; a < b->functions; a++) sum += c[i * b->functions + a] * phi[a];
        value[(arc * rows + k) * n + i] = sum;
      }
    }
  if (!status) status = cb_gait_arcs(n, b->arcs, b->end, b->degree, value, out);
  free(phi);
  free(value);
  return status;
}

cb_status cb_basis_gait(const cb_basis *b, int n, const double *c, cb_gait **out) {
  return b->harmonics ? fourier_gait(b, n, c, out) : arcs_gait(b, n, c, out);
}

cb_status cb_basis_project(const cb_basis *b, const cb_gait *gait, double *c) {
  const int n = cb_gait_variables(gait), f = b->functions, slack = CB_OUTER_SLACK;
  double *scratch = calloc((size_t)(b->nodes * (n + f) + f * f + 2 * slack), sizeof *scratch);
  if (!scratch) return cb_fail(CB_ERROR_MEMORY, "no memory for %d functions of time", f);
  double *gram = scratch, *part = gram + f * f, *at = part + b->nodes * f + slack;
  memset(c, 0, (size_t)(n * f) * sizeof *c);
  for (int rates = 0; rates < 2; rates++) {
    const double *functions = rates ? b->rate : b->phi;
    for (int q = 0; q < b->nodes; q++) {
      double r[CB_SHAPE_MAX], v[CB_SHAPE_MAX];
      cb_gait_at(gait, b->time[q], r, v);
      for (int a = 0; a < f; a++) part[q * f + a] = b->weight[q] * functions[q * f + a];
      memcpy(at + q * n, rates ? v : r, (size_t)n * sizeof *at);
    }
    cb_outer_add(b->nodes, f, part, f, functions, gram, f);
    cb_outer_add(b->nodes, n, at, f, part, c, f);
  }
  const bool positive = cb_cholesky(f, gram, 0, gram);
  for (int i = 0; positive && i < n; i++) cb_cholesky_solve(f, gram, c + i * f);
  free(scratch);
  return positive ? CB_OK : cb_fail(CB_STEP_SINGULAR, "%d functions of time are not independent", f);
}
