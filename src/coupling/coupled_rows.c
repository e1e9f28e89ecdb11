/* Constraints of coupled bodies and particles: the impulses of a step, and the projection of velocities.
 *
 *   impulses    A d = -g(x_{k+1}),  A = G_{k+1} Z G_k^T,  lambda <- lambda + d;  Z = h/M of a particle, and Z = h K^-1
 *               of a body, in the axes of the middle of the step
 *   velocities  N mu = -dg/dt,      N = G K^-1 G^T at node k+1 (1/M in place of K^-1 for a particle)
 * d: the correction of lambda in an iteration; h: the length of the step; K: the inertia of a body; M: the mass of a
 * particle; the other symbols are those of coupled.h. A row of constraints consists of its gradients in the coordinates
 * of its units: the wrench of dg/dx at a body, the covector dg/dx at a particle. Z differs from the derivative of the
 * drift by terms of order h^2, so that each iteration multiplies the residual by a factor of this order. The iteration
 * ends at the round-off of the drift.
 */
#include "coupling/coupled_private.h"
#include "dynamics/system_facts.h"
#include "fluid/rigid_step.h"
#include "numerics/vec3.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAXIMUM = 50 };

static int units(const cb_coupled *c) { return c->bodies.n + c->n; }

/* Lists, for each body and each particle, the entries of rows that belong to it. */
static cb_status list_units(cb_coupled *c) {
  cb_coupled_rows *w = c->rows;
  const size_t n = (size_t)units(c);
  w->unit_start = cb_arena_alloc(c->arena, n + 1, sizeof *w->unit_start);
  w->unit_entry = cb_arena_alloc(c->arena, (size_t)w->entries, sizeof *w->unit_entry);
  int *next = calloc(n + 1, sizeof *next);
  if (!w->unit_start || !w->unit_entry || !next) {
    free(next);
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", w->rows);
  }
  for (int e = 0; e < w->entries; e++) w->unit_start[w->unit[e] + 1]++;
  for (size_t u = 0; u < n; u++) w->unit_start[u + 1] += w->unit_start[u];
  for (size_t u = 0; u < n; u++) next[u] = w->unit_start[u];
  for (int e = 0; e < w->entries; e++) w->unit_entry[next[w->unit[e]]++] = e;
  free(next);
  return CB_OK;
}

cb_status cb_coupled_rows_create(cb_coupled *c) {
  cb_constraints *own = cb_forces_constraints(c->forces);
  if (!own) return CB_OK;
  cb_coupled_rows *w = c->rows = cb_arena_alloc(c->arena, 1, sizeof *w);
  if (!w) return cb_fail(CB_ERROR_MEMORY, "no memory for constraints");
  w->own = own;
  w->pattern = cb_constraints_rows(own);
  w->rows = w->pattern->rows;
  w->entries = w->pattern->start[w->rows];
  const size_t rows = (size_t)w->rows, entries = (size_t)w->entries;
  w->row = cb_arena_alloc(c->arena, entries, sizeof *w->row);
  w->unit = cb_arena_alloc(c->arena, entries, sizeof *w->unit);
  w->g = cb_arena_alloc(c->arena, rows, sizeof *w->g);
  w->G = cb_arena_alloc(c->arena, entries * (size_t)c->k, sizeof *w->G);
  w->impulse = cb_arena_alloc(c->arena, rows, sizeof *w->impulse);
  w->change = cb_arena_alloc(c->arena, rows + 1, sizeof *w->change);
  c->force_of_rows = cb_arena_alloc(c->arena, (size_t)(c->n * c->k), sizeof *c->force_of_rows);
  w->first_G = cb_arena_alloc(c->arena, entries * (size_t)c->k, sizeof *w->first_G);
  w->first = cb_arena_alloc(c->arena, entries, sizeof *w->first);
  w->left = cb_arena_alloc(c->arena, entries, sizeof *w->left);
  w->right = cb_arena_alloc(c->arena, entries, sizeof *w->right);
  w->joined = cb_arena_alloc(c->arena, rows, sizeof *w->joined);
  w->first_world = cb_arena_alloc(c->arena, entries, sizeof *w->first_world);
  w->left_world = cb_arena_alloc(c->arena, entries, sizeof *w->left_world);
  w->push = cb_arena_alloc(c->arena, (size_t)c->bodies.n, sizeof *w->push);
  w->answer = cb_arena_alloc(c->arena, (size_t)c->bodies.n, sizeof *w->answer);
  if (!w->row || !w->unit || !w->g || !w->G || !w->impulse || !w->change || !w->left || !w->first_G || !w->first ||
      !c->force_of_rows || !w->right || !w->joined || !w->first_world || !w->left_world || !w->push || !w->answer)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", w->rows);
  for (int r = 0; r < w->rows; r++) {
    if (w->pattern->velocity[r])
      return cb_fail_as(CB_FAILURE_CONSTRAINT, CB_ERROR_UNSUPPORTED,
                        "constraint `%s` is a constraint on velocities, which has no discrete Lagrangian: expected "
                        "constraints on positions next to rigid bodies",
                        cb_system_constraint_name(c->system, r));
    for (int e = w->pattern->start[r]; e < w->pattern->start[r + 1]; e++) {
      const int place = w->pattern->particle[e], body = c->carried[place].body;
      w->row[e] = r;
      w->unit[e] = body >= 0 ? body : c->bodies.n + place;
      w->joined[r] = w->joined[r] || (body >= 0 && cb_coupled_has_joints(c, body));
      if (body < 0 && !(c->mass[place] > 0))
        return cb_fail_as(CB_FAILURE_CONSTRAINT, CB_ERROR_UNSUPPORTED,
                          "constraint `%s` holds a tracer, which has no mass: expected a particle with mass",
                          cb_system_constraint_name(c->system, r));
    }
  }
  return list_units(c);
}

