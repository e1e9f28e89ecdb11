/* Reflection of momenta at contacts (the rules are in reflection.h).
 *
 *   p <- p + sum_a q_a l_a,   u_a = R_a p + ds_a/dt,   D_ab = R_a q_b
 *
 * p are the momenta; the other symbols are those of reflection.h. Contacts that move no particle in common, directly or
 * through constraints, are independent. Each group of coupled contacts has a dense matrix D. The rules compute rates
 * again from the momenta after each impulse, so that every impulse is exact and errors do not accumulate in the rates.
 * The work is done on copies: on failure nothing is changed.
 *
 * Normals of gaps in the kinetic metric, and the matrix of contacts:
 *
 *   T = I^-1 G minus its normal part (chart: G), R = T^T I/m (chart: g^-1 G/m)
 *   q = T - M W C^T y,   S y = C M^-1 T,   S = C W C^T      (for particles without constraints q = T)
 *   D_ab = R_a q_b,   u_a = R_a p + ds_a/dt
 *
 * G is the gradient of a gap, m the mass and I = diag(form). W and S are those of gram.h for the gradients C of the
 * constraints, and the other symbols are those of reflection.h. Normal parts are removed twice and y is refined, so
 * that neither the normal part of a gradient nor unequal masses reduce the accuracy. Sources: Moreau (1988),
 * doi:10.1007/978-3-7091-2624-0_1; refinement: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002),
 * chapter 12, doi:10.1137/1.9780898718027.
 */
#include "dynamics/reflection.h"

#include "numerics/small.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- normals of gaps --- */

/* Computes T = I^-1 G at x without its normal part. */
static void tangential(const cb_space *s, const double *x, const double *G, double *T) {
  for (int a = 0; a < s->k; a++) T[a] = G[a] / s->form[a];
  for (int pass = 0; pass < 2; pass++)
    for (int f = 0; f < s->n_factors; f++) {
      const cb_factor *factor = &s->factor[f];
      double tx = 0, xx = 0;
      if (factor->curvature == 0) continue;
      for (int a = factor->offset; a < factor->offset + factor->count; a++) {
        tx += s->form[a] * T[a] * x[a];
        xx += s->form[a] * x[a] * x[a];
      }
      for (int a = factor->offset; a < factor->offset + factor->count; a++) T[a] -= tx / xx * x[a];
    }
}

static cb_status raise(const cb_reflection *r, const cb_reflection_part *part, const cb_reflection_contact *contact,
                       cb_normal *n) {
  const cb_space *s = r->space;
  const int k = r->k;
  n->free = 0;
  for (int i = 0; i < contact->gap.n; i++) {
    const cb_mover *mover = &r->mover[n->mover[i]];
    const int particle = mover->first + n->inside[i];
    const double mass = part[mover->part].mass[particle], *G = contact->value.gradient + (size_t)i * k,
                 *x = part[mover->part].x + (size_t)particle * k;
    double *T = n->T + (size_t)i * k, *R = n->R + (size_t)i * k;
    if (s->chart) {
      memcpy(T, G, (size_t)k * sizeof *T);
      const cb_status status = cb_space_raise(s, x, G, R);
      if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
      for (int a = 0; a < k; a++) R[a] /= mass;
    } else {
      tangential(s, x, G, T);
      for (int a = 0; a < k; a++) R[a] = s->form[a] * T[a] / mass;
    }
    n->free += cb_dot(k, R, T);
  }
  return CB_OK;
}

/* Sets the part of q that belongs to one mover of the contact to T, as if this mover had no constraints. */
static void unconstrained(const cb_reflection *r, const cb_reflection_contact *contact, const cb_normal *n, int which) {
  const int k = r->k;
  const cb_mover *mover = &r->mover[n->moved[which]];
  double *q = r->q + n->column[which];
  memset(q, 0, (size_t)mover->n * (size_t)k * sizeof *q);
  for (int i = 0; i < contact->gap.n; i++)
    if (n->mover[i] == n->moved[which])
      for (int a = 0; a < k; a++) q[(size_t)n->inside[i] * k + a] += n->T[(size_t)i * k + a];
}

