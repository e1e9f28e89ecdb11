/* The equations that `ida` solves (integrators/ida.c): residual, weights, Jacobian, and the conversion from and to a
 * state; and the connection to SUNDIALS: its objects, the functions that it calls, and its return values. */
#include "integrators/ida_private.h"

#include "dynamics/chart_dynamics.h"

#include <ida/ida.h>
#include <math.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

/* --- equations --- */

/* In a chart: computes W of every particle at x. */
static cb_status cb_ida_metric(cb_ida *m, const double *x) {
  const int k = m->k;
  if (!m->g->chart) return CB_OK; /* W is constant and was set at creation */
  for (int a = 0; a < m->n; a++) {
    double buffer[CB_CHART_METRIC_CAPACITY];
    const cb_chart_metric metric = cb_chart_metric_in(k, buffer);
    const cb_status status = cb_chart_metric_at(m->g, x + (size_t)(a * k), 0, &metric);
    if (status) return status;
    double *W = m->W + (size_t)(a * k * k);
    for (int i = 0; i < k; i++)
      for (int j = 0; j < k; j++) W[i * k + j] = metric.inverse[i * k + j] / m->mass[a];
  }
  return CB_OK;
}

/* Computes push = G^T L' and shift = G^T M'. */
static void gather(cb_ida *m, const double *L, const double *M) {
  const int k = m->k;
  memset(m->push, 0, (size_t)m->nk * sizeof(double));
  memset(m->shift, 0, (size_t)m->nk * sizeof(double));
  for (int r = 0; r < m->rows->rows; r++)
    for (int e = m->rows->start[r]; e < m->rows->start[r + 1]; e++) {
      const double *G = m->G + (size_t)e * (size_t)k;
      const size_t at = (size_t)m->rows->particle[e] * (size_t)k;
      for (int a = 0; a < k; a++) {
        m->push[at + (size_t)a] += G[a] * L[r];
        if (m->position[r] >= 0) m->shift[at + (size_t)a] += G[a] * M[m->position[r]];
      }
    }
}

cb_status cb_ida_residual(cb_ida *m, double t, const double *y, const double *yp, double *r) {
  const int k = m->k, nk = m->nk, rows = m->rows->rows;
  const double *x = y, *v = y + nk, *xp = yp, *vp = yp + nk;
  cb_status status = cb_forces_eval(m->forces, t, x, v, m->force);
  if (!status && rows) status = cb_constraints_eval(m->constraints, t, x, m->g_value, NULL);
  if (!status && rows) status = cb_constraints_rate(m->constraints, t, x, v, m->rate, m->G);
  if (!status) status = cb_ida_metric(m, x);
  if (status) return status;
  gather(m, yp + 2 * nk, yp + 2 * nk + rows);

  for (int a = 0; a < m->n; a++) {
    const size_t at = (size_t)(a * k);
    const double *W = m->W + at * (size_t)k;
    double F[CB_Q_MAX], acceleration[CB_Q_MAX] = {0};
    if (m->g->chart) {
      double buffer[CB_CHART_METRIC_CAPACITY];
      const cb_chart_metric metric = cb_chart_metric_in(k, buffer);
      if ((status = cb_chart_metric_at(m->g, x + at, 1, &metric))) return status;
      for (int i = 0; i < k; i++) F[i] = m->force[at + (size_t)i] - m->push[at + (size_t)i];
      cb_chart_rate_velocity(k, &metric, m->mass[a], v + at, F, acceleration);
    } else {
      for (int i = 0; i < k; i++) {
        F[i] = m->g->form[i] * m->force[at + (size_t)i] - m->push[at + (size_t)i];
        acceleration[i] = W[i * k + i] * F[i];
      }
    }
    for (int i = 0; i < k; i++) {
      double lift = 0;
      for (int j = 0; j < k; j++) lift += W[i * k + j] * m->shift[at + (size_t)j];
      r[at + (size_t)i] = xp[at + (size_t)i] - v[at + (size_t)i] + lift;
      r[(size_t)nk + at + (size_t)i] = vp[at + (size_t)i] - acceleration[i];
    }
  }
  for (int i = 0; i < rows; i++) {
    r[2 * nk + i] = m->rate[i];
    if (m->position[i] >= 0) r[2 * nk + rows + m->position[i]] = m->g_value[i];
  }
  return CB_OK;
}