void cb_coupled_rows_free(cb_coupled *c) {
  if (!c->rows) return;
  cb_sparse_free(c->rows->matrix);
  cb_entries_free(&c->rows->list);
}

/* --- gradients and responses --- */

/* Writes the gradient of each entry to out: a wrench in the body frame if it belongs to a body, the covector dg/dx if
 * it belongs to a particle. */
static void by_units(const cb_coupled *c, double (*out)[6]) {
  const cb_coupled_rows *w = c->rows;
  for (int e = 0; e < w->entries; e++) {
    const int place = w->pattern->particle[e];
    const double *G = w->G + e * c->k;
    memset(out[e], 0, sizeof out[e]);
    if (c->carried[place].body >= 0)
      cb_coupled_wrench(c, place, G, out[e]);
    else
      memcpy(out[e], G, (size_t)c->k * sizeof *G);
  }
}

cb_status cb_coupled_factor(const cb_coupled *c, double t, int b, cb_factors6 *out) {
  const cb_rigid_problem *p = c->bodies.problem(c->bodies.self, b);
  double K[6][6], mu0[6];
  if (p->constant)
    memcpy(K, p->constant->K, sizeof K);
  else {
    const cb_status status = p->inertia(p->self, t, &c->bodies.state[b].g, K, mu0);
    if (status) return status;
  }
  return cb_factor6((const double(*)[6])K, out)
             ? CB_OK
             : cb_fail(CB_STEP_SINGULAR,
                       "the inertia of a body is singular: expected mass or added mass, with inertia about each axis");
}

/* Multiplies the gradients of the entries of bodies by K^-1, at the time t and the pose of the body. */
static cb_status respond_bodies(cb_coupled *c, double t, double (*of)[6]) {
  const cb_coupled_rows *w = c->rows;
  for (int b = 0; b < c->bodies.n; b++) {
    const int first = w->unit_start[b], end = w->unit_start[b + 1];
    if (first == end || cb_coupled_has_joints(c, b)) continue;
    cb_factors6 f;
    const cb_status status = cb_coupled_factor(c, t, b, &f);
    if (status) return status;
    for (int i = first; i < end; i++) cb_back6(&f, of[w->unit_entry[i]], of[w->unit_entry[i]]);
  }
  return CB_OK;
}

static void respond_particles(const cb_coupled *c, double (*of)[6]) {
  const cb_coupled_rows *w = c->rows;
  for (int e = 0; e < w->entries; e++) {
    const int place = w->pattern->particle[e];
    double raised[CB_COORD_MAX];
    if (c->carried[place].body >= 0) continue;
    cb_coupled_raise(c, place, of[e], raised);
    for (int a = 0; a < c->k; a++) of[e][a] = raised[a] / c->mass[place];
  }
}

/* Rotates the entries of bodies into the axes of the middle of the step, by half of the rotation of the body in the
 * step. forwards: true for entries in the axes of the end of the step, false for those in the axes of its start. */