/* Work space for a part with constraints: the gradients C, the right-hand sides (later the solutions y), the sum of the
 * solutions over the refinements, and velocities w. */
typedef struct constrained {
  int mover;
  const cb_reflection_part *part;
  const cb_rows *rows;
  double *C, *y, *sum, *w;
} constrained;

/* Projects q onto the momenta that the constraints allow. */
static void project(const cb_reflection *r, const constrained *c, const cb_reflection_contact *contact,
                    const cb_normal *n, double *q) {
  const cb_space *s = r->space;
  const cb_rows *rows = c->rows;
  const int k = r->k, count = c->part->n;
  memset(c->sum, 0, (size_t)rows->rows * sizeof *c->sum);
  memset(c->w, 0, (size_t)count * (size_t)k * sizeof *c->w);
  for (int i = 0; i < contact->gap.n; i++) { /* w = M^-1 T: the velocities of a unit impulse without constraints */
    const int particle = n->inside[i];
    if (n->mover[i] != c->mover) continue;
    for (int a = 0; a < k; a++)
      c->w[(size_t)particle * k + a] +=
          s->chart ? n->R[(size_t)i * k + a] : n->T[(size_t)i * k + a] / c->part->mass[particle];
  }
  for (int pass = 0; pass < 3; pass++) {
    for (int row = 0; row < rows->rows; row++) {
      c->y[row] = 0;
      for (int e = rows->start[row]; e < rows->start[row + 1]; e++)
        c->y[row] += cb_dot(k, c->C + (size_t)e * k, c->w + (size_t)rows->particle[e] * k);
    }
    cb_gram_solve(c->part->gram, c->y);
    cb_gram_lift(c->part->gram, c->y, -1, c->w);
    for (int row = 0; row < rows->rows; row++) c->sum[row] += c->y[row];
  }
  if (!s->chart) {
    for (int i = 0; i < count; i++)
      for (int a = 0; a < k; a++) q[(size_t)i * k + a] = c->part->mass[i] * c->w[(size_t)i * k + a];
    return;
  }
  for (int row = 0; row < rows->own; row++)
    for (int e = rows->start[row]; e < rows->start[row + 1]; e++)
      for (int a = 0; a < k; a++) q[(size_t)rows->particle[e] * k + a] -= c->sum[row] * c->C[(size_t)e * k + a];
}

static cb_status constrain(cb_reflection *r, double t, int m, const cb_reflection_part *part, int contacts,
                           const cb_reflection_contact *contact) {
  const cb_mover *mover = &r->mover[m];
  constrained c = {.mover = m, .part = &part[mover->part], .rows = cb_constraints_rows(part[mover->part].constraints)};
  const size_t k = (size_t)r->k, entries = (size_t)c.rows->start[c.rows->rows], rows = (size_t)c.rows->rows;
  c.C = cb_reflection_reserve(&r->reserved_gradient, entries * k + 2 * rows + (size_t)mover->n * k, sizeof *c.C);
  if (!c.C) return cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", c.rows->rows);
  c.y = c.C + entries * k;
  c.sum = c.y + rows;
  c.w = c.sum + rows;
  cb_status status = cb_constraints_eval(c.part->constraints, t, c.part->x, NULL, c.C);
  if (!status) status = cb_gram_factor(c.part->gram, c.part->x, c.C, NULL);
  for (int a = 0; a < contacts && !status; a++) {
    const cb_normal *n = &r->normal[a];
    for (int which = 0; which < n->movers; which++)
      if (n->moved[which] == m) project(r, &c, &contact[a], n, r->q + n->column[which]);
  }
  return status;
}

/* Computes T, R and q (file header) of all contacts. */
static cb_status reflection_normals(cb_reflection *r, double t, const cb_reflection_part *part, int contacts,
                                    const cb_reflection_contact *contact) {
  for (int a = 0; a < contacts; a++) {
    cb_normal *n = &r->normal[a];
    const cb_status status = raise(r, part, &contact[a], n);
    if (status) return status;
    for (int which = 0; which < n->movers; which++) unconstrained(r, &contact[a], n, which);
  }
  for (int m = 0; m < r->movers; m++) {
    const cb_status status = r->mover[m].joined ? constrain(r, t, m, part, contacts, contact) : CB_OK;
    if (status) return status;
  }
  return CB_OK;
}

