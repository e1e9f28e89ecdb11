/* Building a system: particles, springs and forces are checked when they are added. finish.c groups and orders them and
 * makes the system.
 */
#include "dynamics/builder_private.h"

#include "core/failure.h"
#include "core/registry.h"
#include "dynamics/pair_potential_private.h"
#include "tree/scalar.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two bonded points that are at most this far apart, relative to their coordinates, count as coincident, because the
 * difference may be round-off. They count as antipodal if the squared cosine of half their distance, in radii, is at
 * most this number. */
static const double coincident = 1e-12;
/* A given point may be off its quadric by at most this, relative to the size of the point. It is then moved onto the
 * quadric. A larger deviation is an error. */
static const double off_space = 1e-9;

cb_status cb_builder_create(const cb_space *space, cb_builder **out) {
  cb_builder *b = calloc(1, sizeof *b);
  cb_arena *texts = cb_arena_create();
  cb_origin *origin = calloc(1, sizeof *origin);
  cb_builder_frame *frame = calloc(1, sizeof *frame);
  if (!b || !texts || !origin || !frame) {
    free(b);
    free(origin);
    free(frame);
    cb_arena_free(texts);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a builder");
  }
  b->space = space;
  b->texts = texts;
  b->origin = origin;
  b->frame = frame;
  b->n_origins = b->capacity_origins = b->capacity_frames = 1;
  cb_origin_identity(space, &origin[0]);
  frame->move = frame->place = origin[0];
  b->centre_origin = origin[0];
  *out = b;
  return CB_OK;
}

void cb_builder_free(cb_builder *b) {
  if (!b) return;
  for (int i = 0; i < b->n_bonds; i++)
    for (int a = 0; a < 3; a++) cb_expression_free(b->bond[i].expression[a]);
  for (int i = 0; i < b->n_terms; i++) {
    cb_expression_free(b->term[i].expression);
    for (int a = 0; a < CB_Q_MAX; a++) cb_expression_free(b->term[i].force[a]);
  }
  cb_arena_free(b->texts);
  free(b->body);
  free(b->point);
  free(b->bond);
  free(b->term);
  for (int i = 0; i < b->n_constraints; i++) cb_constraint_release(&b->constraint[i]);
  free(b->constraint);
  free(b->triangle);
  cb_contact_set_free(b->contacts);
  free(b->origin);
  free(b->frame);
  free(b);
}

cb_status cb_builder_grow(void **array, int count, int *capacity, size_t size) {
  if (count < *capacity) return CB_OK;
  int next = *capacity ? *capacity > INT_MAX / 2 ? INT_MAX : 2 * *capacity : 8;
  void *p = count == INT_MAX ? NULL : realloc(*array, (size_t)next * size);
  if (!p) return cb_fail(CB_ERROR_MEMORY, "no memory for %d elements of a system", next);
  *array = p;
  *capacity = next;
  return CB_OK;
}

int cb_builder_find_body(const cb_builder *b, const char *name) {
  for (int i = 0; i < b->n_bodies; i++)
    if (!strcmp(b->body[i], name)) return i;
  return -1;
}

cb_status cb_builder_body(cb_builder *b, const char *name, int *index) {
  if (cb_builder_find_body(b, name) >= 0)
    return cb_fail(CB_ERROR_ARGUMENT, "two bodies are named '%s': expected different names", name);
  cb_status status = cb_builder_grow((void **)&b->body, b->n_bodies, &b->capacity_bodies, sizeof *b->body);
  if (status) return status;
  const char *copy = cb_arena_strdup(b->texts, name);
  if (!copy) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  b->body[b->n_bodies] = copy;
  if (index) *index = b->n_bodies;
  b->n_bodies++;
  return CB_OK;
}

cb_status cb_builder_origin(cb_builder *b, const cb_origin *origin) {
  if (!origin) {
    b->current_origin = 0;
    return CB_OK;
  }
  if (memcmp(origin, &b->origin[b->current_origin], sizeof *origin) == 0) return CB_OK;
  if (!cb_origin_moves(b->space))
    return cb_fail(CB_ERROR_ARGUMENT, "the space has no moving origins: expected particles without an origin");
  cb_status status = cb_builder_grow((void **)&b->origin, b->n_origins, &b->capacity_origins, sizeof *b->origin);
  if (!status) status = cb_builder_grow((void **)&b->frame, b->n_origins, &b->capacity_frames, sizeof *b->frame);
  if (status) return status;
  b->origin[b->n_origins] = *origin;
  b->frame[b->n_origins] = (cb_builder_frame){.move = *origin, .place = b->origin[0]};
  b->current_origin = b->n_origins++;
  return CB_OK;
}