static void turn_to_middle(const cb_coupled *c, bool forwards, double (*of)[6]) {
  const cb_coupled_rows *w = c->rows;
  for (int b = 0; b < c->bodies.n; b++) {
    if (w->unit_start[b] == w->unit_start[b + 1]) continue;
    double back[4], move[4];
    cb_pose half = {.q = {1}};
    cb_quaternion_inverse(c->kicked->bodies[b].g.q, back);
    cb_quaternion_multiply(back, c->bodies.state[b].g.q, move);
    const double sign = move[0] < 0 ? -1 : 1;
    for (int i = 0; i < 4; i++) half.q[i] = (i == 0) + sign * move[i];
    cb_quaternion_project(half.q);
    double r[3][3], out[6];
    const double norm = sqrt(half.q[0] * half.q[0] + cb_dot3(half.q + 1, half.q + 1));
    for (int i = 0; i < 4; i++) half.q[i] /= norm;
    cb_pose_rotation(&half, r);
    for (int i = w->unit_start[b]; i < w->unit_start[b + 1]; i++) {
      double *own = of[w->unit_entry[i]];
      if (forwards)
        cb_turn6(r, own, out);
      else
        cb_turn6_transposed(r, own, out);
      memcpy(own, out, sizeof out);
    }
  }
}

/* Rotates the gradients at bodies with joints from the body frames into the world's axes. */
static void turn_to_world(const cb_coupled *c, const double (*of)[6], double (*out)[6]) {
  const cb_coupled_rows *w = c->rows;
  for (int e = 0; e < w->entries; e++)
    if (w->unit[e] < c->bodies.n && cb_coupled_has_joints(c, w->unit[e]))
      cb_turn6((const double(*)[3])c->motion[w->unit[e]].r, of[e], out[e]);
}

/* Adds the entries of the matrix A (file header) for two rows that both act on bodies with joints. All joined bodies
 * respond together to an impulse on one of them. */
static void add_joined(cb_coupled *c) {
  cb_coupled_rows *w = c->rows;
  for (int r = 0; r < w->rows && c->bodies.mechanism; r++) {
    if (!w->joined[r]) continue;
    memset(w->push, 0, (size_t)c->bodies.n * sizeof *w->push);
    for (int e = w->pattern->start[r]; e < w->pattern->start[r + 1]; e++)
      if (w->unit[e] < c->bodies.n && cb_coupled_has_joints(c, w->unit[e]))
        cb_add6(1, w->first_world[e], w->push[w->unit[e]]);
    cb_mechanism_respond(c->bodies.mechanism, (const double(*)[6])w->push, w->answer);
    for (int other = 0; other < w->rows; other++) {
      double sum = 0;
      if (!w->joined[other]) continue;
      for (int e = w->pattern->start[other]; e < w->pattern->start[other + 1]; e++)
        for (int k = 0; w->unit[e] < c->bodies.n && cb_coupled_has_joints(c, w->unit[e]) && k < 6; k++)
          sum += w->left_world[e][k] * w->answer[w->unit[e]][k];
      cb_entries_add(&w->list, other, r, sum);
    }
  }
}

/* Applies a unit impulse of a row to its bodies, and computes the change of the rate of this row: *joined if the joints
 * act, *alone if there were no joints. *whole becomes true if the row holds only bodies with joints; otherwise *joined
 * and *alone are 0. */
static cb_status respond_joined(cb_coupled *c, double t, int row, bool *whole, double *joined, double *alone) {
  cb_coupled_rows *w = c->rows;
  const int first = w->pattern->start[row], end = w->pattern->start[row + 1];
  *whole = true;
  *joined = *alone = 0;
  memset(w->push, 0, (size_t)c->bodies.n * sizeof *w->push);
  for (int e = first; e < end; e++) {
    *whole = *whole && w->unit[e] < c->bodies.n && cb_coupled_has_joints(c, w->unit[e]);
    if (*whole) cb_add6(1, w->left_world[e], w->push[w->unit[e]]);
  }
  if (!*whole) return CB_OK;
  cb_mechanism_respond(c->bodies.mechanism, (const double(*)[6])w->push, w->answer);
  for (int e = first; e < end; e++) {
    cb_factors6 f;
    double own[6];
    const cb_status status = cb_coupled_factor(c, t, w->unit[e], &f);
    if (status) return status;
    cb_back6(&f, w->left[e], own);
    for (int k = 0; k < 6; k++) {
      *joined += w->left_world[e][k] * w->answer[w->unit[e]][k];
      *alone += w->left[e][k] * own[k];
    }
  }
  return CB_OK;
}

