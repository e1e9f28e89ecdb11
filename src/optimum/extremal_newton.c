/* The outer equations of an extremal in (z, nu, amount), and the damped Newton method. z are the changes of the start,
 * of the durations and of the globals (extremal_private.h), nu the multipliers of the conditions.
 *
 * Steps have minimum norm in scaled unknowns. Singular values s are inverted as s/(s^2 + alpha^2), where alpha =
 * |residual|/100, or the round-off if that is larger. Shifts and symmetries leave some directions of the unknowns
 * undetermined; with these steps the unknowns do not change in such directions, and convergence is still quadratic.
 * Source: Yamashita & Fukushima, Computing Suppl. 15 (2001) 239, doi:10.1007/978-3-7091-6217-0_18.
 */
#include "optimum/extremal_private.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MEMORY = 5 };

typedef struct rows {
  extremal_mesh *m;
  const unknowns *u;
  bool slopes; /* true: the matrix is computed too */
  int count;
} rows;

static double unknown_scale(const extremal_mesh *m, int c) {
  const problem *p = m->p;
  const int times = m->segments * p->size + m->arcs;
  if (c < m->segments * p->size) return scale_of(m, c % p->size);
  /* the scale of the cost is escale; those of the durations and of mu are 1 */
  if (c < states(m)) return c == times + 1 ? m->escale : 1;
  if (c < states(m) + p->count) return m->lscale;
  return m->cscale;
}

/* Begins an equation with the right side value/scale. Returns its coefficients, to which the caller adds its terms. */
static double *begin(rows *q, double value, double scale) {
  extremal_mesh *m = q->m;
  m->right[q->count] = value / scale;
  double *row = m->matrix + q->count++ * m->unknown;
  if (q->slopes) memset(row, 0, (size_t)m->unknown * sizeof *row);
  return row;
}

/* Adds `factor` times the affine row `affine` (extremal_private.h) to the equation `row`, which must be the last one.
 * The constant of the affine row is added to the right side. */
static void add(rows *q, double *row, double factor, const double *affine) {
  extremal_mesh *m = q->m;
  const int wide = columns(m);
  for (int c = 0; c < wide - 1; c++) row[c] += factor * affine[c];
  m->right[q->count - 1] += factor * affine[wide - 1];
}

static const double *affine_of(const extremal_mesh *m, int panel, int i) {
  return m->affine + (panel * m->p->size + i) * columns(m);
}

static void ends(rows *q) {
  extremal_mesh *m = q->m;
  const problem *p = m->p;
  const double *start = q->u->x, *end = start + m->panels * p->size;
  for (int i = 0; i < (p->free ? 2 : 1) * p->n; i++) {
    const double scale = scale_of(m, i);
    const double gap = i < p->n ? p->gap[i] : 0;
    double *row = begin(q, end[i] - (p->free ? start[i] : p->o->start_shape[i]) - gap, scale);
    if (q->slopes) add(q, row, 1 / scale, affine_of(m, m->panels, i));
    if (q->slopes && p->free) row[i] -= 1 / scale;
  }
  for (int i = 0; !p->free && i < p->n; i++) {
    double *row = begin(q, start[i] - p->o->start_shape[i], scale_of(m, i));
    row[i] += 1 / scale_of(m, i);
  }
}

/* Adds rows for the conditions c_k(g(1)) = 0 and for lambda(0) = sum_k nu_k first_k (target.h). If g(1) changes to
 * exp(y) g(1), the derivative of first_k in y is second_k y + [., y]* first_k/2. */