/* Returns the rate u_a of contact a at the momenta r->p. *size is the sum of the absolute values of its terms. */
static double reflection_rate(const cb_reflection *r, const cb_reflection_contact *contact, int a, double *size) {
  const cb_normal *n = &r->normal[a];
  const int k = r->k;
  double sum = contact[a].value.rate_t;
  *size = fabs(sum);
  for (int i = 0; i < contact[a].gap.n; i++) {
    const double *p = r->p + r->mover[n->mover[i]].at + (size_t)n->inside[i] * k, *R = n->R + (size_t)i * k;
    for (int e = 0; e < k; e++) {
      sum += R[e] * p[e];
      *size += fabs(R[e] * p[e]);
    }
  }
  return sum;
}

/* Returns D_ab for the contacts a and b. */
static double reflection_matrix(const cb_reflection *r, const cb_reflection_contact *contact, int a, int b) {
  const cb_normal *na = &r->normal[a], *nb = &r->normal[b];
  double sum = 0;
  for (int i = 0; i < contact[a].gap.n; i++)
    for (int which = 0; which < nb->movers; which++)
      if (nb->moved[which] == na->mover[i])
        sum += cb_dot(r->k, na->R + (size_t)i * r->k, r->q + nb->column[which] + (size_t)na->inside[i] * r->k);
  return sum;
}

/* --- reflection --- */

/* If D_aa is below `immovable` times its value without constraints, the constraints do not let the gap change. Such a
 * gap may keep a closing speed of at most `still`, relative to the sum of the absolute values of the terms of its rate.
 */
static const double immovable = 1e-12, still = 1e-9;
/* Round-off of a rate, relative to the sum of the absolute values of its terms. There are at most 16 terms with three
 * roundings each. */
static const double round_off = 64 * DBL_EPSILON;

void *cb_reflection_reserve(cb_reserved *reserved, size_t count, size_t size) {
  const size_t bytes = count * size;
  if (reserved->at && reserved->bytes >= bytes) return reserved->at;
  const size_t more = bytes > 1024 ? bytes + bytes / 2 : 1024;
  free(reserved->at);
  reserved->at = malloc(more);
  reserved->bytes = reserved->at ? more : 0;
  return reserved->at;
}

cb_status cb_reflection_create(const cb_system *system, cb_reflection **out) {
  cb_reflection *r = calloc(1, sizeof *r);
  if (!r || !cb_reflection_reserve(&r->reserved_mover_at, (size_t)system->n, sizeof(int))) {
    free(r);
    return cb_fail(CB_ERROR_MEMORY, "no memory for reflections");
  }
  r->system = system;
  r->space = system->space;
  r->k = system->k;
  r->mover_at = r->reserved_mover_at.at;
  for (int i = 0; i < system->n; i++) r->mover_at[i] = -1;
  *out = r;
  return CB_OK;
}

void cb_reflection_free(cb_reflection *r) {
  if (!r) return;
  cb_reserved *all[] = {&r->reserved_mover_at, &r->reserved_mover, &r->reserved_normal,
                        &r->reserved_first,    &r->reserved_p,     &r->reserved_q,
                        &r->reserved_gradient, &r->reserved_group, &r->reserved_rule};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->at);
  free(r);
}

/* Returns the mover that contains the particle at this place of the system; the mover is created if necessary. Returns
 * -1 if no part contains the particle. */
static int find_mover(cb_reflection *r, int place, int parts, const cb_reflection_part *part) {
  if (place < 0 || place >= r->system->n) return -1;
  if (r->mover_at[place] >= 0) return r->mover_at[place];
  int at = 0;
  while (at < parts && (place < part[at].first || place >= part[at].first + part[at].n)) at++;
  if (at == parts) return -1;
  cb_mover *m = &r->mover[r->movers];
  m->part = at;
  m->joined = part[at].gram && part[at].constraints && cb_constraints_rows(part[at].constraints)->own > 0;
  m->first = m->joined ? 0 : place - part[at].first;
  m->n = m->joined ? part[at].n : 1;
  m->root = r->movers;
  for (int i = 0; i < m->n; i++) r->mover_at[part[at].first + m->first + i] = r->movers;
  return r->movers++;
}

