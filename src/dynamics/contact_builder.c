/* Building contacts, walls and events, which are checked when they are added. */
#include "dynamics/builder_private.h"

#include "geometry/quadric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = CB_COORD_MAX };

static const double pi = 3.14159265358979323846;
/* Maximum distance of a given point from its quadric, and of a normal from the tangent space, relative to their size.
 * Up to this they are projected; beyond it they are an error. */
static const double off_space = 1e-9;

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

/* The builder's contact set, created when it is first needed. */
static cb_status set_of(cb_builder *b, cb_contact_set **out) {
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

static cb_status check_distances(const cb_builder *b, const char *what) {
  const cb_space *g = b->space;
  if (g->dim <= CB_DIM_MAX && (!g->chart || g->chart->distance)) return CB_OK;
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "%s: %s has no distances between points: expected a space in which bodies can move", what,
                 g->class_->name);
}

cb_status cb_builder_contacts(cb_builder *b, const cb_contact_options *options) {
  cb_contact_set *set = NULL;
  cb_status status = check_restitution(options->restitution);
  if (!status) status = check_distances(b, "contacts of particles");
  if (!status && options->rule != CB_CONTACT_SEQUENTIAL && options->rule != CB_CONTACT_SIMULTANEOUS)
    status = cb_fail(CB_ERROR_ARGUMENT, "rule %d of contacts: expected sequential or simultaneous", (int)options->rule);
  if (!status && options->accumulation != CB_ACCUMULATION_STOP && options->accumulation != CB_ACCUMULATION_REST)
    status =
        cb_fail(CB_ERROR_ARGUMENT, "accumulation %d of contacts: expected stop or rest", (int)options->accumulation);
  if (!status) status = set_of(b, &set);
  if (status) return status;
  set->on = true;
  set->options = *options;
  return CB_OK;
}

cb_status cb_builder_contact_bodies(cb_builder *b, int body_a, int body_b, bool on) {
  cb_contact_set *set = NULL;
  cb_status status = check_body(b, body_a);
  if (!status) status = check_body(b, body_b);
  if (!status) status = set_of(b, &set);
  if (!status)
    status = cb_builder_grow((void **)&set->bodies, set->n_switches, &set->capacity_switches, sizeof *set->bodies);
  if (!status) set->bodies[set->n_switches++] = (cb_contact_switch){body_a, body_b, on};
  return status;
}

/* --- walls --- */

/* Copies the name into the set; if it is NULL, makes a name such as "wall 1" or "event 2". */
static cb_status name_of(cb_contact_set *set, const char *name, const char *what, int number, const char **out) {
  char text[32];
  snprintf(text, sizeof text, "%s %d", what, number);
  *out = cb_arena_strdup(set->texts, name ? name : text);
  return *out ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a name");
}

/* Makes the checks that are common to all walls, and adds the wall. The set already owns its expression, if any. */
static cb_status add_wall(cb_builder *b, cb_wall *wall, const char *name) {
  cb_contact_set *set = NULL;
  cb_status status = check_body(b, wall->body);
  if (!status) status = check_restitution(wall->restitution);
  if (!status) status = set_of(b, &set);
  if (!status) status = name_of(set, name, "wall", set->n_walls + 1, &wall->name);
  if (!status) status = cb_builder_grow((void **)&set->wall, set->n_walls, &set->capacity_walls, sizeof *set->wall);
  if (!status) {
    wall->given = set->n_walls;
    set->wall[set->n_walls++] = *wall;
  }
  return status;
}

cb_status cb_builder_wall_ball(cb_builder *b, const char *name, int body, const double *centre, double radius,
                               bool inside, double restitution) {
  const cb_space *g = b->space;
  cb_wall wall = {.kind = CB_WALL_BALL, .body = body, .restitution = restitution, .radius = radius, .inside = inside};
  cb_status status = check_distances(b, "a wall that is a ball");
  if (!status && (!(radius > 0) || !isfinite(radius)))
    status = cb_fail(CB_ERROR_ARGUMENT, "radius %g of a wall: expected a number > 0", radius);
  if (!status && g->n_factors == 1 && g->factor[0].curvature > 0 && radius * sqrt(g->factor[0].curvature) >= pi)
    status = cb_fail(CB_ERROR_ARGUMENT, "wall '%s': a ball of radius %g contains all of %s: expected a radius < %.6g",
                     name ? name : "ball", radius, g->class_->name, pi / sqrt(g->factor[0].curvature));
  if (!status) status = cb_builder_settle(g, "a wall's centre", centre, wall.centre);
  return status ? status : add_wall(b, &wall, name);
}