static cb_status conditions(rows *q) {
  extremal_mesh *m = q->m;
  const problem *p = m->p;
  const int dim = p->dim, nus = states(m), amount = nus + p->count;
  double c[CB_CONDITIONS_MAX], first[CB_CONDITIONS_MAX * CB_GROUP_DIM];
  double second[CB_CONDITIONS_MAX * CB_GROUP_DIM * CB_GROUP_DIM];
  cb_gait_target target = p->target;
  if (p->row >= 0) cb_gait_target_set(p->G, &target, q->u->amount);
  const cb_status status = cb_gait_target_at(p->G, &target, m->g1, c, first, q->slopes ? second : NULL);
  if (status) return status;
  for (int k = 0; k < p->count; k++) {
    const double slack = p->amount_free ? p->slack[k] : 0;
    double *row = begin(q, c[k] - (slack != 0 ? slack * q->u->amount : 0), m->cscale);
    for (int a = 0; q->slopes && a < dim; a++) add(q, row, first[k * dim + a] / m->cscale, m->eta + a * columns(m));
    if (q->slopes && p->amount_free) row[amount] -= (k == p->row ? 1 : slack) / m->cscale;
  }
  for (int a = 0; a < dim; a++) {
    double value = q->u->x[2 * p->n + a];
    for (int k = 0; k < p->count; k++) value -= q->u->nu[k] * first[k * dim + a];
    double *row = begin(q, value, m->lscale);
    if (!q->slopes) continue;
    row[2 * p->n + a] += 1 / m->lscale;
    for (int k = 0; k < p->count; k++) row[nus + k] -= first[k * dim + a] / m->lscale;
    for (int b = 0; b < dim; b++) {
      double slope = 0;
      for (int k = 0; k < p->count; k++) {
        slope += q->u->nu[k] * second[(k * dim + a) * dim + b];
        for (int d = 0; d < dim; d++) slope += q->u->nu[k] * first[k * dim + d] * p->wong.bracket[a][b][d] / 2;
      }
      if (slope != 0) add(q, row, -slope / m->lscale, m->eta + b * columns(m));
    }
  }
  return CB_OK;
}

/* Adds a row that forbids a step along the path. */
static void no_shift(rows *q, const double *f) {
  extremal_mesh *m = q->m;
  double *row = begin(q, 0, 1), size = 0;
  for (int i = 0; i < m->p->size; i++) size += pow(f[i] / scale_of(m, i), 2);
  for (int i = 0; q->slopes && i < m->p->size; i++) row[i] = f[i] / (sqrt(size) * pow(scale_of(m, i), 2));
}

/* Adds the equations of homogeneous multipliers, where mu is the weight of the cost and E the cost. They forbid a shift
 * of time, and require mu^2 + |lambda/weight|^2 = 1 at the start and int v'Mv dt = E. If the amount is unknown, the
 * last equation is the condition of the objective. */
static void homogeneous(rows *q) {
  extremal_mesh *m = q->m;
  const problem *p = m->p;
  const int nus = states(m), mu = nus - 2, cost = nus - 1, amount = nus + p->count;
  const double *lambda = q->u->x + 2 * p->n, w = 1 / (p->weight * p->weight);
  const double mu_now = q->u->global[0], E = q->u->global[1];
  if (p->shifts) no_shift(q, m->f);
  double norm = mu_now * mu_now - 1;
  for (int a = 0; a < p->dim; a++) norm += w * lambda[a] * lambda[a];
  double *row = begin(q, norm / 2, 1);
  if (q->slopes) row[mu] = mu_now;
  for (int a = 0; q->slopes && a < p->dim; a++) row[2 * p->n + a] = w * lambda[a];
  row = begin(q, m->cost - E, m->escale);
  if (q->slopes) {
    add(q, row, 1 / m->escale, m->dcost);
    row[cost] -= 1 / m->escale;
  }
  if (!p->amount_free) return;
  const double nu = q->u->nu[p->row], X = q->u->amount, length = p->o->length;
  const bool efficiency = p->o->objective == CB_OBJECTIVE_EFFICIENCY;
  row = begin(q, efficiency ? mu_now * E - nu * X : E - length * length, m->escale);
  if (!q->slopes) return;
  row[cost] = (efficiency ? mu_now : 1) / m->escale;
  if (!efficiency) return;
  row[mu] = E / m->escale;
  row[nus + p->row] = -X / m->escale;
  row[amount] = -nu / m->escale;
}

