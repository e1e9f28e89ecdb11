/* The end of building: finds the connected components, orders the particles, and makes the arrays of the system.
 *
 * Particles that are joined by a spring, a constraint, or a potential between pairs belong to one component. A
 * component has one origin (bases.c). Components follow one another in the order of their first particles.
 */
#include "dynamics/builder_private.h"

#include "dynamics/springs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A system with at most this many particles keeps their order, because they fit into the first-level cache in any
 * order. */
static const int few = 64;

/* Makes the union-find forest parent[n], in which the particles of one component belong to one tree. */
static void connect(const cb_builder *b, int *parent) {
  cb_components_start(b->n_points, parent);
  for (int s = 0; s < b->n_bonds; s++) cb_components_join(parent, b->bond[s].i, b->bond[s].j);
  for (int r = 0; r < b->n_constraints; r++) {
    const cb_constraint *row = &b->constraint[r];
    for (int p = 1; p < row->elements * row->width; p++) cb_components_join(parent, row->particle[0], row->particle[p]);
  }
  for (int t = 0; t < b->n_terms; t++) {
    const cb_builder_term *term = &b->term[t];
    if (term->kind != CB_TERM_INTERACTION) continue;
    int first_a = -1, first_b = -1;
    for (int i = b->n_points - 1; i >= 0; i--) {
      if (cb_builder_in_body(b, i, term->body_a)) first_a = i;
      if (cb_builder_in_body(b, i, term->body_b)) first_b = i;
    }
    if (first_a < 0 || first_b < 0) continue;
    for (int i = 0; i < b->n_points; i++) {
      if (cb_builder_in_body(b, i, term->body_a)) cb_components_join(parent, first_b, i);
      if (cb_builder_in_body(b, i, term->body_b)) cb_components_join(parent, first_a, i);
    }
  }
}

/* Sets order[place] = particle. Springs and constraints determine the order, so that neighbours are near each other in
 * memory. A system with at most `few` particles keeps its order. */
static cb_status locality(const cb_builder *b, int *order) {
  int n = b->n_points;
  size_t maximum = (size_t)b->n_bonds, m = 0;
  for (int r = 0; r < b->n_constraints; r++)
    maximum += (size_t)b->constraint[r].elements * (size_t)(b->constraint[r].width - 1);
  for (int i = 0; i < n; i++) order[i] = i;
  if (n <= few || !maximum) return CB_OK;
  int *i = malloc(2 * maximum * sizeof *i);
  if (!i) return cb_fail(CB_ERROR_MEMORY, "no memory to order %d particles", n);
  int *j = i + maximum;
  for (int e = 0; e < b->n_bonds; e++, m++) {
    i[m] = b->bond[e].i;
    j[m] = b->bond[e].j;
  }
  for (int r = 0; r < b->n_constraints; r++) {
    const cb_constraint *row = &b->constraint[r];
    for (int e = 0; e < row->elements; e++)
      for (int p = 1; p < row->width; p++, m++) {
        i[m] = row->particle[e * row->width];
        j[m] = row->particle[e * row->width + p];
      }
  }
  cb_status status = cb_reorder(n, m, i, j, order);
  free(i);
  return status;
}

/* Sets component[n] and place[n] of each particle: components follow one another in the state, and inside a component
 * particles have the order of locality(). */
static cb_status arrange(const cb_builder *b, cb_system *s, int *component, int *place) {
  int n = b->n_points;
  cb_status status = locality(b, s->particle);
  if (status) return status;
  connect(b, component);
  s->n_components = cb_components_number(n, component, component);
  s->component_start = cb_arena_alloc(s->arena, (size_t)s->n_components + 1, sizeof(int));
  if (!s->component_start) return cb_fail(CB_ERROR_MEMORY, "no memory for %d components", s->n_components);
  int *start = s->component_start;
  for (int i = 0; i < n; i++) start[component[i] + 1]++;
  for (int c = 0; c < s->n_components; c++) start[c + 1] += start[c];
  for (int o = 0; o < n; o++) place[s->particle[o]] = start[component[s->particle[o]]]++;
  for (int c = s->n_components; c > 0; c--) start[c] = start[c - 1];
  start[0] = 0;
  return CB_OK;
}

