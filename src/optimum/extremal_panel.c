/* This file computes the residuals of the collocation on panels, and their linearised equations. The equations of the
 * panels are solved one after another, so that only the unknowns z remain (extremal_private.h). */
#include "numerics/lie_private.h"
#include "optimum/extremal_private.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Returns the first panel of segment s. */
static int segment_start(const extremal_mesh *m, int s) { return s * m->panels / m->segments; }

/* --- the group: g = g_k exp(theta), theta' = dexp_{-theta}^-1 xi = sum_j B_j (-ad_theta)^j xi/j!; g_k: the element at
 * the beginning of panel k; xi: the body velocity; B_j: Bernoulli's numbers --- */

/* Computes theta[CB_STAGES][dim], theta_i = h sum_j a_ij rate_j, and end[dim] = h sum_j b_j rate_j, with the
 * coefficients a, b of Gauss's method. Returns the largest change of theta. */
static double gather(const cb_tableau *t, int dim, double h, const double *rate, double *theta, double *end) {
  double change = 0;
  for (int k = 0; k < dim; k++) end[k] = 0;
  for (int i = 0; i < CB_STAGES; i++)
    for (int k = 0; k < dim; k++) {
      double sum = 0;
      for (int j = 0; j < CB_STAGES; j++) sum += t->a[i][j] * rate[j * dim + k];
      change = fmax(change, fabs(h * sum - theta[i * dim + k]));
      theta[i * dim + k] = h * sum;
      end[k] += h * t->b[i] * rate[i * dim + k];
    }
  return change;
}

/* Makes a step of g' = g xi from the group element g. Computes theta at each stage j and `end` at the end of the step:
 * the element at stage j is g exp(theta_j), and the element at the end is g exp(end). */
static cb_status group_panel(const cb_group *G, const cb_tableau *gauss, double h, const double *xi, double *theta,
                             double *end) {
  const int dim = G->dim;
  double rate[CB_STAGES * CB_GROUP_DIM], change = INFINITY;
  memset(theta, 0, (size_t)(CB_STAGES * dim) * sizeof *theta);
  gather(gauss, dim, h, xi, theta, end);
  for (int round = 0; !G->abelian && round < 60; round++) {
    for (int j = 0; j < CB_STAGES; j++) {
      const cb_status status = cb_lie_left_rate(G, theta + j * dim, xi + j * dim, rate + j * dim);
      if (status) return status;
    }
    const double before = change;
    change = gather(gauss, dim, h, rate, theta, end);
    if (change <= 1e-16 || (change <= 1e-13 && change >= before)) return CB_OK;
  }
  return G->abelian
             ? CB_OK
             : cb_fail(CB_STEP_NO_CONVERGENCE,
                       "group %s: the rotation on one panel of an extremal is too large: try another start", G->name);
}

/* --- residuals --- */

cb_status panels_elements(extremal_mesh *m, const unknowns *u) {
  const cb_group *G = m->p->G;
  const int dim = G->dim;
  G->identity(G, m->element);
  for (int a = 0; a < m->arcs; a++) {
    const double h = u->duration[a] / (m->first[a + 1] - m->first[a]);
    for (int k = m->first[a]; k < m->first[a + 1]; k++) {
      double theta[CB_STAGES * CB_GROUP_DIM], end[CB_GROUP_DIM], e[CB_GROUP_SIZE];
      const double *g = m->element + k * G->size;
      const cb_status status = group_panel(G, &m->p->gauss, h, m->xi + k * CB_STAGES * dim, theta, end);
      if (status) return status;
      for (int j = 0; j < CB_STAGES; j++) {
        G->exp(G, theta + j * dim, e);
        G->multiply(G, g, e, e);
        G->adjoint(G, e, m->Ad + (k * CB_STAGES + j) * dim * dim);
      }
      G->exp(G, end, e);
      G->multiply(G, g, e, m->element + (k + 1) * G->size);
    }
  }
  memcpy(m->g1, m->element + m->panels * G->size, (size_t)G->size * sizeof *m->g1);
  return CB_OK;
}

