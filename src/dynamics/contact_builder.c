/* This file adds contacts, walls and events to a builder, and checks them when they are added. Later it moves them into
 * the system: it replaces indices of particles by their indices in the system, and lists the triangles of surfaces. */
#include "dynamics/builder_private.h"

#include "dynamics/gap_class.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the builder --- */

void cb_contact_set_free(cb_contact_set *set) {
  if (!set) return;
  for (int i = 0; i < set->n_expressions; i++) cb_expression_free(set->expression[i]);
  free(set->bodies);
  free(set->wall);
  free(set->event);
  free(set->expression);
  free(set->triangle);
  free(set->around_start);
  free(set->around);
  cb_arena_free(set->texts);
  free(set);
}

cb_status cb_builder_contact_set(cb_builder *b, cb_contact_set **out) {
  if (!b->contacts) {
    cb_contact_set *set = calloc(1, sizeof *set);
    cb_arena *texts = cb_arena_create();
    if (!set || !texts) {
      free(set);
      cb_arena_free(texts);
      return cb_fail(CB_ERROR_MEMORY, "no memory for contacts");
    }
    set->texts = texts;
    set->options.restitution = 1;
    b->contacts = set;
  }
  *out = b->contacts;
  return CB_OK;
}

static cb_status check_restitution(double e) {
  if (e >= 0 && e <= 1) return CB_OK;
  return cb_fail(CB_ERROR_ARGUMENT, "restitution %g: expected 0 to 1", e);
}

static cb_status check_body(const cb_builder *b, int body) {
  if (body >= -1 && body < b->n_bodies) return CB_OK;
  return cb_fail(CB_ERROR_ARGUMENT, "body %d: expected 0 to %d, or -1 for all", body, b->n_bodies - 1);
}

cb_status cb_builder_check_distances(const cb_space *g, const char *what) {
  if (g->dim <= CB_DIM_MAX && (!g->chart || g->chart->distance)) return CB_OK;
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "%s: %s has no distances between points: expected a space in which bodies can move", what,
                 g->class_->name);
}

cb_status cb_builder_wall_contacts(cb_builder *b, cb_contact_rule rule, cb_contact_accumulation accumulation) {
  cb_contact_set *set = NULL;
  if (rule != CB_CONTACT_SEQUENTIAL && rule != CB_CONTACT_SIMULTANEOUS)
    return cb_fail(CB_ERROR_ARGUMENT, "rule %d of contacts: expected sequential or simultaneous", (int)rule);
  if (accumulation != CB_ACCUMULATION_STOP && accumulation != CB_ACCUMULATION_REST)
    return cb_fail(CB_ERROR_ARGUMENT, "accumulation %d of contacts: expected stop or rest", (int)accumulation);
  const cb_status status = cb_builder_contact_set(b, &set);
  if (status) return status;
  set->options.rule = rule;
  set->options.accumulation = accumulation;
  return CB_OK;
}

cb_status cb_builder_contacts(cb_builder *b, const cb_contact_options *options) {
  cb_status status = check_restitution(options->restitution);
  if (!status) status = cb_builder_check_distances(b->space, "contacts of particles");
  if (!status) status = cb_builder_wall_contacts(b, options->rule, options->accumulation);
  if (status) return status;
  b->contacts->on = true;
  b->contacts->options = *options;
  return CB_OK;
}

cb_status cb_builder_contact_bodies(cb_builder *b, int body_a, int body_b, bool on) {
  cb_contact_set *set = NULL;
  cb_status status = check_body(b, body_a);
  if (!status) status = check_body(b, body_b);
  if (!status) status = cb_builder_contact_set(b, &set);
  if (!status)
    status = cb_builder_grow((void **)&set->bodies, set->n_switches, &set->capacity_switches, sizeof *set->bodies);
  if (!status) set->bodies[set->n_switches++] = (cb_contact_switch){body_a, body_b, on};
  return status;
}

/* --- walls and events --- */

/* Makes a function of a class with a copy of its parameters. name NULL: a name such as "wall 1" or "event 2". */
static cb_status function_of(cb_contact_set *set, const cb_gap_class *class, const void *params, const char *name,
                             const char *what, int number, cb_gap_function *out) {
  char text[32];
  snprintf(text, sizeof text, "%s %d", what, number);
  void *own = cb_arena_alloc(set->texts, 1, class->params_size ? class->params_size : 1);
  const char *called = cb_arena_strdup(set->texts, name ? name : text);
  if (!own || !called) return cb_fail(CB_ERROR_MEMORY, "no memory for a %s", what);
  if (class->params_size) memcpy(own, params, class->params_size);
  *out = (cb_gap_function){class, own, called};
  return CB_OK;
}