cb_status cb_builder_moved_origin(cb_builder *b, const cb_origin *origin, const cb_origin *move,
                                  const cb_origin *place) {
  const cb_status status = cb_builder_origin(b, origin);
  if (!status && b->current_origin) b->frame[b->current_origin] = (cb_builder_frame){*move, *place};
  return status;
}

cb_status cb_builder_centre_origin(cb_builder *b, const cb_origin *origin) {
  const cb_origin *world = &b->origin[0];
  if (origin && memcmp(origin, world, sizeof *origin) != 0 && !cb_origin_moves(b->space))
    return cb_fail(CB_ERROR_ARGUMENT, "the space has no moving origins: expected particles without an origin");
  b->centre_origin = origin ? *origin : *world;
  return CB_OK;
}

cb_status cb_builder_fix(const cb_builder *b, const char *what, const double *given, cb_fixed *centre) {
  centre->origin = b->centre_origin;
  return cb_builder_settle(b->space, what, given, centre->x);
}

cb_status cb_builder_settle(const cb_space *g, const char *what, const double *given, double *x) {
  for (int a = 0; a < g->k; a++)
    if (!isfinite(given[a])) return cb_fail(CB_ERROR_DOMAIN, "%s: expected finite coordinates", what);
  memmove(x, given, (size_t)g->k * sizeof *x);
  if (g->chart) return cb_chart_check(g, g->chart, x); /* also checks that the metric is regular at x */
  const cb_status status = cb_space_check_point(g, x, off_space);
  if (!status) cb_space_project_point(g, x);
  return status;
}

/* Checks the particle p, with the position x and the velocity v (NULL: 0), and adds it to the body p->body. */
static cb_status add_point(cb_builder *b, const char *name, cb_builder_point *p, const double *x, const double *v,
                           int *index) {
  const cb_space *g = b->space;
  if (!(p->mass > 0 || (p->mass == 0 && b->tracers)) || !isfinite(p->mass))
    return cb_fail(CB_ERROR_ARGUMENT, "mass %g: expected a number > 0", p->mass);
  if (!(p->radius >= 0) || !isfinite(p->radius))
    return cb_fail(CB_ERROR_ARGUMENT, "radius %g: expected a number >= 0", p->radius);
  if (!isfinite(p->charge)) return cb_fail(CB_ERROR_ARGUMENT, "charge %g: expected a finite number", p->charge);
  memcpy(p->x, x, (size_t)g->k * sizeof *x);
  if (v) memcpy(p->v, v, (size_t)g->k * sizeof *v);
  for (int a = 0; a < g->k; a++)
    if (!isfinite(p->v[a])) return cb_fail(CB_ERROR_DOMAIN, "particle: velocity: expected finite numbers");
  cb_status status = cb_builder_settle(g, "particle", p->x, p->x);
  if (!status && !g->chart) cb_space_project_tangent(g, p->x, p->v);
  if (!status) status = cb_builder_grow((void **)&b->point, b->n_points, &b->capacity_points, sizeof *b->point);
  if (status) return status;
  if (name && !(p->name = cb_arena_strdup(b->texts, name))) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  b->point[b->n_points] = *p;
  if (index) *index = b->n_points;
  b->n_points++;
  return CB_OK;
}

cb_status cb_builder_particle(cb_builder *b, const char *name, double mass, double charge, double radius,
                              const double *x, const double *v, int *index) {
  if (!b->n_bodies) return cb_fail(CB_ERROR_ARGUMENT, "a particle was added before any body: expected a body first");
  if (b->n_auxiliary)
    return cb_fail(CB_ERROR_ARGUMENT, "a particle was added after a point of a body: expected all particles first");
  cb_builder_point p = {
      .mass = mass, .charge = charge, .radius = radius, .body = b->n_bodies - 1, .origin = b->current_origin};
  return add_point(b, name, &p, x, v, index);
}