static double largest(const double *u, int k) {
  double maximum = 0;
  for (int i = 0; i < k; i++) maximum = fmax(maximum, fabs(u[i]));
  return maximum;
}

/* Sets weight[size] to 1/tolerance of every unknown. The tolerances of positions and velocities are relative to the
 * largest number of their particle, so that a coordinate near zero does not need a smaller absolute error than other
 * coordinates. Integrated multipliers only take part in the convergence of Newton's method, with the weights of the
 * velocities (L) and positions (M) that they change. */
static void ida_weights(const cb_ida *m, const double *y, double *weight) {
  const int k = m->k, nk = m->nk, rows = m->rows->rows;
  for (int part = 0; part < 2; part++)
    for (int a = 0; a < m->n; a++) {
      const size_t at = (size_t)(part * nk + a * k);
      const double w = 1 / (m->rtol * largest(y + at, k) + m->atol);
      for (int i = 0; i < k; i++) weight[at + (size_t)i] = w;
    }
  for (int r = 0; r < rows; r++) {
    double L = m->rtol * fabs(y[2 * nk + r]), M = 0;
    for (int e = m->rows->start[r]; e < m->rows->start[r + 1]; e++) {
      const int a = m->rows->particle[e];
      L = fmax(L, m->mass[a] / weight[nk + a * k]);
      M = fmax(M, m->mass[a] / weight[a * k]);
    }
    weight[2 * nk + r] = 1 / L;
    if (m->position[r] >= 0) weight[2 * nk + rows + m->position[r]] = 1 / M;
  }
}

/* --- the Jacobian dr/dy + c dr/dy', with s = G^T M', f = F - G^T L'; one function makes the pattern and the values ---
 *
 *   rows\columns      x                                  v                L         M
 *   x' - v + W s      c + (dW/dx) s + W d(G^T M')/dx     -1                         c W G^T
 *   v' - W f          -W d(F - G^T L')/dx                c - W dF/dv      c W G^T
 *   rate              d(rate)/dx                         G
 *   g                 G
 * with the symbols of integrators/ida.c and the factor c that IDA gives. In a chart W f is the acceleration g^-1 (F -
 * G^T L')/m - Gamma(v,v), with its own derivatives.
 */

/* Computes out = W block, both k x k. */
static void lift(int k, const double *W, const double *block, double *out) {
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += W[i * k + l] * block[l * k + j];
      out[i * k + j] = sum;
    }
}

/* Adds the derivatives of x' - v and v' of a particle, and in a chart those of the metric, to its diagonal block. In a
 * chart the function also computes W of the particle. */
static cb_status put_particle(cb_ida *m, int a, double c, const double *x, const double *v) {
  enum { D = CB_Q_MAX };
  cb_entries *out = &m->entries;
  const int k = m->k, nk = m->nk, at = a * k;
  for (int i = 0; i < k; i++) {
    cb_entries_add(out, at + i, at + i, c);
    cb_entries_add(out, at + i, nk + at + i, -1);
    cb_entries_add(out, nk + at + i, nk + at + i, c);
  }
  if (!m->g->chart) return CB_OK;
  double buffer[CB_CHART_METRIC_CAPACITY], derivatives[CB_CHART_JET_CAPACITY];
  const cb_chart_metric metric = cb_chart_metric_in(k, buffer);
  const cb_chart_jet jet = cb_chart_jet_in(k, derivatives);
  if (!out->value) memset(derivatives, 0, cb_chart_jet_size(k) * sizeof *derivatives);
  double F[D], raised[D], *W = m->W + (size_t)(at * k);
  if (out->value) {
    const cb_status status = cb_chart_metric_at(m->g, x + at, 2, &metric);
    if (status) return status;
    for (int i = 0; i < k; i++) F[i] = m->force[at + i] - m->push[at + i];
    cb_chart_derivatives_velocity(k, &metric, m->mass[a], v + at, F, &jet);
    for (int i = 0; i < k; i++) {
      raised[i] = 0;
      for (int j = 0; j < k; j++) raised[i] += (W[i * k + j] = jet.W_F[i * k + j]) * m->shift[at + j];
    }
  }
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) {
      double turn = 0; /* d(g^-1)/dq_j s/m = -g^-1 (d_j g) g^-1 s/m */
      for (int l = 0; out->value && l < k; l++)
        for (int b = 0; b < k; b++) turn -= metric.inverse[i * k + l] * metric.dg[(j * k + l) * k + b] * raised[b];
      cb_entries_add(out, at + i, at + j, turn);
      cb_entries_add(out, nk + at + i, at + j, -jet.W_q[i * k + j]);
      cb_entries_add(out, nk + at + i, nk + at + j, -jet.W_u[i * k + j]);
    }
  return CB_OK;
}

