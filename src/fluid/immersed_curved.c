/* A rigid body in a fluid that fills a space of curvature K: what of a fluid has a meaning there, and its form.
 *
 *   mu = (I + I_f) Y,  mu' = ad*_Y mu + F  in the algebra with K (curvebody/pose.h);  I of mass.h, I_f exact or local
 * The fluid is at rest but for the body: curl X_(omega, v) = 2 X_(K v, omega), so no motion of the space as a whole is
 * free of vorticity, and there is no uniform stream. No field of directions is the same everywhere, so weight is that of
 * potentials (immersed_potential.c). Derived here.
 */
#include "fluid/immersed_private.h"

#include "fluid/curved_moments.h"

#include <math.h>
#include <string.h>

/* --- what has a meaning --- */

static cb_status no(const cb_immersed *b, const char *what) {
  return cb_fail(CB_ERROR_UNSUPPORTED, "%s in a fluid that fills a space of curvature %g", what, b->fluid.curvature);
}

/* Whose added mass: the local model's, or one that goes by the surface's own space. */
const char *cb_immersed_curved_model(const cb_fluid_model *m, bool forces) {
  const cb_fluid_model_class *kind = m->kind;
  const bool exact = strcmp(kind->name, "exact") == 0,
             local_force = kind->on_face == cb_fluid_local_on_face && !kind->terms,
             local_mass = kind->added_mass == cb_fluid_local_added_mass;
  if (forces && (kind->on_twist || kind->on_face) && !local_force)
    return "has forces of flat space: expected local, or exact, which has none";
  if (!forces && kind->added_mass && !local_mass && !exact)
    return "has the added mass of flat space: expected local, exact or none";
  return NULL;
}

static cb_status check_models(const cb_immersed *b) {
  const cb_fluid_model *of = b->inertia.model;
  const char *why = !of         ? NULL
                    : b->placed ? "ends at a wall, a plane of flat space: expected wall: none"
                                : cb_immersed_curved_model(of, false);
  for (int i = 0; i < b->n_forces && !why; i++) {
    of = b->force[i].model;
    why = cb_immersed_curved_model(of, true);
  }
  return why ? cb_fail(CB_ERROR_UNSUPPORTED, "the fluid model `%s` %s, in a space of curvature %g", of->kind->name, why,
                       b->fluid.curvature)
             : CB_OK;
}

cb_status cb_immersed_take_curved(cb_immersed *b) {
  const cb_fluid *f = &b->fluid;
  const double K = f->curvature, *g = f->gravity;
  const cb_surface *s = b->surface;
  if (s->curvature != K)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "a surface in a space of curvature %g, and a fluid in one of %g: expected the same (cb_surface_lay)",
                   s->curvature, K);
  if (K == 0) return CB_OK;
  if (!isfinite(K)) return cb_fail(CB_ERROR_ARGUMENT, "a space of curvature %g", K);
  if (g[0] != 0 || g[1] != 0 || g[2] != 0) return no(b, "gravity that is the same everywhere");
  if (b->carried) return no(b, "a flow");
  if (b->layered) return no(b, "layers");
  if (f->floor.kind != CB_FLOOR_NONE) return no(b, "a floor");
  if (f->paper) return no(b, "the momentum of the paper, which is of flat space,");
  if (b->poses) return no(b, "poses");
  for (int p = 0; p < s->parts; p++)
    if (s->open[p])
      return cb_fail(CB_ERROR_UNSUPPORTED,
                     "part `%s` is open: in a space of curvature %g bodies are solids, expected closed parts",
                     s->name[p], K);
  return check_models(b);
}

/* --- mass --- */

/* A point, or a rigid piece in the axes that the transvection to it carries there. */
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
      return cb_fail(CB_ERROR_ARGUMENT, "point mass %d: %g kg", i + 1, p->mass);
    add_point(K, p, p->vertex < 0 ? p->x : s->x[p->vertex], &all);
  }
  cb_curved_mass(K, &all, &none, solid.area, &b->still);
  b->still.volume = solid.volume;
  memcpy(b->still.volume_centre, solid.volume_centre, sizeof solid.volume_centre);
  return CB_OK;
}

/* --- drag (equations: fluid/local.h, with |u| and <u, n> of the space) --- */

