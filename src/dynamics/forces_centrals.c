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

static const cb_particle_set *group(const cb_system *s, int n) {
  return n < s->n_centrals ? &s->central[n].group : NULL;
}

static cb_status at(const cb_forces *f, int n, int i, double t, const double *x, double *v, double *force,
                    double *block) {
  const cb_system *s = f->system;
  const cb_law *law = &s->central[n].law;
  const double *centre = s->central[n].centre.x;
  const cb_law_pair pair = cb_law_pair_of_centre(law, t, s->mass[i], s->charge[i]);
  const cb_anchor *anchor = cb_origin_moves(s->space) ? anchor_of(f, n, s->component[i]) : NULL;
  /* in the first places of those of the pair (x, centre) */
  double gradient[CB_PAIR_MAX], hessian[CB_PAIR_MAX * CB_PAIR_MAX];
  double *first = force ? gradient : NULL, *second = block ? hessian : NULL;
  const cb_status status = anchor && anchor->frames.far
                               ? at_far(s->space, law, &pair, anchor, x, v, first, second)
                               : cb_pair_law(s->space, law, &pair, x, anchor ? anchor->x : centre, v, first, second);
  for (int a = 0; !status && a < s->k; a++) {
    if (force) force[a] = f->raise[a] * gradient[a];
    for (int b = 0; block && b < s->k; b++) block[a * s->k + b] = f->raise[a] * hessian[a * 2 * s->k + b];
  }
  return status;
}

const cb_singles cb_centrals = {group, at};
