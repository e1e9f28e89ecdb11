/* The form of a body at a given time: in its own frame the positions of its vertices, its mass, the added mass in a
 * medium of uniform density, and the displaced volume; and the velocity of a uniform flow. The functions for curved
 * spaces come first.
 *
 * Closed parts displace their volume, sheets their area times thickness.
 */
#include "fluid/immersed_private.h"
#include "fluid/curved_moments.h"

#include <math.h>
#include <string.h>

/* A rigid body in a fluid that fills a space of curvature K: which features of a fluid are defined there, and the form.
 *
 *   mu = (I + I_f) Y,  mu' = ad*_Y mu + F  in the algebra with K (curvebody/pose.h);  I of fluid/curved_moments.h,
 *   I_f exact or local
 *
 * The fluid is at rest except for the body's motion. Because curl X_(omega, v) = 2 X_(K v, omega), every rigid motion
 * of the space has vorticity, and there is no uniform stream. There is no uniform field of directions either, so that
 * weight comes from potentials (immersed_potential.c). Derived for this project.
 */

/* --- features that are defined --- */

static cb_status no(const cb_immersed *b, const char *what) {
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "%s is not available in a fluid that fills a space of curvature %g: expected flat space", what,
                 b->fluid.curvature);
}

/* Forces must be the local model's, and the added mass that of a model that uses the surface's own space. */
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
  for (int i = 0; i < b->n_forces && !why; i++) {
    of = b->force[i].model;
    why = cb_immersed_curved_model(of, true);
  }
  return why ? cb_fail(CB_ERROR_UNSUPPORTED, "the fluid model `%s` %s, in a space of curvature %g", of->class_->name,
                       why, b->fluid.curvature)
             : CB_OK;
}

cb_status cb_immersed_take_curved(cb_immersed *b) {
  const cb_fluid *f = &b->fluid;
  const double K = f->curvature, *g = f->gravity;
  const cb_surface *s = b->surface;
  if (s->curvature != K)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "the surface is in a space of curvature %g, but the fluid in a space of curvature %g: expected the "
                   "same curvature (cb_surface_embed)",
                   s->curvature, K);
  if (K == 0) return CB_OK;
  if (!isfinite(K)) return cb_fail(CB_ERROR_ARGUMENT, "fluid: expected a finite curvature of its space, found %g", K);
  if (g[0] != 0 || g[1] != 0 || g[2] != 0) return no(b, "a uniform gravity");
  if (b->has_flow) return no(b, "a flow");
  if (b->layered) return no(b, "a medium of layers");
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

/* Adds a point, or a rigid piece in the axes that the transvection carries to it. */
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
  cb_curved_mass(K, &all, &none, solid.area, &b->still);
  b->still.volume = solid.volume;
  memcpy(b->still.volume_centre, solid.volume_centre, sizeof solid.volume_centre);
  return CB_OK;
}

/* --- drag (equations: fluid/local.h, with |u| and <u, n> of the space) --- */

/* Finds q, the derivative of |X_xi|^2/2 at y by xi. */
static void speed_slope(double K, const double y[4], const double xi[6], double q[6]) {
  double u[3], turn[3];
  const double along = K * cb_dot3(xi + 3, y);
  cb_cross3(xi, y, u);
  for (int i = 0; i < 3; i++) u[i] += y[3] * xi[3 + i];
  cb_cross3(y, u, turn);
  for (int i = 0; i < 3; i++) {
    q[i] = turn[i];
    q[3 + i] = y[3] * u[i] + along * y[i];
  }
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
    for (int i = 0; i < 6; i++) {
      square += q[i] * m->Y[i];
      across += f->m[i] * m->Y[i];
    }
    if (!(square > 0)) continue;
    const double speed = sqrt(square), load = -b->density / 2 * f->area;
    for (int i = 0; i < 6; i++) {
      F[i] += load * speed * across * f->m[i];
      for (int j = 0; dF && j < 6; j++) dF[i][j] += load * f->m[i] * (speed * f->m[j] + across / speed * q[j]);
    }
  }
}

/* --- the form --- */

