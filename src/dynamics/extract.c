/* See extract.h. */
#include "dynamics/extract.h"
#include "dynamics/system_private.h"
#include <string.h>

/* Places first .. end-1 of the whole. */
typedef struct span {
  int first, end;
} span;

static span span_of(const cb_system *s, int component) {
  return (span){s->component_start[component], s->component_start[component + 1]};
}

static bool in(span c, int place) { return place >= c.first && place < c.end; }

/* The members of a group that lie in the component; their number. */
static int members(const cb_particle_set *g, span c, int *place) {
  int low = 0, high = g->n, n = 0;
  while (low < high) { /* ascending */
    const int middle = low + (high - low) / 2;
    if (g->particle[middle] < c.first)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < g->n && g->particle[low] < c.end; low++, n++)
    if (place) place[n] = g->particle[low] - c.first;
  return n;
}

static cb_status group(cb_system *o, const cb_particle_set *g, span c, cb_particle_set *out) {
  int *place = cb_arena_alloc(o->arena, (size_t)(c.end - c.first), sizeof *place);
  if (!place) return cb_fail(CB_ERROR_MEMORY, "no memory for a group of particles");
  *out = (cb_particle_set){members(g, c, place), place};
  return CB_OK;
}

static cb_status particles(const cb_system *s, span c, cb_system *o) {
  const size_t n = (size_t)o->n, k = (size_t)o->k, at = (size_t)c.first;
  o->component_start = cb_arena_alloc(o->arena, 2, sizeof(int));
  o->origin = cb_arena_alloc(o->arena, 1, sizeof *o->origin);
  if (!cb_system_allocate_particles(o) || !o->component_start || !o->origin)
    return cb_fail(CB_ERROR_MEMORY, "no memory for a component of %d particles", o->n);
  o->component_start[1] = o->n;
  o->origin[0] = s->origin[s->component[c.first]];
  for (int i = 0; i < o->n; i++) {
    o->place[i] = o->particle[i] = i;
    o->name[i] = s->name[s->particle[c.first + i]];
  }
  memcpy(o->mass, s->mass + at, n * sizeof(double));
  memcpy(o->charge, s->charge + at, n * sizeof(double));
  memcpy(o->radius, s->radius + at, n * sizeof(double));
  memcpy(o->body, s->body + at, n * sizeof(int));
  memcpy(o->x, s->x + at * k, n * k * sizeof(double));
  memcpy(o->v, s->v + at * k, n * k * sizeof(double));
  memcpy(o->x_low, s->x_low + at * k, n * k * sizeof(double));
  memcpy(o->v_low, s->v_low + at * k, n * k * sizeof(double));
  return CB_OK;
}

static cb_status springs(const cb_system *s, span c, cb_system *o) {
  size_t n = 0;
  for (int e = 0; e < s->n_springs; e++) n += in(c, s->spring_i[e]);
  o->spring_i = cb_arena_alloc(o->arena, n, sizeof(int));
  o->spring_j = cb_arena_alloc(o->arena, n, sizeof(int));
  o->stiffness = cb_arena_alloc(o->arena, n, sizeof(double));
  o->rest = cb_arena_alloc(o->arena, n, sizeof(double));
  o->damping = cb_arena_alloc(o->arena, n, sizeof(double));
  cb_spring *plan = cb_arena_alloc(o->arena, n, sizeof *plan);
  if (!o->spring_i || !o->spring_j || !o->stiffness || !o->rest || !o->damping || !plan)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu springs", n);
  for (int e = 0; e < s->n_springs; e++) {
    if (!in(c, s->spring_i[e])) continue;
    const int to = o->n_springs++;
    o->spring_i[to] = s->spring_i[e] - c.first;
    o->spring_j[to] = s->spring_j[e] - c.first;
    o->stiffness[to] = s->stiffness[e];
    o->rest[to] = s->rest[e];
    o->damping[to] = s->damping[e];
    o->damped = o->damped || s->damping[e] > 0;
    plan[to] = (cb_spring){o->spring_i[to], o->spring_j[to], s->stiffness[e], s->rest[e], s->damping[e]};
  }
  return s->space->chart || !n ? CB_OK : cb_springs_create(s->space, o->n, n, plan, &o->springs);
}

static cb_status constraints(const cb_system *s, span c, cb_system *o) {
  size_t n = 0;
  for (int r = 0; r < s->n_constraints; r++) n += in(c, s->constraint[r].particle[0]);
  o->constraint = cb_arena_alloc(o->arena, n, sizeof *o->constraint);
  o->rod = cb_arena_alloc(o->arena, n, sizeof *o->rod);
  if (!o->constraint || !o->rod) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu constraints", n);
  for (int r = 0; r < s->n_constraints; r++) {
    const cb_constraint *from = &s->constraint[r];
    if (!in(c, from->particle[0])) continue;
    cb_constraint *to = &o->constraint[o->n_constraints];
    const size_t count = (size_t)from->elements * (size_t)from->width;
    *to = *from;
    to->particle = cb_arena_alloc(o->arena, count, sizeof *to->particle);
    if (!to->particle) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu constraints", n);
    for (size_t p = 0; p < count; p++) to->particle[p] = from->particle[p] - c.first;
    if (from->world >= 0) to->world = o->n_world++;
    if (from->kind == &cb_constraint_rod) o->rod[o->n_rods++] = o->n_constraints;
    o->n_constraints++;
  }
  return CB_OK;
}