static cb_status particles(const cb_builder *b, cb_system *s, const int *component) {
  int n = s->n, k = s->k;
  size_t text = 0;
  for (int i = 0; i < n; i++)
    text += b->point[i].name ? strlen(b->point[i].name) + 1 : strlen(b->body[b->point[i].body]) + 14;
  char *names = cb_arena_alloc(s->arena, text, 1);
  int *number = calloc((size_t)b->n_bodies + 1, sizeof *number);
  if (!names || !number) {
    free(number);
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d names", n);
  }
  for (int i = 0; i < n; i++) {
    const cb_builder_point *p = &b->point[i];
    int at = s->place[i], length, ordinal = number[p->body]++;
    if (p->name)
      length = sprintf(names, "%s", p->name);
    else
      length = sprintf(names, "%s.%d", b->body[p->body], ordinal);
    s->name[i] = names;
    names += length + 1;
    s->particle[at] = i;
    s->mass[at] = p->mass;
    s->charge[at] = p->charge;
    s->radius[at] = p->radius;
    s->body[at] = p->body;
    s->component[at] = component[i];
    memcpy(s->x + (size_t)at * (size_t)k, p->x, (size_t)k * sizeof(double));
    memcpy(s->v + (size_t)at * (size_t)k, p->v, (size_t)k * sizeof(double));
  }
  free(number);
  return CB_OK;
}

/* Makes the plan by which springs are evaluated in an embedding. */
static cb_status plan(cb_system *s) {
  if (s->space->chart || !s->n_springs) return CB_OK;
  cb_spring *spring = malloc((size_t)s->n_springs * sizeof *spring);
  if (!spring) return cb_fail(CB_ERROR_MEMORY, "no memory for %d springs", s->n_springs);
  for (int e = 0; e < s->n_springs; e++)
    spring[e] = (cb_spring){s->spring_i[e], s->spring_j[e], s->stiffness[e], s->rest[e], s->damping[e]};
  cb_status status = cb_springs_create(s->space, s->n, (size_t)s->n_springs, spring, &s->springs);
  free(spring);
  return status;
}

/* Moves an expression (may be NULL) to the system, which then owns it, and returns it. */
static const cb_expression *take(cb_expression **from, cb_system *s) {
  const cb_expression *e = *from;
  if (e) s->expression[s->n_expressions++] = *from;
  *from = NULL;
  return e;
}

/* Adds spring e to the list of driven springs, because at least one of its numbers (stiffness, rest length, damping)
 * depends on the time. All three numbers move to this list, and the entries of spring e in the arrays become 0. */
static void drive(cb_builder_bond *bond, int e, cb_system *s) {
  cb_driven_spring *driven = &s->driven[s->n_driven++];
  double *const value[3] = {s->stiffness, s->rest, s->damping};
  const double zero = 0;
  driven->spring = e;
  s->damped = s->damped || bond->expression[2];
  for (int a = 0; a < 3; a++) {
    driven->expression[a] = take(&bond->expression[a], s);
    driven->start[a] = driven->expression[a] ? cb_expression_value(driven->expression[a], &zero) : value[a][e];
    value[a][e] = 0;
  }
}

static cb_status springs(cb_builder *b, cb_system *s) {
  int k = s->k;
  for (int e = 0; e < s->n_springs; e++) {
    cb_builder_bond *bond = &b->bond[e];
    int i = s->place[bond->i], j = s->place[bond->j];
    s->spring_i[e] = i;
    s->spring_j[e] = j;
    s->stiffness[e] = bond->value[0];
    s->rest[e] = bond->value[1];
    s->damping[e] = bond->value[2];
    if (s->damping[e] > 0) s->damped = true;
    if (b->point[bond->i].origin != b->point[bond->j].origin) {
      double d;
      cb_status status =
          cb_builder_check_apart(s->space, s->x + (size_t)i * (size_t)k, s->x + (size_t)j * (size_t)k, &d);
      if (status)
        return cb_fail(status, "spring between %s and %s: %s", s->name[bond->i], s->name[bond->j], cb_error_text());
      if (s->rest[e] < 0) s->rest[e] = d;
    }
    if (bond->expression[0] || bond->expression[1] || bond->expression[2]) drive(bond, e, s);
  }
  return plan(s);
}

