/* Creates bodies in a fluid: the data of a body, and the choice of the wrenches that act on it. */
#include "fluid/immersed_private.h"
#include "numerics/small.h"

#include <math.h>
#include <string.h>

static cb_status check_options(const cb_immersed_options *o) {
  if (!(o->c_n >= 0) || !(o->c_t >= 0) || !isfinite(o->c_n + o->c_t))
    return cb_fail(CB_ERROR_ARGUMENT, "linear drag with %g and %g Pa s/m: expected numbers >= 0", o->c_n, o->c_t);
  return CB_OK;
}

/* --- the fluid --- */

static cb_status take_fluid(cb_immersed *b, const cb_fluid *fluid) {
  static const double origin[1][3] = {{0}};
  for (int i = 0; i < 3; i++)
    if (!isfinite(fluid->gravity[i]))
      return cb_fail(CB_ERROR_ARGUMENT, "gravity: expected finite numbers, found (%g, %g, %g)", fluid->gravity[0],
                     fluid->gravity[1], fluid->gravity[2]);
  b->fluid = *fluid;
  if (fluid->medium) {
    b->has_medium = true;
    b->layered = !cb_medium_is_uniform(fluid->medium);
    if (!b->layered) {
      const cb_status status = cb_medium_at(fluid->medium, origin[0], &b->density);
      if (status) return status;
      b->has_medium = b->density > 0;
    }
  }
  if (fluid->flow) {
    b->has_flow = true;
    b->varying = !cb_flow_is_even(fluid->flow);
    b->flow_unsteady = !cb_flow_is_steady(fluid->flow);
    if (!b->varying && !b->flow_unsteady) {
      double u[1][3];
      const cb_status status = cb_flow_at(fluid->flow, 0, 1, origin, u, NULL, NULL);
      if (status) return status;
      b->has_flow = u[0][0] != 0 || u[0][1] != 0 || u[0][2] != 0;
    }
  }
  return CB_OK;
}

/* --- wrenches --- */

static bool displaces(const cb_immersed *b) {
  for (int p = 0; p < b->surface->parts; p++)
    if (!b->surface->open[p] || b->thickness[p] > 0) return true;
  return false;
}

const char *cb_immersed_lacks(const cb_immersed *b, int part, bool *solid) {
  if (!b->surface->open[part] || b->thickness[part] > 0) return NULL;
  *solid = !b->lifted && !b->surrounded;
  if (b->lifted) return "displaces no fluid and has no buoyancy";
  if (b->surrounded) return "displaces no fluid and feels no pressure of the flow";
  return b->added_mass ? "has the added mass of a sheet, with fluid on both sides" : NULL;
}

static bool has_parts_with_mass(const cb_immersed *b, const cb_immersed_options *o) {
  for (int p = 0; p < b->surface->parts; p++)
    if (o->material[p].density > 0) return true;
  return false;
}

static bool heavy(const cb_immersed *b, const cb_immersed_options *o) {
  if (has_parts_with_mass(b, o)) return true;
  for (int i = 0; i < o->n_points; i++)
    if (o->points[i].mass != 0) return true;
  return false;
}

static cb_status list_wrenches(cb_immersed *b, const cb_immersed_options *o) {
  const double *g = b->fluid.gravity;
  const bool falls = g[0] != 0 || g[1] != 0 || g[2] != 0;
  b->lifted = (falls || b->potential) && b->has_medium && !o->no_buoyancy;
  const int count[] = {
      [CB_WRENCH_FLOW] = b->relative,
      [CB_WRENCH_WALL] = b->placed,
      [CB_WRENCH_PRESSURE] = b->pressure_force,
      [CB_WRENCH_GRAVITY] = falls && heavy(b, o),
      [CB_WRENCH_POTENTIALS] = b->potential && heavy(b, o),
      [CB_WRENCH_BUOYANCY] = b->lifted && displaces(b),
      [CB_WRENCH_DRAG] = b->drag,
      [CB_WRENCH_LINEAR_DRAG] = b->c_n > 0 || b->c_t > 0,
      [CB_WRENCH_FLOOR] = b->fluid.floor.kind == CB_FLOOR_STIFF,
      [CB_WRENCH_MODEL] = b->terms,
      [CB_WRENCH_TEXT] = b->texts,
  };
  b->wrench_id = cb_arena_alloc(b->arena, (size_t)(CB_WRENCH_TEXT + b->terms + b->texts), sizeof *b->wrench_id);
  if (!b->wrench_id) return cb_fail(CB_ERROR_MEMORY, "no memory for a body's wrenches");
  for (int kind = 0; kind <= CB_WRENCH_TEXT; kind++)
    for (int i = 0; i < count[kind]; i++)
      b->wrench_id[b->wrenches++] = (cb_immersed_wrench_id){(cb_wrench_kind)kind, i};
  for (int i = 0; i < b->wrenches; i++)
    for (int k = 0; k < i; k++)
      if (!strcmp(cb_immersed_wrench_name(b, i), cb_immersed_wrench_name(b, k)))
        return cb_fail(CB_ERROR_ARGUMENT, "two wrenches of a body are called `%s`: expected different names",
                       cb_immersed_wrench_name(b, i));
  return CB_OK;
}

