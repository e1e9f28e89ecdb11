/* Torques along a gait, their cost, and its first and second derivatives in the coefficients (effort.h). r: shape; M:
 * metric; Gamma: its Christoffel symbols; tau: torques. */
#include "optimum/effort_private.h"

bool cb_effort_is_limited(const cb_optimum_problem *p) {
  for (int i = 0; p->largest_torque && i < p->bundle->n; i++)
    if (isfinite(p->largest_torque[i])) return true;
  return false;
}

cb_status cb_effort_create(const cb_optimum_problem *p, const cb_variation *v, cb_effort **out) {
  *out = NULL;
  if (!cb_objective_is_effort(p->objective)) return CB_OK;
  const size_t n = (size_t)v->n, nodes = (size_t)v->basis->nodes, u = (size_t)v->unknowns, dim = (size_t)v->dim;
  cb_arena *arena = cb_arena_create();
  cb_effort *e = cb_arena_alloc(arena, 1, sizeof *e);
  struct cb_effort_work *w = cb_arena_alloc(arena, 1, sizeof *w);
  if (e && w) {
    *w = (struct cb_effort_work){.arena = arena};
    *e = (cb_effort){.problem = p, .squared = p->objective == CB_OBJECTIVE_TORQUE, .relaxed = 1, .memory = w};
    for (size_t a = 0; p->momentum && a < dim; a++)
      if (p->momentum[a] != 0) e->momentum = p->momentum;
    cb_arena_doubles(arena, nodes * n, &w->curve, &e->torque);
    cb_arena_doubles(arena, n * n * n * n, &w->ddM, &w->around[0], &w->around[1]);
    cb_arena_doubles(arena, u, &w->c);
    cb_arena_doubles(arena, nodes * 9 * n * n, &w->node);
    cb_arena_doubles(arena, nodes * (size_t)v->basis->functions + CB_OUTER_SLACK, &w->left);
    if (e->momentum) w->at = cb_arena_alloc(arena, nodes, sizeof *w->at);
    if (e->momentum) {
      cb_arena_doubles(arena, nodes * dim * u, &w->y);
      cb_arena_doubles(arena, nodes * dim, &w->pull, &w->lambda);
      cb_arena_doubles(arena, nodes * (3 * n + dim) * u + CB_OUTER_SLACK, &w->big[0], &w->big[1]);
    }
  }
  if (cb_arena_lost(arena)) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the torques of %d unknowns", v->unknowns);
  }
  *out = e;
  return CB_OK;
}

void cb_effort_free(cb_effort *e) {
  if (e) cb_arena_free(e->memory->arena);
}

cb_status cb_effort_begin(cb_variation *v, const double *c) {
  struct cb_effort_work *w = v->effort->memory;
  const int n = v->n, f = v->basis->functions, count = v->dim * n;
  if (c != w->c) memcpy(w->c, c, (size_t)v->unknowns * sizeof *c);
  for (int q = 0; q < v->basis->nodes; q++) {
    for (int i = 0; i < n; i++) {
      w->curve[q * n + i] = 0;
      for (int a = 0; a < f; a++) w->curve[q * n + i] += c[i * f + a] * v->basis->curve[q * f + a];
    }
    if (!v->effort->momentum) continue;
    const cb_status status = cb_effort_lock(v->bundle, v->r + q * n, &w->at[q]);
    if (status) return status;
    memcpy(w->at[q].A, v->A + q * count, (size_t)count * sizeof *v->A);
    memcpy(w->at[q].dA, v->dA + q * n * count, (size_t)(n * count) * sizeof *v->dA);
  }
  return CB_OK;
}

/* --- torques at a node --- */

/* Computes the torques that the metric, the springs and the dampers cause. With `slopes`, also computes their
 * derivatives. */