static cb_status laws(const cb_system *s, span c, cb_system *o) {
  cb_status status = CB_OK;
  o->interaction = cb_arena_alloc(o->arena, (size_t)s->n_interactions, sizeof *o->interaction);
  o->central = cb_arena_alloc(o->arena, (size_t)s->n_centrals, sizeof *o->central);
  o->field = cb_arena_alloc(o->arena, (size_t)s->n_fields, sizeof *o->field);
  o->generalised = cb_arena_alloc(o->arena, (size_t)s->n_generalised, sizeof *o->generalised);
  if (!o->interaction || !o->central || !o->field || !o->generalised)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the laws of a component");
  for (int q = 0; q < s->n_interactions && !status; q++) {
    const cb_interaction *from = &s->interaction[q];
    if (!members(&from->a, c, NULL)) continue; /* a pair is in one component or not at all */
    cb_interaction *to = &o->interaction[o->n_interactions++];
    *to = *from;
    status = group(o, &from->a, c, &to->a);
    if (!status) status = group(o, &from->b, c, &to->b);
  }
  for (int q = 0; q < s->n_centrals && !status; q++) {
    if (!members(&s->central[q].group, c, NULL)) continue;
    o->central[o->n_centrals] = s->central[q];
    status = group(o, &s->central[q].group, c, &o->central[o->n_centrals++].group);
  }
  for (int q = 0; q < s->n_fields && !status; q++) {
    if (!members(&s->field[q].group, c, NULL)) continue;
    o->field[o->n_fields] = s->field[q];
    status = group(o, &s->field[q].group, c, &o->field[o->n_fields++].group);
  }
  for (int q = 0; q < s->n_generalised && !status; q++) {
    if (!members(&s->generalised[q].group, c, NULL)) continue;
    o->generalised[o->n_generalised] = s->generalised[q];
    status = group(o, &s->generalised[q].group, c, &o->generalised[o->n_generalised++].group);
    for (int a = 0; a < s->k; a++)
      for (int e = 0; s->generalised[q].force[a] && e < s->k; e++)
        o->damped = o->damped || cb_expression_uses(s->generalised[q].force[a], (size_t)(s->k + e));
  }
  return status;
}

cb_status cb_system_extract(const cb_system *s, int component, cb_system **out) {
  const span c = span_of(s, component);
  cb_system *o = cb_arena_object(sizeof *o, "a component");
  if (!o) return CB_ERROR_MEMORY;
  o->borrowed = true;
  o->space = s->space;
  o->k = s->k;
  o->n = c.end - c.first;
  o->n_components = 1;
  o->n_bodies = s->n_bodies;
  o->body_name = s->body_name;
  cb_status status = particles(s, c, o);
  if (!status) status = springs(s, c, o);
  if (!status) status = constraints(s, c, o);
  if (!status) status = laws(s, c, o);
  if (status) return cb_system_free(o), status;
  *out = o;
  return CB_OK;
}

static bool constrained(const cb_system *s, span c) {
  for (int r = 0; r < s->n_constraints; r++)
    if (in(c, s->constraint[r].particle[0])) return true;
  return false;
}

/* Is a single particle a member of what the other is a member of? */
static bool same_laws(const cb_system *s, span a, span b) {
  for (int q = 0; q < s->n_centrals; q++)
    if (members(&s->central[q].group, a, NULL) != members(&s->central[q].group, b, NULL)) return false;
  for (int q = 0; q < s->n_fields; q++)
    if (members(&s->field[q].group, a, NULL) != members(&s->field[q].group, b, NULL)) return false;
  for (int q = 0; q < s->n_generalised; q++)
    if (members(&s->generalised[q].group, a, NULL) != members(&s->generalised[q].group, b, NULL)) return false;
  return true;
}

bool cb_system_component_free(const cb_system *s, int component) {
  const span c = span_of(s, component);
  return c.end - c.first == 1 && (!s->n_constraints || !constrained(s, c)) && same_laws(s, c, (span){0, 0});
}

bool cb_system_components_alike(const cb_system *s, int a, int b) {
  const span p = span_of(s, a), q = span_of(s, b);
  if (p.end - p.first != 1 || q.end - q.first != 1) return false;
  if (s->mass[p.first] != s->mass[q.first] || s->charge[p.first] != s->charge[q.first]) return false;
  return !(s->n_constraints && (constrained(s, p) || constrained(s, q))) && same_laws(s, p, q);
}
