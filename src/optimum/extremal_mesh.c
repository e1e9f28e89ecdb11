/* Meshes of the collocation: this file allocates and refines them, computes the scales of the unknowns, and sets the
 * first values of the unknowns from a gait. */
#include "optimum/extremal_private.h"

#include "numerics/small.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the maximum number of segments (extremal_private.h). It is larger for homogeneous multipliers: the weight mu
 * of the cost may be small, and changes of the path grow as exp(t/sqrt(mu)). */
static int maximum_segments(const problem *p) { return p->homogeneous ? CB_SEGMENTS_MAX : 4; }

static double *numbers(extremal_mesh *m, bool *short_of, int count, int each) {
  double *x = cb_arena_alloc(m->arena, (size_t)count * (size_t)each, sizeof *x);
  *short_of |= !x;
  return x;
}

static void take_unknowns(extremal_mesh *m, bool *short_of, unknowns *u) {
  u->x = numbers(m, short_of, m->panels + 1, m->p->size);
  u->stage = numbers(m, short_of, m->panels, CB_STAGES * m->p->size);
}

/* Divides the path into segments, and counts the unknowns and the conditions. The conditions are: r and p at both ends,
 * or r at both ends; the target; transversality; one row each for the objective, the shift of time and the sum of the
 * durations; one row for each of the globals mu and E; n + 2 more for an abnormal extremal; two rows where a variable
 * meets its bound; `size` rows per joint of segments. */
void mesh_divide(extremal_mesh *m, int segments) {
  const problem *p = m->p;
  m->segments = segments < maximum_segments(p) ? segments : maximum_segments(p);
  if (m->segments > m->panels) m->segments = m->panels;
  m->unknown = states(m) + p->count + p->amount_free;
  m->rows = 2 * p->n + p->count + p->dim + 3 + globals(p) + (p->abnormal ? p->n + 2 : 0) + (m->segments - 1) * p->size;
  for (int a = 1; a < m->arcs; a++)
    for (int i = 0; i < p->n; i++)
      if (m->held[a] & ~m->held[a - 1] & 1u << i) m->rows += 2;
  if (m->rows < m->unknown) m->rows = m->unknown;
}

cb_status mesh_create(const problem *p, int arcs, const int *panels, const unsigned *held, extremal_mesh **out) {
  extremal_mesh *m = calloc(1, sizeof *m);
  if (m) m->arena = cb_arena_create();
  bool short_of = !m || !m->arena;
  if (!short_of) {
    const int size = p->size, dim = p->dim;
    m->p = p;
    m->arcs = arcs;
    for (int a = 0; a < arcs; a++) {
      m->first[a + 1] = m->first[a] + panels[a];
      m->held[a] = held ? held[a] : 0;
    }
    const int count = m->panels = m->first[arcs], stages = count * CB_STAGES;
    mesh_divide(m, maximum_segments(p));
    const int wide = columns(m);
    take_unknowns(m, &short_of, &m->at);
    take_unknowns(m, &short_of, &m->trial);
    take_unknowns(m, &short_of, &m->step);
    m->f = numbers(m, &short_of, stages, size);
    m->xi = numbers(m, &short_of, stages, dim);
    m->X = numbers(m, &short_of, stages, dim * size);
    m->J = numbers(m, &short_of, stages, size * size);
    m->element = numbers(m, &short_of, count + 1, p->G->size);
    m->Ad = numbers(m, &short_of, stages, dim * dim);
    m->off = numbers(m, &short_of, stages, size);
    m->gap = numbers(m, &short_of, count, size);
    if (p->homogeneous) {
      m->P = numbers(m, &short_of, stages, size);
      m->s = numbers(m, &short_of, stages, 1);
      m->D = numbers(m, &short_of, stages, size * size);
      m->ds = numbers(m, &short_of, stages, size);
      m->JG = numbers(m, &short_of, stages, 2 * size);
      m->DG = numbers(m, &short_of, stages, 2 * size);
    }
    m->solution = numbers(m, &short_of, stages * size, width_of(p));
    m->system = numbers(m, &short_of, CB_STAGES * size, CB_STAGES * size + width_of(p));
    m->affine = numbers(m, &short_of, count + 1, size * wide);
    m->joint = numbers(m, &short_of, m->segments, size * wide);
    m->eta = numbers(m, &short_of, dim, wide);
    m->dcost = numbers(m, &short_of, 1, wide);
    m->matrix = numbers(m, &short_of, m->rows, m->unknown);
    m->right = numbers(m, &short_of, m->rows, 1);
    m->V = numbers(m, &short_of, m->unknown, m->unknown);
    m->sv = numbers(m, &short_of, m->unknown, 1);
    m->columns = numbers(m, &short_of, m->unknown, m->rows);
    m->solved = numbers(m, &short_of, m->unknown, 1);
    mesh_divide(m, p->homogeneous ? maximum_segments(p) : 1);
  }
  if (short_of) {
    mesh_free(m);
    return cb_fail(CB_ERROR_MEMORY, "no memory for an extremal");
  }
  *out = m;
  return CB_OK;
}

