/* Potentials of distances: between pairs of particles, V = sum over pairs of U(d_ij), and to a fixed centre.
 *
 * d_ij is the distance of particles i and j, U a potential of pair_potential.h, and I = diag(form) (1 in a chart). Each
 * particle sums the forces of all its partners, F_i = -sum_j I^-1 dU(d_ij)/dx_i, in a fixed order. This is twice the
 * work of visiting each pair once, but the sums of different particles are independent, so the result does not depend
 * on the number of threads. For Green's functions (gravity, Coulomb) on one quadric the coordinates of a group are
 * copied to one array per coordinate. The loop then handles 8 partners at a time, so that compilers can use vectors.
 *
 * Springs between particles:
 *
 *   V = (k/2)(d - D)^2,   F = -(k (d - D) + c d') dd/dq,   d' = dd/dq . q'
 *   dF/dq = -(k dd dd + (k (d - D) + c d') d^2d + c dd (d^2d . q')),   dF/dq' = -c dd dd
 * for a spring of stiffness k, rest length D and damping c whose ends, with the coordinates q, have the distance d. dd
 * and d^2d are the first and second derivatives of d. In an embedding a plan computes the springs with constant numbers
 * (springs.h). Springs in a space with a chart, and driven springs, whose numbers are functions of t, follow from the
 * derivatives of the distance. A driven spring is in the plan, too, with the numbers 0, so that the plan computes its
 * length.
 */
#include "dynamics/forces_private.h"

#include <math.h>

/* --- potentials --- */

enum { LANES = 8 };

/* With fewer pairs than this, starting the threads takes more time than the threads save. */
static const double pairs_for_threads = 2e4;

/* The particles that act on each particle of another group. `coordinate` and `weight` are NULL unless the potential is
 * a Green's function on one quadric. */
typedef struct partners {
  const cb_particle_set *group;
  size_t stride;
  const double *coordinate; /* [k][stride]: the coordinates of the partners, one array per coordinate */
  const double *weight;     /* mass or charge of each partner */
} partners;

cb_status cb_interactions_create(cb_forces *f) {
  const cb_system *s = f->system;
  int maximum = 0;
  for (int q = 0; q < s->n_interactions; q++) {
    if (s->interaction[q].a.n > maximum) maximum = s->interaction[q].a.n;
    if (s->interaction[q].b.n > maximum) maximum = s->interaction[q].b.n;
  }
  f->gather = cb_arena_alloc_aligned(f->arena, (size_t)maximum * (size_t)(s->k + 1), sizeof(double), CB_CACHE_LINE);
  return f->gather ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for interactions of %d particles", maximum);
}

static bool by_columns(const cb_system *s, const cb_interaction *q) {
  const cb_pair_potential_class *c = q->pair_potential.class_;
  return cb_pair_by_chord(s->space) && c->green && c->factor != CB_PAIR_FACTOR_ONE;
}

/* Returns the masses or the charges of the particles. The factor of a pair is the product of two of them. */
static const double *weights(const cb_system *s, const cb_interaction *q) {
  return q->pair_potential.class_->factor == CB_PAIR_FACTOR_CHARGE ? s->charge : s->mass;
}

static partners gather(cb_forces *f, const cb_interaction *q, const cb_particle_set *group, const double *x) {
  const cb_system *s = f->system;
  const double *weight = weights(s, q);
  size_t n = (size_t)group->n;
  double *out = f->gather;
  for (size_t j = 0; j < n; j++) {
    int p = group->particle[j];
    for (int a = 0; a < s->k; a++) out[(size_t)a * n + j] = x[p * s->k + a];
    out[(size_t)s->k * n + j] = weight[p];
  }
  return (partners){group, n, out, out + (size_t)s->k * n};
}

/* pull[a] += sum_j weight_j (x_j - x)_a / S^3 for j in [from, to), where S^2 = w (1 - K w/4), w = <x_j - x, x_j - x>,
 * and K is the curvature. */