static cb_status list_sums(cb_immersed *b) {
  b->sum = cb_arena_alloc(b->arena, (size_t)b->wrenches, sizeof *b->sum);
  if (!b->sum) return cb_fail(CB_ERROR_MEMORY, "no memory for a body's wrenches");
  for (int i = 0; i < b->wrenches; i++) {
    cb_immersed_wrench_id wrench_id = b->wrench_id[i];
    const bool with_drag = wrench_id.kind == CB_WRENCH_LINEAR_DRAG && b->drag,
               with_first = wrench_id.kind == CB_WRENCH_MODEL && wrench_id.number > 0;
    if (wrench_id.kind == CB_WRENCH_FLOW || wrench_id.kind == CB_WRENCH_WALL || with_drag || with_first) continue;
    if (wrench_id.kind == CB_WRENCH_MODEL) wrench_id.number = CB_WRENCH_ALL;
    b->sum[b->sums++] = wrench_id;
  }
  return CB_OK;
}

const cb_fluid *cb_immersed_fluid_about(const cb_immersed *b) { return &b->fluid; }

int cb_immersed_wrenches(const cb_immersed *b) { return b->wrenches; }

const char *cb_immersed_wrench_name(const cb_immersed *b, int i) {
  static const char *const names[] = {[CB_WRENCH_FLOW] = "flow",
                                      [CB_WRENCH_WALL] = "wall",
                                      [CB_WRENCH_PRESSURE] = "pressure",
                                      [CB_WRENCH_GRAVITY] = "gravity",
                                      [CB_WRENCH_POTENTIALS] = "potentials",
                                      [CB_WRENCH_BUOYANCY] = "buoyancy",
                                      [CB_WRENCH_DRAG] = "drag",
                                      [CB_WRENCH_FLOOR] = "floor",
                                      [CB_WRENCH_LINEAR_DRAG] = "linear_drag"};
  const cb_immersed_wrench_id wrench_id = b->wrench_id[i];
  if (wrench_id.kind == CB_WRENCH_MODEL) return b->term_name[wrench_id.number];
  return wrench_id.kind == CB_WRENCH_TEXT ? b->text[wrench_id.number].name : names[wrench_id.kind];
}

bool cb_immersed_is_shaped(const cb_immersed *b) {
  return b->has_mass || b->uses_local_model || b->by_face || b->pressure_force || (b->added_mass && b->inertia.model) ||
         cb_immersed_has(b, CB_WRENCH_BUOYANCY) || b->fluid.floor.kind != CB_FLOOR_NONE;
}

bool cb_immersed_has(const cb_immersed *b, cb_wrench_kind kind) {
  for (int i = 0; i < b->wrenches; i++)
    if (b->wrench_id[i].kind == kind) return true;
  return false;
}

/* --- the body --- */

static cb_status take_parts(cb_immersed *b, const cb_immersed_options *o) {
  const cb_surface *s = b->surface;
  b->thickness = cb_arena_alloc(b->arena, (size_t)s->parts, sizeof *b->thickness);
  b->listed = cb_arena_alloc(b->arena, (size_t)s->faces, sizeof *b->listed);
  if (!b->thickness || !b->listed) return cb_fail(CB_ERROR_MEMORY, "no memory for a body of %d faces", s->faces);
  for (int p = 0; p < s->parts; p++) b->thickness[p] = o->material[p].thickness;
  int n = 0;
  for (int open = 0; open < 2; open++) {
    for (int f = 0; f < s->faces; f++)
      if (s->open[s->part[f]] == open) b->listed[n++] = f;
    if (!open) b->closed_faces = n;
  }
  return CB_OK;
}

/* Checks that the body has inertia in every direction. If the density varies, the fluid has 1 kg/m^3 in this check. */
static cb_status check_inertia(cb_immersed *b) {
  cb_immersed_workspace *s;
  cb_status status = cb_immersed_workspace_create(b, &s);
  if (status) return status;
  status = cb_immersed_form_at(s, 0);
  if (!status) {
    double K[6][6], l[6][6];
    b->weighed = s->form.mass.mass;
    for (int i = 0; i < 36; i++) K[i / 6][i % 6] = s->form.mass.inertia[i / 6][i % 6] + s->form.I_f[i / 6][i % 6];
    /* A pivot that should vanish has a round-off of 1e-16 of its diagonal. */
    if (!cb_cholesky(6, K[0], 1e-13, l[0]))
      status = cb_fail(CB_ERROR_DOMAIN, "the body has no inertia%s: its mass is %g kg%s",
                       s->form.mass.mass > 0 ? " about an axis" : "", s->form.mass.mass,
                       b->added_mass ? "" : " and there is no fluid that moves with it");
  }
  cb_immersed_workspace_free(s);
  return status;
}