/* Adds the rows of an abnormal extremal (extremal.h). They fix the size of lambda and require p = A^T lambda at the
 * start, from which it follows at all times. With two shape variables they also require <lambda, B> = 0. */
static cb_status abnormal(rows *q) {
  extremal_mesh *m = q->m;
  const problem *p = m->p;
  const int n = p->n, dim = p->dim, size = p->size;
  const double *x = q->u->x, *lambda = x + 2 * n, w = 1 / (p->weight * p->weight);
  double P[CB_SHAPE_MAX], rest[CB_SHAPE_MAX] = {0}, A[CB_GROUP_DIM * CB_SHAPE_MAX];
  double dA[CB_SHAPE_MAX * CB_GROUP_DIM * CB_SHAPE_MAX], b, db[CB_WONG_MAX], norm = -1;
  cb_status status = cb_bundle_connection(p->wong.bundle, x, A, dA, NULL, NULL);
  if (!status) status = cb_wong_momentum(&p->wong, x, rest, lambda, P);
  if (!status && n == 2) status = cb_wong_singular(&p->wong, x, &b, q->slopes ? db : NULL);
  if (status) return status;
  for (int a = 0; a < dim; a++) norm += w * lambda[a] * lambda[a];
  double *row = begin(q, norm / 2, 1);
  for (int a = 0; q->slopes && a < dim; a++) row[2 * n + a] = w * lambda[a];
  for (int i = 0; i < n; i++) {
    row = begin(q, x[n + i] - P[i], m->pscale[i]);
    if (!q->slopes) continue;
    row[n + i] = 1 / m->pscale[i];
    for (int a = 0; a < dim; a++) {
      row[2 * n + a] -= A[a * n + i] / m->pscale[i];
      for (int k = 0; k < n; k++) row[k] -= lambda[a] * dA[(k * dim + a) * n + i] / m->pscale[i];
    }
  }
  if (n != 2) return CB_OK;
  const double scale = m->escale / (m->rscale[0] * m->rscale[1]);
  row = begin(q, b, scale);
  for (int c = 0; q->slopes && c < size; c++) row[c] = db[c] / scale;
  return CB_OK;
}

/* For homogeneous multipliers adds the rows of homogeneous(). Otherwise adds a row that forbids a shift of time, and
 * then a row for the objective, or for an abnormal extremal the rows of abnormal(). The derivative of the cost in the
 * start (r, p, lambda) is 2 (-f_p, f_r, xi), where f_r and f_p are the rates of r and p, and xi is the body velocity.
 */
static cb_status sought(rows *q) {
  extremal_mesh *m = q->m;
  const problem *p = m->p;
  const int nus = states(m);
  const bool efficiency = p->o->objective == CB_OBJECTIVE_EFFICIENCY;
  double f[CB_WONG_MAX], xi[CB_GROUP_DIM];
  if (p->homogeneous) {
    homogeneous(q);
    return CB_OK;
  }
  const cb_status status = cb_wong_at(&p->wong, m->held[0], q->u->x, &(cb_wong_rates){.f = f, .xi = xi});
  if (status) return status;
  if (p->shifts) no_shift(q, f);
  if (p->abnormal) return abnormal(q);
  if (!p->amount_free) return CB_OK;
  const double length = p->o->length, nu = q->u->nu[p->row];
  double *row = begin(q, efficiency ? m->cost - nu * q->u->amount : m->cost - length * length, m->escale);
  if (!q->slopes) return CB_OK;
  for (int i = 0; i < p->n; i++) {
    row[i] -= 2 * f[p->n + i] / m->escale;
    row[p->n + i] += 2 * f[i] / m->escale;
  }
  for (int a = 0; a < p->dim; a++) row[2 * p->n + a] += 2 * xi[a] / m->escale;
  if (!efficiency) return CB_OK;
  row[nus + p->row] -= q->u->amount / m->escale;
  row[nus + p->count] -= nu / m->escale;
  return CB_OK;
}