static inline __attribute__((always_inline)) void pull_of(int k, const double *form, double curvature,
                                                          const partners *p, int from, int to, const double *x,
                                                          double *pull) {
  double lane[CB_COORD_MAX][LANES] = {{0}};
  int j = from;
  for (; j + LANES <= to; j += LANES) {
    double e[CB_COORD_MAX][LANES], w[LANES] = {0}, phi[LANES];
    for (int a = 0; a < k; a++)
      for (int l = 0; l < LANES; l++) {
        e[a][l] = p->coordinate[(size_t)a * p->stride + (size_t)(j + l)] - x[a];
        w[l] += form[a] * e[a][l] * e[a][l];
      }
    for (int l = 0; l < LANES; l++) {
      double ss = w[l] * (1 - 0.25 * curvature * w[l]);
      phi[l] = p->weight[j + l] / (ss * sqrt(ss));
    }
    for (int a = 0; a < k; a++)
      for (int l = 0; l < LANES; l++) lane[a][l] += phi[l] * e[a][l];
  }
  for (int a = 0; a < k; a++)
    for (int l = 0; l < LANES; l++) pull[a] += lane[a][l];
  for (; j < to; j++) {
    double e[CB_COORD_MAX], w = 0;
    for (int a = 0; a < k; a++) {
      e[a] = p->coordinate[(size_t)a * p->stride + (size_t)j] - x[a];
      w += form[a] * e[a] * e[a];
    }
    double ss = w * (1 - 0.25 * curvature * w), phi = p->weight[j] / (ss * sqrt(ss));
    for (int a = 0; a < k; a++) pull[a] += phi * e[a];
  }
}

static void pull_by_columns(const cb_space *g, const partners *p, int from, int to, const double *x, double *pull) {
  double curvature = g->factor[0].curvature;
  switch (g->k) {
    case 2: pull_of(2, g->form, curvature, p, from, to, x, pull); break;
    case 3: pull_of(3, g->form, curvature, p, from, to, x, pull); break;
    default: pull_of(4, g->form, curvature, p, from, to, x, pull); break;
  }
}

static cb_pair_values pair_of(const cb_system *s, const cb_pair_potential *pair_potential, double t, int i, int j) {
  return cb_pair_values_of(pair_potential, t, s->mass[i], s->mass[j], s->charge[i], s->charge[j]);
}

/* Adds to pull[k] the force on particle i from all partners except number `self`, computed one by one. */
static cb_status pull_one_by_one(const cb_forces *f, const cb_interaction *q, const partners *p, double t, int self,
                                 int i, const double *x, double *pull) {
  const cb_system *s = f->system;
  int k = s->k;
  for (int m = 0; m < p->group->n; m++) {
    if (m == self) continue;
    int j = p->group->particle[m];
    double v, gradient[CB_PAIR_MAX];
    /* m1 and q1 in the potential belong to the particle of group a; within one group, to the particle with the lower
     * index. */
    const bool second = q->same ? j < i : p->group == &q->a;
    const cb_pair_values pair = pair_of(s, &q->pair_potential, t, second ? j : i, second ? i : j);
    cb_status status =
        cb_pair_potential_between(s->space, &q->pair_potential, &pair, x + i * k, x + j * k, &v, gradient, NULL);
    if (status) return status;
    for (int a = 0; a < k; a++) pull[a] += f->raise[a] * gradient[a];
  }
  return CB_OK;
}

/* Adds the forces of all partners on particle number r of the group `rows`. */
static cb_status row(const cb_forces *f, const cb_interaction *q, const cb_particle_set *rows, const partners *p,
                     double t, int r, const double *x, double *force) {
  const cb_system *s = f->system;
  int i = rows->particle[r], k = s->k, n = p->group->n, self = q->same ? r : n;
  double pull[CB_COORD_MAX] = {0}, scale = 1;
  cb_status status = CB_OK;
  if (by_columns(s, q)) {
    scale = q->pair_potential.green * weights(s, q)[i];
    pull_by_columns(s->space, p, 0, self, x + i * k, pull);
    if (self < n) pull_by_columns(s->space, p, self + 1, n, x + i * k, pull);
  } else {
    status = pull_one_by_one(f, q, p, t, self, i, x, pull);
  }
  for (int a = 0; a < k; a++) force[i * k + a] += scale * pull[a];
  return status;
}

