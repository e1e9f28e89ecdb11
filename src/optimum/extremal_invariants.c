/* What an extremal should keep, and how well it does: v'Mv, Ad*_{g^-1} lambda, and the quadratic Casimirs of lambda. */
#include "optimum/extremal_private.h"

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <string.h>

enum { FORMS = 6 * 7 / 2 }; /* of groups that are not abelian, dim <= 6 */

/* gram: the sum of the squares of the equations lambda' Q ad*_a lambda = 0, all a, in the numbers Q_kb of pairs. */
static void invariance(const cb_wong *w, int forms, int (*pair)[2], double *gram) {
  double row[FORMS];
  for (int a = 0; a < w->dim; a++)
    for (int i = 0; i < w->dim; i++)
      for (int j = 0; j <= i; j++) {
        memset(row, 0, sizeof row);
        for (int f = 0; f < forms; f++)
          for (int side = 0; side < (pair[f][0] != pair[f][1] ? 2 : 1); side++) {
            const int k = pair[f][side], b = pair[f][1 - side];
            if (k == i) row[f] += w->bracket[a][b][j];
            if (k == j && i != j) row[f] += w->bracket[a][b][i];
          }
        for (int f = 0; f < forms; f++)
          for (int e = 0; e < forms; e++) gram[f * forms + e] += row[f] * row[e];
      }
}

/* Orthonormal quadratic forms Q[][dim][dim] that ad* leaves alone; how many. */
static cb_status casimirs(const cb_wong *w, double *Q, int *found) {
  const int dim = w->dim;
  int pair[FORMS][2], forms = 0;
  double gram[FORMS * FORMS] = {0};
  for (int i = 0; i < dim; i++)
    for (int j = 0; j <= i; j++) pair[forms][0] = i, pair[forms++][1] = j;
  const size_t N = (size_t)forms;
  double vector[FORMS * FORMS], value[FORMS];
  invariance(w, forms, pair, gram);
  gsl_matrix_view m = gsl_matrix_view_array(gram, N, N), v = gsl_matrix_view_array(vector, N, N);
  gsl_vector_view e = gsl_vector_view_array(value, N);
  gsl_eigen_symmv_workspace *room = gsl_eigen_symmv_alloc(N);
  if (!room) return cb_fail(CB_ERROR_MEMORY, "no memory for the invariants of %s", w->bundle->group->name);
  gsl_eigen_symmv(&m.matrix, &e.vector, &v.matrix, room);
  gsl_eigen_symmv_free(room);
  *found = 0;
  for (int f = 0; f < forms; f++) {
    if (!(fabs(value[f]) < 1e-10)) continue;
    double *form = Q + (*found)++ * dim * dim;
    for (int k = 0; k < forms; k++) {
      const int i = pair[k][0], j = pair[k][1];
      form[i * dim + j] = form[j * dim + i] = vector[k * forms + f] / (i == j ? 1 : 2);
    }
  }
  return CB_OK;
}

static double form_value(int dim, const double *Q, const double *lambda) {
  double sum = 0;
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) sum += lambda[i] * Q[i * dim + j] * lambda[j];
  return sum;
}

cb_status extremal_invariants(const extremal_mesh *m, cb_extremal *e) {
  const problem *p = m->p;
  const int dim = p->dim, size = p->size;
  double Q[FORMS * 36], H0 = 0, strong = 0;
  int forms = 0;
  cb_status status = p->G->abelian ? CB_OK : casimirs(&p->wong, Q, &forms);
  const double *start = m->at.x + 2 * p->n;
  for (int a = 0; a < dim; a++) strong += start[a] * start[a];
  for (int k = 0; !status && k <= m->panels; k++) {
    const double *x = m->at.x + k * size, *lambda = x + 2 * p->n;
    double H = 0, inverse[CB_GROUP_SIZE], mu[CB_GROUP_DIM];
    if (!p->homogeneous)
      status = cb_wong_at(&p->wong, m->held[arc_of(m, k < m->panels ? k : k - 1)], x, &(cb_wong_rates){.H = &H});
    if (k == 0) H0 = H;
    if (!p->homogeneous) e->speed = fmax(e->speed, fabs(H - H0) / H0);
    p->G->inverse(p->G, m->element + k * p->G->size, inverse);
    cb_group_adjoint_dual(p->G, inverse, lambda, mu);
    for (int a = 0; a < dim && strong > 0; a++) e->momentum = fmax(e->momentum, fabs(mu[a] - start[a]) / sqrt(strong));
    for (int f = 0; f < forms && strong > 0; f++) {
      const double *form = Q + f * dim * dim;
      e->casimir = fmax(e->casimir, fabs(form_value(dim, form, lambda) - form_value(dim, form, start)) / strong);
    }
  }
  for (int k = 0; !status && p->abnormal && k <= m->panels; k++) {
    const double *x = m->at.x + k * size;
    double rest[CB_SHAPE_MAX] = {0}, P[CB_SHAPE_MAX];
    status = cb_wong_momentum(&p->wong, x, rest, x + 2 * p->n, P);
    for (int i = 0; i < p->n; i++) e->speed = fmax(e->speed, fabs(x[p->n + i] - P[i]) / m->pscale[i]);
  }
  for (int s = 0; p->homogeneous && s < m->panels * CB_STAGES; s++)
    e->speed = fmax(e->speed, fabs(m->s[s] / m->at.global[1] - 1));
  return status;
}
