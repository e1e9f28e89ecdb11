/* A floor (fluid/floor.h). A stiff floor pushes the body, and this push is the wrench of the term. At a reflecting
 * floor the functions of fluid/floor.h reflect the body, and this term has no wrench. */
#include "fluid/immersed_private.h"

/* Adds the wrench of the floor in a step that is too long for the floor's damping or friction (cb_floor_outruns). This
 * `wrench` is constant in the world's axes during the step. */
static void push_in_world(const double wrench[6], const cb_immersed_moment *m, double *F, cb_tensor dg) {
  static const double origin[3];
  double torque[3], force[3];
  cb_apply3_transposed(m->r, wrench, torque);
  cb_apply3_transposed(m->r, wrench + 3, force);
  cb_immersed_push(origin, force, F, dg);
  cb_immersed_turn(torque, F, dg);
}

static cb_status wrench(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  if (s->outrun)
    push_in_world(s->push, m, to->F, to->dg);
  else
    cb_floor_wrench(&s->b->fluid.floor, &(cb_floor_body){s->b->surface->vertices, s->form.x, s->form.v, m->g, m->Y},
                    to->F, to->dF, to->dg, NULL);
  return CB_OK;
}

static cb_status potential(cb_immersed_workspace *s, const cb_immersed_moment *m, double *energy) {
  double own = 0;
  if (s->b->fluid.floor.kind != CB_FLOOR_STIFF) return CB_OK;
  cb_floor_wrench(&s->b->fluid.floor, &(cb_floor_body){s->b->surface->vertices, s->form.x, s->form.v, m->g, m->Y}, NULL,
                  NULL, NULL, &own);
  *energy += own;
  return CB_OK;
}

static void conserves(const cb_immersed *b, cb_immersed_conserved *out) {
  const cb_floor *f = &b->fluid.floor;
  const bool stiff = f->kind == CB_FLOOR_STIFF;
  cb_immersed_conserves_along(f->up, out);
  if (stiff && f->friction > 0) out->momentum = false;
  if (stiff ? f->damping != 0 || f->friction != 0 : f->restitution != 1) out->energy = false;
}

static bool acts(const cb_immersed *b) { return b->fluid.floor.kind != CB_FLOOR_NONE; }
static bool is_stiff(const cb_immersed *b) { return b->fluid.floor.kind == CB_FLOOR_STIFF; }
static int count(const cb_immersed *b) { return is_stiff(b); }

const cb_immersed_term_class cb_immersed_term_floor = {
    .name = "floor",
    .order = 80,
    .acts = acts,
    .count = count,
    .approximate = is_stiff,
    .conserves = conserves,
    .wrench = wrench,
    .potential = potential,
};