static cb_status add_rows(cb_forces *f, const cb_interaction *q, const cb_particle_set *rows,
                          const cb_particle_set *columns, double t, const double *x, double *force) {
  partners p = {columns, 0, NULL, NULL};
  if (by_columns(f->system, q)) p = gather(f, q, columns, x);
  /* worst: the largest positive status, of a failed step; error: the negative status, of an error, with the largest
   * absolute value */
  int worst = 0, error = 0;
#ifdef _OPENMP
  bool threaded = f->threads > 1 && (double)rows->n * columns->n > pairs_for_threads;
  if (threaded) {
#pragma omp parallel for num_threads(f->threads) schedule(static) reduction(max : worst) reduction(min : error)
    for (int r = 0; r < rows->n; r++) {
      int status = row(f, q, rows, &p, t, r, x, force);
      if (status > worst) worst = status;
      if (status < error) error = status;
    }
    if (worst || error)
      return cb_fail((cb_status)(error ? error : worst),
                     "the distance of a pair of particles has no derivatives: the particles coincide or are antipodal");
    return CB_OK;
  }
#else
  (void)pairs_for_threads;
#endif
  for (int r = 0; r < rows->n && !worst; r++) worst = row(f, q, rows, &p, t, r, x, force);
  return (cb_status)worst;
}

cb_status cb_interactions_add(cb_forces *f, double t, const double *x, double *force) {
  const cb_system *s = f->system;
  for (int n = 0; n < s->n_interactions; n++) {
    const cb_interaction *q = &s->interaction[n];
    cb_status status = add_rows(f, q, &q->a, &q->b, t, x, force);
    if (!status && !q->same) status = add_rows(f, q, &q->b, &q->a, t, x, force);
    if (status) return status;
  }
  return CB_OK;
}

/* Visits every pair once. Adds the potential of the pair to *potential, and the blocks of the second derivatives of
 * this potential to dx. potential or dx may be NULL. */
static cb_status each_pair(cb_forces *f, const cb_interaction *q, double t, const double *x, double *potential,
                           double *dx) {
  const cb_system *s = f->system;
  int k = s->k;
  double hessian[CB_PAIR_MAX * CB_PAIR_MAX];
  for (int a = 0; a < q->a.n; a++)
    for (int b = q->same ? a + 1 : 0; b < q->b.n; b++) {
      int i = q->a.particle[a], j = q->b.particle[b];
      double v;
      cb_pair_values pair = pair_of(s, &q->pair_potential, t, i, j);
      cb_status status = cb_pair_potential_between(s->space, &q->pair_potential, &pair, x + i * k, x + j * k, &v, NULL,
                                                   dx ? hessian : NULL);
      if (status) return status;
      if (potential) *potential += v;
      if (!dx) continue;
      int end[2] = {i, j};
      for (int c = 0; c < 4; c++) {
        int block = cb_pattern_find(&f->pattern, end[c / 2], end[c % 2]);
        cb_forces_add_block(f, hessian, c / 2, c % 2, dx + (size_t)block * (size_t)(k * k));
      }
    }
  return CB_OK;
}

cb_status cb_interactions_potential(cb_forces *f, double t, const double *x, double *potential) {
  const cb_system *s = f->system;
  cb_status status = CB_OK;
  double sum = 0;
  for (int n = 0; n < s->n_interactions && !status; n++) status = each_pair(f, &s->interaction[n], t, x, &sum, NULL);
  if (!status) *potential += sum;
  return status;
}