/* Sets the point and the normal in the embedding. */
static cb_status in_embedding(const cb_space *g, const double *point, const double *normal, cb_wall *wall) {
  if (g->chart) return cb_chart_push(g, g->chart, point, normal, wall->foot, wall->normal);
  memcpy(wall->foot, wall->centre, sizeof wall->foot);
  memcpy(wall->normal, normal, (size_t)g->k * sizeof *normal);
  return CB_OK;
}

/* v = T^-1 N for a vector N at the point `foot`, where T is the transvection from the base point to `foot`, by the
 * length L in radii. In H^n, N = (cosh L v_n + v_across, sinh L v_n) with the parts of v along and across the way, and
 * a product with T^-1, or <N, N>, would lose exp(2 L) units of round-off. */
static void seen_from_foot(const cb_space *g, const double *foot, const double *vector, double *v) {
  cb_origin there, back;
  memcpy(v, vector, K * sizeof *v);
  if (!cb_origin_moves(g) || g->intrinsic) return;
  cb_origin_at(g, foot, &there);
  cb_origin_inverse(g, &there, &back);
  cb_origin_world_vector(g, &back, vector, v);
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    const double *N = vector + factor.offset, *n = there.direction;
    double along = 0;
    if (factor.curvature >= 0) continue;
    for (int i = 0; i < factor.count - 1; i++) along += n[i] * N[i];
    for (int i = 0; i < factor.count - 1; i++)
      v[factor.offset + i] = N[i] - along * n[i] + along / cosh(cb_origin_radii(g, &there)) * n[i];
    v[factor.offset + factor.count - 1] = 0;
  }
}

cb_status cb_builder_wall_plane(cb_builder *b, const char *name, int body, const double *point, const double *normal,
                                double restitution) {
  const cb_space *g = b->space;
  cb_wall wall = {.kind = CB_WALL_PLANE, .body = body, .restitution = restitution, .factor = -1};
  double given[K], size = 0;
  if (g->intrinsic)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "a wall is a plane, but %s has no totally geodesic planes: "
                   "expected a space of constant curvature or a product of these",
                   g->class_->name);
  cb_status status = cb_builder_settle(g, "a wall's point", point, wall.centre);
  for (int a = 0; a < g->k && !status; a++)
    if (!isfinite(normal[a])) status = cb_fail(CB_ERROR_DOMAIN, "a wall's normal: expected finite numbers");
  if (!status) status = in_embedding(g, wall.centre, normal, &wall);
  if (status) return status;
  memcpy(given, wall.normal, sizeof given);
  cb_space_project_tangent(g, wall.foot, wall.normal);
  for (int a = 0; a < g->embedding; a++) size = fmax(size, fabs(given[a]));
  for (int a = 0; a < g->embedding; a++)
    if (!(fabs(given[a] - wall.normal[a]) <= off_space * size))
      return cb_fail(CB_ERROR_DOMAIN, "a wall's normal: expected a vector tangent to the space at the wall's point");
  seen_from_foot(g, wall.foot, given, wall.local);
  const double length = sqrt(fmax(0, cb_inner(g, wall.local, wall.local)));
  if (!(length > 0)) return cb_fail(CB_ERROR_ARGUMENT, "a wall's normal of length %g: expected > 0", length);
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    const double *part = wall.local + factor.offset;
    if (!(sqrt(fmax(0, cb_factor_inner(factor, part, part))) > off_space * length)) {
      memset(wall.normal + factor.offset, 0, (size_t)factor.count * sizeof *wall.normal);
      memset(wall.local + factor.offset, 0, (size_t)factor.count * sizeof *wall.local);
      continue;
    }
    if (wall.factor >= 0)
      return cb_fail(CB_ERROR_ARGUMENT,
                     "a wall's normal has parts in both factors of %s, where no plane is totally "
                     "geodesic: expected it to lie in one",
                     g->class_->name);
    wall.factor = f;
  }
  for (int a = 0; a < g->embedding; a++) {
    wall.normal[a] /= length;
    wall.local[a] /= length;
  }
  return add_wall(b, &wall, name);
}