/* Adds the derivatives of the forces, and the second derivatives of the rows, to block e of the pattern in the row of
 * particle a. */
static void put_block(cb_ida *m, int a, size_t e) {
  cb_entries *out = &m->entries;
  const int k = m->k, nk = m->nk, row = a * k, column = m->pattern->column[e] * k;
  const bool rows = m->rows->rows > 0;
  double covector[CB_Q_MAX * CB_Q_MAX] = {0}, by_x[CB_Q_MAX * CB_Q_MAX] = {0}, by_v[CB_Q_MAX * CB_Q_MAX] = {0},
                             shift[CB_Q_MAX * CB_Q_MAX] = {0};
  if (out->value) {
    const double *W = m->W + (size_t)(row * k);
    const size_t at = e * (size_t)(k * k);
    for (int part = 0; part < 1 + m->damped; part++) {
      const double *F = (part ? m->force_v : m->force_x) + at;
      for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++)
          covector[i * k + j] = (!part && rows ? m->push_x[at + (size_t)(i * k + j)] : 0) -
                                (m->g->chart ? 1 : m->g->form[i]) * F[i * k + j];
      lift(k, W, covector, part ? by_v : by_x);
    }
    if (rows) lift(k, W, m->shift_x + at, shift);
  }
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) {
      cb_entries_add(out, nk + row + i, column + j, by_x[i * k + j]);
      if (m->damped) cb_entries_add(out, nk + row + i, nk + column + j, by_v[i * k + j]);
      if (rows) cb_entries_add(out, row + i, column + j, shift[i * k + j]);
    }
}

static void put_row(cb_ida *m, int r, double c) {
  cb_entries *out = &m->entries;
  const int k = m->k, nk = m->nk, rows = m->rows->rows, M = m->position[r];
  for (int e = m->rows->start[r]; e < m->rows->start[r + 1]; e++) {
    const int at = m->rows->particle[e] * k;
    const double *W = m->W + (size_t)(at * k), *G = m->G + (size_t)e * (size_t)k,
                 *rate_x = m->rate_x + (size_t)e * (size_t)k;
    for (int i = 0; i < k; i++) {
      double raised = 0;
      for (int j = 0; j < k; j++) raised += W[i * k + j] * G[j];
      cb_entries_add(out, nk + at + i, 2 * nk + r, c * raised);
      cb_entries_add(out, 2 * nk + r, at + i, rate_x[i]);
      cb_entries_add(out, 2 * nk + r, nk + at + i, G[i]);
      if (M < 0) continue;
      cb_entries_add(out, at + i, 2 * nk + rows + M, c * raised);
      cb_entries_add(out, 2 * nk + rows + M, at + i, G[i]);
    }
  }
}

static cb_status put_all(cb_ida *m, double c, const double *x, const double *v) {
  for (int a = 0; a < m->n; a++) {
    const cb_status status = put_particle(m, a, c, x, v);
    if (status) return status;
    for (int e = m->pattern->start[a]; e < m->pattern->start[a + 1]; e++) put_block(m, a, (size_t)e);
  }
  for (int r = 0; r < m->rows->rows; r++) put_row(m, r, c);
  return CB_OK;
}

/* Finds the places of the entries of dr/dy + c dr/dy'. */
static cb_status ida_pattern(cb_ida *m) {
  cb_entries *e = &m->entries;
  put_all(m, 0, NULL, NULL);
  if (m->sparse) return cb_entries_compress(e, m->size, m->arena, &m->columns);
  return cb_entries_fill(e, m->size);
}