static void forget_movers(cb_reflection *r, const cb_reflection_part *part) {
  for (int m = 0; m < r->movers; m++)
    for (int i = 0; i < r->mover[m].n; i++) r->mover_at[part[r->mover[m].part].first + r->mover[m].first + i] = -1;
  r->movers = 0;
}

static int root(const cb_reflection *r, int m) {
  while (r->mover[m].root != m) m = r->mover[m].root = r->mover[r->mover[m].root].root;
  return m;
}

/* Collects the movers, allocates the copies of their momenta, and finds the groups of coupled contacts. */
static cb_status gather(cb_reflection *r, int parts, const cb_reflection_part *part, int contacts,
                        const cb_reflection_contact *contact) {
  const size_t maximum = (size_t)CB_GAP_PARTICLES * (size_t)contacts;
  size_t numbers = 0, columns = 0;
  r->mover = cb_reflection_reserve(&r->reserved_mover, maximum, sizeof *r->mover);
  r->normal = cb_reflection_reserve(&r->reserved_normal, (size_t)contacts, sizeof *r->normal);
  r->first = cb_reflection_reserve(&r->reserved_first, maximum, sizeof *r->first);
  if (!r->mover || !r->normal || !r->first) return cb_fail(CB_ERROR_MEMORY, "no memory for %d contacts", contacts);
  for (int a = 0; a < contacts; a++) {
    cb_normal *n = &r->normal[a];
    n->movers = 0;
    for (int i = 0; i < contact[a].gap.n; i++) {
      const int place = contact[a].gap.particle[i], m = find_mover(r, place, parts, part);
      if (m < 0)
        return cb_fail(CB_ERROR_ARGUMENT,
                       "contact %d: particle %d is in no part: expected a particle of one of the parts", a, place);
      int which = 0;
      n->mover[i] = m;
      n->inside[i] = place - part[r->mover[m].part].first - r->mover[m].first;
      while (which < n->movers && n->moved[which] != m) which++;
      if (which < n->movers) continue;
      n->moved[n->movers++] = m;
      n->column[which] = columns;
      columns += (size_t)r->mover[m].n * (size_t)r->k;
      r->mover[root(r, m)].root = root(r, n->mover[0]);
    }
  }
  for (int m = 0; m < r->movers; m++) {
    r->mover[m].at = numbers;
    numbers += (size_t)r->mover[m].n * (size_t)r->k;
    r->first[m] = -1;
  }
  for (int a = contacts - 1; a >= 0; a--) {
    int *first = &r->first[root(r, r->normal[a].mover[0])];
    r->normal[a].next = *first;
    *first = a;
  }
  r->p = cb_reflection_reserve(&r->reserved_p, 2 * numbers, sizeof *r->p);
  r->q = cb_reflection_reserve(&r->reserved_q, columns, sizeof *r->q);
  if (!r->p || !r->q) return cb_fail(CB_ERROR_MEMORY, "no memory for %d contacts", contacts);
  r->p_low = r->p + numbers;
  return CB_OK;
}

/* Copies the momenta of the movers to r->p, or with `back` from r->p to the parts. */
static void copy_momenta(const cb_reflection *r, const cb_reflection_part *part, bool back) {
  for (int m = 0; m < r->movers; m++) {
    const cb_mover *mover = &r->mover[m];
    const cb_reflection_part *from = &part[mover->part];
    const size_t at = (size_t)mover->first * (size_t)r->k, bytes = (size_t)mover->n * (size_t)r->k * sizeof *r->p;
    memcpy(back ? from->p + at : r->p + mover->at, back ? r->p + mover->at : from->p + at, bytes);
    memcpy(back ? from->p_low + at : r->p_low + mover->at, back ? r->p_low + mover->at : from->p_low + at, bytes);
  }
}