static void geodesic(const cb_variation *v, int q, const double *ddM, cb_effort_node *out) {
  const cb_optimum_problem *p = v->effort->problem;
  const int n = v->n;
  const double *M = v->M + q * n * n, *dM = v->dM + q * n * n * n, *r = v->r + q * n, *rate = v->v + q * n,
               *curve = v->effort->memory->curve + q * n, T = p->duration;
  for (int i = 0; i < n; i++) {
    const double stiffness = p->stiffness ? p->stiffness[i] : 0, damping = p->damping ? p->damping[i] : 0;
    double sum = 0;
    for (int j = 0; j < n; j++) {
      double symbols = 0;
      for (int k = 0; k < n; k++)
        symbols += (dM[(k * n + i) * n + j] + dM[(j * n + i) * n + k] - dM[(i * n + j) * n + k]) * rate[k];
      out->x[i][n + j] = symbols / (T * T) + (i == j ? damping / T : 0);
      out->x[i][2 * n + j] = M[i * n + j] / (T * T);
      sum += M[i * n + j] * curve[j] + symbols * rate[j] / 2;
    }
    out->tau[i] = sum / (T * T) + stiffness * (r[i] - (p->rest ? p->rest[i] : 0)) + damping * rate[i] / T;
    for (int l = 0; ddM && l < n; l++) {
      double slope = 0;
      for (int j = 0; j < n; j++) {
        slope += dM[(l * n + i) * n + j] * curve[j];
        for (int k = 0; k < n; k++)
          slope += (ddM[((l * n + k) * n + i) * n + j] - ddM[((l * n + i) * n + j) * n + k] / 2) * rate[j] * rate[k];
      }
      out->x[i][l] = slope / (T * T) + (i == l ? stiffness : 0);
    }
  }
}

cb_status cb_effort_node_at(cb_variation *v, int q, bool slopes, cb_effort_node *out) {
  double *ddM = v->effort->memory->ddM;
  const cb_status status = slopes ? cb_bundle_second(v->bundle, v->r + q * v->n, NULL, ddM) : CB_OK;
  if (status) return status;
  geodesic(v, q, slopes ? ddM : NULL, out);
  return v->effort->momentum ? cb_effort_add_gyroscopic(v, q, slopes, out) : CB_OK;
}

/* --- the cost --- */

/* Returns the cost of variable i at a node, and computes its derivatives. The cost is infinite beyond the limit of the
 * torque. */
double cb_effort_price_of(const cb_effort *e, int i, double tau, double v, cb_effort_price *d) {
  double value;
  if (e->squared) {
    value = tau * tau;
    *d = (cb_effort_price){.t = 2 * tau, .tt = 2};
  } else {
    const double x = tau * v, root = sqrt(x * x + e->smooth * e->smooth), s = root > 0 ? root : 1, slope = x / s,
                 bend = e->smooth * e->smooth / (s * s * s);
    value = root - e->smooth;
    *d = (cb_effort_price){slope * v, slope * tau, bend * v * v, slope + bend * x, bend * tau * tau};
  }
  const double limit = e->problem->largest_torque ? e->relaxed * e->problem->largest_torque[i] : INFINITY;
  if (!(e->barrier > 0) || !isfinite(limit)) return value;
  const double x = tau / limit, left = 1 - x * x;
  if (!(left > 0)) return INFINITY;
  d->t += 2 * e->barrier * 2 * x / (limit * left);
  d->tt += 2 * e->barrier * (2 + 4 * x * x / left) / (limit * limit * left);
  return value - 2 * e->barrier * log(left);
}

/* Adds the contribution of a node to the members cost, work and mechanical of e, and updates the maxima `largest` and
 * `share`. */
static void account(cb_effort *e, int n, double weight, const double *tau, const double *rate) {
  for (int i = 0; i < n; i++) {
    const double power = tau[i] * rate[i] / e->problem->duration, size = fabs(tau[i]);
    e->largest[i] = fmax(e->largest[i], size);
    e->work[i] += weight * power;
    e->mechanical += weight * fabs(power);
    e->cost += weight * (e->squared ? tau[i] * tau[i] : fabs(power));
    if (e->problem->largest_torque) e->share = fmax(e->share, size / e->problem->largest_torque[i]);
  }
}

/* Adds the derivatives of a node's cost to dcost. `weight` is the weight of the node in the integral over time, in s.
 */