cb_status cb_immersed_create(const cb_fluid *fluid, const cb_surface *surface, const cb_poses *poses,
                             const cb_immersed_options *options, int *which, int *component, size_t *at,
                             cb_immersed **out) {
  cb_status status = check_options(options);
  if (status) return status;
  if (poses && cb_poses_vertices(poses) != surface->vertices)
    return cb_fail(CB_ERROR_ARGUMENT, "the poses have %d vertices: expected %d, as the surface has",
                   cb_poses_vertices(poses), surface->vertices);
  cb_arena *arena = cb_arena_create();
  cb_immersed *b = cb_arena_alloc(arena, 1, sizeof *b);
  if (!b) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a body");
  }
  *b = (cb_immersed){.arena = arena,
                     .surface = surface,
                     .poses = poses,
                     .c_n = options->c_n,
                     .c_t = options->c_t,
                     .potential = options->potential};
  status = take_fluid(b, fluid);
  if (!status) {
    b->fluid_varies = b->layered || b->varying;
    status = cb_immersed_choose(b, options);
    b->relative = b->added_mass && (b->has_flow || b->layered);
    if (!status) status = cb_immersed_take_curved(b);
    if (!status) status = take_parts(b, options);
    b->surrounded = !fluid->paper && b->has_medium && (b->varying || b->flow_unsteady);
    b->pressure_force = !status && b->surrounded && displaces(b);
    if (fluid->paper) b->relative = false;
  }
  if (!status)
    status = fluid->curvature != 0 ? cb_immersed_curved_create(b, options)
                                   : cb_moving_mass_create(surface, options->material, options->lumped,
                                                           options->n_points, options->points, &b->mass);
  b->uses_local_model = (b->added_mass && !b->inertia.model) || b->drag || b->c_n > 0 || b->c_t > 0;
  b->interpolate_poses_for_drag = !status && poses && cb_poses_count(poses) && b->uses_local_model &&
                                  !b->fluid_varies && !b->inertia.model && !b->by_face &&
                                  fluid->floor.kind == CB_FLOOR_NONE && b->mass && cb_moving_mass_is_solid(b->mass);
  if (!status) status = cb_immersed_parse_texts(b, options, which, component, at);
  b->has_mass = has_parts_with_mass(b, options);
  if (!status && b->potential) status = cb_immersed_potentials_create(b, options);
  if (!status) status = list_wrenches(b, options);
  if (!status) status = list_sums(b);
  if (!status) status = cb_immersed_prepare(b);
  if (!status) status = check_inertia(b);
  if (status) {
    cb_immersed_free(b);
    return status;
  }
  *out = b;
  return CB_OK;
}

void cb_immersed_free(cb_immersed *b) {
  if (!b) return;
  cb_immersed_free_texts(b);
  cb_immersed_release(b);
  cb_moving_mass_free(b->mass);
  cb_arena_free(b->arena);
}

const cb_surface *cb_immersed_surface(const cb_immersed *b) { return b->surface; }
const cb_poses *cb_immersed_poses(const cb_immersed *b) { return b->poses; }

cb_status cb_immersed_shape(const cb_immersed *b, double t, double (*x)[3], double (*v)[3]) {
  if (b->poses) return cb_poses_at(b->poses, t, x, v);
  memcpy(x, b->surface->x, (size_t)b->surface->vertices * sizeof *x);
  if (v) memset(v, 0, (size_t)b->surface->vertices * sizeof *v);
  return CB_OK;
}

bool cb_immersed_is_local(const cb_immersed *b) { return b->added_mass && !b->inertia.model; }

cb_status cb_immersed_mass(const cb_immersed *b, double t, cb_mass *mass, cb_local_part *part) {
  cb_immersed_workspace *s;
  cb_status status = cb_immersed_workspace_create(b, &s);
  if (status) return status;
  status = cb_immersed_form_at(s, t);
  if (!status) {
    double I_f[6][6];
    *mass = s->form.mass;
    if (b->poses && !b->uses_local_model) cb_local_pose(s->local, s->form.x, s->form.v);
    if (part && b->curved)
      status = cb_local_curved_added_mass(b->surface, s->form.x, I_f, part);
    else if (part)
      cb_local_added_mass(s->local, 1, NULL, I_f, NULL, part);
  }
  cb_immersed_workspace_free(s);
  return status;
}
