/* The shapes by which rigid bodies touch each other and particles: the convex parts of their surfaces
 * (coupling/convex_surface.h). Copies of a body share them. A body with `spheres` touches by these, and has none here.
 */
#include "core/warning.h"
#include "coupling/convex.h"
#include "run/fluid_private.h"
#include <curvebody/contact.h>

/* Returns whether a body has spheres, and finds the first point of it, its centre. */
static bool has_spheres(const cb_fluid_points *points, int body, int *centre) {
  bool any = false;
  *centre = -1;
  for (int i = 0; i < points->n_points; i++) {
    const cb_body_point *p = &points->point[i];
    if (p->body != body) continue;
    if (*centre < 0) *centre = p->particle;
    any = any || (!p->of_shape && cb_system_radius(points->system, p->particle) > 0);
  }
  return any;
}

/* Finds the sets of a body, or takes them from a copy. */
static cb_status find_sets(cb_run *run, int body, cb_convex **set) {
  cb_fluid_run *b = run->own;
  const cb_immersed *own = b->start[body].body;
  int hull = -1;
  for (int i = 0; i < body; i++)
    if (b->start[i].body == own && set[i]) {
      set[body] = set[i];
      return CB_OK;
    }
  if (cb_immersed_poses(own))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "body `%s` changes its shape, so it cannot touch other bodies by its shape: expected `spheres`",
                   b->start[body].name);
  const cb_surface *surface = cb_immersed_surface(own);
  const cb_status status = cb_convex_of_surface(surface, run->arena, &set[body], &hull);
  if (!status && hull >= 0) b->hull[body] = surface->name[hull];
  return status;
}

/* Returns the set with the film of the body around it. */
static cb_convex with_film(const cb_fluid_run *b, int body, const cb_convex *set) {
  const double film = cb_body_interaction_film(b->interaction, body);
  cb_convex out = *set;
  out.radius += film;
  out.bound += film;
  return out;
}

cb_status cb_fluid_shapes_create(cb_run *run, const cb_fluid_points *points, cb_coupled_bodies *out) {
  cb_fluid_run *b = run->own;
  int n = 0, at = 0;
  cb_status status = CB_OK;
  if (!points->shapes || !cb_system_contacts(points->system)) return CB_OK;
  if (b->fluid->curvature != 0)
    return cb_fail(CB_ERROR_UNSUPPORTED, "contacts by `shapes` are possible only in flat space: expected `spheres`");
  cb_convex **set = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *set);
  int *centre = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *centre);
  b->hull = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *b->hull);
  if (!set || !centre || !b->hull) return cb_fail(CB_ERROR_MEMORY, "no memory for the shapes of %d bodies", b->n);
  for (int i = 0; i < b->n && !status; i++) {
    if (has_spheres(points, i, &centre[i])) continue;
    status = find_sets(run, i, set);
    n += cb_immersed_surface(b->start[i].body)->parts;
  }
  if (status) return status;
  cb_body_shape *shape = cb_arena_alloc(run->arena, (size_t)n, sizeof *shape);
  if (!shape) return cb_fail(CB_ERROR_MEMORY, "no memory for %d shapes", n);
  for (int i = 0; i < b->n; i++)
    for (int p = 0; set[i] && p < cb_immersed_surface(b->start[i].body)->parts; p++)
      shape[at++] = (cb_body_shape){i, centre[i], with_film(b, i, &set[i][p])};
  out->shapes = n;
  out->shape = shape;
  return CB_OK;
}

void cb_fluid_shapes_warn(const cb_run *run) {
  const cb_fluid_run *b = run->own;
  double film = 0;
  for (int i = 0; i < b->n && b->hull; i++) film = fmax(film, cb_body_interaction_film(b->interaction, i));
  if (film > 0)
    cb_warn(
        "bodies touch at a gap of up to %.3g m, because their faces do not resolve a thinner film of fluid; smaller "
        "faces reduce this gap",
        2 * film);
  for (int i = 0; i < b->n && b->hull; i++)
    if (b->hull[i])
      cb_warn(
          "body `%s`: part `%s` is not convex, and touches other bodies by its convex hull; a list of shapes gives "
          "a body several convex parts",
          b->start[i].name, b->hull[i]);
}