static void add_slope(cb_variation *v, int q, double weight, const cb_effort_node *at, const cb_effort_price *d) {
  const cb_basis *s = v->basis;
  const int n = v->n, f = s->functions, dim = v->dim, u = v->unknowns;
  double x[3 * N] = {0}, moved[D * D], K[D * D], pull[D] = {0};
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 3 * n; k++) x[k] += weight * d[i].t * at->x[i][k];
    x[n + i] += weight * d[i].v / v->effort->problem->duration;
  }
  for (int i = 0; i < n; i++)
    for (int a = 0; a < f; a++)
      v->dcost[i * f + a] +=
          x[i] * s->phi[q * f + a] + x[n + i] * s->rate[q * f + a] + x[2 * n + i] * s->curve[q * f + a];
  if (!v->effort->momentum) return;
  cb_effort_feedback(v, q, moved, K);
  for (int b = 0; b < dim; b++)
    for (int a = 0; a < dim; a++)
      for (int i = 0; i < n; i++) pull[b] += weight * d[i].t * at->mu[i][a] * moved[a * dim + b];
  for (int b = 0; b < dim; b++)
    for (int p = 0; p < u; p++) v->dcost[p] += pull[b] * v->effort->memory->y[(q * dim + b) * u + p];
}

cb_status cb_effort_at(cb_variation *v, bool slopes) {
  cb_effort *e = v->effort;
  const int n = v->n;
  v->cost = e->cost = e->mechanical = e->share = 0;
  memset(e->largest, 0, sizeof e->largest);
  memset(e->work, 0, sizeof e->work);
  if (slopes) memset(v->dcost, 0, (size_t)v->unknowns * sizeof *v->dcost);
  for (int q = 0; q < v->basis->nodes; q++) {
    const double weight = v->basis->weight[q] * e->problem->duration;
    cb_effort_price d[N];
    cb_effort_node at;
    const cb_status status = cb_effort_node_at(v, q, slopes, &at);
    if (status) return status;
    memcpy(e->torque + q * n, at.tau, (size_t)n * sizeof *at.tau);
    account(e, n, weight, at.tau, v->v + q * n);
    for (int i = 0; i < n; i++)
      v->cost += weight * cb_effort_price_of(e, i, at.tau[i], v->v[q * n + i] / e->problem->duration, &d[i]);
    if (slopes) add_slope(v, q, weight, &at, d);
  }
  return CB_OK;
}

/* --- the Hessian --- */

/* Computes the derivative of ddM along a direction at node q, by a central difference. */
static cb_status third(cb_variation *v, int q, const double *direction, double *out) {
  static const double h = 1e-3;
  const int n = v->n, count = n * n * n * n;
  const double size = sqrt(cb_dot(n, direction, direction));
  memset(out, 0, (size_t)count * sizeof *out);
  for (int side = -1; side <= 1 && size > 0; side += 2) {
    double r[N], *ddM = v->effort->memory->around[1];
    for (int i = 0; i < n; i++) r[i] = v->r[q * n + i] + side * h * direction[i] / size;
    const cb_status status = cb_bundle_second(v->bundle, r, NULL, ddM);
    if (status) return status;
    for (int k = 0; k < count; k++) out[k] += side * size * ddM[k] / (2 * h);
  }
  return CB_OK;
}

/* Adds the second derivatives of sum_i push_i (M r'' + Gamma(r', r'))_i at node q to H[3 n][3 n], with given numbers
 * push[n]. Rates are those in the time from 0 to 1. */
static cb_status bend(cb_variation *v, int q, const double *push, double *H) {
  const int n = v->n, width = 3 * n;
  const double *dM = v->dM + q * n * n * n, *rate = v->v + q * n, *ddM = v->effort->memory->ddM,
               *curve = v->effort->memory->curve + q * n;
  double *along = v->effort->memory->around[0];
  cb_status status = third(v, q, rate, along);
  for (int l = 0; l < n && !status; l++)
    for (int m = 0; m < n; m++)
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          const int at = ((l * n + m) * n + i) * n + j;
          H[l * width + m] += push[i] * (ddM[at] * curve[j] + along[at] * rate[j]);
        }
  if (!status) status = third(v, q, push, along);
  if (status) return status;
  for (int l = 0; l < n; l++)
    for (int j = 0; j < n; j++) {
      double ra = 0, vv = 0, rv = 0;
      for (int m = 0; m < n; m++)
        for (int k = 0; k < n; k++) H[l * width + j] -= along[((l * n + j) * n + m) * n + k] * rate[m] * rate[k] / 2;
      for (int i = 0; i < n; i++) {
        ra += push[i] * dM[(l * n + i) * n + j];
        vv += push[i] * (dM[(l * n + i) * n + j] + dM[(j * n + i) * n + l] - dM[(i * n + j) * n + l]);
        for (int k = 0; k < n; k++)
          rv += push[i] * rate[k] *
                (ddM[((l * n + k) * n + i) * n + j] + ddM[((l * n + j) * n + i) * n + k] -
                 ddM[((l * n + i) * n + j) * n + k]);
      }
      H[l * width + 2 * n + j] += ra;
      H[(2 * n + j) * width + l] += ra;
      H[l * width + n + j] += rv;
      H[(n + j) * width + l] += rv;
      H[(n + l) * width + n + j] += vv;
    }
  return CB_OK;
}