void mesh_free(extremal_mesh *m) {
  if (m) cb_arena_free(m->arena);
  free(m);
}

void mesh_interpolate(const cb_tableau *gauss, int size, const double *x0, const double *stage, double c, double *x) {
  double node[CB_STAGES + 1], basis[CB_STAGES + 1];
  node[0] = 0;
  memcpy(node + 1, gauss->c, CB_STAGES * sizeof *node);
  const int first = x0 ? 0 : 1;
  for (int k = 0; k < size; k++) x[k] = 0;
  for (int j = first; j <= CB_STAGES; j++) {
    basis[j] = 1;
    for (int i = first; i <= CB_STAGES; i++)
      if (i != j) basis[j] *= (c - node[i]) / (node[j] - node[i]);
    const double *value = j ? stage + (j - 1) * size : x0;
    for (int k = 0; k < size; k++) x[k] += basis[j] * value[k];
  }
}

void mesh_sample(const extremal_mesh *m, int a, double c, double *x) {
  const int size = m->p->size, count = m->first[a + 1] - m->first[a], in = c < 1 ? (int)(c * count) : count - 1;
  const int k = m->first[a] + in;
  const double *begin = m->p->homogeneous ? NULL : m->at.x + k * size;
  mesh_interpolate(&m->p->gauss, size, begin, m->at.stage + k * CB_STAGES * size, c * count - in, x);
}

/* For homogeneous multipliers: computes x = (r, p, lambda) at the beginnings of panels from stages (r, v, lambda). */
static cb_status mesh_nodes(extremal_mesh *m) {
  const problem *p = m->p;
  const int size = p->size;
  for (int k = 0; p->homogeneous && k <= m->panels; k++) {
    const int of = k < m->panels ? k : k - 1;
    double x[CB_WONG_MAX], f[CB_WONG_MAX], xi[CB_GROUP_DIM], s;
    mesh_interpolate(&p->gauss, size, NULL, m->at.stage + of * CB_STAGES * size, k > of, x);
    const cb_wong_homogeneous out = {.f = f, .P = m->at.x + k * size, .xi = xi, .s = &s};
    const cb_status status = cb_wong_homogeneous_at(&p->wong, m->at.global[0], m->at.global[1], x, &out);
    if (status) return status;
  }
  return CB_OK;
}

static double floored(double x, double maximum) { return fmax(x, 1e-3 * maximum); }

/* Sets the scales of r, p, lambda, v, the conditions and the cost from the unknowns m->at. The scales do not change
 * during the iteration on this mesh. */
static cb_status mesh_scale(extremal_mesh *m) {
  const problem *p = m->p;
  const int n = p->n, size = p->size, stages = m->panels * CB_STAGES;
  double low[CB_SHAPE_MAX], high[CB_SHAPE_MAX], wide = DBL_MIN, strong = DBL_MIN, H = 0;
  for (int i = 0; i < n; i++) {
    low[i] = INFINITY;
    high[i] = -INFINITY;
    m->pscale[i] = 0;
    for (int s = 0; s < stages; s++) {
      low[i] = fmin(low[i], m->at.stage[s * size + i]);
      high[i] = fmax(high[i], m->at.stage[s * size + i]);
      m->pscale[i] = fmax(m->pscale[i], p->homogeneous ? 0 : fabs(m->at.stage[s * size + n + i]));
    }
    for (int k = 0; p->homogeneous && k <= m->panels; k++)
      m->pscale[i] = fmax(m->pscale[i], fabs(m->at.x[k * size + n + i]));
    wide = fmax(wide, high[i] - low[i]);
    strong = fmax(strong, m->pscale[i]);
  }
  for (int i = 0; i < n; i++) {
    m->rscale[i] = floored(high[i] - low[i], wide);
    m->pscale[i] = floored(m->pscale[i], strong);
  }
  m->lscale = 0;
  for (int a = 0; a < p->dim; a++) m->lscale = fmax(m->lscale, fabs(m->at.x[2 * n + a]));
  if (m->lscale == 0) m->lscale = 1;
  double v[CB_SHAPE_MAX];
  cb_status status = CB_OK;
  if (!p->homogeneous) status = cb_wong_at(&p->wong, m->held[0], m->at.x, &(cb_wong_rates){.H = &H, .v = v});
  m->escale = p->homogeneous ? m->at.global[1] : 2 * H;
  for (int i = 0; !status && i < n; i++) /* the scale has a minimum, because the momentum may be 0 at all times */
    m->pscale[i] = fmax(m->pscale[i], .1 * m->escale / m->rscale[i]);
  m->cscale = m->escale / m->lscale;
  m->vscale = wide;
  return status;
}