cb_status cb_ida_jacobian(cb_ida *m, double t, double c, const double *y, const double *yp) {
  const int nk = m->nk, rows = m->rows->rows;
  const size_t blocks = (size_t)m->pattern->start[m->n] * (size_t)(m->k * m->k) * sizeof(double);
  const double *x = y, *v = y + nk, *L = yp + 2 * nk, *M = L + rows;
  cb_status status = cb_forces_jacobian(m->forces, t, x, v, m->force_x, m->damped ? m->force_v : NULL);
  if (!status && rows) {
    for (int r = 0; r < rows; r++) m->multiplier[r] = m->position[r] < 0 ? 0 : M[m->position[r]];
    memset(m->push_x, 0, blocks);
    memset(m->shift_x, 0, blocks);
    status = cb_constraints_hessian(m->constraints, t, x, L, m->push_x);
    if (!status) status = cb_constraints_hessian(m->constraints, t, x, m->multiplier, m->shift_x);
    if (!status) status = cb_constraints_second(m->constraints, t, x, v, m->gamma, m->rate_x);
  }
  /* The residual is computed because it sets force, push, shift, G and the metric, which the entries need. */
  if (!status) status = cb_ida_residual(m, t, y, yp, N_VGetArrayPointer(m->residual));
  if (status) return status;
  return put_all(m, c, x, v);
}

/* --- conversion from and to a state: consistent initial values, and outputs projected to the constraints --- */

/* Projects positions to the positional constraints, and velocities to all constraints. */
static cb_status project(cb_ida *m, double t, double *x, double *v) {
  double moved, turned;
  if (m->rows->own) return cb_gram_project(m->gram, t, x, v, 0, &moved, &turned, NULL);
  for (int a = 0; !m->g->chart && a < m->n; a++) {
    cb_space_project_point(m->g, x + (size_t)(a * m->k));
    cb_space_project_tangent(m->g, x + (size_t)(a * m->k), v + (size_t)(a * m->k));
  }
  return CB_OK;
}

/* Computes v = p/m, in a chart v = g^-1 p/m. */
static cb_status velocities(const cb_ida *m, const double *x, const double *p, double *v) {
  for (int a = 0; a < m->n; a++) {
    const size_t at = (size_t)(a * m->k);
    const cb_status status = cb_space_raise(m->g, x + at, p + at, v + at);
    if (status) return status;
    for (int i = 0; i < m->k; i++) v[at + (size_t)i] /= m->mass[a];
  }
  return CB_OK;
}

static cb_status momenta(const cb_ida *m, const double *x, const double *v, double *p) {
  for (int a = 0; a < m->n; a++) {
    const size_t at = (size_t)(a * m->k);
    if (m->g->chart) {
      double buffer[CB_CHART_METRIC_CAPACITY];
      const cb_chart_metric metric = cb_chart_metric_in(m->k, buffer);
      const cb_status status = cb_chart_metric_at(m->g, x + at, 0, &metric);
      if (status) return status;
      cb_chart_momentum_of(m->k, &metric, m->mass[a], v + at, p + at);
    } else {
      for (int i = 0; i < m->k; i++) p[at + (size_t)i] = m->mass[a] * v[at + (size_t)i];
    }
  }
  return CB_OK;
}

/* At the start L = M = 0 and M' = 0. L' follows from the condition that the rates stay constant, and v' from the
 * equations. */
cb_status cb_ida_start(cb_ida *m, const cb_state *state) {
  const int nk = m->nk;
  double *y = N_VGetArrayPointer(m->y), *yp = N_VGetArrayPointer(m->yp), *r = N_VGetArrayPointer(m->residual);
  memset(y, 0, (size_t)m->size * sizeof *y);
  memset(yp, 0, (size_t)m->size * sizeof *yp);
  memcpy(y, state->x, (size_t)nk * sizeof *y);
  cb_status status = velocities(m, state->x, state->p, y + nk);
  if (!status) status = project(m, state->t, y, y + nk);
  if (!status && m->gram) status = cb_gram_multipliers(m->gram, state->t, y, y + nk, yp + 2 * nk, NULL);
  memcpy(yp, y + nk, (size_t)nk * sizeof *yp);
  if (!status) status = cb_ida_residual(m, state->t, y, yp, r);
  if (status) return status;
  for (int i = 0; i < nk; i++) yp[nk + i] = -r[nk + i];
  return CB_OK;
}

cb_status cb_ida_output(cb_ida *m, double t, double t_low, cb_state *state) {
  const size_t bytes = (size_t)m->nk * sizeof(double);
  const double *y = N_VGetArrayPointer(m->y);
  memcpy(m->x, y, bytes);
  memcpy(m->v, y + m->nk, bytes);
  cb_status status = project(m, t, m->x, m->v);
  if (!status) status = momenta(m, m->x, m->v, m->left_p);
  if (status) return status;
  double total = 0;
  for (int i = 0; i < m->nk; i++) total += fabs(m->x[i]) + fabs(m->left_p[i]);
  if (!(total < INFINITY))
    return cb_fail(CB_STEP_NOT_FINITE, "ida: the state is not finite at time %.17g: use a smaller `step`", t);
  memcpy(m->left_x, m->x, bytes);
  m->left_t = state->t = t;
  m->left_t_low = state->t_low = t_low;
  memcpy(state->x, m->x, bytes);
  memcpy(state->p, m->left_p, bytes);
  memset(state->x_low, 0, bytes);
  memset(state->p_low, 0, bytes);
  return CB_OK;
}