cb_status cb_builder_auxiliary(cb_builder *b, int body, const char *name, double radius, const double *x, int *index) {
  cb_builder_point p = {.mass = 1, .radius = radius, .body = body, .auxiliary = true};
  const cb_status status = add_point(b, name, &p, x, NULL, index);
  b->n_auxiliary += !status;
  return status;
}

void cb_builder_couple(cb_builder *b, bool tracers) {
  b->in_world = b->couples = true;
  b->tracers = tracers;
}
bool cb_builder_takes_tracers(const cb_builder *b) { return b->tracers; }

bool cb_builder_has_no_mass(const cb_builder *b, int particle) {
  return particle >= 0 && particle < b->n_points && b->point[particle].mass == 0;
}

bool cb_builder_is_of_tracers(const cb_builder *b, int body) {
  for (int i = 0; b->tracers && i < b->n_points; i++)
    if (b->point[i].mass == 0 && (body < 0 || b->point[i].body == body)) return true;
  return false;
}

cb_status cb_builder_check_apart(const cb_space *g, const double *x, const double *y, double *distance) {
  double d, gradient[CB_PAIR_MAX], e[CB_Q_MAX], size = 1;
  /* Equal coordinates do not contribute to the distance and are left out of the scale: near the base point the last
   * coordinate is 1/sqrt|K| (K: the curvature), which may be very large. */
  for (int a = 0; a < g->k; a++)
    if (x[a] != y[a]) size = fmax(size, fmax(fabs(x[a]), fabs(y[a])));
  cb_status status = cb_pair_distance(g, x, y, &d, NULL, NULL);
  if (status) return status;
  if (!(d > coincident * size))
    return cb_fail(CB_ERROR_DOMAIN, "two bonded points coincide: expected different points");
  bool antipodal = cb_pair_by_chord(g) && !(1 - 0.25 * g->factor[0].curvature * cb_pair_chord(g, x, y, e) > coincident);
  if (antipodal || cb_pair_distance(g, x, y, &d, gradient, NULL))
    return cb_fail(CB_ERROR_DOMAIN,
                   "two bonded points, %.9g apart, are antipodal, so that no unique shortest geodesic joins them: "
                   "expected points closer to each other",
                   d);
  *distance = d;
  return CB_OK;
}

static cb_status add_bond(cb_builder *b, cb_builder_bond *bond) {
  const int n = b->n_points, i = bond->i, j = bond->j;
  if (i < 0 || i >= n || j < 0 || j >= n)
    return cb_fail(CB_ERROR_ARGUMENT, "spring between particles %d and %d: expected 0 to %d", i, j, n - 1);
  if (i == j)
    return cb_fail(CB_ERROR_ARGUMENT, "spring between particle %d and itself: expected two different particles", i);
  /* If both points have the same origin, their distance is checked here, so that the message names the spring. Other
   * points are checked in finish.c, where they have a common origin. */
  if (b->point[i].origin == b->point[j].origin) {
    double d;
    cb_status status = cb_builder_check_apart(b->space, b->point[i].x, b->point[j].x, &d);
    if (status) return status;
    if (bond->value[1] < 0) bond->value[1] = d;
  }
  cb_status status = cb_builder_grow((void **)&b->bond, b->n_bonds, &b->capacity_bonds, sizeof *b->bond);
  if (!status) b->bond[b->n_bonds++] = *bond;
  return status;
}

static cb_status check_spring(double stiffness, double rest, double damping) {
  if (!(stiffness >= 0) || !isfinite(stiffness))
    return cb_fail(CB_ERROR_ARGUMENT, "stiffness %g: expected a number >= 0", stiffness);
  if (!(damping >= 0) || !isfinite(damping))
    return cb_fail(CB_ERROR_ARGUMENT, "damping %g: expected a number >= 0", damping);
  if (!isfinite(rest)) return cb_fail(CB_ERROR_ARGUMENT, "rest length %g: expected a finite number", rest);
  return CB_OK;
}

cb_status cb_builder_spring(cb_builder *b, int i, int j, double stiffness, double rest, double damping) {
  cb_builder_bond bond = {.i = i, .j = j, .value = {stiffness, rest, damping}};
  const cb_status status = check_spring(stiffness, rest, damping);
  return status ? status : add_bond(b, &bond);
}