/* Returns the set of held variables that arc a releases at the end of panel k. */
static unsigned released(const extremal_mesh *m, int a, int k) {
  return k + 1 == m->first[a + 1] && a + 1 < m->arcs ? m->held[a] & ~m->held[a + 1] : 0;
}

static cb_status residuals(extremal_mesh *m, const unknowns *u, int a, int k, double h) {
  const int size = m->p->size;
  const double *states = m->p->homogeneous ? m->P : u->stage;
  const cb_tableau *t = &m->p->gauss;
  const double *f = m->f + k * CB_STAGES * size, *x = u->x + k * size;
  double end[CB_WONG_MAX];
  for (int i = 0; i < CB_STAGES; i++) {
    const double *stage = states + (k * CB_STAGES + i) * size;
    double *off = m->off + (k * CB_STAGES + i) * size;
    for (int c = 0; c < size; c++) off[c] = 0;
    for (int j = 0; j < CB_STAGES; j++)
      for (int c = 0; c < size; c++) off[c] += t->a[i][j] * f[j * size + c];
    for (int c = 0; c < size; c++) off[c] = x[c] + h * off[c] - stage[c];
  }
  for (int c = 0; c < size; c++) {
    double sum = 0;
    for (int j = 0; j < CB_STAGES; j++) sum += t->b[j] * f[j * size + c];
    end[c] = x[c] + h * sum;
  }
  const unsigned off = released(m, a, k);
  const cb_status status = off ? cb_wong_release(&m->p->wong, m->held[a], end, NULL) : CB_OK;
  for (int c = 0; c < size; c++) m->gap[k * size + c] = end[c] - u->x[(k + 1) * size + c];
  return status;
}

/* Computes the rates of the state at stage s, which lies on arc a. Stages are counted over all panels. With `slopes`,
 * it also computes the derivatives of the rates in the state. */
static cb_status stage_at(extremal_mesh *m, const unknowns *u, int a, int s, bool slopes) {
  const int size = m->p->size, dim = m->p->dim, square = s * size * size;
  const double *x = u->stage + s * size;
  const cb_wong_rates out = {.f = m->f + s * size,
                             .xi = m->xi + s * dim,
                             .J = slopes ? m->J + square : NULL,
                             .X = slopes ? m->X + s * dim * size : NULL};
  if (!m->p->homogeneous) return cb_wong_at(&m->p->wong, m->held[a], x, &out);
  const cb_wong_homogeneous with = {.f = out.f,
                                    .P = m->P + s * size,
                                    .xi = out.xi,
                                    .s = m->s + s,
                                    .J = out.J,
                                    .D = m->D + square,
                                    .X = out.X,
                                    .ds = m->ds + s * size,
                                    .JG = m->JG + 2 * s * size,
                                    .DG = m->DG + 2 * s * size};
  return cb_wong_homogeneous_at(&m->p->wong, u->global[0], u->global[1], x, &with);
}

/* Sets m->cost to v'Mv at the start, which is constant along an extremal. For homogeneous multipliers sets it to the
 * mean of v'Mv over time instead. */
static cb_status cost_of(extremal_mesh *m, const unknowns *u) {
  double H = 0;
  cb_status status = CB_OK;
  if (!m->p->homogeneous) status = cb_wong_at(&m->p->wong, m->held[0], u->x, &(cb_wong_rates){.H = &H});
  m->cost = 2 * H;
  for (int s = 0; m->p->homogeneous && s < m->panels * CB_STAGES; s++)
    m->cost += u->duration[0] / m->panels * m->p->gauss.b[s % CB_STAGES] * m->s[s];
  return status;
}

cb_status panels_evaluate(extremal_mesh *m, const unknowns *u, bool slopes) {
  cb_status status = CB_OK;
  for (int a = 0; !status && a < m->arcs; a++) {
    const double h = u->duration[a] / (m->first[a + 1] - m->first[a]);
    for (int k = m->first[a]; !status && k < m->first[a + 1]; k++) {
      for (int j = 0; !status && j < CB_STAGES; j++) status = stage_at(m, u, a, k * CB_STAGES + j, slopes);
      if (!status) status = residuals(m, u, a, k, h);
    }
  }
  if (!status) status = cost_of(m, u);
  return status ? status : panels_elements(m, u);
}