static cb_status curved_form(cb_immersed_workspace *s) {
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

/* --- flat space --- */

/* Adds the faces of sheets: volume += thickness A, moment += thickness A c, A the area and c the centre of a face. */
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

static cb_status find_wind(cb_immersed_workspace *s, double t) {
  static const double origin[1][3] = {{0}};
  const cb_immersed *b = s->b;
  cb_immersed_wind *w = &s->wind;
  if (!b->has_flow || b->varying || (w->known && (t == w->t || !b->flow_unsteady))) return CB_OK;
  double u[1][3], G[1][3][3], rate[1][3];
  const cb_status status = cb_flow_at(b->fluid.flow, t, 1, origin, u, G, rate);
  if (status) return status;
  *w = (cb_immersed_wind){.t = t, .known = true};
  memcpy(w->u, u[0], sizeof w->u);
  memcpy(w->rate, rate[0], sizeof w->rate);
  s->field.known = s->dragged.known = s->pushed.known = s->model_sum.known = false;
  return CB_OK;
}

/* Sets the local model to the pose at t. In a uniform fluid lift and drag at the expected twist are computed with
 * it. */
static cb_status pose_local(cb_immersed_workspace *s, double t, cb_local_blend *of) {
  const cb_immersed *b = s->b;
  const cb_immersed_last *e = &s->expected;
  cb_immersed_moment m;
  cb_local_at_once drag = {.rho = b->density};
  double flow[3];
  const bool known = e->known && e->t == t && b->drag && !b->fluid_varies && !(b->c_n > 0) && !(b->c_t > 0);
  if (known) {
    cb_immersed_moment_of(t, &e->g, e->Y, &m);
    memcpy(drag.Y, e->Y, sizeof drag.Y);
    cb_apply3_transposed(m.r, s->wind.u, flow);
    drag.flow = flow;
  }
  if (!cb_local_pose_blend(s->local, of, known ? &drag : NULL))
    return cb_poses_at(b->poses, t, s->x, s->v); /* this names the vertex */
  if (known) {
    memcpy(s->dragged.F, drag.wrench, sizeof drag.wrench);
    memcpy(s->dragged.jacobian, drag.jacobian, sizeof drag.jacobian);
    cb_immersed_set_last(&s->dragged, &m);
  }
  return CB_OK;
}

/* Finds the poses around t. */
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
               poses = b->interpolate_poses_for_drag ? (size_t)cb_poses_count(b->poses) : 0;
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

static cb_status find_form(cb_immersed_workspace *s, double t) {
  const cb_immersed *b = s->b;
  cb_immersed_form *f = &s->form;
  *f = (cb_immersed_form){.t = t, .x = b->interpolate_poses_for_drag ? NULL : (const double(*)[3])b->surface->x};
  s->field.known = s->dragged.known = s->pushed.known = s->model_sum.known = s->impulses.known = s->pressure.known =
      false;
  if (b->fluid.curvature != 0) return curved_form(s);
  cb_status status = CB_OK;
  cb_local_blend of = {.n = 2, .x = {s->x, s->v}, .w = {1}, .dw = {0, 1}};
  if (b->interpolate_poses_for_drag) {
    status = blend(s, t, &of);
  } else if (b->poses) {
    status = cb_poses_at(b->poses, t, s->x, s->v);
    f->x = (const double(*)[3])s->x;
    f->v = (const double(*)[3])s->v;
  }
  if (status) return status;
  if (b->poses && b->uses_local_model) {
    status = pose_local(s, t, &of);
    if (!status) status = cb_moving_mass_with(b->mass, s->local, f->x, f->v, &f->mass, f->mu_b);
  } else {
    status = cb_moving_mass_at(b->mass, f->x, f->v, &f->mass, f->mu_b);
  }
  if (status) return status;
  if (b->inertia.model) {
    status = cb_immersed_own_added_mass(b, f);
    if (status) return status;
  } else if (b->added_mass) {
    f->removed_normal_velocity = cb_local_removed_normal_velocity(s->local, true);
    cb_local_added_mass(s->local, b->layered ? 1 : b->density, NULL, f->I_f, f->mu_f, s->part);
  }
  f->volume = f->mass.volume;
  for (int i = 0; i < 3; i++) f->moment[i] = f->volume * f->mass.volume_centre[i];
  add_sheets(b, f);
  if (b->layered) find_box(b->surface->vertices, f);
  f->known = true;
  return CB_OK;
}

cb_status cb_immersed_form_at(cb_immersed_workspace *s, double t) {
  const cb_status status = find_wind(s, t);
  if (status || (s->form.known && (t == s->form.t || !s->b->poses))) return status;
  return find_form(s, t);
}