/* Adds rows for the arcs. The durations sum to 1, except for an abnormal extremal, whose duration is free. At the
 * beginning of an arc that holds variable i, r_i is at its bound and v_i = 0. */
static cb_status arcs(rows *q) {
  extremal_mesh *m = q->m;
  const problem *p = m->p;
  const int size = p->size;
  double sum = -1, v[CB_SHAPE_MAX], V[CB_SHAPE_MAX * CB_WONG_MAX];
  for (int a = 0; a < m->arcs; a++) sum += q->u->duration[a];
  double *row = begin(q, p->abnormal ? 0 : sum, 1);
  for (int a = 0; q->slopes && !p->abnormal && a < m->arcs; a++) row[m->segments * size + a] = 1;
  for (int a = 1; a < m->arcs; a++) {
    const unsigned met = m->held[a] & ~m->held[a - 1];
    const double *x = q->u->x + m->first[a] * size;
    if (!met) continue;
    const cb_status status = cb_wong_at(&p->wong, m->held[a - 1], x, &(cb_wong_rates){.v = v, .V = V});
    if (status) return status;
    for (int i = 0; i < p->n; i++) {
      if (!(met >> i & 1)) continue;
      row = begin(q, x[i] - m->bound[a][i], m->rscale[i]);
      if (q->slopes) add(q, row, 1 / m->rscale[i], affine_of(m, m->first[a], i));
      row = begin(q, v[i], m->vscale);
      for (int c = 0; q->slopes && c < size; c++)
        add(q, row, V[i * size + c] / m->vscale, affine_of(m, m->first[a], c));
    }
  }
  return CB_OK;
}

/* Adds rows that join segments: each segment begins where the previous one ends. The distance between the end of a
 * segment and the beginning of the next one is treated like the gaps between panels. */
static void joints(rows *q) {
  extremal_mesh *m = q->m;
  const int size = m->p->size;
  for (int s = 1; s < m->segments; s++)
    for (int i = 0; i < size; i++) {
      const double scale = scale_of(m, i);
      double *row = begin(q, 0, 1);
      if (!q->slopes) continue;
      add(q, row, 1 / scale, m->joint + (s * size + i) * columns(m));
      row[s * size + i] -= 1 / scale;
    }
}

static cb_status assemble(extremal_mesh *m, const unknowns *u, bool slopes) {
  rows q = {m, u, slopes, 0};
  ends(&q);
  joints(&q);
  cb_status status = conditions(&q);
  if (!status) status = sought(&q);
  if (!status) status = arcs(&q);
  while (q.count < m->rows) begin(&q, 0, 1);
  return status;
}

/* Computes the residual in scaled units: the root of |outer rows|^2 + |gaps|^2 + |residuals of stages|^2/number of
 * stages. */
static cb_status measure(extremal_mesh *m, const unknowns *u) {
  const int size = m->p->size;
  cb_status status = panels_evaluate(m, u, true);
  if (!status) status = assemble(m, u, false);
  if (status) return status;
  double outer = 0, stages = 0, gaps = 0;
  for (int i = 0; i < m->panels * CB_STAGES * size; i++) stages += pow(m->off[i] / scale_of(m, i % size), 2);
  for (int i = 0; i < m->panels * size; i++) gaps += pow(m->gap[i] / scale_of(m, i % size), 2);
  for (int i = 0; i < m->rows; i++) outer += m->right[i] * m->right[i];
  m->residual = sqrt(outer + stages / (m->panels * CB_STAGES) + gaps);
  return isfinite(m->residual)
             ? CB_OK
             : cb_fail(CB_STEP_NOT_FINITE, "the residual of an extremal is not finite: try another start");
}

static void rotate(int count, double c, double s, double *restrict a, double *restrict b) {
  for (int i = 0; i < count; i++) {
    const double x = a[i], y = b[i];
    a[i] = c * x - s * y;
    b[i] = s * x + c * y;
  }
}