/* Lists the indices in s of the particles of a body (-1: of all bodies). */
static cb_status group(const cb_builder *b, const cb_system *s, int body, cb_particle_set *out) {
  int n = 0;
  for (int i = 0; i < s->n; i++) n += cb_builder_in_body(b, s->particle[i], body);
  int *list = cb_arena_alloc(s->arena, (size_t)n, sizeof *list);
  if (!list) return cb_fail(CB_ERROR_MEMORY, "no memory for a group of %d particles", n);
  out->n = 0;
  out->particle = list;
  for (int i = 0; i < s->n; i++)
    if (cb_builder_in_body(b, s->particle[i], body)) list[out->n++] = i;
  return CB_OK;
}

/* Sets *out to the pair potential of a term, with parameters that belong to the system. */
static cb_status keep(cb_builder_term *term, cb_system *s, cb_pair_potential *out) {
  const size_t size = term->pair_potential.class_->params_size;
  void *params = cb_arena_alloc(s->arena, 1, size ? size : 1);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for a pair potential");
  memcpy(params, term->pair_potential.params, size);
  *out = term->pair_potential;
  out->params = params;
  out->expression = take(&term->expression, s);
  return CB_OK;
}

static cb_status terms(cb_builder *b, cb_system *s) {
  cb_status status = CB_OK;
  for (int t = 0; t < b->n_terms && !status; t++) {
    cb_builder_term *term = &b->term[t];
    switch (term->kind) {
      case CB_TERM_INTERACTION: {
        cb_interaction *x = &s->interaction[s->n_interactions++];
        x->same = term->body_a == term->body_b;
        status = keep(term, s, &x->pair_potential);
        if (!status) status = group(b, s, term->body_a, &x->a);
        if (!status) status = group(b, s, term->body_b, &x->b);
        break;
      }
      case CB_TERM_CENTRAL: {
        cb_central *x = &s->central[s->n_centrals++];
        x->centre = term->centre;
        status = keep(term, s, &x->pair_potential);
        if (!status) status = group(b, s, term->body_a, &x->group);
        break;
      }
      case CB_TERM_FIELD: {
        cb_force_field *x = &s->field[s->n_fields++];
        x->potential = take(&term->expression, s);
        for (int a = 0; a < CB_Q_MAX; a++) x->force[a] = take(&term->force[a], s);
        x->chart = term->chart;
        x->uses_velocity = term->uses_velocity;
        s->damped = s->damped || x->uses_velocity;
        status = group(b, s, term->body_a, &x->group);
        break;
      }
    }
  }
  return status;
}

bool cb_system_allocate_particles(cb_system *s) {
  const size_t n = (size_t)s->n, k = (size_t)s->k;
  cb_arena *m = s->arena;
  s->place = cb_arena_alloc(m, n, sizeof(int));
  s->particle = cb_arena_alloc(m, n, sizeof(int));
  s->mass = cb_arena_alloc_aligned(m, n, sizeof(double), CB_CACHE_LINE);
  s->charge = cb_arena_alloc(m, n, sizeof(double));
  s->radius = cb_arena_alloc(m, n, sizeof(double));
  s->body = cb_arena_alloc(m, n, sizeof(int));
  s->component = cb_arena_alloc(m, n, sizeof(int));
  s->name = cb_arena_alloc(m, n, sizeof *s->name);
  s->x = cb_arena_alloc_aligned(m, n * k, sizeof(double), CB_CACHE_LINE);
  s->v = cb_arena_alloc_aligned(m, n * k, sizeof(double), CB_CACHE_LINE);
  s->x_low = cb_arena_alloc(m, n * k, sizeof(double));
  s->v_low = cb_arena_alloc(m, n * k, sizeof(double));
  return s->place && s->particle && s->mass && s->charge && s->radius && s->body && s->component && s->name && s->x &&
         s->v && s->x_low && s->v_low;
}