/* --- linear equations --- */

/* The first `rows` columns of a[rows][width] are a matrix K. Replaces the other columns by K^-1 times these columns. */
static cb_status eliminate(int rows, int width, double *a) {
  for (int k = 0; k < rows; k++) {
    int best = k;
    for (int i = k + 1; i < rows; i++)
      if (fabs(a[i * width + k]) > fabs(a[best * width + k])) best = i;
    double *const pivot = a + k * width;
    const double p = a[best * width + k];
    if (!(fabs(p) > 0 && fabs(p) < INFINITY))
      return cb_fail(CB_STEP_SINGULAR,
                     "the equations of a panel of an extremal are singular (pivot %g): try another start", p);
    if (best != k)
      for (int j = k; j < width; j++) {
        const double swap = pivot[j];
        pivot[j] = a[best * width + j];
        a[best * width + j] = swap;
      }
    for (int i = k + 1; i < rows; i++) {
      double *restrict row = a + i * width;
      const double factor = row[k] / p;
      if (factor == 0) continue;
      for (int j = k + 1; j < width; j++) row[j] -= factor * pivot[j];
    }
  }
  for (int k = rows - 1; k >= 0; k--) {
    double *const row = a + k * width;
    for (int j = rows; j < width; j++) row[j] /= row[k];
    for (int i = 0; i < k; i++) {
      double *restrict above = a + i * width;
      const double factor = above[k];
      if (factor == 0) continue;
      for (int j = rows; j < width; j++) above[j] -= factor * row[j];
    }
  }
  return CB_OK;
}

/* Computes solution[CB_STAGES size][width] of panel k: the derivatives of the stages by x_k, by the duration of the arc
 * and by the globals, and the constant. */
static cb_status solve_stages(extremal_mesh *m, int k, double h, int of_arc) {
  const int size = m->p->size, rows = CB_STAGES * size, wide = width_of(m->p), width = rows + wide;
  const cb_tableau *t = &m->p->gauss;
  double *S = m->system;
  for (int i = 0; i < CB_STAGES; i++)
    for (int c = 0; c < size; c++) {
      double *row = S + (i * size + c) * width;
      for (int j = 0; j < CB_STAGES; j++) {
        const double ha = -h * t->a[i][j], *J = m->J + ((k * CB_STAGES + j) * size + c) * size;
        for (int d = 0; d < size; d++) row[j * size + d] = ha * J[d];
      }
      const double *D = m->p->homogeneous ? m->D + ((k * CB_STAGES + i) * size + c) * size : NULL;
      for (int d = 0; d < size; d++) row[i * size + d] += D ? D[d] : c == d;
      for (int d = 0; d < size; d++) row[rows + d] = c == d;
      for (int e = 0; e < globals(m->p); e++) {
        double sum = -m->DG[((k * CB_STAGES + i) * size + c) * 2 + e];
        for (int j = 0; j < CB_STAGES; j++) sum += h * t->a[i][j] * m->JG[((k * CB_STAGES + j) * size + c) * 2 + e];
        row[rows + size + 1 + e] = sum;
      }
      row[rows + size] = 0;
      for (int j = 0; j < CB_STAGES; j++)
        row[rows + size] += t->a[i][j] * m->f[(k * CB_STAGES + j) * size + c] / of_arc;
      row[width - 1] = m->off[(k * CB_STAGES + i) * size + c];
    }
  const cb_status status = eliminate(rows, width, S);
  double *out = m->solution + (size_t)k * (size_t)(rows * wide);
  for (int i = 0; i < rows; i++) memcpy(out + i * wide, S + i * width + rows, (size_t)wide * sizeof *S);
  return status;
}