/* --- expressions --- */

/* Parses a gap as an expression of t, the radius r and the coordinates of a chart (NULL: the space's own chart, or the
 * embedding). The set owns the expression. */
static cb_status parse(cb_builder *b, const char *chart, const char *text, const cb_chart **found,
                       const cb_expression **out) {
  const cb_space *g = b->space;
  const char *names[CB_Q_MAX + 2];
  cb_contact_set *set = NULL;
  cb_expression *expression;
  const cb_chart *in = chart ? cb_chart_find(g, chart) : g->chart ? g->chart : cb_chart_find(g, "embedding");
  if (!in)
    return cb_fail(CB_ERROR_ARGUMENT, "the space has no chart '%s': `curvebody list spaces` lists its charts",
                   chart ? chart : "embedding");
  for (int a = 0; a < in->size; a++) names[a] = in->coordinates[a];
  names[in->size] = "t";
  names[in->size + 1] = "r";
  cb_status status = set_of(b, &set);
  if (!status)
    status = cb_builder_grow((void **)&set->expression, set->n_expressions, &set->capacity_expressions,
                             sizeof *set->expression);
  if (!status) status = cb_builder_parse(b, text, names, (size_t)in->size + 2, &expression);
  if (status) return status;
  set->expression[set->n_expressions++] = expression;
  *out = expression;
  *found = in == g->chart || strcmp(in->name, "embedding") ? in : NULL;
  return CB_OK;
}

cb_status cb_builder_wall_expression(cb_builder *b, const char *name, int body, const char *chart,
                                     const char *expression, double restitution) {
  cb_wall wall = {.kind = CB_WALL_EXPRESSION, .body = body, .restitution = restitution};
  cb_status status = check_body(b, body);
  if (!status) status = check_restitution(restitution);
  if (!status) status = parse(b, chart, expression, &wall.chart, &wall.expression);
  return status ? status : add_wall(b, &wall, name);
}

/* --- events --- */

static cb_status check_event(const cb_builder *b, int i, cb_event_action action, cb_event_direction direction) {
  if (i < 0 || i >= b->n_points)
    return cb_fail(CB_ERROR_ARGUMENT, "event: particle %d: expected 0 to %d", i, b->n_points - 1);
  if (action != CB_EVENT_STOP && action != CB_EVENT_MARK)
    return cb_fail(CB_ERROR_ARGUMENT, "event: action %d: expected stop or mark (only walls reflect)", (int)action);
  if (direction != CB_EVENT_BOTH && direction != CB_EVENT_FALLING && direction != CB_EVENT_RISING)
    return cb_fail(CB_ERROR_ARGUMENT, "event: direction %d: expected both, falling or rising", (int)direction);
  return CB_OK;
}

static cb_status add_event(cb_builder *b, cb_event *event, const char *name) {
  cb_contact_set *set = NULL;
  cb_status status = set_of(b, &set);
  if (!status) status = name_of(set, name, "event", set->n_events + 1, &event->name);
  if (!status) status = cb_builder_grow((void **)&set->event, set->n_events, &set->capacity_events, sizeof *set->event);
  if (!status) set->event[set->n_events++] = *event;
  return status;
}

cb_status cb_builder_event_distance(cb_builder *b, const char *name, int i, int j, double value, cb_event_action action,
                                    cb_event_direction direction) {
  cb_event event = {.i = i, .j = j, .value = value, .action = action, .direction = direction};
  cb_status status = check_distances(b, "event");
  if (!status) status = check_event(b, i, action, direction);
  if (!status) status = check_event(b, j, action, direction);
  if (!status && i == j) status = cb_fail(CB_ERROR_ARGUMENT, "event: expected different particles, found %d twice", i);
  if (!status && (!(value > 0) || !isfinite(value)))
    status = cb_fail(CB_ERROR_ARGUMENT, "event: distance %g: expected a number > 0", value);
  return status ? status : add_event(b, &event, name);
}

cb_status cb_builder_event_expression(cb_builder *b, const char *name, int i, const char *chart, const char *expression,
                                      cb_event_action action, cb_event_direction direction) {
  cb_event event = {.i = i, .j = -1, .action = action, .direction = direction};
  cb_status status = check_event(b, i, action, direction);
  if (!status) status = parse(b, chart, expression, &event.chart, &event.expression);
  return status ? status : add_event(b, &event, name);
}
