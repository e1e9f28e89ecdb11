/* Laws between pairs of particles: V = sum over pairs of U(d_ij).
 *
 * Every particle gathers the pull of all partners by itself, F_i = -sum_j phi_ij (x_i - x_j), in a fixed order: twice
 * the work of visiting a pair once, but rows are independent, so the result does not depend on the number of threads.
 * Gravity and Coulomb on one quadric go through columns of coordinates in lanes of 8 that compilers turn into vector
 * code.
 */
#include "dynamics/forces_private.h"
#include <math.h>

enum { LANES = 8 };

/* Fewer pairs than this are not worth waking threads for. */
static const double pairs_for_threads = 2e4;

/* Partners of a row: a group by columns. */
typedef struct partners {
  const cb_particle_set *group;
  size_t stride;
  const double *coordinate; /* [k][stride] */
  const double *weight;     /* mass or charge */
} partners;

cb_status cb_interactions_create(cb_forces *f) {
  const cb_system *s = f->system;
  int most = 0;
  for (int q = 0; q < s->n_interactions; q++) {
    if (s->interaction[q].a.n > most) most = s->interaction[q].a.n;
    if (s->interaction[q].b.n > most) most = s->interaction[q].b.n;
  }
  f->gather = cb_arena_alloc_aligned(f->arena, (size_t)most * (size_t)(s->k + 1), sizeof(double), CB_CACHE_LINE);
  return f->gather ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for interactions of %d particles", most);
}

static bool by_columns(const cb_system *s, const cb_interaction *q) {
  return cb_pair_by_chord(s->space) && (q->law.kind == CB_LAW_GRAVITY || q->law.kind == CB_LAW_COULOMB);
}

static partners gather(cb_forces *f, const cb_interaction *q, const cb_particle_set *group, const double *x) {
  const cb_system *s = f->system;
  const double *weight = q->law.kind == CB_LAW_COULOMB ? s->charge : s->mass;
  size_t n = (size_t)group->n;
  double *out = f->gather;
  for (size_t j = 0; j < n; j++) {
    int p = group->particle[j];
    for (int a = 0; a < s->k; a++) out[(size_t)a * n + j] = x[p * s->k + a];
    out[(size_t)s->k * n + j] = weight[p];
  }
  return (partners){group, n, out, out + (size_t)s->k * n};
}

/* pull[a] += sum_j weight_j (x_j - x)_a / S^3 for j in [from, to), S^2 = w (1 - K w/4). */
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

static void pull_by_columns(const cb_geometry *g, const partners *p, int from, int to, const double *x, double *pull) {
  double curvature = g->factor[0].curvature;
  switch (g->k) {
    case 2: pull_of(2, g->form, curvature, p, from, to, x, pull); break;
    case 3: pull_of(3, g->form, curvature, p, from, to, x, pull); break;
    default: pull_of(4, g->form, curvature, p, from, to, x, pull); break;
  }
}

static cb_law_pair pair_of(const cb_system *s, const cb_law *law, double t, int i, int j) {
  return cb_law_pair_of(law, t, s->mass[i], s->mass[j], s->charge[i], s->charge[j]);
}

/* The force on particle i of the partners [from, to), one by one. */
static cb_status pull_one_by_one(const cb_forces *f, const cb_interaction *q, const partners *p, double t, int from,
                                 int to, int i, const double *x, double *pull) {
  const cb_system *s = f->system;
  int k = s->k;
  for (int m = from; m < to; m++) {
    int j = p->group->particle[m];
    double v, gradient[CB_PAIR_MAX];
    cb_law_pair pair = pair_of(s, &q->law, t, i, j);
    /* The law's arguments m1, q1 are those of the particle that was named first. */
    if (q->same ? j < i : p->group == &q->a) {
      pair = pair_of(s, &q->law, t, j, i);
    }
    cb_status status = cb_pair_law(s->space, &q->law, &pair, x + i * k, x + j * k, &v, gradient, NULL);
    if (status) return status;
    for (int a = 0; a < k; a++) pull[a] += f->raise[a] * gradient[a];
  }
  return CB_OK;
}

/* Row r of `rows`: the force on one particle. */
static cb_status row(const cb_forces *f, const cb_interaction *q, const cb_particle_set *rows, const partners *p,
                     double t, int r, const double *x, double *force) {
  const cb_system *s = f->system;
  int i = rows->particle[r], k = s->k, n = p->group->n, self = q->same ? r : n;
  double pull[CB_COORD_MAX] = {0}, scale = 1;
  cb_status status = CB_OK;
  if (by_columns(s, q)) {
    scale = q->law.a * (q->law.kind == CB_LAW_COULOMB ? -s->charge[i] : s->mass[i]);
    pull_by_columns(s->space, p, 0, self, x + i * k, pull);
    if (self < n) pull_by_columns(s->space, p, self + 1, n, x + i * k, pull);
  } else {
    status = pull_one_by_one(f, q, p, t, 0, self, i, x, pull);
    if (!status && self < n) status = pull_one_by_one(f, q, p, t, self + 1, n, i, x, pull);
  }
  for (int a = 0; a < k; a++) force[i * k + a] += scale * pull[a];
  return status;
}

static cb_status add_rows(cb_forces *f, const cb_interaction *q, const cb_particle_set *rows,
                          const cb_particle_set *columns, double t, const double *x, double *force) {
  partners p = {columns, 0, NULL, NULL};
  if (by_columns(f->system, q)) p = gather(f, q, columns, x);
  int worst = 0;
#ifdef _OPENMP
  bool many = f->threads > 1 && (double)rows->n * columns->n > pairs_for_threads;
  if (many) {
#pragma omp parallel for num_threads(f->threads) schedule(static) reduction(max : worst)
    for (int r = 0; r < rows->n; r++) {
      int status = row(f, q, rows, &p, t, r, x, force);
      if (status > worst) worst = status;
    }
    if (worst) return cb_fail((cb_status)worst, "a pair of particles has no distance with derivatives");
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

/* Calls for every pair once: value and, where hessian is wanted, its blocks. */
static cb_status each_pair(cb_forces *f, const cb_interaction *q, double t, const double *x, double *potential,
                           double *dx) {
  const cb_system *s = f->system;
  int k = s->k;
  double hessian[CB_PAIR_MAX * CB_PAIR_MAX];
  for (int a = 0; a < q->a.n; a++)
    for (int b = q->same ? a + 1 : 0; b < q->b.n; b++) {
      int i = q->a.particle[a], j = q->b.particle[b];
      double v;
      cb_law_pair pair = pair_of(s, &q->law, t, i, j);
      cb_status status = cb_pair_law(s->space, &q->law, &pair, x + i * k, x + j * k, &v, NULL, dx ? hessian : NULL);
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