/* |X_xi|^2/2 at y by xi: its derivative. */
static void speed_slope(double K, const double y[4], const double xi[6], double q[6]) {
  double u[3], turn[3];
  const double along = K * cb_dot3(xi + 3, y);
  cb_cross3(xi, y, u);
  for (int i = 0; i < 3; i++) u[i] += y[3] * xi[3 + i];
  cb_cross3(y, u, turn);
  for (int i = 0; i < 3; i++) q[i] = turn[i], q[3 + i] = y[3] * u[i] + along * y[i];
}

static void take_face(cb_immersed *b, const double y[3][4], cb_immersed_curved_face *f) {
  const double K = b->surface->curvature;
  double plane[4], sum[4] = {0};
  const double norm = cb_curved_plane(K, y[0], y[1], y[2], plane);
  f->area = cb_curved_area(K, y[0], y[1], y[2], norm);
  for (int k = 0; k < 12; k++) sum[k % 4] += y[k / 4][k % 4];
  const double root = sqrt(cb_curved_form(K, sum, sum));
  for (int i = 0; i < 4; i++) f->y[i] = sum[i] / root;
  cb_curved_flux(K, plane, f->y, f->m);
  for (int j = 0; j < 6; j++) {
    double axis[6] = {0}, q[6];
    axis[j] = 1;
    speed_slope(K, f->y, axis, q);
    for (int i = 0; i < 6; i++)
      b->resistance[i][j] += f->area * ((b->c_n - b->c_t) * f->m[i] * f->m[j] + b->c_t * q[i]);
  }
}

cb_status cb_immersed_curved_create(cb_immersed *b, const cb_immersed_options *o) {
  const cb_surface *s = b->surface;
  b->curved = cb_arena_alloc(b->arena, (size_t)s->faces, sizeof *b->curved);
  if (!b->curved) return cb_fail(CB_ERROR_MEMORY, "no memory for a body of %d faces", s->faces);
  for (int i = 0; i < s->faces; i++) {
    double y[3][4];
    for (int k = 0; k < 3; k++) cb_curved_point(s->curvature, s->x[s->face[i][k]], y[k]);
    take_face(b, (const double(*)[4])y, b->curved + i);
  }
  return find_mass(b, o);
}

/* -(rho/2) sum A |u| <u, n> m and -resistance Y */
void cb_immersed_curved_drag(const cb_immersed *b, const cb_immersed_moment *m, bool quadratic, bool linear, double *F,
                             cb_tensor dF) {
  if (!F) return;
  for (int i = 0; linear && i < 6; i++)
    for (int j = 0; j < 6; j++) {
      F[i] -= b->resistance[i][j] * m->Y[j];
      if (dF) dF[i][j] -= b->resistance[i][j];
    }
  for (const cb_immersed_curved_face *f = b->curved; quadratic && f < b->curved + b->surface->faces; f++) {
    double q[6], square = 0, across = 0;
    speed_slope(b->surface->curvature, f->y, m->Y, q);
    for (int i = 0; i < 6; i++) square += q[i] * m->Y[i], across += f->m[i] * m->Y[i];
    if (!(square > 0)) continue;
    const double speed = sqrt(square), load = -b->density / 2 * f->area;
    for (int i = 0; i < 6; i++) {
      F[i] += load * speed * across * f->m[i];
      for (int j = 0; dF && j < 6; j++) dF[i][j] += load * f->m[i] * (speed * f->m[j] + across / speed * q[j]);
    }
  }
}

/* --- the form --- */

cb_status cb_immersed_curved_form(cb_swimmer *s) {
  const cb_immersed *b = s->b;
  cb_immersed_form *f = &s->form;
  f->mass = b->still;
  f->volume = b->still.volume;
  if (b->inertia.model) {
    const cb_status status = cb_immersed_own_added_mass(b, f);
    if (status) return status;
  } else if (b->added_mass) {
    const cb_status status = cb_local_curved_added_mass(b->surface, f->x, f->I_f, s->part);
    if (status) return status;
    for (int i = 0; i < 36; i++) f->I_f[i / 6][i % 6] *= b->density;
  }
  f->known = true;
  return CB_OK;
}
