/* Queries of a system (system_facts.h and the public interface): its sizes, its state at the start, its components as
 * separate systems, and its conserved quantities.
 */
#include "dynamics/gap_class.h"

#include "dynamics/system_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void cb_system_free(cb_system *s) {
  if (!s) return;
  cb_springs_free(s->springs);
  for (int i = 0; i < s->n_expressions && !s->borrowed; i++) cb_expression_free(s->expression[i]);
  for (int r = 0; r < s->n_constraints + s->n_dropped && !s->borrowed; r++) cb_constraint_release(&s->constraint[r]);
  for (int r = 0; r < s->potentials.n && !s->borrowed; r++) cb_constraint_release(&s->potentials.row[r]);
  cb_contact_set_free(s->contacts);
  cb_arena_free(s->arena);
}

const cb_bases *cb_system_bases(const cb_system *s) { return &s->bases; }
const cb_space *cb_system_space(const cb_system *s) { return s->space; }
int cb_system_particles(const cb_system *s) { return s->n; }
int cb_system_springs(const cb_system *s) { return s->n_springs; }
int cb_system_bonds(const cb_system *s) { return s->n_springs + s->n_rods; }
int cb_system_components(const cb_system *s) { return s->n_components; }
int cb_system_bodies(const cb_system *s) { return s->n_bodies; }

int cb_system_index(const cb_system *s, int particle) { return s->place[particle]; }
int cb_system_particle(const cb_system *s, int place) { return s->particle[place]; }
const double *cb_system_masses(const cb_system *s) { return s->mass; }
const int *cb_system_component_starts(const cb_system *s) { return s->component_start; }
int cb_system_component(const cb_system *s, int place) { return s->component[place]; }

const char *cb_system_particle_name(const cb_system *s, int particle) { return s->name[particle]; }
const char *cb_system_body_name(const cb_system *s, int body) { return s->body_name[body]; }
int cb_system_body(const cb_system *s, int particle) { return s->body[s->place[particle]]; }
double cb_system_charge(const cb_system *s, int particle) { return s->charge[s->place[particle]]; }
double cb_system_radius(const cb_system *s, int particle) { return s->radius[s->place[particle]]; }

void cb_system_spring(const cb_system *s, int spring, double *stiffness, double *rest, double *damping) {
  *stiffness = s->stiffness[spring];
  *rest = s->rest[spring];
  *damping = s->damping[spring];
  for (int q = 0; q < s->n_driven; q++)
    if (s->driven[q].spring == spring) {
      *stiffness = s->driven[q].start[0];
      *rest = s->driven[q].start[1];
      *damping = s->driven[q].start[2];
    }
}

void cb_system_bond(const cb_system *s, int bond, int *i, int *j) {
  if (bond >= s->n_springs) {
    const int *ends = s->constraint[s->rod[bond - s->n_springs]].particle;
    *i = s->particle[ends[0]];
    *j = s->particle[ends[1]];
    return;
  }
  *i = s->particle[s->spring_i[bond]];
  *j = s->particle[s->spring_j[bond]];
}

const char *const *cb_system_bond_labels(const cb_system *s, cb_arena *arena) {
  const int bonds = cb_system_bonds(s);
  const char **label = cb_arena_alloc(arena, (size_t)bonds, sizeof *label);
  for (int b = 0; label && b < bonds; b++) {
    int i, j;
    cb_system_bond(s, b, &i, &j);
    const size_t size = strlen(s->name[i]) + strlen(s->name[j]) + 2;
    char *text = cb_arena_alloc(arena, size, 1);
    if (!text) return NULL;
    snprintf(text, size, "%s-%s", s->name[i], s->name[j]);
    label[b] = text;
  }
  return label;
}

int cb_system_held(const cb_system *s, int component) { return s->held && s->held[component]; }