cb_status cb_builder_driven_spring(cb_builder *b, int i, int j, cb_target stiffness, cb_target rest,
                                   cb_target damping) {
  static const char *const names[] = {"t"};
  const cb_target target[3] = {stiffness, isnan(rest.value) ? (cb_target){-1, rest.expression} : rest, damping};
  cb_builder_bond bond = {.i = i, .j = j};
  cb_status status = CB_OK;
  for (int a = 0; a < 3 && !status; a++) {
    bond.value[a] = target[a].value;
    if (!target[a].expression) continue;
    status = cb_builder_parse_force(b, target[a].expression, names, 1, &bond.expression[a]);
    bond.value[a] = 0; /* the expression may have a pole at t = 0; its values are checked where they are used */
  }
  if (!status) status = check_spring(bond.value[0], bond.value[1], bond.value[2]);
  if (!status) status = add_bond(b, &bond);
  for (int a = 0; status && a < 3; a++) cb_expression_free(bond.expression[a]);
  return status;
}

cb_status cb_builder_parameters(cb_builder *b, size_t n, const char *const *names, const double *values) {
  const char **name = cb_arena_alloc(b->texts, n, sizeof *name);
  double *value = cb_arena_alloc(b->texts, n, sizeof *value);
  bool lost = !name || !value;
  for (size_t i = 0; i < n && !lost; i++) {
    value[i] = values[i];
    lost = !(name[i] = cb_arena_strdup(b->texts, names[i]));
  }
  if (lost) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu parameters", n);
  b->parameters.parameters = name;
  b->parameters.values = value;
  b->parameters.n_parameters = n;
  return CB_OK;
}

void cb_builder_controls(cb_builder *b, size_t n, const char *const *names, const double *values) {
  b->parameters.controls = names;
  b->parameters.control_values = values;
  b->parameters.n_controls = n;
}

const cb_expression_scope *cb_builder_scope(const cb_builder *b) { return &b->parameters; }

cb_status cb_builder_parse_force(cb_builder *b, const char *text, const char *const *names, size_t n,
                                 cb_expression **out) {
  cb_expression_scope scope = b->parameters;
  scope.names = names;
  scope.n = n;
  return cb_expression_parse_in(text, &scope, &b->expression_at, out);
}

cb_status cb_builder_parse(cb_builder *b, const char *text, const char *const *names, size_t n, cb_expression **out) {
  const cb_expression_scope all = b->parameters;
  b->parameters.n_controls = 0;
  const cb_status status = cb_builder_parse_force(b, text, names, n, out);
  b->parameters.n_controls = all.n_controls;
  return status;
}

cb_status cb_builder_placed(const cb_builder *b, cb_status status, const cb_node *node, bool expression) {
  if (!cb_failure_is_of_input(status) || cb_failure_last().placed) return status;
  if (expression && status == CB_ERROR_INPUT) return cb_node_fail_at(node, b->expression_at, "%s", cb_error_text());
  return cb_node_fail(node, "%s", cb_error_text());
}

size_t cb_builder_expression_at(const cb_builder *b) { return b->expression_at; }

static cb_status check_body(const cb_builder *b, int body) {
  if (body >= -1 && body < b->n_bodies) return CB_OK;
  return cb_fail(CB_ERROR_ARGUMENT, "body %d: expected 0 to %d, or -1 for all", body, b->n_bodies - 1);
}

/* Checks the ranges of all numbers in the table of a class, because a caller of the library may pass any numbers. */
static cb_status check_parameters(const cb_pair_potential_class *c, const void *params) {
  for (const cb_param *row = c->params; row && row->name; row++) {
    cb_range range;
    if (row->type != CB_PARAM_REAL || !cb_range_parse(row->range, &range)) continue;
    const double value = *(const double *)((const char *)params + row->offset);
    if (isnan(value) && row->fallback && !strcmp(row->fallback, "nan")) continue;
    if (!isfinite(value) || !cb_range_holds(&range, value))
      return cb_fail(CB_ERROR_ARGUMENT, "pair potential `%s`: %s %g: expected a finite number%s%s", c->name, row->name,
                     value, *row->range ? " " : "", row->range);
  }
  return c->check ? c->check(params) : CB_OK;
}