cb_status mesh_refine(const extremal_mesh *m, double factor, extremal_mesh **out) {
  const int size = m->p->size;
  int panels[CB_ARCS_MAX], sum = 0;
  extremal_mesh *fine = NULL;
  for (int a = 0; a < m->arcs; a++) sum += panels[a] = (int)ceil(factor * (m->first[a + 1] - m->first[a]));
  if (sum > CB_PANELS_MAX)
    return cb_fail(CB_STEP_NO_CONVERGENCE, "an extremal is not resolved by %d panels: try a smoother gait as the start",
                   m->panels);
  const cb_status status = mesh_create(m->p, m->arcs, panels, m->held, &fine);
  if (status) return status;
  memcpy(fine->at.duration, m->at.duration, sizeof m->at.duration);
  memcpy(fine->at.nu, m->at.nu, sizeof m->at.nu);
  memcpy(fine->at.global, m->at.global, sizeof m->at.global);
  memcpy(fine->bound, m->bound, sizeof m->bound);
  fine->start = m->start;
  mesh_divide(fine, m->segments);
  fine->at.amount = m->at.amount;
  fine->iterations = m->iterations;
  for (int a = 0; a < m->arcs; a++) {
    const double width = 1. / panels[a];
    for (int k = fine->first[a]; k < fine->first[a + 1]; k++) {
      const int in = k - fine->first[a];
      /* for homogeneous multipliers x is first set to (r, v, lambda); mesh_nodes then replaces it by (r, p, lambda) */
      mesh_sample(m, a, in * width, fine->at.x + k * size);
      for (int j = 0; j < CB_STAGES; j++)
        mesh_sample(m, a, (in + m->p->gauss.c[j]) * width, fine->at.stage + (k * CB_STAGES + j) * size);
    }
  }
  memcpy(fine->at.x + fine->panels * size, m->at.x + m->panels * size, (size_t)size * sizeof *m->at.x);
  *out = fine;
  const cb_status made = mesh_nodes(fine);
  return made ? made : mesh_scale(fine);
}

/* Returns Legendre's polynomial of degree CB_STAGES - 1, shifted to [0, 1], at c. */
static double legendre(double c) {
  double last = 1, value = 2 * c - 1;
  for (int k = 2; k < CB_STAGES; k++) {
    const double next = ((2 * k - 1) * (2 * c - 1) * value - (k - 1) * last) / k;
    last = value;
    value = next;
  }
  return value;
}

double mesh_roughness(const extremal_mesh *m) {
  const int size = m->p->size;
  double maximum = 0;
  for (int k = 0; k < m->panels; k++) {
    const int a = arc_of(m, k);
    const double h = m->at.duration[a] / (m->first[a + 1] - m->first[a]);
    for (int c = 0; c < size; c++) {
      double sum = 0;
      for (int j = 0; j < CB_STAGES; j++)
        sum += m->p->gauss.b[j] * legendre(m->p->gauss.c[j]) * m->f[(k * CB_STAGES + j) * size + c];
      maximum = fmax(maximum, fabs((2 * CB_STAGES - 1) * h * sum) / scale_of(m, c));
    }
  }
  return maximum;
}

/* --- the start of Newton's method: along a gait, lambda = Ad*_g lambda(0), p = Mv + <lambda, A> (symbols: extremal.h)
 * --- */

/* Computes r and v of the gait at time t, clipped to the bounds. A variable that arc a holds is set to its bound. */
static void shape_at(const extremal_mesh *m, int a, double t, double *r, double *v) {
  const cb_optimum_problem *o = m->p->o;
  cb_gait_at(m->start, t, r, v);
  for (int i = 0; i < m->p->n; i++) {
    if (o->lower) r[i] = fmax(r[i], o->lower[i]);
    if (o->upper) r[i] = fmin(r[i], o->upper[i]);
    if (m->held[a] >> i & 1) {
      r[i] = m->bound[a][i];
      v[i] = 0;
    }
  }
}