bool cb_ida_continues(const cb_ida *m, const cb_state *state, double h) {
  const size_t bytes = (size_t)m->nk * sizeof(double);
  if (!m->running || !(m->direction * h > 0) || m->left_t != state->t || m->left_t_low != state->t_low) return false;
  for (int i = 0; i < m->nk; i++)
    if (state->x_low[i] != 0 || state->p_low[i] != 0) return false;
  return !memcmp(m->left_x, state->x, bytes) && !memcmp(m->left_p, state->p, bytes);
}

/* --- SUNDIALS --- */

/* Keeps the message of an evaluation that failed. Returns 1 if a smaller step may succeed, and -1 otherwise. */
static int failed(cb_ida *m, cb_status status) {
  m->failure = status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  strncpy(m->text, cb_error_text(), sizeof m->text - 1);
  return m->failure > 0 ? 1 : -1;
}

static cb_status not_finite(cb_ida *m, double t, int i) {
  if (i >= 2 * m->nk)
    return cb_fail(CB_STEP_NOT_FINITE, "constraints are not finite at time %.17g: use a smaller `step`", t);
  const cb_system *s = m->integrator->system;
  m->integrator->failed_particle = i % m->nk / m->k;
  return cb_fail(CB_STEP_NOT_FINITE, "the motion of `%s` is not finite at time %.17g: use a smaller `step`",
                 cb_system_particle_name(s, cb_system_particle(s, m->integrator->failed_particle)), t);
}

static int residual(sunrealtype t, N_Vector y, N_Vector yp, N_Vector r, void *self) {
  cb_ida *m = self;
  double *out = N_VGetArrayPointer(r);
  cb_status status = cb_ida_residual(m, t, N_VGetArrayPointer(y), N_VGetArrayPointer(yp), out);
  for (int i = 0; !status && i < m->size; i++)
    if (!isfinite(out[i])) status = not_finite(m, t, i);
  return status ? failed(m, status) : 0;
}

/* NOLINTNEXTLINE(readability-function-size): SUNDIALS prescribes the parameters */
static int jacobian(sunrealtype t, sunrealtype c, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix J, void *self,
                    N_Vector a, N_Vector b, N_Vector d) {
  (void)r;
  (void)a;
  (void)b;
  (void)d;
  cb_ida *m = self;
  sunindextype *start = m->sparse ? SUNSparseMatrix_IndexPointers(J) : NULL,
               *row = m->sparse ? SUNSparseMatrix_IndexValues(J) : NULL;
  const int columns = m->sparse ? m->size : -1, nonzeros = m->sparse ? (int)m->entries.nonzeros : 0;
  for (int k = 0; k <= columns; k++) start[k] = m->columns.start[k];
  for (int e = 0; e < nonzeros; e++) row[e] = m->columns.row[e];
  cb_entries_begin(&m->entries, m->sparse ? SUNSparseMatrix_Data(J) : SUNDenseMatrix_Data(J));
  const cb_status status = cb_ida_jacobian(m, t, c, N_VGetArrayPointer(y), N_VGetArrayPointer(yp));
  return status ? failed(m, status) : 0;
}

static int weights(N_Vector y, N_Vector weight, void *self) {
  const cb_ida *m = self;
  double *w = N_VGetArrayPointer(weight);
  ida_weights(m, N_VGetArrayPointer(y), w);
  for (int i = 0; i < m->size; i++)
    if (!(w[i] > 0 && w[i] < INFINITY)) return -1;
  return 0;
}

/* SUNDIALS would print its message. This handler stores it instead, unless an evaluation has already stored a
 * message. */
CB_SUNDIALS_HANDLER(complain) {
  cb_ida *m = self;
  if (code < 0 && !m->failure) strncpy(m->text, text, sizeof m->text - 1);
}

/* The integrator for which SUNDIALS works on this thread. */
static _Thread_local cb_ida *current;