/* Makes the rows of a[unknown][high] orthogonal to one another by rotations of pairs of rows. V[unknown][unknown] is
 * the product of the rotations. The lengths of the rows are then the singular values (Hestenes, J. SIAM 6 (1958) 51,
 * doi:10.1137/0106005). */
static void orthogonalise(int unknown, int high, double *a, double *V) {
  enum { SWEEPS = 40 };
  for (int i = 0; i < unknown; i++)
    for (int j = 0; j < unknown; j++) V[i * unknown + j] = i == j;
  bool turned = true;
  for (int sweep = 0; turned && sweep < SWEEPS; sweep++) {
    turned = false;
    for (int p = 0; p < unknown; p++)
      for (int q = p + 1; q < unknown; q++) {
        double pp = 0, qq = 0, pq = 0;
        for (int i = 0; i < high; i++) {
          pp += a[p * high + i] * a[p * high + i];
          qq += a[q * high + i] * a[q * high + i];
          pq += a[p * high + i] * a[q * high + i];
        }
        if (!(fabs(pq) > 4 * DBL_EPSILON * sqrt(pp * qq))) continue;
        const double zeta = (qq - pp) / (2 * pq), t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + hypot(1, zeta));
        const double c = 1 / sqrt(1 + t * t), s = c * t;
        turned = true;
        rotate(high, c, s, a + p * high, a + q * high);
        rotate(unknown, c, s, V + p * unknown, V + q * unknown);
      }
  }
}

/* Computes solved = -matrix^+ right. In the pseudoinverse matrix^+, singular values are inverted as stated at the top
 * of this file. */
static cb_status solve(extremal_mesh *m) {
  const int N = m->unknown, high = m->rows;
  for (int c = 0; c < N; c++)
    for (int i = 0; i < high; i++) m->columns[c * high + i] = m->matrix[i * N + c] * unknown_scale(m, c);
  orthogonalise(N, high, m->columns, m->V);
  double largest = 0;
  for (int k = 0; k < N; k++) {
    double sum = 0;
    for (int i = 0; i < high; i++) sum += m->columns[k * high + i] * m->columns[k * high + i];
    m->sv[k] = sqrt(sum);
    largest = fmax(largest, m->sv[k]);
  }
  if (!isfinite(largest))
    return cb_fail(CB_STEP_NOT_FINITE, "the equations of an extremal are not finite: try another start");
  /* second derivatives of a target have errors of 1e-7, so that a singular value below 1e-6 may come from a symmetry */
  const double noise = fmax(1e-6, 1e-12 * largest), alpha = fmax(m->residual / 100, noise);
  memset(m->solved, 0, (size_t)N * sizeof *m->solved);
  m->weakest = 1;
  m->strongest = fmax(largest, 1);
  for (int k = 0; k < N; k++) {
    double along = 0;
    if (m->sv[k] > 10 * noise) m->weakest = fmin(m->weakest, m->sv[k]);
    for (int i = 0; i < high; i++) along -= m->columns[k * high + i] * m->right[i];
    along /= m->sv[k] * m->sv[k] + alpha * alpha;
    for (int c = 0; c < N; c++) m->solved[c] += along * m->V[k * N + c];
  }
  for (int c = 0; c < N; c++) m->solved[c] *= unknown_scale(m, c);
  return CB_OK;
}

static void move(const extremal_mesh *m, double part, const unknowns *from, unknowns *to) {
  const int size = m->p->size;
  for (int i = 0; i < (m->panels + 1) * size; i++) to->x[i] = from->x[i] + part * m->step.x[i];
  for (int i = 0; i < m->panels * CB_STAGES * size; i++) to->stage[i] = from->stage[i] + part * m->step.stage[i];
  for (int a = 0; a < m->arcs; a++) to->duration[a] = from->duration[a] + part * m->step.duration[a];
  for (int k = 0; k < m->p->count; k++) to->nu[k] = from->nu[k] + part * m->step.nu[k];
  for (int e = 0; e < globals(m->p); e++) to->global[e] = from->global[e] + part * m->step.global[e];
  to->amount = from->amount + part * m->step.amount;
}