static cb_status allocate(const cb_builder *b, cb_system *s) {
  size_t e = (size_t)s->n_springs, t = (size_t)b->n_terms, driven = 0;
  cb_arena *m = s->arena;
  for (int i = 0; i < b->n_bonds; i++)
    driven += b->bond[i].expression[0] || b->bond[i].expression[1] || b->bond[i].expression[2];
  s->body_name = cb_arena_alloc(m, (size_t)s->n_bodies, sizeof *s->body_name);
  s->spring_i = cb_arena_alloc(m, e, sizeof(int));
  s->spring_j = cb_arena_alloc(m, e, sizeof(int));
  s->stiffness = cb_arena_alloc(m, e, sizeof(double));
  s->rest = cb_arena_alloc(m, e, sizeof(double));
  s->damping = cb_arena_alloc(m, e, sizeof(double));
  s->interaction = cb_arena_alloc(m, t, sizeof *s->interaction);
  s->central = cb_arena_alloc(m, t, sizeof *s->central);
  s->field = cb_arena_alloc(m, t, sizeof *s->field);
  s->driven = cb_arena_alloc(m, driven, sizeof *s->driven);
  s->expression = cb_arena_alloc(m, t * CB_Q_MAX + 3 * driven, sizeof *s->expression);
  if (cb_system_allocate_particles(s) && s->body_name && s->spring_i && s->spring_j && s->stiffness && s->rest &&
      s->damping && s->interaction && s->central && s->field && s->driven && s->expression)
    return CB_OK;
  return cb_fail(CB_ERROR_MEMORY, "no memory for a system of %d particles and %d springs", s->n, s->n_springs);
}

cb_status cb_system_list_rods(cb_system *s) {
  s->rod = cb_arena_alloc(s->arena, (size_t)s->n_constraints, sizeof *s->rod);
  if (!s->rod) return cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", s->n_constraints);
  for (int r = 0; r < s->n_constraints; r++)
    if (s->constraint[r].class->bond) s->rod[s->n_rods++] = r;
  return CB_OK;
}

static cb_status assemble(cb_builder *b, cb_system *s, int *component) {
  cb_status status = allocate(b, s);
  if (status) return status;
  for (int i = 0; i < s->n_bodies; i++)
    if (!(s->body_name[i] = cb_arena_strdup(s->arena, b->body[i])))
      return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  status = arrange(b, s, component, s->place);
  if (status) return status;
  status = particles(b, s, component);
  if (!status) status = cb_origins_settle(b, s);
  if (!status) status = springs(b, s);
  if (!status) status = terms(b, s);
  if (!status) status = cb_constraints_settle(b, s);
  if (!status) status = cb_constraints_check_rank(b, s);
  if (!status) status = cb_system_list_rods(s);
  if (!status) status = cb_contacts_settle(b, s);
  return status;
}

cb_status cb_builder_finish(cb_builder *b, cb_system **out) {
  if (!b->n_points && !b->couples) return cb_fail(CB_ERROR_ARGUMENT, "expected at least one particle");
  cb_arena *arena = cb_arena_create();
  cb_system *s = cb_arena_alloc(arena, 1, sizeof *s);
  int *component = malloc(((size_t)b->n_points + 1) * sizeof *component);
  if (!s || !component) {
    cb_arena_free(arena);
    free(component);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a system");
  }
  s->arena = arena;
  s->space = b->space;
  s->k = b->space->k;
  s->n = b->n_points;
  s->n_springs = b->n_bonds;
  s->n_bodies = b->n_bodies;
  cb_status status = assemble(b, s, component);
  free(component);
  if (status) {
    cb_system_free(s);
    return status;
  }
  /* the expressions belong to the system, so this builder cannot make another system */
  b->n_points = 0;
  *out = s;
  return CB_OK;
}