static cb_status find_group(cb_reflection *r, int first, const cb_reflection_contact *contact, cb_contact_group *g) {
  g->n = 0;
  for (int a = first; a >= 0; a = r->normal[a].next) g->n++;
  const size_t n = (size_t)g->n;
  g->D = cb_reflection_reserve(&r->reserved_group, n * n + 6 * n, sizeof *g->D);
  if (!g->D) return cb_fail(CB_ERROR_MEMORY, "no memory for %d contacts at once", g->n);
  g->u = g->D + n * n;
  g->e = g->u + n;
  g->l = g->e + n;
  g->tolerance = g->l + n;
  g->contact = (void *)(g->tolerance + n);
  g->fixed = (bool *)(g->contact + n);
  int count = 0;
  for (int a = first; a >= 0; a = r->normal[a].next) {
    g->contact[count] = a;
    g->e[count] = contact[a].restitution;
    g->l[count++] = 0;
  }
  for (int i = 0; i < g->n; i++)
    for (int j = 0; j <= i; j++) {
      const int a = g->contact[i], b = g->contact[j];
      const double one = reflection_matrix(r, contact, a, b);
      const double mean = i == j ? one : 0.5 * (one + reflection_matrix(r, contact, b, a));
      g->D[(size_t)i * n + (size_t)j] = g->D[(size_t)j * n + (size_t)i] = mean;
    }
  for (int i = 0; i < g->n; i++) g->fixed[i] = !(g->D[(size_t)i * (n + 1)] > immovable * r->normal[g->contact[i]].free);
  return CB_OK;
}

/* Computes the rates of the contacts of a group from the momenta, and the round-off of these rates. */
static cb_status take_rates(const cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g) {
  for (int i = 0; i < g->n; i++) {
    const int a = g->contact[i], particle = cb_system_particle(r->system, contact[a].gap.particle[0]);
    double size;
    g->u[i] = reflection_rate(r, contact, a, &size);
    g->tolerance[i] = round_off * size;
    if (!isfinite(g->u[i]) || !isfinite(g->D[(size_t)i * ((size_t)g->n + 1)]))
      return cb_fail(CB_STEP_NOT_FINITE,
                     "a contact of `%s` has a velocity or normal that is not finite: use a smaller `step`",
                     cb_system_particle_name(r->system, particle));
    if (g->fixed[i] && g->u[i] < -still * size)
      return cb_fail(CB_STEP_SINGULAR,
                     "a contact of `%s` closes at speed %.6g, but the constraints allow no motion that changes it: "
                     "expected other constraints or a start without this contact",
                     cb_system_particle_name(r->system, particle), -g->u[i]);
  }
  return CB_OK;
}

/* Adds sum_a q_a l_a to the momenta p (symbols: reflection.h), sets the impulses l to 0, and computes the rates u from
 * the new momenta. */
cb_status cb_reflection_push(cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g) {
  for (int i = 0; i < g->n; i++) {
    cb_normal *n = &r->normal[g->contact[i]];
    n->impulse += g->l[i];
    for (int which = 0; which < n->movers && g->l[i] != 0; which++) {
      const cb_mover *mover = &r->mover[n->moved[which]];
      const double *q = r->q + n->column[which];
      double *p = r->p + mover->at, *p_low = r->p_low + mover->at;
      for (size_t e = 0; e < (size_t)mover->n * (size_t)r->k; e++) {
        const cb_dd sum = cb_dd_add((cb_dd){p[e], p_low[e]}, cb_two_prod(g->l[i], q[e]));
        p[e] = sum.hi;
        p_low[e] = sum.lo;
      }
    }
    g->l[i] = 0;
  }
  return take_rates(r, contact, g);
}