/* Computes the Hessian H[3 n][3 n] of the cost at node q in (r, r', r''). Rates are those in the time from 0 to 1. */
static cb_status node_hessian(cb_variation *v, int q, double weight, double *H) {
  const int n = v->n, width = 3 * n;
  const double T = v->effort->problem->duration;
  double push[N];
  cb_effort_node at;
  cb_status status = cb_effort_node_at(v, q, true, &at);
  memset(H, 0, (size_t)(width * width) * sizeof *H);
  for (int i = 0; i < n && !status; i++) {
    cb_effort_price d;
    cb_effort_price_of(v->effort, i, at.tau[i], v->v[q * n + i] / T, &d);
    push[i] = weight * d.t / (T * T);
    for (int k = 0; k < width; k++) {
      for (int l = 0; l < width; l++) H[k * width + l] += weight * d.tt * at.x[i][k] * at.x[i][l];
      H[k * width + n + i] += weight * d.tv / T * at.x[i][k];
      H[(n + i) * width + k] += weight * d.tv / T * at.x[i][k];
    }
    H[(n + i) * width + n + i] += weight * d.vv / (T * T);
  }
  return status ? status : bend(v, q, push, H);
}

cb_status cb_effort_add_hessian(cb_variation *v, double mu, double *H) {
  const cb_basis *s = v->basis;
  const int n = v->n, f = s->functions, width = 3 * n;
  const double *functions[3] = {s->phi, s->rate, s->curve};
  double *at = v->effort->memory->node, *left = v->effort->memory->left;
  for (int q = 0; q < s->nodes; q++) {
    const double weight = mu / 2 * s->weight[q] * v->effort->problem->duration;
    const cb_status status = node_hessian(v, q, weight, at + q * width * width);
    if (status) return status;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int l = 0; l < 3; l++) {
        for (int q = 0; q < s->nodes; q++)
          for (int a = 0; a < f; a++) {
            left[q * f + a] = 0;
            for (int k = 0; k < 3; k++)
              left[q * f + a] += at[(q * width + k * n + i) * width + l * n + j] * functions[k][q * f + a];
          }
        cb_outer_add(s->nodes, f, left, f, functions[l], H + i * f * v->unknowns + j * f, v->unknowns);
      }
  return CB_OK;
}

cb_status cb_effort_gait(const cb_variation *v, const double *c, cb_gait **out) {
  const cb_basis *s = v->basis;
  const int n = v->n, f = s->functions, points = s->degree + 1;
  bool open = false;
  for (int i = 0; i < n; i++) open |= v->drift[i] != 0;
  if (!open) return cb_basis_gait(s, n, c, out);
  double value[2 * 65 * N], phi[4 * 65];
  for (int k = 0; k < points; k++) {
    const double t = (1 - cos(M_PI * k / s->degree)) / 2;
    cb_basis_at(s, k == s->degree ? 0 : t, phi, NULL); /* the functions of one arc are the same at both ends */
    for (int i = 0; i < n; i++) {
      const double r = cb_dot(f, c + i * f, phi) + v->drift[i] * t;
      value[k * n + i] = value[(2 * points - 1 - k) * n + i] = r;
    }
  }
  return cb_gait_arcs(n, 2, (const double[3]){0, .5, 1}, s->degree, value, out);
}