/* Makes the pair potential of a term, with its own copy of the parameters. */
static cb_status make_pair_potential(cb_builder *b, const char *name, const void *given, cb_pair_potential *out) {
  const cb_pair_potential_class *c = cb_pair_potential_find(name);
  const char *names[CB_REGISTRY_MAX];
  if (!c) {
    const size_t count = cb_registry_names(&cb_pair_potential_registry, names);
    const cb_status status = cb_fail_unknown(NULL, "pair potential", name, names, count);
    return cb_fail(status == CB_ERROR_INPUT ? CB_ERROR_ARGUMENT : status, "%s", cb_error_text());
  }
  void *params = cb_arena_alloc(b->texts, 1, c->params_size ? c->params_size : 1);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for a pair potential");
  cb_status status = CB_OK;
  if (given)
    memcpy(params, given, c->params_size);
  else
    status = cb_params_bind(c->params, NULL, NULL, NULL, 0, params);
  if (!status) status = check_parameters(c, params);
  if (status) return status;
  *out = (cb_pair_potential){.class_ = c,
                             .params = params,
                             .green = c->green ? c->green(params) : 0,
                             .curvature = cb_pair_curvature(b->space)};
  return CB_OK;
}

/* Adds a term to the builder. If `text` is not NULL, it is parsed as the expression of the term, with the variables
 * names[count]. */
static cb_status add_term(cb_builder *b, cb_builder_term term, const char *text, const char *const *names,
                          size_t count) {
  cb_status status = check_body(b, term.body_a);
  if (!status) status = check_body(b, term.body_b);
  if (!status) status = cb_builder_grow((void **)&b->term, b->n_terms, &b->capacity_terms, sizeof *b->term);
  if (!status && text) status = cb_builder_parse_force(b, text, names, count, &term.expression);
  if (status) return status;
  term.pair_potential.expression = term.expression;
  b->term[b->n_terms++] = term;
  return CB_OK;
}

/* Adds a term with a pair potential, whose expression, if it has one, uses the variables `names`. */
static cb_status add_pair_term(cb_builder *b, cb_builder_term term, const char *const *names) {
  const cb_pair_potential *p = &term.pair_potential;
  const char *text = p->class_->expression ? p->class_->expression(p->params) : NULL;
  if (p->class_->expression && !text)
    return cb_fail(CB_ERROR_ARGUMENT, "pair potential `%s`: expected an expression", p->class_->name);
  return add_term(b, term, text, names, CB_PAIR_VARIABLES);
}

cb_status cb_builder_interaction(cb_builder *b, int body_a, int body_b, const char *pair_potential,
                                 const void *parameters) {
  cb_builder_term term = {.kind = CB_TERM_INTERACTION, .body_a = body_a, .body_b = body_b};
  const cb_status status = make_pair_potential(b, pair_potential, parameters, &term.pair_potential);
  if (status) return status;
  if ((body_a < 0) != (body_b < 0))
    return cb_fail(CB_ERROR_ARGUMENT, "interaction of a body with all bodies: expected two bodies, or -1 twice");
  return add_pair_term(b, term, cb_pair_names);
}

cb_status cb_builder_central(cb_builder *b, int body, const char *pair_potential, const void *parameters,
                             const double *centre) {
  cb_builder_term term = {.kind = CB_TERM_CENTRAL, .body_a = body, .body_b = body};
  cb_status status = make_pair_potential(b, pair_potential, parameters, &term.pair_potential);
  if (!status) status = cb_builder_fix(b, "the centre", centre, &term.centre);
  return status ? status : add_pair_term(b, term, cb_pair_centre_names);
}

/* Returns `name`, the variable of a particle's mass or charge in expressions, or "" (no variable) if a parameter has
 * this name. */
static const char *unless_parameter(const cb_builder *b, const char *name) {
  for (size_t i = 0; i < b->parameters.n_parameters; i++)
    if (!strcmp(b->parameters.parameters[i], name)) return "";
  return name;
}

/* Finds a chart by its name. The name "embedding" leaves term->chart NULL, unless the space's own chart has this name.
 */
static cb_status find_chart(const cb_space *g, const char *name, cb_builder_term *term, const cb_chart **found) {
  *found = cb_chart_find(g, name);
  if (!*found)
    return cb_fail(CB_ERROR_ARGUMENT, "the space has no chart '%s': `curvebody list spaces` lists its charts", name);
  if (*found == g->chart || strcmp((*found)->name, "embedding")) term->chart = *found;
  return CB_OK;
}