cb_status cb_coupled_rows_check(cb_coupled *c, double t) {
  cb_coupled_rows *w = c->rows;
  cb_status status = cb_constraints_eval(w->own, t, c->state->x, w->g, w->G);
  by_units(c, w->left);
  turn_to_world(c, (const double(*)[6])w->left, w->left_world);
  for (int r = 0; r < w->rows && !status; r++) {
    bool whole;
    double joined, alone;
    if (!w->joined[r]) continue;
    status = respond_joined(c, t, r, &whole, &joined, &alone);
    if (!status && whole && !(joined > 1e-9 * alone))
      status = cb_fail_as(CB_FAILURE_CONSTRAINT, CB_ERROR_UNSUPPORTED,
                          "the joints already keep constraint `%s` satisfied: leave the constraint out",
                          cb_system_constraint_name(c->system, r));
  }
  return status;
}

/* Assembles and factors the matrix: h times the sum over units of the products left.right, plus the entries of
 * joints. */
static cb_status factor(cb_coupled *c, double h) {
  cb_coupled_rows *w = c->rows;
  const bool first = !w->matrix;
  if (!first) cb_entries_begin(&w->list, cb_sparse_values(w->matrix));
  for (int u = 0; u < units(c); u++)
    for (int i = w->unit_start[u]; i < w->unit_start[u + 1] && !(u < c->bodies.n && cb_coupled_has_joints(c, u)); i++)
      for (int j = w->unit_start[u]; j < w->unit_start[u + 1]; j++) {
        const double *a = w->left[w->unit_entry[i]], *b = w->right[w->unit_entry[j]];
        double sum = 0;
        for (int k = 0; k < 6; k++) sum += a[k] * b[k];
        cb_entries_add(&w->list, w->row[w->unit_entry[i]], w->row[w->unit_entry[j]], h * sum);
      }
  add_joined(c);
  if (first) {
    cb_columns columns;
    cb_status status = cb_entries_compress(&w->list, w->rows, c->arena, &columns);
    if (!status) status = cb_sparse_create(w->rows, columns.start, columns.row, columns.value, &w->matrix);
    if (status)
      return status == CB_ERROR_MEMORY
                 ? status
                 : cb_fail(CB_STEP_SINGULAR,
                           "the constraints depend on one another: expected constraints without redundancy");
    memcpy(cb_sparse_values(w->matrix), columns.value, (size_t)columns.start[w->rows] * sizeof(double));
  }
  const cb_status status = cb_sparse_factor(w->matrix);
  return status == CB_STEP_SINGULAR
             ? cb_fail(status, "the constraints depend on one another: expected constraints without redundancy")
             : status;
}

/* --- the impulses of a step --- */

cb_status cb_coupled_rows_begin(cb_coupled *c, double t) {
  cb_coupled_rows *w = c->rows;
  const cb_status status = cb_constraints_eval(w->own, t, c->state->x, w->g, w->G);
  if (status) return status;
  memcpy(w->first_G, w->G, (size_t)(w->entries * c->k) * sizeof *w->G);
  by_units(c, w->first);
  turn_to_world(c, (const double(*)[6])w->first, w->first_world);
  return CB_OK;
}

/* Adds the sum of weight[rows] times the gradients G of the rows to the momenta. */
static void push(cb_coupled *c, const double *weight, const double *G) {
  const cb_coupled_rows *w = c->rows;
  memset(c->force_of_rows, 0, (size_t)(c->n * c->k) * sizeof *c->force_of_rows);
  for (int e = 0; e < w->entries; e++)
    for (int a = 0; a < c->k; a++)
      c->force_of_rows[w->pattern->particle[e] * c->k + a] += weight[w->row[e]] * G[e * c->k + a];
  cb_coupled_kick(c, 1, c->force_of_rows);
}

void cb_coupled_rows_apply(cb_coupled *c) {
  const cb_coupled_rows *w = c->rows;
  push(c, w->impulse, w->first_G);
}

/* Returns the largest |of[row]| relative to the size of its row, and sets *row to this row. */
static double largest(const cb_coupled *c, double t, const double *of, int *row) {
  double out = 0;
  *row = 0;
  for (int r = 0; r < c->rows->rows; r++) {
    const double size = fabs(of[r]) / cb_system_constraint_size(c->system, r, t);
    if (size <= out) continue;
    out = size;
    *row = r;
  }
  return out;
}