/* SUNDIALS 6 writes into a clone even if it could not be allocated. In that case this function returns the spare
 * vector, which is never destroyed. SUNDIALS makes clones only while an integrator is created. */
static N_Vector clone(N_Vector of) {
  N_Vector made = N_VClone_Serial(current ? current->y : of);
  if (made || !current) return made;
  current->lacking = true;
  return current->spare;
}

static void keep(N_Vector vector) { (void)vector; }

static cb_status make_vectors(cb_ida *m) {
  N_Vector *vector[] = {&m->y, &m->yp, &m->id, &m->residual, &m->spare};
  for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
    if (!(*vector[i] = N_VNew_Serial(m->size, m->context)))
      return cb_fail(CB_ERROR_MEMORY, "no memory for %d unknowns", m->size);
    N_VConst(0, *vector[i]);
    (*vector[i])->ops->nvclone = clone;
  }
  m->spare->ops->nvdestroy = keep;
  for (int i = 0; i < 2 * m->nk; i++) N_VGetArrayPointer(m->id)[i] = 1; /* IDA controls the errors of x and v only */
  return CB_OK;
}

/* IDA would treat a matrix as singular if memory for its factors runs out; this function reports the lack of memory. */
static int factor(SUNLinearSolver linear, SUNMatrix matrix) {
  const int flag = SUNLinSolSetup_KLU(linear, matrix);
  if (!flag || !current || SUNLinSol_KLUGetCommon(linear)->status != KLU_OUT_OF_MEMORY) return flag;
  return failed(current,
                cb_fail(CB_ERROR_MEMORY, "no memory for the factors of a matrix of %d unknowns", current->size));
}

/* The maximum number of unknowns for which dense factors are faster than sparse ones. */
enum { DENSE_MAX = 24 };

static cb_status make_solver(cb_ida *m, int solver) {
  m->sparse = solver == CB_IDA_KLU || (solver == CB_IDA_AUTO && m->size > DENSE_MAX);
  m->integrator->solver = m->sparse ? "klu" : "dense";
  const cb_status status = ida_pattern(m);
  if (status) return status;
  if (m->sparse) {
    m->matrix = SUNSparseMatrix(m->size, m->size, (sunindextype)m->entries.nonzeros, CSC_MAT, m->context);
    if (m->matrix) m->linear = SUNLinSol_KLU(m->y, m->matrix, m->context);
    if (m->linear) m->linear->ops->setup = factor;
  } else {
    m->matrix = SUNDenseMatrix(m->size, m->size, m->context);
    if (m->matrix) m->linear = SUNLinSol_Dense(m->y, m->matrix, m->context);
  }
  return m->linear ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a matrix of %d unknowns", m->size);
}

static bool set_up(cb_ida *m, const cb_ida_options *o) {
  current = m;
  const bool ok = CB_SUNDIALS_LISTEN(m->context, IDASetErrHandlerFn, m->ida, complain, m) &&
                  !IDASetUserData(m->ida, m) && !IDAInit(m->ida, residual, 0, m->y, m->yp) &&
                  !IDAWFtolerances(m->ida, weights) && !IDASetId(m->ida, m->id) &&
                  !IDASetSuppressAlg(m->ida, SUNTRUE) && !IDASetMaxOrd(m->ida, o->max_order) &&
                  !IDASetMaxNumSteps(m->ida, o->max_steps) && !IDASetMaxStep(m->ida, o->max_step) &&
                  !IDASetLinearSolver(m->ida, m->linear, m->matrix) && !IDASetJacFn(m->ida, jacobian);
  current = NULL;
  return ok && !m->lacking;
}

cb_status cb_ida_open(cb_ida *m, const cb_ida_options *o) {
  if (SUNContext_Create(SUN_COMM_NULL, &m->context)) return cb_fail(CB_ERROR_MEMORY, "no memory for SUNDIALS");
  cb_status status = make_vectors(m);
  if (status) return status;
  m->ida = IDACreate(m->context);
  if (!m->ida) return cb_fail(CB_ERROR_MEMORY, "no memory for SUNDIALS");
  status = make_solver(m, o->solver);
  if (status || set_up(m, o)) return status;
  return cb_fail(CB_ERROR_MEMORY, "no memory for SUNDIALS: %s", m->text);
}

