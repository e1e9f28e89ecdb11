/* Expressions of motors, servos and drives (mechanism.h). */
#include "mechanism/mechanism.h"

#include "core/arena.h"
#include "core/failure.h"
#include "numerics/expression_private.h"
#include <curvebody/expression.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OWN = 3, OTHERS = CB_EXPRESSION_VARIABLES - OWN, LABEL = 64 };

/* The expression of one coordinate. Its variables are t, the coordinate q, its rate w, and then the coordinates and
 * rates of other joints. */
typedef struct law {
  cb_expression *u;
  int others;
  int *other; /* [others]: the variables of other joints: i is coordinate i, and -1 - i is its rate */
} law;

struct cb_joint_laws {
  cb_arena *arena;
  int n;
  const char **label;
  cb_actuator *actuator;
  law *motor, *drive;    /* [n]: expressions of the motor and of the drive of each coordinate */
  cb_joint_force *force; /* [n]: memory for cb_joint_laws_efforts */
};

/* Finds the coordinate whose label is the word, or the rate if the word is a label followed by `_rate`. *other becomes
 * its number, as in the member `other` of law. Returns false if there is none. */
static bool find(const cb_joint_laws *l, const char *word, size_t length, int *other) {
  static const char rate[] = "_rate";
  for (int i = 0; i < l->n; i++) {
    const size_t own = strlen(l->label[i]);
    if (strncmp(word, l->label[i], own)) continue;
    *other = i;
    if (length == own) return true;
    *other = -1 - i;
    if (length == own + sizeof rate - 1 && !strncmp(word + own, rate, sizeof rate - 1)) return true;
  }
  return false;
}

static cb_status store_name(cb_joint_laws *l, int other, const char **out) {
  char word[LABEL];
  snprintf(word, sizeof word, "%.50s%s", l->label[other >= 0 ? other : -1 - other], other >= 0 ? "" : "_rate");
  return (*out = cb_arena_strdup(l->arena, word)) ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a name");
}

/* Finds the labels of coordinates, and of their rates, in the text of an expression. Writes their numbers to *out, and
 * the labels to names[OTHERS], which are stored in the arena. */
static cb_status find_others(cb_joint_laws *l, const char *text, law *out, const char *names[OTHERS]) {
  int other[OTHERS], n = 0, index;
  const char *next = text, *begin;
  for (size_t length; (length = cb_expression_next_name(&next, &begin));) {
    if (length >= LABEL || !find(l, begin, length, &index)) continue;
    int known = 0;
    while (known < n && other[known] != index) known++;
    if (known < n) continue;
    if (n == OTHERS)
      return cb_fail(CB_ERROR_INPUT, "expected at most %d coordinates of other joints in one expression", OTHERS);
    const cb_status status = store_name(l, index, &names[n]);
    if (status) return status;
    other[n++] = index;
  }
  out->others = n;
  out->other = cb_arena_alloc(l->arena, (size_t)n, sizeof *out->other);
  if (!out->other) return cb_fail(CB_ERROR_MEMORY, "no memory for %d names", n);
  if (n) memcpy(out->other, other, (size_t)n * sizeof *other);
  return CB_OK;
}

/* Adds labels that are not in the text, as many as fit. The message about a name that does not exist can then propose
 * one of them. A label that is also the name of a parameter or control is left out. */
static cb_status add_unused(cb_joint_laws *l, const cb_expression_scope *scope, const law *of,
                            const char *names[OTHERS], size_t *count) {
  for (int i = 0; i < 2 * l->n && *count < OTHERS; i++) {
    const int other = i % 2 ? -1 - i / 2 : i / 2;
    bool known = false;
    const cb_status status = store_name(l, other, &names[*count]);
    if (status) return status;
    for (int k = 0; k < of->others; k++) known = known || of->other[k] == other;
    for (size_t k = 0; k < scope->n_parameters; k++) known = known || !strcmp(scope->parameters[k], names[*count]);
    for (size_t k = 0; k < scope->n_controls; k++) known = known || !strcmp(scope->controls[k], names[*count]);
    *count += !known;
  }
  return CB_OK;
}

static cb_status parse(cb_joint_laws *l, const char *text, bool of_time, cb_expression_scope scope, size_t *at,
                       law *out) {
  const char *names[OWN + OTHERS] = {"t", "q", "w"};
  size_t others = 0;
  if (!of_time) {
    cb_status status = find_others(l, text, out, names + OWN);
    others = (size_t)out->others;
    if (!status) status = add_unused(l, &scope, out, names + OWN, &others);
    if (status) return status;
  }
  scope.names = names;
  scope.n = of_time ? 1 : OWN + others;
  const cb_status status = cb_expression_parse_in(text, &scope, at, &out->u);
  if (status || !of_time || !cb_expression_uses_control(out->u)) return status;
  return cb_fail(CB_ERROR_INPUT,
                 "a drive cannot use a control, because a jump of a drive has no velocity: expected a "
                 "`servo` that uses the control");
}

