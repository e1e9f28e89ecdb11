/* The form of a body at a given time: in the body frame the positions of the vertices, the mass, the added mass in a
 * medium of uniform density, and the displaced volume. The velocity of a uniform flow is also found here. Bodies in
 * flat space follow their poses; for curved spaces see below.
 *
 * Closed parts displace their volume, sheets their area times thickness.
 */
#include "fluid/immersed_private.h"

#include "fluid/curved_moments.h"

#include <math.h>
#include <string.h>

/* Adds the faces of sheets to the displaced volume and its moment: volume += thickness A, moment += thickness A c, with
 * the area A and the centre c of a face. */
static void add_sheets(const cb_immersed *b, cb_immersed_form *f) {
  const cb_surface *s = b->surface;
  for (int i = b->closed_faces; i < s->faces; i++) {
    const int *k = s->face[b->listed[i]];
    const double thickness = b->thickness[s->part[b->listed[i]]], *x0 = f->x[k[0]], *x1 = f->x[k[1]], *x2 = f->x[k[2]];
    double e1[3], e2[3], a[3];
    if (thickness == 0) continue;
    for (int j = 0; j < 3; j++) {
      e1[j] = x1[j] - x0[j];
      e2[j] = x2[j] - x0[j];
    }
    cb_cross3(e1, e2, a);
    const double volume = thickness * sqrt(cb_dot3(a, a)) / 2;
    f->volume += volume;
    for (int j = 0; j < 3; j++) f->moment[j] += volume * (x0[j] + (e1[j] + e2[j]) / 3);
  }
}

static void find_box(int vertices, cb_immersed_form *f) {
  for (int k = 0; k < 3; k++) {
    double low = f->x[0][k], high = low;
    for (int i = 1; i < vertices; i++) {
      low = f->x[i][k] < low ? f->x[i][k] : low;
      high = f->x[i][k] > high ? f->x[i][k] : high;
    }
    f->middle[k] = (low + high) / 2;
    f->reach[k] = (high - low) / 2;
  }
}

/* Sets the local model to the pose at t. If the fluid is uniform and the twist at t is known in advance (s->expected),
 * the lift and drag of the local model are computed in the same pass. */
static cb_status pose_local(cb_immersed_workspace *s, double t, cb_local_blend *of) {
  const cb_immersed *b = s->b;
  const cb_immersed_last *e = &s->expected;
  cb_immersed_moment m;
  cb_local_at_once drag = {.rho = b->around.density};
  double flow[3];
  const bool known = e->known && e->t == t && b->drag && !cb_immersed_varies(b) && !cb_immersed_has_linear_drag(b);
  if (known) {
    cb_immersed_moment_of(t, &e->g, e->Y, &m);
    memcpy(drag.Y, e->Y, sizeof drag.Y);
    cb_apply3_transposed(m.r, s->wind.u, flow);
    drag.flow = flow;
  }
  if (!cb_local_pose_blend(s->local, of, known ? &drag : NULL))
    return cb_poses_at(b->poses, t, s->x, s->v); /* this call fails, and its message names the vertex */
  if (known) {
    memcpy(s->dragged.F, drag.wrench, sizeof drag.wrench);
    memcpy(s->dragged.jacobian, drag.jacobian, sizeof drag.jacobian);
    cb_immersed_set_last(&s->dragged, &m);
  }
  return CB_OK;
}

/* Finds the poses of the sequence whose times are next to t, with their weights and their apexes. */
static cb_status blend(const cb_immersed_workspace *s, double t, cb_local_blend *of) {
  const size_t parts = (size_t)s->b->surface->parts;
  cb_poses_blend around;
  const cb_status status = cb_poses_blend_at(s->b->poses, t, &around);
  if (status) return status;
  *of = (cb_local_blend){.n = CB_POSES_AROUND};
  for (int k = 0; k < CB_POSES_AROUND; k++) {
    of->x[k] = around.pose[k];
    of->apex[k] = (const double(*)[3])s->apex + parts * (size_t)around.number[k];
    of->w[k] = around.w[k];
    of->dw[k] = around.dw[k];
  }
  return CB_OK;
}

cb_status cb_immersed_vertices(cb_immersed_workspace *s) {
  cb_immersed_form *f = &s->form;
  if (f->x) return CB_OK;
  const cb_status status = cb_poses_at(s->b->poses, f->t, s->x, s->v);
  if (status) return status;
  f->x = (const double(*)[3])s->x;
  f->v = (const double(*)[3])s->v;
  return CB_OK;
}