/* Fails if the function of a class cannot be evaluated in the space: its chart is missing, or there are too many
 * coordinates for a jet. */
static cb_status check_class(const cb_space *g, const cb_gap_class *c, int particles) {
  const bool on_jets = c->on_jets && !c->forms;
  if (on_jets && c->chart && !cb_chart_find(g, c->chart))
    return cb_fail(CB_ERROR_UNSUPPORTED, "`%s` is a function in the chart '%s', which %s does not have", c->name,
                   c->chart, g->class_->name);
  if (on_jets && particles * (g->chart ? g->chart->size : g->embedding) + 1 > CB_JET_MAX)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "`%s` is a function of %d particles: expected a space of at most %d coordinates", c->name, particles,
                   (CB_JET_MAX - 1) / particles);
  return CB_OK;
}

cb_status cb_builder_wall(cb_builder *b, const cb_wall_class *class, const void *params, const char *name, int body,
                          double restitution) {
  cb_contact_set *set = NULL;
  cb_wall wall = {.body = body, .restitution = restitution};
  cb_status status = check_body(b, body);
  if (!status) status = check_restitution(restitution);
  if (!status) status = check_class(b->space, class, 1);
  if (!status) status = cb_builder_contact_set(b, &set);
  if (!status) status = function_of(set, class, params, name, "wall", set->n_walls + 1, &wall.function);
  if (!status) status = cb_builder_grow((void **)&set->wall, set->n_walls, &set->capacity_walls, sizeof *set->wall);
  if (!status) {
    wall.given = set->n_walls;
    set->wall[set->n_walls++] = wall;
  }
  return status;
}

static cb_status check_event(const cb_builder *b, int n, const int *particle, cb_event_action action,
                             cb_event_direction direction) {
  if (n < 1 || n > 2) return cb_fail(CB_ERROR_ARGUMENT, "event: a class of %d particles: expected 1 or 2", n);
  for (int p = 0; p < n; p++)
    if (particle[p] < 0 || particle[p] >= b->n_points)
      return cb_fail(CB_ERROR_ARGUMENT, "event: particle %d: expected 0 to %d", particle[p], b->n_points - 1);
  if (n == 2 && particle[0] == particle[1])
    return cb_fail(CB_ERROR_ARGUMENT, "event: expected different particles, found %d twice", particle[0]);
  if (action != CB_EVENT_STOP && action != CB_EVENT_MARK)
    return cb_fail(CB_ERROR_ARGUMENT, "event: action %d: expected stop or mark (only walls reflect)", (int)action);
  if (direction != CB_EVENT_BOTH && direction != CB_EVENT_FALLING && direction != CB_EVENT_RISING)
    return cb_fail(CB_ERROR_ARGUMENT, "event: direction %d: expected both, falling or rising", (int)direction);
  return CB_OK;
}

cb_status cb_builder_event(cb_builder *b, const cb_event_class *class, const void *params, const char *name,
                           const int *particle, cb_event_action action, cb_event_direction direction) {
  cb_contact_set *set = NULL;
  cb_event event = {.n = class->particles, .action = action, .direction = direction};
  cb_status status = check_event(b, event.n, particle, action, direction);
  for (int p = 0; p < event.n && !status; p++) event.particle[p] = particle[p];
  if (!status) status = check_class(b->space, class, event.n);
  if (!status) status = cb_builder_contact_set(b, &set);
  if (!status) status = function_of(set, class, params, name, "event", set->n_events + 1, &event.function);
  if (!status) status = cb_builder_grow((void **)&set->event, set->n_events, &set->capacity_events, sizeof *set->event);
  if (!status) set->event[set->n_events++] = event;
  return status;
}

/* --- the system --- */

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

/* Lists the triangles, with corners given by their indices in s. Also lists, for each particle, the triangles that have
 * a corner at this particle. */
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

/* In spaces of one factor and of dimension 2 or 3 surfaces can collide, and this function does nothing. In other spaces
 * only the spheres of particles collide, so the function empties the list of triangles. In these spaces it fails if
 * contacts of a body are on and the first corner of one of its triangles has no radius. */
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