static cb_status reflect_group(cb_reflection *r, cb_contact_rule rule, int first,
                               const cb_reflection_contact *contact) {
  cb_contact_group g;
  cb_status status = find_group(r, first, contact, &g);
  if (!status) status = take_rates(r, contact, &g);
  if (status) return status;
  for (int i = 0; i < g.n; i++) {
    cb_normal *n = &r->normal[g.contact[i]];
    n->before = g.u[i];
    n->impulse = 0;
  }
  status = rule == CB_CONTACT_SEQUENTIAL ? cb_reflection_sequential(r, contact, &g)
                                         : cb_reflection_simultaneous(r, contact, &g);
  for (int i = 0; i < g.n; i++) r->normal[g.contact[i]].after = g.u[i];
  return status;
}

cb_status cb_reflect(cb_reflection *r, cb_contact_rule rule, double t, int parts, const cb_reflection_part *part,
                     int contacts, cb_reflection_contact *contact) {
  if (contacts <= 0) return CB_OK;
  cb_status status = gather(r, parts, part, contacts, contact);
  if (!status) status = reflection_normals(r, t, part, contacts, contact);
  if (!status) copy_momenta(r, part, false);
  for (int m = 0; m < r->movers && !status; m++)
    if (r->first[m] >= 0) status = reflect_group(r, rule, r->first[m], contact);
  if (!status) {
    copy_momenta(r, part, true);
    for (int a = 0; a < contacts; a++) {
      contact[a].before = r->normal[a].before;
      contact[a].after = r->normal[a].after;
      contact[a].impulse = r->normal[a].impulse;
    }
  }
  forget_movers(r, part);
  return status;
}

/* Moves a particle from x to x + step, puts it back on its quadric, and transports its momentum in parallel. Without
 * transport the momentum would have a normal part, which would change the energy. */
static cb_status move(const cb_space *g, const double *step, double *x, double *p) {
  double from[CB_Q_MAX], there[CB_Q_MAX];
  memcpy(from, x, (size_t)g->k * sizeof *x);
  for (int a = 0; a < g->k; a++) x[a] += step[a];
  if (g->chart) return CB_OK;
  cb_space_project_point(g, x);
  const cb_status status = cb_transport(g, from, x, p, there);
  if (status) return status;
  memcpy(p, there, (size_t)g->k * sizeof *p);
  return CB_OK;
}

/* Moves the particles so that the gap s_a of contact a becomes 0 to first order: x <- x - n_a s_a/D_aa (symbols:
 * reflection.h). All displacements are computed, in r->p, before any position changes. */
cb_status cb_reflection_lift(cb_reflection *r, double t, int parts, const cb_reflection_part *part,
                             const cb_reflection_contact *contact) {
  const size_t k = (size_t)r->k;
  if (contact->value.gap == 0) return CB_OK;
  cb_status status = gather(r, parts, part, 1, contact);
  if (!status) status = reflection_normals(r, t, part, 1, contact);
  if (status) goto out;
  const cb_normal *n = &r->normal[0];
  const double D = reflection_matrix(r, contact, 0, 0);
  if (!(D > immovable * n->free)) {
    status = cb_fail(CB_STEP_SINGULAR,
                     "a gap of %.6g cannot be opened, because the constraints allow no motion that changes it: "
                     "expected other constraints or another start",
                     contact->value.gap);
    goto out;
  }
  for (int which = 0; which < n->movers; which++) {
    const cb_mover *mover = &r->mover[n->moved[which]];
    for (int i = 0; i < mover->n; i++) {
      const int particle = mover->first + i;
      double *step = r->p + mover->at + (size_t)i * k;
      status = cb_space_raise(r->space, part[mover->part].x + (size_t)particle * k,
                              r->q + n->column[which] + (size_t)i * k, step);
      if (status) goto out;
      for (size_t a = 0; a < k; a++) step[a] *= -contact->value.gap / D / part[mover->part].mass[particle];
    }
  }
  for (int which = 0; which < n->movers; which++) {
    const cb_mover *mover = &r->mover[n->moved[which]];
    const cb_reflection_part *to = &part[mover->part];
    for (int i = 0; i < mover->n && !status; i++) {
      const size_t at = (size_t)(mover->first + i) * k;
      status = move(r->space, r->p + mover->at + (size_t)i * k, to->x + at, to->p + at);
    }
  }
out:
  forget_movers(r, part);
  return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
}