/* Computes the shapes and the body velocities xi of the given gait at the stages of arc a, which begins at the time
 * `begin`. The entries for the momenta p get the rates r' instead. */
static cb_status stages(extremal_mesh *m, int a, double begin) {
  const problem *p = m->p;
  const int n = p->n, dim = p->dim, size = p->size;
  const double h = m->at.duration[a] / (m->first[a + 1] - m->first[a]);
  for (int k = m->first[a]; k < m->first[a + 1]; k++)
    for (int j = 0; j < CB_STAGES; j++) {
      const int s = k * CB_STAGES + j;
      double *x = m->at.stage + s * size, A[CB_GROUP_DIM * CB_SHAPE_MAX];
      shape_at(m, a, begin + h * (k - m->first[a] + p->gauss.c[j]), x, x + n);
      const cb_status status = cb_bundle_connection(p->wong.bundle, x, A, NULL, NULL, NULL);
      if (status) return status;
      for (int b = 0; b < dim; b++) {
        m->xi[s * dim + b] = 0;
        for (int i = 0; i < n; i++) m->xi[s * dim + b] -= A[b * n + i] * x[n + i];
      }
    }
  return CB_OK;
}

/* Finds the multipliers nu for which sum nu_k first_k is nearest to lambda(0). first_k is the derivative of condition k
 * of the target (target.h). */
static cb_status multipliers(extremal_mesh *m, const double *lambda) {
  const problem *p = m->p;
  const int count = p->count, dim = p->dim;
  double c[CB_CONDITIONS_MAX], first[CB_CONDITIONS_MAX * CB_GROUP_DIM], gram[CB_CONDITIONS_MAX * CB_CONDITIONS_MAX];
  const cb_status status = cb_gait_target_at(p->G, &p->target, m->g1, c, first, NULL);
  if (status) return status;
  for (int k = 0; k < count; k++) {
    m->at.nu[k] = 0;
    for (int a = 0; a < dim; a++) m->at.nu[k] += first[k * dim + a] * lambda[a];
    for (int l = 0; l <= k; l++) {
      gram[k * count + l] = 0;
      for (int a = 0; a < dim; a++) gram[k * count + l] += first[k * dim + a] * first[l * dim + a];
    }
  }
  if (cb_cholesky(count, gram, 1e-12, gram))
    cb_cholesky_solve(count, gram, m->at.nu);
  else
    memset(m->at.nu, 0, sizeof m->at.nu);
  return CB_OK;
}

cb_status mesh_start(extremal_mesh *m, const double *lambda, double amount) {
  const problem *p = m->p;
  const int n = p->n, dim = p->dim, size = p->size;
  double begin = 0;
  cb_status status = CB_OK;
  memcpy(m->at.global, p->begin, sizeof m->at.global);
  for (int a = 0; !status && a < m->arcs; a++) {
    status = stages(m, a, begin);
    begin += m->at.duration[a];
  }
  if (!status) status = panels_elements(m, &m->at);
  for (int s = 0; !status && s < m->panels * CB_STAGES; s++) {
    double *x = m->at.stage + s * size, v[CB_SHAPE_MAX];
    const double *Ad = m->Ad + s * dim * dim;
    for (int i = 0; i < n; i++) v[i] = p->abnormal ? 0 : x[n + i];
    for (int a = 0; a < dim; a++) {
      x[2 * n + a] = 0;
      for (int b = 0; b < dim; b++) x[2 * n + a] += Ad[b * dim + a] * lambda[b];
    }
    if (!p->homogeneous) status = cb_wong_momentum(&p->wong, x, v, x + 2 * n, x + n);
  }
  if (!status && p->homogeneous) status = mesh_nodes(m);
  if (status) return status;
  for (int k = 0; !p->homogeneous && k <= m->panels; k++) {
    const int of = k < m->panels ? k : k - 1;
    mesh_interpolate(&p->gauss, size, NULL, m->at.stage + of * CB_STAGES * size, k > of, m->at.x + k * size);
  }
  m->at.amount = p->row < 0 ? 0 : p->amount_free ? amount : cb_gait_target_get(p->G, &p->target);
  status = multipliers(m, lambda);
  return status ? status : mesh_scale(m);
}