cb_status cb_system_start(const cb_system *s, cb_state *state) {
  int k = s->k;
  size_t bytes = (size_t)s->n * (size_t)k * sizeof(double);
  double g[CB_Q_MAX * CB_Q_MAX];
  if (s->space->chart) /* the momentum p = m g(q) u of the velocity u, with the mass m and the metric g */
    for (int i = 0; i < s->n; i++) {
      cb_status status = s->space->chart->metric(s->space, s->x + i * k, g, NULL, NULL);
      if (status) return status;
      for (int a = 0; a < k; a++) {
        double sum = 0;
        for (int b = 0; b < k; b++) sum += g[a * k + b] * s->v[i * k + b];
        state->p[i * k + a] = s->mass[i] * sum;
      }
    }
  else
    for (int i = 0; i < s->n; i++)
      for (int a = 0; a < k; a++) state->p[i * k + a] = s->mass[i] * s->v[i * k + a];
  memcpy(state->x, s->x, bytes);
  memcpy(state->x_low, s->x_low, bytes);
  memset(state->p_low, 0, bytes);
  memcpy(state->origin, s->origin, (size_t)s->n_components * sizeof(cb_origin));
  state->t = state->t_low = 0;
  state->step = 0;
  return CB_OK;
}

/* --- components as separate systems --- */

/* The places first .. end-1 of the complete system, which belong to one component. */
typedef struct span {
  int first, end;
} span;

static span span_of(const cb_system *s, int component) {
  return (span){s->component_start[component], s->component_start[component + 1]};
}

static bool in(span c, int place) { return place >= c.first && place < c.end; }