/* Computes Newton's step for all unknowns. *size becomes the largest entry of the step in scaled units. */
static cb_status direction(extremal_mesh *m, double *size) {
  const problem *p = m->p;
  cb_status status = panels_condense(m);
  if (!status) status = assemble(m, &m->at, true);
  if (!status) status = solve(m);
  if (status) return status;
  panels_expand(m, m->solved);
  for (int k = 0; k < p->count; k++) m->step.nu[k] = m->solved[states(m) + k];
  m->step.amount = p->amount_free ? m->solved[m->unknown - 1] : 0;
  *size = 0;
  for (int i = 0; i < (m->panels + 1) * p->size; i++)
    *size = fmax(*size, fabs(m->step.x[i]) / scale_of(m, i % p->size));
  for (int c = p->size; c < m->unknown; c++) *size = fmax(*size, fabs(m->solved[c]) / unknown_scale(m, c));
  /* with this number of segments, changes of the path grow at most by the factor 1e5 in a segment */
  mesh_divide(m, m->segments + (int)(log10(m->strongest) / 5));
  return CB_OK;
}

static void swap(extremal_mesh *m) {
  const unknowns kept = m->at;
  m->at = m->trial;
  m->trial = kept;
}

/* Tries fractions of the step. The first one is the smaller of 1 and 1/size; each of the others is half of the one
 * before it, down to 1/256. A fraction is accepted if the durations are positive and the residual is below the largest
 * of the last five residuals times (1 - fraction/4), or below 1e-11. The residual may thus rise for some steps while a
 * long loop closes. Returns CB_STEP_NO_CONVERGENCE if no fraction is accepted. Source: Grippo, Lampariello & Lucidi,
 * SIAM J. Numer. Anal. 23 (1986) 707, doi:10.1137/0723046. */
static cb_status search(extremal_mesh *m, double size, double *last) {
  static const double least = 1. / 256, round_off = 1e-11;
  const double before = m->residual;
  double maximum = before;
  for (int k = MEMORY - 1; k > 0; k--) maximum = fmax(maximum, last[k] = last[k - 1]);
  last[0] = before;
  cb_status status = CB_OK;
  for (double part = fmin(1, 1 / size); part >= least; part /= 2) {
    bool positive = true;
    move(m, part, &m->at, &m->trial);
    for (int a = 0; a < m->arcs; a++) positive = positive && m->trial.duration[a] > 0;
    if (m->p->homogeneous) positive = positive && m->trial.global[1] > 0;
    status = positive ? measure(m, &m->trial) : CB_STEP_DOMAIN;
    if (!status && (m->residual < (1 - part / 4) * maximum || m->residual < round_off)) {
      swap(m);
      return CB_OK;
    }
  }
  m->residual = before;
  return status < 0 ? status
                    : cb_fail(CB_STEP_NO_CONVERGENCE,
                              "no extremal was found nearby: the residual does not fall below %.3g; try another start",
                              before);
}

cb_status mesh_solve(extremal_mesh *m, double roughness, bool *rough) {
  enum { ROUNDS = 60 };
  static const double settled = 1e-11, near = 1e-3;
  double size = INFINITY, last[MEMORY] = {0};
  cb_status status = measure(m, &m->at);
  *rough = false;
  for (int round = 0; !status && round < ROUNDS; round++) {
    if (round > 0 && m->residual < near && mesh_roughness(m) > roughness) { /* the mesh must be refined first */
      *rough = true;
      return CB_OK;
    }
    status = direction(m, &size);
    const double before = m->residual;
    if (!status) status = search(m, size, last);
    m->iterations++;
    const bool exact = size < settled || m->residual < 1e-13 * m->weakest;
    if (!status && (exact || (m->residual < 1e-12 && m->residual > before / 2))) return CB_OK;
  }
  return status ? status
                : cb_fail(CB_STEP_NO_CONVERGENCE,
                          "no extremal was found nearby: the residual is %.3g after %d steps; try another start",
                          m->residual, ROUNDS);
}
