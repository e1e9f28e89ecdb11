/* Laws of the distance to a fixed centre: V = sum_i U(d(x_i, centre)).
 * A component sees the centre from its own moving origin. */
#include "dynamics/forces_private.h"

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

/* A centre many radii away, which is measured from the origin rather than by a chord. */
static cb_status at_far(const cb_geometry *g, const cb_law *law, const cb_law_pair *pair, const cb_anchor *anchor,
                        const double *x, double *v, double *gradient, double *hessian) {
  int k = g->k, n = 2 * k;
  double d, d_x[CB_COORD_MAX], d_xx[CB_COORD_MAX * CB_COORD_MAX];
  cb_status status = cb_anchor_distance(g, anchor, x, &d, d_x, d_xx);
  if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  cb_law_value u = cb_law_at(law, pair, d);
  *v = u.u;
  for (int a = 0; a < k; a++) {
    if (gradient) gradient[a] = u.du * d_x[a];
    if (hessian)
      for (int b = 0; b < k; b++) hessian[a * n + b] = u.ddu * d_x[a] * d_x[b] + u.du * d_xx[a * k + b];
  }
  return CB_OK;
}

/* Value, gradient and Hessian at particle i, in the first places of those of the pair (x_i, centre). */
static cb_status at(const cb_forces *f, int n, int i, double t, const double *x, double *v, double *gradient,
                    double *hessian) {
  const cb_system *s = f->system;
  const cb_law *law = &s->central[n].law;
  const double *x_i = x + i * s->k, *centre = s->central[n].centre.x;
  cb_law_pair pair = cb_law_pair_of_centre(law, t, s->mass[i], s->charge[i]);
  if (cb_origin_moves(s->space)) {
    const cb_anchor *anchor = anchor_of(f, n, s->component[i]);
    if (anchor->frames.far) return at_far(s->space, law, &pair, anchor, x_i, v, gradient, hessian);
    centre = anchor->x;
  }
  return cb_pair_law(s->space, law, &pair, x_i, centre, v, gradient, hessian);
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