static cb_joint_laws *allocate(int n) {
  cb_arena *arena = cb_arena_create();
  cb_joint_laws *l = arena ? cb_arena_alloc(arena, 1, sizeof *l) : NULL;
  const size_t count = (size_t)n;
  if (!l) {
    cb_arena_free(arena);
    return NULL;
  }
  l->arena = arena;
  l->n = n;
  l->label = cb_arena_alloc(arena, count, sizeof *l->label);
  l->actuator = cb_arena_alloc(arena, count, sizeof *l->actuator);
  l->motor = cb_arena_alloc(arena, count, sizeof *l->motor);
  l->drive = cb_arena_alloc(arena, count, sizeof *l->drive);
  l->force = cb_arena_alloc(arena, count, sizeof *l->force);
  if (l->label && l->actuator && l->motor && l->drive && l->force) return l;
  cb_arena_free(arena);
  return NULL;
}

cb_status cb_joint_laws_create(int n, const char *const *label, const cb_actuator *actuator, const char *const *drive,
                               const cb_expression_scope *parameters, int *which, size_t *at, cb_joint_laws **out) {
  cb_joint_laws *l = allocate(n);
  if (!l) return cb_fail(CB_ERROR_MEMORY, "no memory for the forces of %d coordinates", n);
  cb_status status = CB_OK;
  for (int i = 0; i < n && !status; i++)
    if (!(l->label[i] = cb_arena_strdup(l->arena, label[i]))) status = cb_fail(CB_ERROR_MEMORY, "no memory for labels");
  for (int i = 0; i < n && !status; i++) {
    l->actuator[i] = actuator[i];
    l->actuator[i].text = NULL;
    *which = i;
    *at = 0;
    if (drive[i]) status = parse(l, drive[i], true, *parameters, at, &l->drive[i]);
    if (!status && actuator[i].kind != CB_ACTUATOR_NONE)
      status = parse(l, actuator[i].text, false, *parameters, at, &l->motor[i]);
  }
  if (status) {
    cb_joint_laws_free(l);
    return status;
  }
  *out = l;
  return CB_OK;
}

void cb_joint_laws_free(cb_joint_laws *l) {
  if (!l) return;
  for (int i = 0; i < l->n; i++) {
    cb_expression_free(l->motor[i].u);
    cb_expression_free(l->drive[i].u);
  }
  cb_arena_free(l->arena);
}

/* Limits *value to a range. If *value is outside of the range, its derivatives *a and *b become 0. A value that is nan
 * stays nan. */
static void limit(const double range[2], double *value, double *a, double *b) {
  if (!(*value < range[0] || *value > range[1])) return;
  *value = *value < range[0] ? range[0] : range[1];
  *a = *b = 0;
}

static void motors(void *self, double t, const double *q, const double *rate, cb_joint_force *force) {
  const cb_joint_laws *l = self;
  for (int i = 0; i < l->n; i++) {
    const law *m = &l->motor[i];
    const cb_actuator *a = &l->actuator[i];
    double x[OWN + OTHERS] = {t, q[i], rate[i]}, g[OWN];
    if (!m->u) continue;
    for (int k = 0; k < m->others; k++) x[OWN + k] = m->other[k] >= 0 ? q[m->other[k]] : rate[-1 - m->other[k]];
    double u = cb_expression_gradient(m->u, x, OWN, g), u_q = g[1], u_rate = g[2];
    limit(a->control, &u, &u_q, &u_rate);
    cb_joint_force own = {u, u_q, u_rate};
    if (a->kind == CB_ACTUATOR_POSITION)
      own = (cb_joint_force){a->kp * (u - q[i]) - a->kv * rate[i], a->kp * (u_q - 1), a->kp * u_rate - a->kv};
    if (a->kind == CB_ACTUATOR_VELOCITY)
      own = (cb_joint_force){a->kv * (u - rate[i]), a->kv * u_q, a->kv * (u_rate - 1)};
    limit(a->effort, &own.Q, &own.Q_q, &own.Q_rate);
    force[i].Q += own.Q;
    force[i].Q_q += own.Q_q;
    force[i].Q_rate += own.Q_rate;
  }
}

static void drives(void *self, double t, double *q, double *rate) {
  const cb_joint_laws *l = self;
  for (int i = 0; i < l->n; i++)
    if (l->drive[i].u) q[i] = cb_expression_gradient(l->drive[i].u, &t, 1, &rate[i]);
}

cb_mechanism_laws cb_joint_laws_of(cb_joint_laws *l) {
  cb_mechanism_laws out = {.self = l};
  for (int i = 0; l && i < l->n; i++) {
    if (l->motor[i].u) out.motors = motors;
    if (l->drive[i].u) out.drives = drives;
  }
  return out;
}

void cb_joint_laws_efforts(cb_joint_laws *l, double t, const double *q, const double *rate, double *force) {
  if (!l) return;
  memset(l->force, 0, (size_t)l->n * sizeof *l->force);
  motors(l, t, q, rate, l->force);
  for (int i = 0; i < l->n; i++) force[i] = l->force[i].Q;
}