/* Linearises the integral sum_j h b_j f_j of a function f[rows] over panel k. out[rows][width] becomes sum_j h b_j F_j
 * dX_j plus the effect of the duration on h. F_j[rows][size] are the derivatives of f_j at stage j, and dX_j is the
 * change of the stage. */
static void quadrature(const extremal_mesh *m, int k, int rows, const double *F, const double *f, double h, int of_arc,
                       double *out) {
  const int size = m->p->size, width = width_of(m->p);
  const double *dX = m->solution + (size_t)k * (size_t)(CB_STAGES * size * width);
  memset(out, 0, (size_t)(rows * width) * sizeof *out);
  for (int j = 0; j < CB_STAGES; j++)
    for (int c = 0; c < rows; c++) {
      const double *row = F + (j * rows + c) * size, hb = h * m->p->gauss.b[j];
      for (int d = 0; d < size; d++) {
        const double part = hb * row[d], *from = dX + (j * size + d) * width;
        for (int e = 0; e < width; e++) out[c * width + e] += part * from[e];
      }
      out[c * width + size] += m->p->gauss.b[j] * f[j * rows + c] / of_arc;
    }
}

/* `map` is an affine map of (dx_k, duration, globals, 1). Converts it to a map of (z, 1), and adds its rows to out.
 * dx_k is the change at the beginning of panel k, which is given by its affine rows in z (extremal_private.h). */
static void compose(const extremal_mesh *m, int rows, const double *map, const double *affine, int arc, double *out) {
  const int size = m->p->size, wide = columns(m), width = width_of(m->p);
  for (int c = 0; c < rows; c++) {
    for (int d = 0; d < size; d++)
      for (int e = 0; e < wide; e++) out[c * wide + e] += map[c * width + d] * affine[d * wide + e];
    out[c * wide + m->segments * size + arc] += map[c * width + size];
    for (int e = 0; e < globals(m->p); e++)
      out[c * wide + m->segments * size + m->arcs + e] += map[c * width + size + 1 + e];
    out[c * wide + wide - 1] += map[c * width + width - 1];
  }
}

static void carry_eta(extremal_mesh *m, int k, double h, int a) {
  const int size = m->p->size, dim = m->p->dim;
  double F[CB_STAGES * CB_GROUP_DIM * CB_WONG_MAX], f[CB_STAGES * CB_GROUP_DIM];
  double map[CB_GROUP_DIM * CB_WIDTH_MAX];
  memset(F, 0, (size_t)(CB_STAGES * dim * size) * sizeof *F);
  memset(f, 0, (size_t)(CB_STAGES * dim) * sizeof *f);
  for (int j = 0; j < CB_STAGES; j++)
    for (int b = 0; b < dim; b++)
      for (int c = 0; c < dim; c++) {
        const int s = k * CB_STAGES + j;
        const double ad = m->Ad[(s * dim + b) * dim + c], *X = m->X + (s * dim + c) * size;
        for (int d = 0; d < size; d++) F[(j * dim + b) * size + d] += ad * X[d];
        f[j * dim + b] += ad * m->xi[s * dim + c];
      }
  quadrature(m, k, dim, F, f, h, m->first[a + 1] - m->first[a], map);
  compose(m, dim, map, m->affine + k * size * columns(m), a, m->eta);
}

/* The globals are the weight mu and the cost. The rates depend on them also directly, and not only through the stages.
 * Adds this part to `map`, the affine map (see compose) from the unknowns of panel k to its end. */
static void add_globals(const extremal_mesh *m, int k, double h, double *map) {
  const int size = m->p->size, width = width_of(m->p);
  for (int e = 0; e < globals(m->p); e++)
    for (int j = 0; j < CB_STAGES; j++)
      for (int c = 0; c < size; c++)
        map[c * width + size + 1 + e] += h * m->p->gauss.b[j] * m->JG[((k * CB_STAGES + j) * size + c) * 2 + e];
}