void cb_ida_close(cb_ida *m) {
  if (m->ida) IDAFree(&m->ida);
  if (m->linear) SUNLinSolFree(m->linear);
  if (m->matrix) SUNMatDestroy(m->matrix);
  N_Vector vector[] = {m->y, m->yp, m->id, m->residual};
  for (size_t i = 0; i < sizeof vector / sizeof *vector; i++)
    if (vector[i]) N_VDestroy(vector[i]);
  if (m->spare) N_VDestroy_Serial(m->spare);
  if (m->context) SUNContext_Free(&m->context);
  cb_entries_free(&m->entries);
}

/* Returns the particle with the largest error, after a step failed because its error was too large or because Newton's
 * method did not converge. Returns -1 if it is not known. Overwrites y and y'. */
static int find_failed_particle(const cb_ida *m) {
  if (IDAGetEstLocalErrors(m->ida, m->y) || IDAGetErrWeights(m->ida, m->yp)) return -1;
  const double *error = N_VGetArrayPointer(m->y), *weight = N_VGetArrayPointer(m->yp);
  double maximum = 0;
  int found = -1;
  for (int i = 0; i < 2 * m->nk; i++) {
    const double size = fabs(error[i]) * weight[i];
    if (!(size > maximum)) continue;
    maximum = size;
    found = i % m->nk / m->k;
  }
  return found;
}

static cb_status explain(cb_ida *m, int flag, double t0, double t) {
  /* If the motion reaches the border of a chart, the lengths of the steps go to 0. */
  const cb_status stopped = m->failure == CB_STEP_DOMAIN ? CB_STEP_DOMAIN : CB_STEP_NO_CONVERGENCE;
  switch (flag) {
    case IDA_TOO_MUCH_WORK:
      return cb_fail(stopped,
                     "ida: more than `max_steps` internal steps are needed from time %.17g to %.17g: use a smaller "
                     "`step` or a larger `max_steps`%s%.300s",
                     t0, t, m->failure ? "; the last error: " : "", m->failure ? m->text : "");
    case IDA_TOO_MUCH_ACC:
      return cb_fail(CB_STEP_NO_CONVERGENCE,
                     "ida: rtol = %g and atol = %g are below round-off: expected larger tolerances", m->rtol, m->atol);
    case IDA_ERR_FAIL:
    case IDA_CONV_FAIL:
    case IDA_CONSTR_FAIL:
      return cb_fail(stopped, "ida: %s%s%.300s",
                     flag == IDA_ERR_FAIL ? "the error stays above its tolerance" : "Newton's method does not converge",
                     m->text[0] ? ": " : "", m->text);
    case IDA_LSETUP_FAIL:
    case IDA_LSOLVE_FAIL:
      if (m->failure < 0) return cb_fail(m->failure, "ida: %s", m->text);
      return cb_fail(CB_STEP_SINGULAR,
                     "ida: the matrix of Newton's method is singular: use a smaller `step`, or leave out constraints "
                     "that depend on others");
    case IDA_MEM_FAIL: return cb_fail(CB_ERROR_MEMORY, "ida: no memory");
    case IDA_RES_FAIL:
    case IDA_REP_RES_ERR:
    case IDA_FIRST_RES_FAIL: return cb_fail(m->failure ? m->failure : CB_STEP_NO_CONVERGENCE, "ida: %s", m->text);
    default: return cb_fail(CB_STEP_NO_CONVERGENCE, "ida: from time %.17g to %.17g: %s", t0, t, m->text);
  }
}

cb_status cb_ida_advance(cb_ida *m, bool restart, double t0, double t) {
  m->failure = CB_OK;
  memset(m->text, 0, sizeof m->text);
  if (restart && IDAReInit(m->ida, t0, m->y, m->yp)) return cb_fail(CB_ERROR_MEMORY, "ida: %s", m->text);
  long before = 0, after = 0;
  if (!restart) IDAGetNumNonlinSolvIters(m->ida, &before);
  double reached = t0;
  current = m;
  const int flag = IDASolve(m->ida, t, &reached, m->y, m->yp, IDA_NORMAL);
  current = NULL;
  IDAGetNumNonlinSolvIters(m->ida, &after);
  m->integrator->iterations = (int)(after - before);
  if (flag < 0) {
    if (flag == IDA_ERR_FAIL || flag == IDA_CONV_FAIL) m->integrator->failed_particle = find_failed_particle(m);
    return explain(m, flag, t0, t);
  }
  m->integrator->failed_particle = -1;
  return CB_OK;
}
