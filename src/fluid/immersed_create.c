/* Creates bodies in a fluid: the data of a body, and the terms that act on it. */
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
  b->around.layered = fluid->medium && !cb_medium_is_uniform(fluid->medium);
  if (fluid->medium && !b->around.layered) {
    const cb_status status = cb_medium_at(fluid->medium, origin[0], &b->around.density);
    if (status) return status;
  }
  if (!fluid->flow) return CB_OK;
  b->around.has_flow = true;
  b->around.varying = !cb_flow_is_even(fluid->flow);
  b->around.unsteady = !cb_flow_is_steady(fluid->flow);
  if (b->around.varying || b->around.unsteady) return CB_OK;
  double u[1][3];
  const cb_status status = cb_flow_at(fluid->flow, 0, 1, origin, u, NULL, NULL);
  if (status) return status;
  b->around.has_flow = u[0][0] != 0 || u[0][1] != 0 || u[0][2] != 0;
  return CB_OK;
}

/* --- effects of the fluid on the body --- */

bool cb_immersed_displaces(const cb_immersed *b) {
  for (int p = 0; p < b->surface->parts; p++)
    if (!b->surface->open[p] || b->thickness[p] > 0) return true;
  return false;
}

bool cb_immersed_falls(const cb_immersed *b) {
  const double *g = b->fluid.gravity;
  return g[0] != 0 || g[1] != 0 || g[2] != 0;
}

bool cb_immersed_is_lifted(const cb_immersed *b) {
  return (cb_immersed_falls(b) || b->curved.potential) && cb_immersed_is_wet(b) && b->buoyant;
}

bool cb_immersed_is_surrounded(const cb_immersed *b) {
  return !b->fluid.paper && cb_immersed_is_wet(b) && (b->around.varying || b->around.unsteady);
}

bool cb_immersed_uses_local_model(const cb_immersed *b) {
  return cb_immersed_is_local(b) || b->drag || cb_immersed_has_linear_drag(b);
}

bool cb_immersed_blends_poses(const cb_immersed *b) {
  return b->poses && cb_poses_count(b->poses) && cb_immersed_uses_local_model(b) && !cb_immersed_varies(b) &&
         !b->inertia.model && !b->models.by_face && b->fluid.floor.kind == CB_FLOOR_NONE &&
         cb_moving_mass_is_solid(b->mass);
}

const char *cb_immersed_lacks(const cb_immersed *b, int part, bool *solid) {
  if (!b->surface->open[part] || b->thickness[part] > 0) return NULL;
  const bool lifted = cb_immersed_is_lifted(b), surrounded = cb_immersed_is_surrounded(b);
  *solid = !lifted && !surrounded;
  if (lifted) return "displaces no fluid and has no buoyancy";
  if (surrounded) return "displaces no fluid and feels no pressure of the flow";
  return b->added_mass ? "has the added mass of a sheet, with fluid on both sides" : NULL;
}

static void weigh_parts(cb_immersed *b, const cb_immersed_options *o) {
  for (int p = 0; p < b->surface->parts; p++) b->solid = b->solid || o->material[p].density > 0;
  b->heavy = b->solid;
  for (int i = 0; i < o->n_points; i++) b->heavy = b->heavy || o->points[i].mass != 0;
}

/* --- terms --- */

bool cb_immersed_always(const cb_immersed *b) {
  (void)b;
  return true;
}

bool cb_immersed_names(const cb_immersed *b, const char *name) {
  int i = 0;
  while (i < b->wrenches && strcmp(b->wrench[i].name, name)) i++;
  return i < b->wrenches;
}

/* Lists the terms that act, in their order, and lets each compute its data about the body. */
static cb_status list_terms(cb_immersed *b, const cb_immersed_options *o) {
  int all = 0;
  cb_status status = CB_OK;
  while (cb_immersed_term_classes[all]) all++;
  b->term = cb_arena_alloc(b->arena, (size_t)all, sizeof *b->term);
  if (!b->term) return cb_fail(CB_ERROR_MEMORY, "no memory for a body's wrenches");
  for (int k = 0; k < all; k++) {
    const cb_immersed_term_class *class = cb_immersed_term_classes[k];
    const int wrenches = !class->wrench ? 0 : class->count ? class->count(b) : 1;
    if ((class->space && class->space != b->class_) || (class->acts ? !class->acts(b) : wrenches == 0)) continue;
    int at = b->terms++;
    for (; at > 0 && b->term[at - 1].class_->order > class->order; at--) b->term[at] = b->term[at - 1];
    b->term[at] = (cb_immersed_term){class, wrenches};
  }
  for (int k = 0; k < b->terms && !status; k++)
    if (b->term[k].class_->prepare) status = b->term[k].class_->prepare(b, o);
  return status;
}