cb_status panels_condense(extremal_mesh *m) {
  const int size = m->p->size, wide = columns(m);
  double map[CB_WONG_MAX * CB_WIDTH_MAX], end[CB_WONG_MAX];
  memset(m->affine, 0, (size_t)((m->panels + 1) * size * wide) * sizeof *m->affine);
  memset(m->eta, 0, (size_t)(m->p->dim * wide) * sizeof *m->eta);
  memset(m->dcost, 0, (size_t)wide * sizeof *m->dcost);
  for (int s = 0; s < m->segments; s++)
    for (int c = 0; c < size; c++) m->affine[(segment_start(m, s) * size + c) * wide + s * size + c] = 1;
  int segment = 1;
  for (int a = 0; a < m->arcs; a++) {
    const int of_arc = m->first[a + 1] - m->first[a];
    const double h = m->at.duration[a] / of_arc;
    for (int k = m->first[a]; k < m->first[a + 1]; k++) {
      const bool joins = segment < m->segments && k + 1 == segment_start(m, segment);
      const double *x = m->affine + k * size * wide;
      double *next = joins ? m->joint + segment++ * size * wide : m->affine + (k + 1) * size * wide;
      memset(next, 0, (size_t)(size * wide) * sizeof *next);
      const size_t at = (size_t)(k * CB_STAGES * size);
      cb_status status = solve_stages(m, k, h, of_arc);
      if (status) return status;
      quadrature(m, k, size, m->J + at * (size_t)size, m->f + at, h, of_arc, map);
      add_globals(m, k, h, map);
      for (int c = 0; c < size; c++) map[c * width_of(m->p) + c] += 1;
      compose(m, size, map, x, a, next);
      carry_eta(m, k, h, a);
      if (m->p->homogeneous) {
        quadrature(m, k, 1, m->ds + at, m->s + k * CB_STAGES, h, of_arc, map);
        compose(m, 1, map, x, a, m->dcost);
      }
      if (released(m, a, k)) {
        double D[CB_WONG_MAX * CB_WONG_MAX], before[CB_WONG_MAX];
        for (int c = 0; c < size; c++) end[c] = m->gap[k * size + c] + m->at.x[(k + 1) * size + c];
        status = cb_wong_release(&m->p->wong, m->held[a], end, D);
        if (status) return status;
        for (int e = 0; e < wide; e++) {
          for (int c = 0; c < size; c++) before[c] = next[c * wide + e];
          for (int c = 0; c < size; c++) {
            next[c * wide + e] = 0;
            for (int d = 0; d < size; d++) next[c * wide + e] += D[c * size + d] * before[d];
          }
        }
      }
      for (int c = 0; c < size; c++) next[c * wide + wide - 1] += m->gap[k * size + c];
    }
  }
  return CB_OK;
}

void panels_expand(extremal_mesh *m, const double *z) {
  const int size = m->p->size, wide = columns(m), width = width_of(m->p);
  for (int k = 0; k <= m->panels; k++)
    for (int c = 0; c < size; c++) {
      const double *row = m->affine + (k * size + c) * wide;
      double sum = row[wide - 1];
      for (int e = 0; e < wide - 1; e++) sum += row[e] * z[e];
      m->step.x[k * size + c] = sum;
    }
  for (int a = 0; a < m->arcs; a++) m->step.duration[a] = z[m->segments * size + a];
  for (int e = 0; e < globals(m->p); e++) m->step.global[e] = z[m->segments * size + m->arcs + e];
  for (int k = 0; k < m->panels; k++) {
    const double *dx = m->step.x + k * size, *rows = m->solution + (size_t)k * (size_t)(CB_STAGES * size * width);
    const double duration = m->step.duration[arc_of(m, k)];
    for (int i = 0; i < CB_STAGES * size; i++) {
      const double *row = rows + i * width;
      double sum = row[size] * duration + row[width - 1];
      for (int e = 0; e < globals(m->p); e++) sum += row[size + 1 + e] * m->step.global[e];
      for (int d = 0; d < size; d++) sum += row[d] * dx[d];
      m->step.stage[k * CB_STAGES * size + i] = sum;
    }
  }
}
