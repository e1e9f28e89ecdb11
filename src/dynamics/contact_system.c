/* Moves contacts, walls and events from the builder into the system: indices of particles become their indices in the
 * system, and the triangles of surfaces are listed.
 */
#include "dynamics/builder_private.h"

#include "dynamics/gap_class.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static bool holds(const cb_contact_switch *s, int a, int b) {
  if (s->a == s->b && s->a >= 0) return a == s->a && b == s->a;
  if (a == b) return false; /* particles of one body touch each other only if a switch names this body as both bodies */
  return ((s->a < 0 || s->a == a) && (s->b < 0 || s->b == b)) || ((s->a < 0 || s->a == b) && (s->b < 0 || s->b == a));
}

bool cb_contact_set_bodies_on(const cb_contact_set *set, int a, int b) {
  if (!set->on) return false;
  for (int i = set->n_switches - 1; i >= 0; i--)
    if (holds(&set->bodies[i], a, b)) return set->bodies[i].on;
  return a != b;
}

/* Fails for a particle whose radius is a quarter of a great circle or more: two such particles would not fit into the
 * sphere. */
static cb_status check_radii(const cb_system *s) {
  const cb_space *g = s->space;
  if (g->intrinsic || g->n_factors != 1 || !(g->factor[0].curvature > 0)) return CB_OK;
  const double maximum = pi / 2 / sqrt(g->factor[0].curvature);
  for (int i = 0; i < s->n; i++)
    if (s->radius[i] >= maximum)
      return cb_fail(CB_ERROR_ARGUMENT, "%s: a sphere of radius %g is too large for %s: expected < %.6g",
                     s->name[s->particle[i]], s->radius[i], g->class_->name, maximum);
  return CB_OK;
}

/* Lists the triangles, with corners given by their indices in s, and for each particle the triangles that have a corner
 * there. */
static cb_status triangles(const cb_builder *b, const cb_system *s, cb_contact_set *set) {
  const int n = b->n_triangles;
  if (!n) return CB_OK;
  set->triangle = malloc((size_t)n * sizeof *set->triangle);
  set->around_start = calloc((size_t)s->n + 1, sizeof *set->around_start);
  set->around = malloc(3 * (size_t)n * sizeof *set->around);
  if (!set->triangle || !set->around_start || !set->around)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d triangles", n);
  int *start = set->around_start;
  for (int t = 0; t < n; t++)
    for (int p = 0; p < 3; p++) start[1 + (set->triangle[t][p] = s->place[b->triangle[t][p]])]++;
  for (int i = 0; i < s->n; i++) start[i + 1] += start[i];
  for (int t = 0; t < n; t++)
    for (int p = 0; p < 3; p++) set->around[start[set->triangle[t][p]]++] = t;
  for (int i = s->n; i > 0; i--) start[i] = start[i - 1];
  start[0] = 0;
  set->n_triangles = n;
  return CB_OK;
}

/* Surfaces collide only in spaces of one factor and of dimension 2 or 3. In other spaces only the spheres of their
 * particles collide. If the contacts of a body are on there, this function fails if the first corner of a triangle of
 * the body has no radius. Otherwise it empties the list of triangles. */
static cb_status check_surfaces(const cb_system *s, cb_contact_set *set) {
  const cb_space *g = s->space;
  if (!set->n_triangles || (!g->intrinsic && g->n_factors == 1 && g->dim > 1)) return CB_OK;
  for (int t = 0; t < set->n_triangles; t++) {
    const int body = s->body[set->triangle[t][0]];
    if (s->radius[set->triangle[t][0]] > 0) continue;
    for (int other = 0; other < s->n_bodies; other++)
      if (cb_contact_set_bodies_on(set, body, other))
        return cb_fail(CB_ERROR_UNSUPPORTED,
                       "contacts of '%s', which has triangles: surfaces can collide only in spaces of constant "
                       "curvature of dimension 2 or 3, found %s%s; expected particles with radii",
                       s->body_name[body], g->class_->name, g->n_factors > 1 ? ", a product" : "");
  }
  set->n_triangles = 0;
  return CB_OK;
}

cb_status cb_contacts_settle(cb_builder *b, cb_system *s) {
  cb_contact_set *set = s->contacts = b->contacts;
  b->contacts = NULL;
  if (!set) return CB_OK;
  for (int e = 0; e < set->n_events; e++) {
    for (int p = 0; p < set->event[e].n; p++) set->event[e].particle[p] = s->place[set->event[e].particle[p]];
  }
  cb_status status = CB_OK;
  set->n_given = set->n_walls;
  for (int w = 0; w < set->n_given && !status; w++) {
    const cb_gap_forms *forms = set->wall[w].function.class->forms;
    if (forms && forms->branches) status = forms->branches(set, s, w);
  }
  if (status || !set->on) return status;
  status = check_radii(s);
  if (!status) status = triangles(b, s, set);
  return status ? status : check_surfaces(s, set);
}

bool cb_system_contacts(const cb_system *s) {
  return s->contacts && (s->contacts->on || s->contacts->n_walls || s->contacts->n_events);
}

cb_contact_options cb_system_contact_options(const cb_system *s) {
  return s->contacts ? s->contacts->options : (cb_contact_options){0};
}
double cb_system_wall_doubt(const cb_system *s, int wall) {
  const cb_gap_function *f = &s->contacts->wall[wall].function;
  cb_origin there;
  if (!f->class->forms || !f->class->forms->centre || !cb_origin_grows(s->space)) return 0;
  cb_origin_at(s->space, f->class->forms->centre(f->of), &there);
  const double radii = cb_origin_radii(s->space, &there);
  return radii > 0 ? DBL_EPSILON * sinh(radii) * there.length / radii : 0;
}

int cb_system_walls(const cb_system *s) { return s->contacts ? s->contacts->n_given : 0; }
const char *cb_system_wall_name(const cb_system *s, int wall) { return s->contacts->wall[wall].function.name; }
int cb_system_events(const cb_system *s) { return s->contacts ? s->contacts->n_events : 0; }
const char *cb_system_event_name(const cb_system *s, int event) { return s->contacts->event[event].function.name; }