cb_status cb_interactions_jacobian(cb_forces *f, double t, const double *x, double *dx) {
  const cb_system *s = f->system;
  cb_status status = CB_OK;
  for (int n = 0; n < s->n_interactions && !status; n++) status = each_pair(f, &s->interaction[n], t, x, NULL, dx);
  return status;
}

/* Potentials of the distance to a fixed centre: V = sum_i U(d(x_i, centre)). For each component, the centre is stored
 * in coordinates relative to the component's moving origin. */

cb_status cb_centrals_create(cb_forces *f) {
  const cb_system *s = f->system;
  size_t n = cb_origin_moves(s->space) ? (size_t)s->n_centrals * (size_t)s->n_components : 0;
  f->anchor = cb_arena_alloc(f->arena, n, sizeof *f->anchor);
  return f->anchor ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d centres", s->n_centrals);
}

static cb_anchor *anchor_of(const cb_forces *f, int central, int component) {
  return &f->anchor[(size_t)central * (size_t)f->system->n_components + (size_t)component];
}

cb_status cb_centrals_set_origins(cb_forces *f, const cb_origin *origin) {
  const cb_system *s = f->system;
  if (!cb_origin_moves(s->space)) return CB_OK;
  for (int n = 0; n < s->n_centrals; n++)
    for (int c = 0; c < s->n_components; c++)
      cb_anchor_of(s->space, &origin[c], &s->central[n].centre, anchor_of(f, n, c));
  return CB_OK;
}

/* Computes the potential of a centre that is many radii away, with its derivatives. The distance comes from the moving
 * origin, not from a chord. */
static cb_status at_far(const cb_space *g, const cb_pair_potential *pair_potential, const cb_pair_values *pair,
                        const cb_anchor *anchor, const double *x, double *v, double *gradient, double *hessian) {
  int k = g->k, n = 2 * k;
  double d, d_x[CB_COORD_MAX], d_xx[CB_COORD_MAX * CB_COORD_MAX];
  cb_status status = cb_anchor_distance(g, anchor, x, &d, d_x, d_xx);
  if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  cb_pair_value u = cb_pair_potential_at(pair_potential, pair, d);
  *v = u.u;
  for (int a = 0; a < k; a++) {
    if (gradient) gradient[a] = u.du * d_x[a];
    if (hessian)
      for (int b = 0; b < k; b++) hessian[a * n + b] = u.ddu * d_x[a] * d_x[b] + u.du * d_xx[a * k + b];
  }
  return CB_OK;
}

/* Computes the potential of central potential number n at particle i. In the gradient and the Hessian of the pair (x_i,
 * centre), the first k entries, and the first k rows and columns, are the derivatives by x_i. */
static cb_status at(const cb_forces *f, int n, int i, double t, const double *x, double *v, double *gradient,
                    double *hessian) {
  const cb_system *s = f->system;
  const cb_pair_potential *pair_potential = &s->central[n].pair_potential;
  const double *x_i = x + i * s->k, *centre = s->central[n].centre.x;
  cb_pair_values pair = cb_pair_values_of_centre(pair_potential, t, s->mass[i], s->charge[i]);
  if (cb_origin_moves(s->space)) {
    const cb_anchor *anchor = anchor_of(f, n, s->component[i]);
    if (anchor->frames.far) return at_far(s->space, pair_potential, &pair, anchor, x_i, v, gradient, hessian);
    centre = anchor->x;
  }
  return cb_pair_potential_between(s->space, pair_potential, &pair, x_i, centre, v, gradient, hessian);
}

cb_status cb_centrals_add(cb_forces *f, double t, const double *x, double *force) {
  const cb_system *s = f->system;
  for (int n = 0; n < s->n_centrals; n++)
    for (int m = 0; m < s->central[n].group.n; m++) {
      int i = s->central[n].group.particle[m];
      double v, gradient[CB_PAIR_MAX];
      cb_status status = at(f, n, i, t, x, &v, gradient, NULL);
      if (status) return status;
      for (int a = 0; a < s->k; a++) force[i * s->k + a] += f->raise[a] * gradient[a];
    }
  return CB_OK;
}

