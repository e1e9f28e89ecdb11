/* Places of fluid models that move with parts of the surface. A place at X0 at rest, whose part has the rotation R, is
 * at c and has the twist W in the body frame at the time t (fluid/part_motion.h). With the twist Y = (omega, v) of the
 * body, the twist X Y = (omega, v + omega × c) of the body at c, and the added mass K_0 of the place at rest for
 * density 1:
 *
 *   F = R F_0(R^T V),  V = X Y + W - flow          wrench of a model about c, from its wrench F_0 at rest
 *   K = sum X^T R K_0 R^T X,   mu_0 = sum X^T R K_0 R^T W,   E = (1/2) sum <R K_0 R^T W, W>
 *
 * K is the body's added mass. mu_0 and E are the momentum and the kinetic energy of the fluid at Y = 0. R acts on both
 * parts of a twist and of a wrench. If a part is at rest and in its place at some time, R, c and W are exactly those of
 * a place that is fixed in the body frame. SI units. */
#include "fluid/immersed_private.h"
#include "tree/scalar.h"

#include <stdlib.h>
#include <string.h>

/* Finds the number in `followed` of the part p; adds the part if it is not there. */
static cb_status follow(cb_immersed *b, int p, int *number) {
  const cb_surface *s = b->surface;
  if (!b->followed) b->followed = cb_arena_alloc(b->arena, (size_t)s->parts, sizeof *b->followed);
  if (!b->followed) return cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", s->parts);
  for (*number = 0; *number < b->followed_parts; ++*number)
    if (!strcmp(s->name[b->followed[*number].part], s->name[p])) return CB_OK;
  const cb_status status = cb_part_fit_create(b->arena, s, p, &b->followed[*number]);
  if (!status) b->followed_parts++;
  return status;
}

cb_status cb_immersed_follow_parts(cb_immersed *b, cb_immersed_model_instance *of) {
  static const double origin[1][3];
  const cb_fluid_model_class *class = of->model->class_;
  if (!b->poses || !class->part_of || (!of->places && !class->added_mass_of)) return CB_OK;
  if (!of->places) of->places = class->places ? class->places(of->model, of->body, &of->at) : 1;
  if (!of->at) of->at = origin;
  int *follows = cb_arena_alloc(b->arena, (size_t)of->places, sizeof *follows);
  if (!follows) return cb_fail(CB_ERROR_MEMORY, "no memory for %d places of a fluid model", of->places);
  bool any = false;
  for (int p = 0; p < of->places; p++) {
    const cb_node *named = NULL;
    const int part = class->part_of(of->model, of->body, p, &named);
    follows[p] = -1;
    if (part < 0) continue;
    const cb_status status = follow(b, part, &follows[p]);
    if (status) return named ? cb_fail_again(named, status) : status;
    any = true;
  }
  if (any) of->follows = follows;
  return CB_OK;
}

cb_status cb_immersed_followed_create(cb_immersed_workspace *s) {
  s->part_motion = cb_arena_alloc(s->arena, (size_t)s->b->followed_parts, sizeof *s->part_motion);
  return s->part_motion ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", s->b->followed_parts);
}

/* Moves the place number p of a model. */
static void move(const cb_immersed_workspace *s, const cb_immersed_model_instance *of, int p,
                 cb_immersed_fluid_sample *at) {
  const int part = of->follows[p];
  if (part < 0) return;
  const cb_part_motion *m = &s->part_motion[part];
  cb_part_motion_place(&s->b->followed[part], m, of->at[p], at->place, at->own);
  at->off = at->place[0] != 0 || at->place[1] != 0 || at->place[2] != 0;
  at->moves = m->moves;
  at->turned = !m->rests;
  memcpy(at->R, m->R, sizeof at->R);
}

/* Finds the added mass K of the place number p of inertia.model, about the place and in the body's axes. */
static void added_mass_at(const cb_immersed_workspace *s, int p, const cb_immersed_fluid_sample *at, double K[6][6]) {
  const cb_immersed_model_instance *of = &s->b->inertia;
  memset(K, 0, 36 * sizeof **K);
  of->model->class_->added_mass_of(of->model, of->body, p, K);
  if (at->turned) cb_turn_matrix6((const double(*)[3])at->R, K);
}

cb_status cb_immersed_move_places(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  if (!b->followed_parts) return CB_OK;
  cb_status status = cb_immersed_vertices(s);
  for (int i = 0; i < b->followed_parts && !status; i++)
    status = cb_part_motion_at(&b->followed[i], s->form.x, s->form.v, &s->part_motion[i]);
  if (status) return status;
  for (const cb_immersed_model_instance *f = b->models.of; f < b->models.of + b->models.n; f++)
    for (int p = 0; p < f->places && f->follows; p++) move(s, f, p, &s->fluid_sample[f->first_place + p]);
  for (int p = 0; p < b->inertia.places && b->inertia.follows && s->part_added_mass; p++) {
    cb_immersed_part_added_mass *own = &s->part_added_mass[p];
    move(s, &b->inertia, p, &own->at);
    added_mass_at(s, p, &own->at, own->K);
  }
  return CB_OK;
}

void cb_immersed_followed_added_mass(const cb_immersed_workspace *s, cb_added_mass *out) {
  const cb_immersed_model_instance *of = &s->b->inertia;
  *out = (cb_added_mass){.kinetic = 0};
  for (int p = 0; p < of->places; p++) {
    cb_immersed_fluid_sample at;
    double K[6][6], momentum[6];
    cb_immersed_place_at(&at, of->at[p], 1);
    move(s, of, p, &at);
    added_mass_at(s, p, &at, K);
    cb_add_carried6((const double(*)[6])K, at.place, out->K);
    if (!at.moves) continue;
    cb_apply6((const double(*)[6])K, at.own, momentum);
    for (int i = 0; i < 6; i++) out->kinetic += momentum[i] * at.own[i] / 2;
    cb_immersed_carry_back(&at, momentum);
    cb_add6(1, momentum, out->mu0);
  }
}

/* --- parts that do not move rigidly --- */

int cb_immersed_followed_parts(const cb_immersed *b) { return b->followed_parts; }

static const cb_node *name_of(const cb_immersed *b, int number) {
  const cb_node *named = NULL;
  for (int i = 0; i <= b->models.n && !named; i++) {
    const cb_immersed_model_instance *of = i < b->models.n ? &b->models.of[i] : &b->inertia;
    for (int p = 0; p < of->places && of->follows && !named; p++)
      if (of->follows[p] == number) of->model->class_->part_of(of->model, of->body, p, &named);
  }
  return named;
}

cb_status cb_immersed_find_misfit(const cb_immersed *b, int number, double start, double end, cb_immersed_misfit *out) {
  enum { TIMES = 256 };
  const cb_part_fit *f = &b->followed[number];
  const size_t vertices = (size_t)b->surface->vertices;
  double(*x)[3] = malloc(vertices * sizeof *x);
  *out = (cb_immersed_misfit){.part = b->surface->name[f->part], .named = name_of(b, number), .time = start};
  cb_status status = x ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %zu vertices", vertices);
  for (int k = 0; k <= TIMES && !status; k++) {
    const double t = start + (end - start) * k / TIMES;
    cb_part_motion m;
    status = cb_poses_at(b->poses, t, x, NULL);
    if (!status) status = cb_part_motion_at(f, (const double(*)[3])x, NULL, &m);
    if (!status && m.residual > out->residual) {
      out->residual = m.residual;
      out->time = t;
    }
    if (status != CB_ERROR_MEMORY) status = CB_OK; /* the run reports this at that time */
  }
  free(x);
  return status;
}
