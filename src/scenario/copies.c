/* The position of an immersed body at the start, its motion, its copies, and names of quantities of other bodies.
 *
 *   place:  {position: [0, 0, 1], rotation: {axis: [0, 1, 0], angle: pi/6}}     or quaternion: [w, x, y, z]
 *   motion: {velocity: [0, 0, 0], spin: [0, 0, 1], frame: world}                m/s, of the body frame's origin; rad/s
 *   motion: {momentum: zero}           the motion in which body and fluid have no momentum relative to the flow
 *   repeat: {count: 1000, seed: 1}     numbers of place and motion may be expressions of i = 0 .. n - 1, of n, and
 *                                      of r1 .. r9, which are random in [0, 1) and new for each copy (Mersenne twister)
 *
 * In the expressions of wrenches a.x is x of the body `a`, and swarm.3.x is x of copy 3 of the body `swarm`, or of its
 * particle 3. The quantities are those of fluid/immersed_run.h. A name is a word that begins with a letter or _ and
 * has a dot; the part after the last dot is the quantity.
 */
#include "scenario/fluid.h"

#include "fluid/immersed_run.h"
#include "numerics/expression_private.h"
#include "tree/scalar.h"

#include <gsl/gsl_rng.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM = 9, VARIABLES = RANDOM + 2 };
static const char *const variables[VARIABLES] = {"i", "n", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9"};

typedef struct place_parameters {
  const cb_node *position, *rotation, *quaternion;
} place_parameters;

const cb_param cb_place_table[] = {
    {"position", CB_PARAM_NODE, offsetof(place_parameters, position), "", "m", "", NULL,
     "position of the body frame's origin"},
    {"rotation", CB_PARAM_NODE, offsetof(place_parameters, rotation), "", "", "", NULL, "{axis: [x, y, z], angle: ..}"},
    {"quaternion", CB_PARAM_NODE, offsetof(place_parameters, quaternion), "", "", "", NULL, "[w, x, y, z]"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

typedef struct motion_parameters {
  const cb_node *velocity, *spin;
  int frame, momentum;
} motion_parameters;

const cb_param cb_motion_table[] = {
    {"velocity", CB_PARAM_NODE, offsetof(motion_parameters, velocity), "", "m/s", "", NULL,
     "velocity of the body frame's origin"},
    {"spin", CB_PARAM_NODE, offsetof(motion_parameters, spin), "", "rad/s", "", NULL, "angular velocity"},
    {"frame", CB_PARAM_CHOICE, offsetof(motion_parameters, frame), "world", "", "", "world|body",
     "the frame whose axes are used"},
    {"momentum", CB_PARAM_CHOICE, offsetof(motion_parameters, momentum), "given", "", "", "given|zero",
     "zero: velocity and spin follow from the momentum of body and fluid relative to the flow, which is 0"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

typedef struct repeat_parameters {
  int count, seed;
} repeat_parameters;

const cb_param cb_repeat_table[] = {
    {"count", CB_PARAM_INT, offsetof(repeat_parameters, count), NULL, "", "[1, 10000000]", NULL, "number of bodies"},
    {"seed", CB_PARAM_INT, offsetof(repeat_parameters, seed), "1", "", ">= 0", NULL, "seed of the random numbers"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

/* The variables of one copy, which the expressions in its place and motion may use. */
typedef struct copy_scope {
  const cb_scenario *s;
  size_t n; /* the number of variables; 0 for a body without `repeat` */
  const double *x;
} copy_scope;

static cb_status number(const copy_scope *scope, const cb_node *node, double *out) {
  return cb_scenario_number(scope->s, node, scope->n, variables, scope->x, out);
}

static cb_status vector(const copy_scope *scope, const cb_node *node, double out[3]) {
  return cb_scenario_vector(scope->s, node, scope->n, variables, scope->x, out);
}

static cb_status rotation(const copy_scope *scope, const cb_node *node, double q[4]) {
  static const char *const keys[] = {"axis", "angle"};
  const cb_node *axis = cb_node_get(node, "axis"), *angle = cb_node_get(node, "angle");
  double a[3], turn;
  cb_status status = cb_node_check_keys(node, keys, 2);
  if (status) return status;
  if (!axis || !angle) return cb_node_fail(node, "expected {axis: [x, y, z], angle: RADIANS}");
  status = vector(scope, axis, a);
  if (!status) status = number(scope, angle, &turn);
  if (status) return status;
  const double length = sqrt(cb_dot3(a, a));
  if (!(length > 0)) return cb_node_fail(axis, "expected an axis, found a vector of length 0");
  q[0] = cos(turn / 2);
  for (int i = 0; i < 3; i++) q[i + 1] = sin(turn / 2) * a[i] / length;
  return CB_OK;
}

cb_status cb_scenario_quaternion(const cb_scenario *s, const cb_node *node, size_t n, const char *const *named,
                                 const double *x, double q[4]) {
  if (node->kind != CB_NODE_LIST || node->count != 4)
    return cb_node_fail(node, "expected a unit quaternion [w, x, y, z]");
  double square = 0;
  cb_status status = CB_OK;
  for (size_t i = 0; i < 4 && !status; i++) {
    status = cb_scenario_number(s, node->items[i], n, named, x, &q[i]);
    square += q[i] * q[i];
  }
  if (status) return status;
  if (fabs(square - 1) > 1e-6) return cb_node_fail(node, "expected a unit quaternion, found the norm %g", sqrt(square));
  for (int i = 0; i < 4; i++) q[i] /= sqrt(square);
  return CB_OK;
}

static cb_status quaternion(const copy_scope *scope, const cb_node *node, double q[4]) {
  return cb_scenario_quaternion(scope->s, node, scope->n, variables, scope->x, q);
}

static cb_status read_one(const copy_scope *scope, const place_parameters *place, const motion_parameters *motion,
                          cb_body_start *out) {
  cb_pose_identity(&out->pose);
  out->released = motion->momentum;
  double spin[3] = {0}, velocity[3] = {0};
  cb_errors errors = cb_errors_begin();
  if (place->position) cb_errors_add(&errors, place->position, vector(scope, place->position, out->pose.x));
  if (place->rotation) cb_errors_add(&errors, place->rotation, rotation(scope, place->rotation, out->pose.q));
  if (place->quaternion) cb_errors_add(&errors, place->quaternion, quaternion(scope, place->quaternion, out->pose.q));
  if (motion->spin) cb_errors_add(&errors, motion->spin, vector(scope, motion->spin, spin));
  if (motion->velocity) cb_errors_add(&errors, motion->velocity, vector(scope, motion->velocity, velocity));
  cb_errors_add(&errors, place->position, cb_scenario_check_place(scope->s, place->position, out->pose.x));
  const cb_status status = cb_errors_end(&errors);
  if (status) return status;
  double r[3][3];
  cb_pose_rotation(&out->pose, r);
  if (motion->frame == 0) {
    cb_apply3_transposed(r, spin, out->twist);
    cb_apply3_transposed(r, velocity, out->twist + 3);
  } else {
    memcpy(out->twist, spin, sizeof spin);
    memcpy(out->twist + 3, velocity, sizeof velocity);
  }
  return CB_OK;
}

/* Makes the capacity of the list of bodies sufficient for n more bodies, and returns the first of these; NULL if there
 * is no memory. */
static cb_body_start *capacity(cb_scenario *s, int n) {
  cb_fluid_scenario *m = s->own;
  cb_body_start *all = cb_arena_alloc(s->arena, (size_t)m->n + (size_t)n, sizeof *all);
  if (!all) return NULL;
  if (m->n) memcpy(all, m->body, (size_t)m->n * sizeof *all);
  m->body = all;
  return all + m->n;
}

/* Adds the copies of a body; repeat NULL: a single body. */
static cb_status make_copies(cb_scenario *s, const char *name, const place_parameters *place,
                             const motion_parameters *motion, const repeat_parameters *repeat,
                             const cb_immersed *what) {
  const int count = repeat ? repeat->count : 1;
  cb_status status = CB_OK;
  if (place->rotation && place->quaternion)
    return cb_node_fail(place->quaternion, "`quaternion` next to `rotation`: expected only one of them");
  cb_body_start *first = capacity(s, count);
  gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
  if (!first || !random)
    status = cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", count);
  else
    gsl_rng_set(random, (unsigned long)(repeat ? repeat->seed : 1));
  for (int i = 0; i < count && !status; i++) {
    double x[VARIABLES] = {i, count};
    for (int r = 2; r < VARIABLES; r++) x[r] = gsl_rng_uniform(random);
    const copy_scope scope = {s, repeat ? VARIABLES : 0, x};
    char numbered[256];
    snprintf(numbered, sizeof numbered, "%s.%d", name, i);
    first[i].name = repeat ? cb_arena_strdup(s->arena, numbered) : name;
    first[i].body = what;
    status = first[i].name ? read_one(&scope, place, motion, &first[i]) : cb_fail(CB_ERROR_MEMORY, "no memory");
  }
  gsl_rng_free(random);
  if (!status) cb_fluid_scenario_of(s)->n += count;
  return status;
}

cb_status cb_scenario_read_copies(cb_scenario *s, const cb_node *body, const char *name, const cb_node *place_node,
                                  const cb_node *motion_node, const cb_node *repeat_node, const cb_immersed *what) {
  place_parameters place;
  motion_parameters motion;
  repeat_parameters repeat = {.count = 1};
  cb_errors errors = cb_errors_begin();
  cb_status status = repeat_node ? cb_params_bind(cb_repeat_table, repeat_node, repeat_node, NULL, 0, &repeat) : CB_OK;
  if (cb_errors_add(&errors, repeat_node, status)) repeat = (repeat_parameters){.count = 1, .seed = 1};
  if (cb_errors_add(&errors, place_node, cb_params_bind(cb_place_table, place_node, body, NULL, 0, &place)))
    cb_params_bind_right(cb_place_table, place_node, &place);
  if (cb_errors_add(&errors, motion_node, cb_params_bind(cb_motion_table, motion_node, body, NULL, 0, &motion)))
    cb_params_bind_right(cb_motion_table, motion_node, &motion);
  if (motion.momentum && (motion.velocity || motion.spin))
    cb_errors_add(&errors, motion_node,
                  cb_node_fail(motion.velocity ? motion.velocity : motion.spin,
                               "`%s` next to `momentum: zero`: expected only one of them",
                               motion.velocity ? "velocity" : "spin"));
  if (motion.momentum && cb_fluid_scenario_of(s)->coupling)
    cb_errors_add(
        &errors, motion_node,
        cb_node_fail(cb_node_get(motion_node, "momentum"),
                     "`momentum: zero` applies only to a body alone in the fluid: expected `coupling: none`"));
  cb_errors_add(&errors, body, make_copies(s, name, &place, &motion, repeat_node ? &repeat : NULL, what));
  return cb_errors_end(&errors);
}

/* --- names of quantities of other bodies --- */

enum { NAME = 96 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Writes the name of entry i of `bodies`, without the number of a copy. */
static void entry_name(const cb_node *bodies, size_t i, char out[NAME]) {
  const cb_node *name = cb_node_get(bodies->items[i], "name");
  if (name && name->kind == CB_NODE_SCALAR && *name->text)
    snprintf(out, NAME, "%s", name->text);
  else
    snprintf(out, NAME, "body.%zu", i);
}

/* Returns whether the map `repeat` makes a copy with this number. A count that is not a number is reported
 * elsewhere. */
static bool has_copy(const cb_node *repeat, const char *number) {
  long long count = LLONG_MAX;
  const cb_node *given = cb_node_get(repeat, "count");
  if (!is_digit(*number) || (*number == '0' && number[1]) || number[strspn(number, "0123456789")]) return false;
  if (given && cb_node_int(given, &count)) count = LLONG_MAX;
  return strtoll(number, NULL, 10) < count;
}

static bool has_body(const cb_node *bodies, const char *name) {
  for (size_t i = 0; i < bodies->count; i++) {
    char own[NAME];
    entry_name(bodies, i, own);
    const size_t n = strlen(own);
    const cb_node *repeat = cb_node_get(bodies->items[i], "repeat");
    if (cb_node_get(bodies->items[i], "kind") && !strncmp(own, name, n) && name[n] == '.' && is_digit(name[n + 1]))
      return true; /* a particle of the body */
    if (repeat ? !strncmp(own, name, n) && name[n] == '.' && has_copy(repeat, name + n + 1) : !strcmp(own, name))
      return true;
  }
  return false;
}

static cb_status fail_body(cb_scenario *s, const cb_node *bodies, const cb_node *node, size_t at, const char *name) {
  const char **known = cb_arena_alloc(s->arena, bodies->count, sizeof *known);
  for (size_t i = 0; known && i < bodies->count; i++) {
    char own[NAME], copy[NAME + 2];
    entry_name(bodies, i, own);
    snprintf(copy, sizeof copy, "%s%s", own, cb_node_get(bodies->items[i], "repeat") ? ".0" : "");
    if (!(known[i] = cb_arena_strdup(s->arena, copy))) known = NULL;
  }
  if (!known) return cb_fail(CB_ERROR_MEMORY, "no memory for the names of %zu bodies", bodies->count);
  cb_fail_unknown(NULL, "body", name, known, bodies->count);
  return cb_node_fail_at(node, at, "%s", cb_error_text());
}

/* Checks a name at an offset of the text of the node, and adds it to the names that were found. */
static cb_status take(cb_scenario *s, const cb_node *node, size_t at, size_t length, cb_externals *found) {
  char name[NAME];
  const char *text = node->text + at;
  if (length >= sizeof name)
    return cb_node_fail_at(node, at, "expected a name of at most %d bytes, found `%.40s..`", NAME - 1, text);
  snprintf(name, sizeof name, "%.*s", (int)length, text);
  char *dot = strrchr(name, '.');
  *dot = 0;
  if (!has_body(cb_fluid_scenario_of(s)->bodies, name))
    return fail_body(s, cb_fluid_scenario_of(s)->bodies, node, at, name);
  int quantity = 0;
  while (quantity < CB_BODY_QUANTITIES && strcmp(cb_body_quantities[quantity], dot + 1)) quantity++;
  if (quantity == CB_BODY_QUANTITIES) {
    cb_fail_unknown(NULL, "quantity of a body", dot + 1, cb_body_quantities, CB_BODY_QUANTITIES);
    return cb_node_fail_at(node, at + (size_t)(dot + 1 - name), "%s", cb_error_text());
  }
  *dot = '.';
  for (int i = 0; i < found->n; i++)
    if (!strcmp(found->name[i], name)) return CB_OK;
  if (found->n == CB_IMMERSED_EXTERNALS)
    return cb_node_fail_at(node, at, "the wrenches of a body may use at most %d quantities of other bodies",
                           CB_IMMERSED_EXTERNALS);
  if (!(found->name[found->n] = cb_arena_strdup(s->arena, name)))
    return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  found->n++;
  return CB_OK;
}

cb_status cb_scenario_find_externals(cb_scenario *s, const cb_node *node, cb_externals *found) {
  cb_status status = CB_OK;
  const char *next = node->text, *name;
  for (size_t length; !status && (length = cb_expression_next_name(&next, &name));) {
    const char *dot = memrchr(name, '.', length);
    if (dot && dot + 1 < next && !is_digit(dot[1])) status = take(s, node, (size_t)(name - node->text), length, found);
  }
  return status;
}