/* Lists the members of a group that lie in the component, and returns the number of these members. */
static int members(const cb_particle_set *g, span c, int *place) {
  int low = 0, high = g->n, n = 0;
  while (low < high) { /* members are in ascending order */
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
  o->driven = cb_arena_alloc(o->arena, (size_t)s->n_driven, sizeof *o->driven);
  cb_spring *plan = cb_arena_alloc(o->arena, n, sizeof *plan);
  if (!o->driven || !o->spring_i || !o->spring_j || !o->stiffness || !o->rest || !o->damping || !plan)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu springs", n);
  for (int e = 0, next = 0; e < s->n_springs; e++) {
    const cb_driven_spring *driven = next < s->n_driven && s->driven[next].spring == e ? &s->driven[next++] : NULL;
    if (!in(c, s->spring_i[e])) continue;
    const int to = o->n_springs++;
    if (driven) {
      o->driven[o->n_driven] = *driven;
      o->driven[o->n_driven++].spring = to;
      o->damped = o->damped || driven->expression[2] || driven->start[2] > 0;
    }
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

/* Copies the rows of a list that belong to the component. */
static cb_status rows(const cb_constraint_list *list, span c, cb_system *o, cb_constraint_list *out) {
  size_t n = 0;
  for (int r = 0; r < list->n; r++) n += in(c, list->row[r].particle[0]);
  *out = (cb_constraint_list){.row = cb_arena_alloc(o->arena, n, sizeof *out->row)};
  if (!out->row) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu constraints", n);
  for (int r = 0; r < list->n; r++) {
    const cb_constraint *from = &list->row[r];
    if (!in(c, from->particle[0])) continue;
    cb_constraint *to = &out->row[out->n++];
    const size_t count = (size_t)from->elements * (size_t)from->width;
    *to = *from;
    to->particle = cb_arena_alloc(o->arena, count, sizeof *to->particle);
    if (!to->particle) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu constraints", n);
    for (size_t p = 0; p < count; p++) to->particle[p] = from->particle[p] - c.first;
    if (from->world >= 0) to->world = out->n_world++;
  }
  return CB_OK;
}

static cb_status constraints(const cb_system *s, span c, cb_system *o) {
  const cb_constraint_list kept = cb_constraints_of(s);
  cb_constraint_list own = {0};
  cb_status status = rows(&kept, c, o, &own);
  if (!status) status = rows(&s->potentials, c, o, &o->potentials);
  if (status) return status;
  o->constraint = own.row;
  o->n_constraints = own.n;
  o->n_world = own.n_world;
  return cb_system_list_rods(o);
}

static cb_status pair_potentials(const cb_system *s, span c, cb_system *o) {
  cb_status status = CB_OK;
  o->interaction = cb_arena_alloc(o->arena, (size_t)s->n_interactions, sizeof *o->interaction);
  o->central = cb_arena_alloc(o->arena, (size_t)s->n_centrals, sizeof *o->central);
  o->field = cb_arena_alloc(o->arena, (size_t)s->n_fields, sizeof *o->field);
  if (!o->interaction || !o->central || !o->field)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the pair potentials of a component");
  for (int q = 0; q < s->n_interactions && !status; q++) {
    const cb_interaction *from = &s->interaction[q];
    /* all particles of an interaction belong to one component */
    if (!members(&from->a, c, NULL)) continue;
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
    o->damped = o->damped || s->field[q].uses_velocity;
    status = group(o, &s->field[q].group, c, &o->field[o->n_fields++].group);
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
  if (!status) status = pair_potentials(s, c, o);
  if (status) {
    cb_system_free(o);
    return status;
  }
  *out = o;
  return CB_OK;
}

/* Returns whether the component has a constraint, or a potential of several points. */
static bool constrained(const cb_system *s, span c) {
  for (int r = 0; r < s->n_constraints; r++)
    if (in(c, s->constraint[r].particle[0])) return true;
  for (int r = 0; r < s->potentials.n; r++)
    if (in(c, s->potentials.row[r].particle[0])) return true;
  return false;
}

/* Returns whether two components, which are single particles, belong to the same groups of central potentials and
 * fields. If b is empty, returns whether the particle of a belongs to none of these groups. */
static bool same_pair_potentials(const cb_system *s, span a, span b) {
  for (int q = 0; q < s->n_centrals; q++)
    if (members(&s->central[q].group, a, NULL) != members(&s->central[q].group, b, NULL)) return false;
  for (int q = 0; q < s->n_fields; q++)
    if (members(&s->field[q].group, a, NULL) != members(&s->field[q].group, b, NULL)) return false;
  return true;
}

bool cb_system_component_free(const cb_system *s, int component) {
  const span c = span_of(s, component);
  return c.end - c.first == 1 && !constrained(s, c) && same_pair_potentials(s, c, (span){0, 0});
}

bool cb_system_components_alike(const cb_system *s, int a, int b) {
  const span p = span_of(s, a), q = span_of(s, b);
  if (p.end - p.first != 1 || q.end - q.first != 1) return false;
  if (s->mass[p.first] != s->mass[q.first] || s->charge[p.first] != s->charge[q.first]) return false;
  return !constrained(s, p) && !constrained(s, q) && same_pair_potentials(s, p, q);
}

/* --- conserved quantities --- */

/* Lengths and rates of Killing fields count as 0 if they are below this, relative to the largest one that is compared.
 */
static const double vanishes = 1e-12;

/* --- energy --- */

/* Returns whether an expression depends on the time, which is its variable number `variable`, or on a control. */
static bool timed(const cb_expression *e, int variable) {
  return e && (cb_expression_uses(e, (size_t)variable) || cb_expression_uses_control(e));
}

/* Returns the number of coordinates of a chart (NULL: of the embedding). This is also the index of the variable t in
 * expressions, because t follows the coordinates. */
static int coordinates(const cb_space *g, const cb_chart *chart) { return chart ? chart->size : g->embedding; }

static bool forces_keep_energy(const cb_system *s) {
  bool keeps = !s->damped && !s->n_driven;
  for (int i = 0; i < s->n_interactions; i++)
    keeps = keeps && !cb_pair_potential_is_timed(&s->interaction[i].pair_potential);
  for (int i = 0; i < s->n_centrals; i++) keeps = keeps && !cb_pair_potential_is_timed(&s->central[i].pair_potential);
  for (int i = 0; i < s->n_fields; i++) {
    const cb_force_field *field = &s->field[i];
    keeps = keeps && field->potential && !timed(field->potential, coordinates(s->space, field->chart));
  }
  return keeps;
}

/* Returns whether a constraint conserves the energy. A velocity constraint a v = b does so only if b is 0, that is, if
 * it has no `expression`. */
static bool constraint_keeps_energy(const cb_system *s, const cb_constraint *c) {
  if (c->class->velocity) return !c->expression;
  if (c->class->timed && !c->expression) return false;
  return !timed(c->target_expression, 0) && !timed(c->energy, 1) &&
         !timed(c->expression, coordinates(s->space, c->chart));
}

static bool contacts_keep_energy(const cb_system *s) {
  const cb_contact_set *set = s->contacts;
  if (!set) return true;
  bool keeps = !set->on || set->options.restitution == 1;
  for (int i = 0; i < set->n_walls; i++)
    keeps = keeps && set->wall[i].restitution == 1 && !cb_gap_function_timed(s->space, &set->wall[i].function);
  return keeps && set->options.accumulation != CB_ACCUMULATION_REST;
}

/* --- momenta --- */

static void break_all(const cb_space *g, cb_conserved *out) {
  for (int f = 0; f < g->n_killing; f++) out->momentum[f] = false;
}

void cb_conserved_keep_point(const cb_space *g, const cb_fixed *at, cb_conserved *out) {
  double size[CB_KILLING_MAX], maximum = 0;
  if (cb_origin_killing_sizes(g, &at->origin, at->x, size)) {
    break_all(g, out);
    return;
  }
  for (int f = 0; f < g->n_killing; f++) maximum = fmax(maximum, size[f]);
  for (int f = 0; f < g->n_killing; f++)
    if (!(size[f] <= vanishes * maximum)) out->momentum[f] = false;
}

/* Samples: points without special symmetry, given by their displacements from the base point. */
enum { SAMPLES = 3 };
static const double offset[SAMPLES][CB_Q_MAX] = {
    {0.31, 0.17, 0.23, 0.11, -0.19, 0.13, 0.29, -0.07, 0.05, 0.21, -0.27, 0.15},
    {-0.13, 0.29, 0.19, 0.07, 0.11, -0.23, 0.17, 0.31, -0.05, 0.27, 0.21, -0.15},
    {0.21, -0.27, -0.15, 0.05, 0.29, 0.07, -0.31, 0.13, 0.23, -0.11, 0.19, 0.17}};

/* Computes the coordinates q of a sample in a chart (NULL: of the embedding), and the rates u of these coordinates
 * along Killing field f.
 */
static cb_status move_sample(const cb_space *g, const cb_chart *chart, int f, int sample, double *q, double *u) {
  double x[CB_Q_MAX], v[CB_Q_MAX];
  cb_space_base_point(g, x);
  for (int a = 0; a < g->embedding; a++) x[a] += offset[sample][a];
  cb_space_project_point(g, x);
  cb_killing_at(g, f, x, v);
  if (chart && !g->intrinsic) return cb_chart_pull(g, chart, x, v, q, u);
  memcpy(q, x, (size_t)g->embedding * sizeof *q);
  memcpy(u, v, (size_t)g->embedding * sizeof *u);
  return CB_OK;
}

/* Computes the maximum rates, over the samples, at which Killing field f changes each coordinate of a chart (NULL: of
 * the embedding). */
static cb_status rates(const cb_space *g, const cb_chart *chart, int f, double *rate) {
  for (int a = 0; a < CB_Q_MAX; a++) rate[a] = 0;
  for (int p = 0; p < SAMPLES; p++) {
    double q[CB_Q_MAX], u[CB_Q_MAX];
    const cb_status status = move_sample(g, chart, f, p, q, u);
    if (status) return status;
    for (int a = 0; a < coordinates(g, chart); a++) rate[a] = fmax(rate[a], fabs(u[a]));
  }
  return CB_OK;
}

/* Marks as not conserved the momenta of the Killing fields whose flow changes the value of a wall's function at a
 * sample point. */
static void keep_values(const cb_space *g, const cb_gap_function *w, cb_conserved *out) {
  const cb_chart *chart = cb_gap_function_chart(g, w);
  const int n = coordinates(g, chart);
  for (int f = 0; f < g->n_killing; f++)
    for (int p = 0; p < SAMPLES && out->momentum[f]; p++) {
      double at[CB_Q_MAX + 2] = {0}, u[CB_Q_MAX], rate = 0, size = 0;
      out->momentum[f] = !move_sample(g, chart, f, p, at, u);
      at[n] = 0.37;
      const cb_jet jet = cb_gap_function_jet(g, w, n, at);
      for (int a = 0; a < n && out->momentum[f]; a++) {
        rate += jet.g[a] * u[a];
        size += fabs(jet.g[a] * u[a]);
      }
      out->momentum[f] = out->momentum[f] && fabs(rate) <= vanishes * size;
    }
}

/* Marks as not conserved the momenta of the Killing fields that change a coordinate which a function uses. uses(of, a)
 * returns whether the function `of` uses coordinate a. */
static void keep_coordinates(const cb_space *g, const cb_chart *chart, bool (*uses)(const void *, int), const void *of,
                             cb_conserved *out) {
  for (int f = 0; f < g->n_killing; f++) {
    double rate[CB_Q_MAX];
    bool keeps = out->momentum[f] && !rates(g, chart, f, rate);
    for (int a = 0; keeps && a < coordinates(g, chart); a++) keeps = rate[a] <= vanishes || !uses(of, a);
    out->momentum[f] = keeps;
  }
}

static bool expression_uses(const void *of, int i) { return cb_expression_uses(of, (size_t)i); }
static bool function_uses(const void *of, int i) { return cb_gap_function_uses(of, i); }

static void keep_field(const cb_space *g, const cb_force_field *field, cb_conserved *out) {
  if (field->potential)
    keep_coordinates(g, field->chart, expression_uses, field->potential, out);
  else
    break_all(g, out);
}

static void keep_constraint(const cb_system *s, const cb_constraint *c, cb_conserved *out) {
  if (c->class->velocity)
    break_all(s->space, out);
  else if (c->expression)
    keep_coordinates(s->space, c->chart, expression_uses, c->expression, out);
  else if (c->class->centred)
    cb_conserved_keep_point(s->space, &c->centre, out);
  else if (c->class->per_world)
    break_all(s->space, out);
}

static void keep_wall(const cb_space *g, const cb_gap_function *f, cb_conserved *out) {
  if (cb_gap_function_is_length(f))
    f->class->forms->keep(g, f->of, out);
  else if (f->class->on_jets)
    keep_values(g, f, out);
  else
    keep_coordinates(g, cb_gap_function_chart(g, f), function_uses, f, out);
}

bool cb_system_touches(const cb_system *s) { return s->contacts && s->contacts->on; }

bool cb_system_acts(const cb_system *s) {
  return s->n_springs || s->n_constraints || s->contacts || !cb_system_springs_alone(s);
}

cb_conserved cb_system_conserved(const cb_system *s) {
  cb_conserved out = {.energy = forces_keep_energy(s) && contacts_keep_energy(s)};
  for (int f = 0; f < s->space->n_killing; f++) out.momentum[f] = true;
  for (int i = 0; i < s->n_centrals; i++)
    if (s->central[i].group.n) cb_conserved_keep_point(s->space, &s->central[i].centre, &out);
  for (int i = 0; i < s->n_fields; i++)
    if (s->field[i].group.n) keep_field(s->space, &s->field[i], &out);
  for (int r = 0; r < s->n_constraints + s->potentials.n; r++) {
    const cb_constraint *row = r < s->n_constraints ? &s->constraint[r] : &s->potentials.row[r - s->n_constraints];
    out.energy = out.energy && constraint_keeps_energy(s, row);
    keep_constraint(s, row, &out);
  }
  for (int i = 0; s->contacts && i < s->contacts->n_walls; i++)
    keep_wall(s->space, &s->contacts->wall[i].function, &out);
  return out;
}