cb_status cb_immersed_form_create(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  const size_t vertices = b->poses ? (size_t)b->surface->vertices : 0, parts = (size_t)b->surface->parts,
               poses = cb_immersed_blends_poses(b) ? (size_t)cb_poses_count(b->poses) : 0;
  s->part = cb_arena_alloc(s->arena, parts, sizeof *s->part);
  s->capped = cb_arena_alloc(s->arena, parts, sizeof *s->capped);
  s->x = cb_arena_alloc(s->arena, vertices, sizeof *s->x);
  s->v = cb_arena_alloc(s->arena, vertices, sizeof *s->v);
  s->apex = cb_arena_alloc(s->arena, poses * parts, sizeof *s->apex);
  if (!s->part || !s->capped || !s->x || !s->v || !s->apex)
    return cb_fail(CB_ERROR_MEMORY, "no memory for a body of %d faces", b->surface->faces);
  const cb_status status = cb_local_create(b->surface, &s->local);
  for (size_t i = 0; i < poses && !status; i++)
    cb_local_apexes(s->local, cb_poses_pose(b->poses, (int)i), s->apex + parts * i);
  return status;
}

static cb_status find_form(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  cb_immersed_form *f = &s->form;
  const double t = f->t;
  const bool blends = !f->x;
  cb_status status = CB_OK;
  cb_local_blend of = {.n = 2, .x = {s->x, s->v}, .w = {1}, .dw = {0, 1}};
  if (blends) {
    status = blend(s, t, &of);
  } else if (b->poses) {
    status = cb_poses_at(b->poses, t, s->x, s->v);
    f->x = (const double(*)[3])s->x;
    f->v = (const double(*)[3])s->v;
  }
  if (!status) status = cb_immersed_move_places(s);
  if (status) return status;
  if (b->poses && cb_immersed_uses_local_model(b)) {
    status = pose_local(s, t, &of);
    if (!status) status = cb_moving_mass_with(b->mass, s->local, f->x, f->v, &f->mass, f->mu_b);
  } else {
    status = cb_moving_mass_at(b->mass, f->x, f->v, &f->mass, f->mu_b);
  }
  if (status) return status;
  if (b->inertia.model) {
    status = cb_immersed_own_added_mass(s);
    if (status) return status;
  } else if (b->added_mass) {
    f->removed_normal_velocity = cb_local_removed_normal_velocity(s->local, true);
    cb_local_added_mass(s->local, b->around.layered ? 1 : b->around.density, NULL, f->I_f, f->mu_f, s->part);
  }
  f->volume = f->mass.volume;
  for (int i = 0; i < 3; i++) f->moment[i] = f->volume * f->mass.volume_centre[i];
  add_sheets(b, f);
  if (b->around.layered) find_box(b->surface->vertices, f);
  return CB_OK;
}

static cb_status create(cb_immersed *b, const cb_immersed_options *o) {
  return cb_moving_mass_create(b->surface, o->material, o->lumped, o->n_points, o->points, &b->mass);
}

static cb_status mass(const cb_immersed *b, const double (*x)[3], cb_mass *out) {
  double mu[6];
  return cb_moving_mass_at(b->mass, x, NULL, out, mu);
}

static cb_status parts(cb_immersed_workspace *s, cb_local_part *part) {
  double I_f[6][6];
  if (s->b->poses && !cb_immersed_uses_local_model(s->b)) cb_local_pose(s->local, s->form.x, s->form.v);
  cb_local_added_mass(s->local, 1, NULL, I_f, NULL, part);
  return CB_OK;
}

const cb_immersed_class cb_immersed_flat = {.create = create, .form = find_form, .mass = mass, .parts = parts};

/* --- every space --- */

static cb_status find_wind(cb_immersed_workspace *s, double t) {
  static const double origin[1][3] = {{0}};
  const cb_immersed *b = s->b;
  cb_immersed_wind *w = &s->wind;
  if (!b->around.has_flow || b->around.varying || (w->known && (t == w->t || !b->around.unsteady))) return CB_OK;
  double u[1][3], G[1][3][3], rate[1][3];
  const cb_status status = cb_flow_at(b->fluid.flow, t, 1, origin, u, G, rate);
  if (status) return status;
  *w = (cb_immersed_wind){.t = t, .known = true};
  memcpy(w->u, u[0], sizeof w->u);
  memcpy(w->rate, rate[0], sizeof w->rate);
  s->field.known = s->dragged.known = s->pushed.known = s->model_sum.known = false;
  return CB_OK;
}

