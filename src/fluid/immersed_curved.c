/* A rigid body in a fluid that fills a space of curvature K: which features of a fluid are defined there, and the form.
 *
 *   mu = (I + I_f) Y,  mu' = ad*_Y mu + F  in the algebra of the space of curvature K (curvebody/pose.h)
 *
 * mu is the momentum, Y = (omega, v) the twist, F the wrench, I the inertia (fluid/curved_moments.h), and I_f the added
 * mass, exact or of the local model. The fluid is at rest except for the body's motion. The field X of a rigid motion
 * (omega, v) of the space satisfies curl X_(omega, v) = 2 X_(K v, omega). Every rigid motion therefore has vorticity,
 * and there is no uniform stream. There is no uniform field of directions either, so that weight comes from potentials
 * (terms/potentials.c). Derived for this project.
 */
#include "fluid/immersed_private.h"
#include "fluid/curved_moments.h"

#include <math.h>

/* --- features that are defined --- */

static cb_status no(const cb_immersed *b, const char *what) {
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "%s is not available in a fluid that fills a space of curvature %g: expected flat space", what,
                 b->fluid.curvature);
}

/* Forces must be those of the local model. The added mass must be that of the local model, or of a model that computes
 * it in the surface's own space. */
const char *cb_immersed_curved_model(const cb_fluid_model *m, bool forces) {
  const cb_fluid_model_class *class = m->class_;
  const bool local_force = class->on_face == cb_fluid_local_on_face && !class->terms,
             local_mass = class->added_mass == cb_fluid_local_added_mass;
  if (forces && (class->on_twist || class->on_face) && !local_force)
    return "has forces that are defined in flat space only: expected local, or exact, which has no forces";
  if (!forces && class->added_mass && !local_mass && !class->curved)
    return "has an added mass that is defined in flat space only: expected local, exact or none";
  return NULL;
}

static cb_status check_models(const cb_immersed *b) {
  const cb_fluid_model *of = b->inertia.model;
  const char *why = !of         ? NULL
                    : b->placed ? "ends at a wall, which is a plane in flat space: expected wall: none"
                                : cb_immersed_curved_model(of, false);
  for (int i = 0; i < b->models.n && !why; i++) {
    of = b->models.of[i].model;
    why = cb_immersed_curved_model(of, true);
  }
  return why ? cb_fail(CB_ERROR_UNSUPPORTED, "the fluid model `%s` %s, in a space of curvature %g", of->class_->name,
                       why, b->fluid.curvature)
             : CB_OK;
}

static cb_status check(const cb_immersed *b) {
  const cb_fluid *f = &b->fluid;
  const double K = f->curvature, *g = f->gravity;
  const cb_surface *s = b->surface;
  if (!isfinite(K)) return cb_fail(CB_ERROR_ARGUMENT, "fluid: expected a finite curvature of its space, found %g", K);
  if (g[0] != 0 || g[1] != 0 || g[2] != 0) return no(b, "a uniform gravity");
  if (b->around.has_flow) return no(b, "a flow");
  if (b->around.layered) return no(b, "a medium of layers");
  if (f->floor.kind != CB_FLOOR_NONE) return no(b, "a floor");
  if (f->paper) return no(b, "the momentum of the paper");
  if (b->poses) return no(b, "a sequence or motion of poses");
  for (int p = 0; p < s->parts; p++)
    if (s->open[p])
      return cb_fail(CB_ERROR_UNSUPPORTED,
                     "part `%s` is open: in a space of curvature %g bodies are solids, expected closed parts",
                     s->name[p], K);
  return check_models(b);
}

/* --- mass --- */

/* Adds a point mass at x, or a rigid piece. The axes of the piece are the body's axes, carried to x by the
 * transvection. */
static void add_point(double K, const cb_point_mass *point, const double x[3], cb_curved_moments *m) {
  double y[4], I[6][6] = {{0}};
  cb_curved_moments own;
  cb_curved_point(K, x, y);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      I[i][j] = point->inertia[i][j];
      I[3 + i][3 + j] = (i == j ? point->mass : 0) - K * I[i][j];
    }
  }
  cb_curved_of_inertia(K, point->mass, (const double(*)[6])I, &own);
  cb_curved_move(K, y, &own);
  cb_curved_add(m, 1, &own);
}

static cb_status find_mass(cb_immersed *b, const cb_immersed_options *o) {
  const cb_surface *s = b->surface;
  const double K = s->curvature;
  cb_curved_moments all, none = {.first = {0}};
  cb_mass solid;
  if (o->lumped)
    return cb_fail(CB_ERROR_UNSUPPORTED, "masses at vertices in a space of curvature %g: expected mass_model: solid",
                   K);
  const cb_status status = cb_mass_of(s, NULL, o->material, &solid);
  if (status) return status;
  cb_curved_of_inertia(K, solid.mass, (const double(*)[6])solid.inertia, &all);
  for (int i = 0; i < o->n_points; i++) {
    const cb_point_mass *p = o->points + i;
    if (!(p->mass >= 0) || !isfinite(p->mass) || p->vertex >= s->vertices)
      return cb_fail(CB_ERROR_ARGUMENT, "point mass %d: expected a mass >= 0 at a vertex of the surface, found %g kg",
                     i + 1, p->mass);
    add_point(K, p, p->vertex < 0 ? p->x : s->x[p->vertex], &all);
  }
  cb_curved_mass(K, &all, &none, solid.area, &b->curved.still);
  b->curved.still.volume = solid.volume;
  memcpy(b->curved.still.volume_centre, solid.volume_centre, sizeof solid.volume_centre);
  return CB_OK;
}

static cb_status create(cb_immersed *b, const cb_immersed_options *o) { return find_mass(b, o); }

/* --- the form --- */

static cb_status form(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  cb_immersed_form *f = &s->form;
  f->mass = b->curved.still;
  f->volume = b->curved.still.volume;
  if (b->inertia.model) {
    const cb_status status = cb_immersed_own_added_mass(s);
    if (status) return status;
  } else if (b->added_mass) {
    const cb_status status = cb_local_curved_added_mass(b->surface, f->x, f->I_f, s->part);
    if (status) return status;
    for (int i = 0; i < 36; i++) f->I_f[i / 6][i % 6] *= b->around.density;
  }
  return CB_OK;
}

static cb_status mass(const cb_immersed *b, const double (*x)[3], cb_mass *out) {
  (void)x;
  *out = b->curved.still;
  return CB_OK;
}

static cb_status parts(cb_immersed_workspace *s, cb_local_part *part) {
  double I_f[6][6];
  return cb_local_curved_added_mass(s->b->surface, s->form.x, I_f, part);
}

const cb_immersed_class cb_immersed_curved = {
    .check = check, .create = create, .form = form, .mass = mass, .parts = parts};