cb_status cb_builder_potential(cb_builder *b, int body, const char *chart, const char *expression) {
  const char *names[CB_Q_MAX + 3];
  cb_builder_term term = {.kind = CB_TERM_FIELD, .body_a = body, .body_b = body};
  const cb_chart *found;
  const cb_status status = find_chart(b->space, chart ? chart : "embedding", &term, &found);
  if (status) return status;
  size_t n = (size_t)found->size;
  for (size_t a = 0; a < n; a++) names[a] = found->coordinates[a];
  names[n] = "t";
  names[n + 1] = unless_parameter(b, "m");
  names[n + 2] = unless_parameter(b, "q");
  return add_term(b, term, expression, names, n + 3);
}

/* Parses the components of a force in the coordinates of a chart. */
static cb_status parse_force(cb_builder *b, const cb_chart *chart, const char *const *text, size_t *at,
                             cb_builder_term *term) {
  const int n = chart->size;
  char rate[CB_Q_MAX][64];
  const char *names[2 * CB_Q_MAX + 3];
  for (int a = 0; a < n; a++) {
    snprintf(rate[a], sizeof rate[a], "%.50s_dot", chart->coordinates[a]);
    names[a] = chart->coordinates[a];
    names[n + a] = rate[a];
  }
  names[2 * n] = "t";
  names[2 * n + 1] = unless_parameter(b, "m");
  names[2 * n + 2] = unless_parameter(b, "q");
  cb_status status = CB_OK;
  for (int a = 0; a < n && !status; a++) {
    if (!text[a] || !strcmp(text[a], "0")) continue;
    *at = (size_t)a;
    status = cb_builder_parse_force(b, text[a], names, (size_t)(2 * n + 3), &term->force[a]);
    for (int c = 0; c < n && !status; c++)
      term->uses_velocity = term->uses_velocity || cb_expression_uses(term->force[a], (size_t)(n + c));
  }
  return status;
}

cb_status cb_builder_force(cb_builder *b, int body, const char *chart, const char *const *force, size_t *at) {
  const cb_space *g = b->space;
  cb_builder_term term = {.kind = CB_TERM_FIELD, .body_a = body, .body_b = body};
  const cb_chart *found;
  cb_status status = find_chart(g, chart ? chart : g->chart ? g->chart->name : "embedding", &term, &found);
  if (!status) status = parse_force(b, found, force, at, &term);
  if (!status) status = add_term(b, term, NULL, NULL, 0);
  for (int a = 0; status && a < CB_Q_MAX; a++) cb_expression_free(term.force[a]);
  return status;
}

/* --- bodies and their surfaces --- */

int cb_builder_bodies(const cb_builder *b) { return b->n_bodies; }

const char *cb_builder_body_name(const cb_builder *b, int body) { return b->body[body]; }

/* Returns the number of particles that belong to the bodies before this one. The particles of a body follow those of
 * the body before it. */
static int particles_before(const cb_builder *b, int body) {
  int low = 0, high = b->n_points - b->n_auxiliary;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (b->point[middle].body < body)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int cb_builder_body_particles(const cb_builder *b, int body, int *first) {
  const int from = particles_before(b, body);
  if (first) *first = from;
  return particles_before(b, body + 1) - from;
}

cb_status cb_builder_triangle(cb_builder *b, int i, int j, int k) {
  const int corner[3] = {i, j, k};
  for (int a = 0; a < 3; a++)
    if (corner[a] < 0 || corner[a] >= b->n_points)
      return cb_fail(CB_ERROR_ARGUMENT, "triangle: particle %d: expected 0 to %d", corner[a], b->n_points - 1);
  cb_status status =
      cb_builder_grow((void **)&b->triangle, b->n_triangles, &b->capacity_triangles, sizeof *b->triangle);
  if (status) return status;
  for (int a = 0; a < 3; a++) b->triangle[b->n_triangles][a] = corner[a];
  b->n_triangles++;
  return CB_OK;
}

const int (*cb_builder_triangles(const cb_builder *b, int body, int *n))[3] {
  int first = 0, last;
  while (first < b->n_triangles && b->point[b->triangle[first][0]].body != body) first++;
  for (last = first; last < b->n_triangles && b->point[b->triangle[last][0]].body == body;) last++;
  *n = last - first;
  return last > first ? (const int(*)[3])(b->triangle + first) : NULL;
}