/* Adds the rate of change of int x dV of closed parts: int x <v, n> dA over the faces, with x and v at the centre of
 * each face. */
static void add_rate(const cb_immersed *b, const cb_immersed_form *f, double rate[3]) {
  const cb_surface *s = b->surface;
  for (int i = 0; f->v && i < s->faces; i++) {
    const int *k = s->face[i];
    double e1[3], e2[3], a[3], x[3], v[3];
    if (s->open[s->part[i]]) continue;
    for (int j = 0; j < 3; j++) {
      e1[j] = f->x[k[1]][j] - f->x[k[0]][j];
      e2[j] = f->x[k[2]][j] - f->x[k[0]][j];
      x[j] = (f->x[k[0]][j] + f->x[k[1]][j] + f->x[k[2]][j]) / 3;
      v[j] = (f->v[k[0]][j] + f->v[k[1]][j] + f->v[k[2]][j]) / 3;
    }
    cb_cross3(e1, e2, a);
    const double flux = cb_dot3(v, a) / 2;
    for (int j = 0; j < 3; j++) rate[j] += flux * x[j];
  }
}

cb_status cb_immersed_workspace_fluid_share(cb_immersed_workspace *s, double t, cb_immersed_fluid_share *out) {
  cb_status status = cb_immersed_form_at(s, t);
  if (!status) status = cb_immersed_vertices(s);
  if (status) return status;
  const cb_immersed_form *f = &s->form;
  *out = (cb_immersed_fluid_share){.volume = f->volume};
  memcpy(out->A, f->I_f, sizeof out->A);
  memcpy(out->mu, f->mu_f, sizeof out->mu);
  memcpy(out->moment, f->moment, sizeof out->moment);
  add_rate(s->b, f, out->rate);
  return CB_OK;
}

cb_status cb_immersed_form_at(cb_immersed_workspace *s, double t) {
  const cb_immersed *b = s->b;
  cb_status status = find_wind(s, t);
  if (status || (s->form.known && (t == s->form.t || !b->poses))) return status;
  s->form = (cb_immersed_form){.t = t, .x = cb_immersed_blends_poses(b) ? NULL : (const double(*)[3])b->surface->x};
  s->field.known = s->dragged.known = s->pushed.known = s->model_sum.known = s->impulses.known = s->pressure.known =
      false;
  status = b->class_->form(s);
  s->form.known = !status;
  return status;
}

/* --- curved spaces ---
 *
 * A rigid body in a fluid that fills a space of curvature K: which features of a fluid are defined there, and the form.
 *
 *   mu = (I + I_f) Y,  mu' = ad*_Y mu + F  in the algebra of the space of curvature K (curvebody/pose.h)
 *
 * mu is the momentum, Y = (omega, v) the twist, F the wrench, I the inertia (fluid/curved_moments.h), and I_f the added
 * mass, exact or of the local model. The fluid is at rest except for the body's motion. The field X of a rigid motion
 * (omega, v) of the space satisfies curl X_(omega, v) = 2 X_(K v, omega). Every rigid motion therefore has vorticity,
 * and there is no uniform stream. There is no uniform field of directions either, so that weight comes from potentials
 * (terms/potentials.c). Derived for this project.
 */

/* --- features that are defined --- */

static cb_status no(const cb_immersed *b, const char *what) {
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "%s is not available in a fluid that fills a space of curvature %g: expected flat space", what,
                 b->fluid.curvature);
}

/* Returns NULL if the model m may be used in a curved space, otherwise the reason why not. If `forces` is true, m gives
 * forces, which must be those of the local model. Otherwise m gives the added mass. This must be that of the local
 * model, or of a model that computes it in the surface's own space. */
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

/* Adds a point mass at x. If it has an inertia, it stands for a small rigid piece. The axes of the piece are the body's
 * axes, moved from the base point to x by the transvection. */
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

static cb_status create_curved(cb_immersed *b, const cb_immersed_options *o) { return find_mass(b, o); }

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

static cb_status curved_mass(const cb_immersed *b, const double (*x)[3], cb_mass *out) {
  (void)x;
  *out = b->curved.still;
  return CB_OK;
}

static cb_status curved_parts(cb_immersed_workspace *s, cb_local_part *part) {
  double I_f[6][6];
  return cb_local_curved_added_mass(s->b->surface, s->form.x, I_f, part);
}

const cb_immersed_class cb_immersed_curved = {
    .check = check, .create = create_curved, .form = form, .mass = curved_mass, .parts = curved_parts};