cb_status cb_centrals_potential(cb_forces *f, double t, const double *x, double *potential) {
  const cb_system *s = f->system;
  double sum = 0;
  for (int n = 0; n < s->n_centrals; n++)
    for (int m = 0; m < s->central[n].group.n; m++) {
      double v;
      cb_status status = at(f, n, s->central[n].group.particle[m], t, x, &v, NULL, NULL);
      if (status) return status;
      sum += v;
    }
  *potential += sum;
  return CB_OK;
}

cb_status cb_centrals_jacobian(cb_forces *f, double t, const double *x, double *dx) {
  const cb_system *s = f->system;
  for (int n = 0; n < s->n_centrals; n++)
    for (int m = 0; m < s->central[n].group.n; m++) {
      int i = s->central[n].group.particle[m];
      double v, hessian[CB_PAIR_MAX * CB_PAIR_MAX];
      cb_status status = at(f, n, i, t, x, &v, NULL, hessian);
      if (status) return status;
      cb_forces_add_block(f, hessian, 0, 0, dx + (size_t)cb_pattern_find(&f->pattern, i, i) * (size_t)(s->k * s->k));
    }
  return CB_OK;
}

/* --- springs --- */

/* A spring, with its numbers at one time. */
typedef struct spring {
  int i, j; /* indices of the first coordinates of its two ends */
  double stiffness, rest, damping;
} spring;

static spring spring_of(const cb_system *s, int e) {
  return (spring){s->k * s->spring_i[e], s->k * s->spring_j[e], s->stiffness[e], s->rest[e], s->damping[e]};
}

static cb_status driven_at(const cb_system *s, const cb_driven_spring *driven, double t, spring *out) {
  static const char *const what[] = {"stiffness", "rest", "damping"};
  double value[3];
  for (int a = 0; a < 3; a++) {
    value[a] = driven->expression[a] ? cb_expression_value(driven->expression[a], &t) : driven->start[a];
    if (!isfinite(value[a]))
      return cb_fail(CB_STEP_DOMAIN, "the spring between `%s` and `%s`: `%s` is %g at t = %g: expected a finite number",
                     s->name[s->particle[s->spring_i[driven->spring]]],
                     s->name[s->particle[s->spring_j[driven->spring]]], what[a], value[a], t);
  }
  *out = spring_of(s, driven->spring);
  out->stiffness = value[0];
  out->rest = value[1];
  out->damping = value[2];
  return CB_OK;
}

static cb_status add_force(const cb_forces *f, const spring *s, const double *x, const double *v, double *force) {
  const int k = f->system->k, i = s->i, j = s->j;
  double d, d_x[CB_PAIR_MAX];
  cb_status status = cb_pair_distance(f->system->space, x + i, x + j, &d, d_x, NULL);
  if (status) return status;
  double tension = s->stiffness * (d - s->rest);
  if (s->damping != 0)
    for (int a = 0; a < k; a++) tension += s->damping * (d_x[a] * v[i + a] + d_x[k + a] * v[j + a]);
  for (int a = 0; a < k; a++) {
    force[i + a] += f->raise[a] * tension * d_x[a];
    force[j + a] += f->raise[a] * tension * d_x[k + a];
  }
  return CB_OK;
}

cb_status cb_forces_springs_add(cb_forces *f, double t, const double *x, const double *v, double *force) {
  const cb_system *s = f->system;
  cb_status status = CB_OK;
  spring at;
  for (int e = 0; !f->springs && e < s->n_springs && !status; e++) {
    at = spring_of(s, e);
    status = add_force(f, &at, x, v, force);
  }
  for (int q = 0; q < s->n_driven && !status; q++) {
    status = driven_at(s, &s->driven[q], t, &at);
    if (!status) status = add_force(f, &at, x, v, force);
  }
  return status;
}