/* Returns the largest round-off of a row relative to the size of the row; it comes from the coordinates of its
 * points. */
static double round_off(const cb_coupled *c, double t) {
  const cb_coupled_rows *w = c->rows;
  double out = 1;
  for (int e = 0; e < w->entries; e++) {
    double sum = 0;
    for (int a = 0; a < c->k; a++) sum += fabs(w->G[e * c->k + a] * c->state->x[w->pattern->particle[e] * c->k + a]);
    out = fmax(out, sum / cb_system_constraint_size(c->system, w->row[e], t));
  }
  return DBL_EPSILON * out;
}

/* Makes the matrix A of the step of length h that has led to the present places. */
static cb_status make_matrix(cb_coupled *c, double t, double h) {
  cb_coupled_rows *w = c->rows;
  by_units(c, w->left);
  turn_to_world(c, (const double(*)[6])w->left, w->left_world);
  turn_to_middle(c, true, w->left);
  memcpy(w->right, w->first, (size_t)w->entries * sizeof *w->right);
  turn_to_middle(c, false, w->right);
  const cb_status status = respond_bodies(c, t - h / 2, w->right);
  if (status) return status;
  respond_particles(c, w->right);
  return factor(c, h);
}

cb_status cb_coupled_rows_correct(cb_coupled *c, double t, double h, int iteration, bool *done) {
  cb_coupled_rows *w = c->rows;
  int row;
  cb_status status = cb_constraints_eval(w->own, t, c->state->x, w->g, w->G);
  if (status) return status;
  const double residual = largest(c, t, w->g, &row), limit = round_off(c, t);
  const bool stands = iteration > 1 && residual >= w->residual / 2 && residual <= 100 * limit;
  *done = residual <= limit || stands;
  if (*done) return CB_OK;
  if (!(residual < 1e3) || iteration == MAXIMUM || (iteration > 8 && residual > w->residual))
    return cb_fail(CB_STEP_NO_CONVERGENCE,
                   "the constraint `%s` cannot be satisfied at the end of a step of %g: use a smaller `step`",
                   cb_system_constraint_name(c->system, row), h);
  if (iteration == 0 || residual > w->residual / 10) status = make_matrix(c, t, h);
  if (status) return status;
  w->residual = residual;
  for (int r = 0; r < w->rows; r++) w->change[r] = -w->g[r];
  cb_sparse_solve(w->matrix, w->change);
  for (int r = 0; r < w->rows; r++) w->impulse[r] += w->change[r];
  return CB_OK;
}

/* --- velocities --- */

static cb_status rates(cb_coupled *c, double t) {
  const cb_status status = cb_coupled_find_velocities(c, t);
  return status ? status : cb_constraints_rate(c->rows->own, t, c->state->x, c->velocity, c->rows->g, c->rows->G);
}

cb_status cb_coupled_rows_project(cb_coupled *c, double t) {
  cb_coupled_rows *w = c->rows;
  double last = INFINITY;
  int row;
  cb_status status = rates(c, t);
  if (status) return status;
  by_units(c, w->left);
  turn_to_world(c, (const double(*)[6])w->left, w->left_world);
  memcpy(w->first_world, w->left_world, (size_t)w->entries * sizeof *w->first_world);
  memcpy(w->right, w->left, (size_t)w->entries * sizeof *w->right);
  status = respond_bodies(c, t, w->right);
  if (status) return status;
  respond_particles(c, w->right);
  status = factor(c, 1);
  for (int n = 0; n < 4 && !status; n++) {
    const double residual = largest(c, t, w->g, &row);
    if (residual == 0 || residual >= last / 2) break;
    last = residual;
    for (int r = 0; r < w->rows; r++) w->change[r] = -w->g[r];
    cb_sparse_solve(w->matrix, w->change);
    push(c, w->change, w->G);
    status = cb_coupled_settle(c, t);
    if (!status) status = rates(c, t);
  }
  return status;
}

cb_status cb_coupled_rows_residual(cb_coupled *c, double t, bool rate, double *residual, int *row) {
  const cb_status status = rate ? rates(c, t) : cb_constraints_eval(c->rows->own, t, c->state->x, c->rows->g, NULL);
  if (!status) *residual = largest(c, t, c->rows->g, row);
  return status;
}
