/* The weight of the body: the wrench m (c × f, f), f = R^T g, with the potential -<m (x + R c), g>.
 *
 * g is the acceleration of gravity, m the mass and c its centre, and (R, x) the pose. */
#include "fluid/immersed_private.h"

void cb_immersed_weigh(const cb_immersed_workspace *s, const cb_immersed_moment *m, double mass, const double centre[3],
                       double *F, cb_tensor dg) {
  double f[3];
  cb_apply3_transposed(m->r, s->b->fluid.gravity, f);
  for (int i = 0; i < 3; i++) f[i] *= mass;
  cb_immersed_push(centre, f, F, dg);
}

bool cb_immersed_is_central(const cb_immersed_workspace *s, const double centre[3]) {
  const double(*I)[6] = (const double(*)[6])s->form.mass.inertia,
        size2 = (I[0][0] + I[1][1] + I[2][2]) / s->form.mass.mass;
  return cb_dot3(centre, centre) <= 1e-26 * size2;
}

double cb_immersed_height(const cb_immersed *b, const cb_immersed_moment *m, const double centre[3]) {
  double at[3];
  cb_pose_point(m->g, centre, at);
  return cb_dot3(at, b->fluid.gravity);
}

static cb_status wrench(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  cb_immersed_weigh(s, m, s->form.mass.mass, s->form.mass.centre, to->F, to->dg);
  return CB_OK;
}

static bool dead(const cb_immersed_workspace *s) { return cb_immersed_is_central(s, s->form.mass.centre); }

static cb_status potential(cb_immersed_workspace *s, const cb_immersed_moment *m, double *energy) {
  *energy += -s->form.mass.mass * cb_immersed_height(s->b, m, s->form.mass.centre);
  return CB_OK;
}

void cb_immersed_conserves_upright(const cb_immersed *b, cb_immersed_conserved *out) {
  cb_immersed_conserves_along(b->fluid.gravity, out);
}

/* A body without weight has no wrench here; the potential of the term is then 0. */
static int count(const cb_immersed *b) { return b->heavy && cb_immersed_falls(b); }

static void conserves(const cb_immersed *b, cb_immersed_conserved *out) {
  if (count(b) > 0) cb_immersed_conserves_upright(b, out);
}

const cb_immersed_term_class cb_immersed_term_gravity = {.name = "gravity",
                                                         .order = 40,
                                                         .acts = cb_immersed_always,
                                                         .surfaceless = cb_immersed_always,
                                                         .count = count,
                                                         .conserves = conserves,
                                                         .wrench = wrench,
                                                         .dead = dead,
                                                         .potential = potential};