static cb_status list_wrenches(cb_immersed *b) {
  int all = 0;
  for (int k = 0; k < b->terms; k++) all += b->term[k].wrenches;
  b->wrench = cb_arena_alloc(b->arena, (size_t)all, sizeof *b->wrench);
  if (!b->wrench) return cb_fail(CB_ERROR_MEMORY, "no memory for a body's wrenches");
  for (const cb_immersed_term *term = b->term; term < b->term + b->terms; term++)
    for (int i = 0; i < term->wrenches; i++) {
      const char *name = term->class_->name_of ? term->class_->name_of(b, i) : term->class_->name;
      if (!name) return cb_fail(CB_ERROR_MEMORY, "no memory for the names of a body's wrenches");
      if (cb_immersed_names(b, name))
        return cb_fail(CB_ERROR_ARGUMENT, "two wrenches of a body are called `%s`: expected different names", name);
      b->wrench[b->wrenches++] = (cb_immersed_wrench){term->class_, i, name};
    }
  return CB_OK;
}

const cb_fluid *cb_immersed_fluid_about(const cb_immersed *b) { return &b->fluid; }

int cb_immersed_wrenches(const cb_immersed *b) { return b->wrenches; }

const char *cb_immersed_wrench_name(const cb_immersed *b, int i) { return b->wrench[i].name; }

bool cb_immersed_is_shaped(const cb_immersed *b) {
  bool shaped = b->solid;
  for (int k = 0; k < b->terms; k++)
    shaped = shaped || !b->term[k].class_->surfaceless || !b->term[k].class_->surfaceless(b);
  return shaped;
}

/* --- the body --- */

static cb_status take_parts(cb_immersed *b, const cb_immersed_options *o) {
  const cb_surface *s = b->surface;
  b->thickness = cb_arena_alloc(b->arena, (size_t)s->parts, sizeof *b->thickness);
  b->listed = cb_arena_alloc(b->arena, (size_t)s->faces, sizeof *b->listed);
  if (!b->thickness || !b->listed) return cb_fail(CB_ERROR_MEMORY, "no memory for a body of %d faces", s->faces);
  for (int p = 0; p < s->parts; p++) b->thickness[p] = o->material[p].thickness;
  weigh_parts(b, o);
  int n = 0;
  for (int open = 0; open < 2; open++) {
    for (int f = 0; f < s->faces; f++)
      if (s->open[s->part[f]] == open) b->listed[n++] = f;
    if (!open) b->closed_faces = n;
  }
  return CB_OK;
}

static cb_status check_space(const cb_immersed *b) {
  if (b->surface->curvature == b->fluid.curvature) return b->class_->check ? b->class_->check(b) : CB_OK;
  return cb_fail(CB_ERROR_ARGUMENT,
                 "the surface is in a space of curvature %g, but the fluid in a space of curvature %g: expected the "
                 "same curvature (cb_surface_embed)",
                 b->surface->curvature, b->fluid.curvature);
}

/* Checks that the body has inertia in every direction. If the density of the fluid varies, this check uses 1 kg/m^3. */
static cb_status check_inertia(cb_immersed *b) {
  cb_immersed_workspace *s;
  cb_status status = cb_immersed_workspace_create(b, &s);
  if (status) return status;
  status = cb_immersed_form_at(s, 0);
  if (!status) {
    double K[6][6], l[6][6];
    b->weighed = s->form.mass.mass;
    for (int i = 0; i < 36; i++) K[i / 6][i % 6] = s->form.mass.inertia[i / 6][i % 6] + s->form.I_f[i / 6][i % 6];
    /* The round-off of a pivot that should be 0 is about 1e-16 of its diagonal entry. */
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
                     .class_ = fluid->curvature != 0 ? &cb_immersed_curved : &cb_immersed_flat,
                     .surface = surface,
                     .poses = poses,
                     .curved.potential = options->potential,
                     .buoyant = !options->no_buoyancy,
                     .c_n = options->c_n,
                     .c_t = options->c_t};
  status = take_fluid(b, fluid);
  if (!status) status = cb_immersed_choose(b, options);
  if (!status) status = check_space(b);
  if (!status) status = take_parts(b, options);
  if (!status) status = b->class_->create(b, options);
  if (!status) status = cb_immersed_parse_texts(b, options, which, component, at);
  if (!status) status = list_terms(b, options);
  if (!status) status = list_wrenches(b);
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

bool cb_immersed_has_added_mass(const cb_immersed *b) { return b->added_mass; }

bool cb_immersed_is_local(const cb_immersed *b) { return b->added_mass && !b->inertia.model; }

cb_status cb_immersed_mass(const cb_immersed *b, double t, cb_mass *mass, cb_local_part *part) {
  cb_immersed_workspace *s;
  cb_status status = cb_immersed_workspace_create(b, &s);
  if (status) return status;
  status = cb_immersed_form_at(s, t);
  if (!status) {
    *mass = s->form.mass;
    if (part) status = b->class_->parts(s, part);
  }
  cb_immersed_workspace_free(s);
  return status;
}