static cb_status add_energy(const cb_system *s, const spring *at, const double *x, double *sum) {
  double d;
  const cb_status status = cb_pair_distance(s->space, x + at->i, x + at->j, &d, NULL, NULL);
  if (!status) *sum += 0.5 * at->stiffness * (d - at->rest) * (d - at->rest);
  return status;
}

cb_status cb_forces_springs_potential(cb_forces *f, double t, const double *x, double *potential) {
  const cb_system *s = f->system;
  cb_status status = CB_OK;
  spring at;
  double sum = f->springs ? cb_springs_potential(f->springs, x) : 0;
  for (int e = 0; !f->springs && e < s->n_springs && !status; e++) {
    at = spring_of(s, e);
    status = add_energy(s, &at, x, &sum);
  }
  for (int q = 0; q < s->n_driven && !status; q++) {
    status = driven_at(s, &s->driven[q], t, &at);
    if (!status) status = add_energy(s, &at, x, &sum);
  }
  if (!status) *potential += sum;
  return status;
}

/* Adds -I^-1 hessian to the four blocks of a spring. block[4] are the indices of these blocks in the pattern
 * (cb_forces_add_block).
 */
static void add_blocks(const cb_forces *f, const double *hessian, const int *block, double *out) {
  const int k = f->system->k;
  for (int q = 0; q < 4; q++) cb_forces_add_block(f, hessian, q / 2, q % 2, out + block[q] * k * k);
}

/* Adds the derivatives of the force of spring number e to dx and dv (may be NULL). */
static cb_status add_derivatives(const cb_forces *f, int e, const spring *s, const double *x, const double *v,
                                 double *dx, double *dv) {
  const int k = f->system->k, n = 2 * k, *block = f->spring_block + 4 * e;
  double d, d_x[CB_PAIR_MAX], d_xx[CB_PAIR_MAX * CB_PAIR_MAX], in_x[CB_PAIR_MAX * CB_PAIR_MAX], u[CB_PAIR_MAX],
      rate = 0;
  cb_status status = cb_pair_distance(f->system->space, x + s->i, x + s->j, &d, d_x, d_xx);
  if (status) return status;
  const double tension = s->stiffness * (d - s->rest);
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) in_x[a * n + b] = s->stiffness * d_x[a] * d_x[b] + tension * d_xx[a * n + b];
  add_blocks(f, in_x, block, dx);
  if (s->damping == 0) return CB_OK;
  for (int a = 0; a < k; a++) {
    u[a] = v[s->i + a];
    u[k + a] = v[s->j + a];
  }
  for (int a = 0; a < n; a++) rate += d_x[a] * u[a];
  for (int b = 0; b < n; b++) {
    double d_xv = 0;
    for (int c = 0; c < n; c++) d_xv += d_xx[b * n + c] * u[c];
    for (int a = 0; a < n; a++) in_x[a * n + b] = s->damping * (d_x[a] * d_xv + rate * d_xx[a * n + b]);
  }
  add_blocks(f, in_x, block, dx);
  if (!dv) return CB_OK;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) in_x[a * n + b] = s->damping * d_x[a] * d_x[b];
  add_blocks(f, in_x, block, dv);
  return CB_OK;
}

cb_status cb_forces_springs_jacobian(cb_forces *f, double t, const double *x, const double *v, double *dx, double *dv) {
  const cb_system *s = f->system;
  spring at;
  cb_status status = s->springs ? cb_springs_jacobian(s->springs, &f->pattern, x, v, dx, dv) : CB_OK;
  for (int e = 0; !s->springs && e < s->n_springs && !status; e++) {
    at = spring_of(s, e);
    status = add_derivatives(f, e, &at, x, v, dx, dv);
  }
  for (int q = 0; q < s->n_driven && !status; q++) {
    status = driven_at(s, &s->driven[q], t, &at);
    if (!status) status = add_derivatives(f, s->driven[q].spring, &at, x, v, dx, dv);
  }
  return status;
}
