/* Where Newton's method begins: along a gait, lambda = Ad*_g lambda(0), p = Mv + <lambda, A>. */
#include "optimum/extremal_private.h"

#include "numerics/small.h"

#include <math.h>
#include <string.h>

/* r and v of the gait, clipped to the bounds, where an arc holds variables at them. */
static void shape_at(const extremal_mesh *m, int a, double t, double *r, double *v) {
  const cb_optimum_problem *o = m->p->o;
  cb_gait_at(m->start, t, r, v);
  for (int i = 0; i < m->p->n; i++) {
    if (o->lower) r[i] = fmax(r[i], o->lower[i]);
    if (o->upper) r[i] = fmin(r[i], o->upper[i]);
    if (m->held[a] >> i & 1) r[i] = m->bound[a][i], v[i] = 0;
  }
}

/* Shapes, rates (in place of p) and xi at the stages of an arc. */
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

/* nu, the nearest to lambda(0) = sum nu_k first_k. */
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
  m->at.amount = p->row < 0 ? 0 : p->seeks ? amount : cb_gait_target_get(p->G, &p->target);
  status = multipliers(m, lambda);
  return status ? status : mesh_scale(m);
}
