/* Extremals: what is asked, meshes until it is resolved, and what is told of it. */
#include "optimum/extremal_private.h"

#include "bundle/gait_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static cb_status ask(const cb_optimum_problem *o, problem *p) {
  const cb_group *G = o->bundle->group;
  *p = (problem){.o = o, .G = G, .target = o->target, .n = o->bundle->n, .dim = G->dim, .free = !o->base};
  cb_wong_init(&p->wong, o->bundle);
  p->size = p->wong.size;
  p->count = cb_gait_target_count(G, &p->target);
  p->row = cb_gait_target_amount(G, &p->target);
  p->seeks = o->seek != CB_SEEK_COST;
  p->shifts = p->free && (G->abelian || o->target.kind == CB_GAIT_MOVE || o->target.kind == CB_GAIT_TURN);
  if (p->seeks && p->row < 0) return cb_fail(CB_ERROR_ARGUMENT, "the target has no amount whose most could be sought");
  return cb_tableau_gauss(CB_STAGES, &p->gauss);
}

static cb_status check(const cb_optimum_problem *o, const cb_gait *start, const double *lambda) {
  const int n = o->bundle->n;
  if (cb_gait_variables(start) != n)
    return cb_fail(CB_ERROR_ARGUMENT, "a gait of %d shape variables in bundle %s, which has %d",
                   cb_gait_variables(start), o->bundle->kind->name, n);
  for (int a = 0; a < o->bundle->group->dim; a++)
    if (!isfinite(lambda[a])) return cb_fail(CB_ERROR_ARGUMENT, "a multiplier of an extremal is not finite");
  return CB_OK;
}

/* --- meshes --- */

/* Nodes err by the square of the last coefficient, which falls as h^CB_STAGES; where v is no function of them, by it. */
static double roughness(const problem *p) { return p->homogeneous ? 1e-11 : 5e-7; }

double extremal_factor(const extremal_mesh *m) {
  const double factor = pow(mesh_roughness(m) / roughness(m->p), 1. / CB_STAGES);
  return factor > 1 ? 1.1 * factor : factor;
}

cb_status extremal_resolve(extremal_mesh **m) {
  bool rough;
  cb_status status = mesh_solve(*m, roughness((*m)->p), &rough);
  while (!status && rough) {
    extremal_mesh *fine = NULL;
    status = mesh_refine(*m, fmin(extremal_factor(*m), 2), &fine);
    if (status) return status;
    mesh_free(*m);
    *m = fine;
    status = mesh_solve(fine, roughness(fine->p), &rough);
  }
  return status;
}

/* --- what is told --- */

static cb_status arrays(const extremal_mesh *m, cb_extremal *e) {
  const size_t panels = (size_t)m->panels, size = (size_t)m->p->size, each = (size_t)m->p->G->size;
  e->arena = cb_arena_create();
  e->end = cb_arena_alloc(e->arena, (size_t)m->arcs + 1, sizeof *e->end);
  e->held = cb_arena_alloc(e->arena, (size_t)m->arcs, sizeof *e->held);
  e->time = cb_arena_alloc(e->arena, panels + 1, sizeof *e->time);
  e->x = cb_arena_alloc(e->arena, (panels + 1) * size, sizeof *e->x);
  e->stage = cb_arena_alloc(e->arena, panels * CB_STAGES * size, sizeof *e->stage);
  e->element = cb_arena_alloc(e->arena, (panels + 1) * each, sizeof *e->element);
  if (!e->end || !e->held || !e->time || !e->x || !e->stage || !e->element)
    return cb_fail(CB_ERROR_MEMORY, "no memory for an extremal");
  memcpy(e->held, m->held, (size_t)m->arcs * sizeof *e->held);
  memcpy(e->x, m->at.x, (panels + 1) * size * sizeof *e->x);
  memcpy(e->stage, m->at.stage, panels * CB_STAGES * size * sizeof *e->stage);
  memcpy(e->element, m->element, (panels + 1) * each * sizeof *e->element);
  for (int a = 0; a < m->arcs; a++) {
    const int count = m->first[a + 1] - m->first[a];
    e->end[a + 1] = a + 1 < m->arcs ? e->end[a] + m->at.duration[a] : 1;
    for (int k = 0; k <= count; k++) e->time[m->first[a] + k] = e->end[a] + (e->end[a + 1] - e->end[a]) * k / count;
  }
  return CB_OK;
}

cb_status extremal_tell(const extremal_mesh *m, cb_extremal *e) {
  const problem *p = m->p;
  const int n = p->n, last = m->panels * p->size;
  double v[CB_SHAPE_MAX];
  e->wong = p->wong, e->mu = !p->abnormal;
  e->arcs = m->arcs, e->panels = m->panels, e->iterations = m->iterations;
  e->wong.speed *= p->abnormal ? m->at.duration[0] : 0;
  e->cost = p->abnormal ? pow(e->wong.speed, 2) : m->cost, e->amount = p->row >= 0 ? m->at.amount : NAN;
  memcpy(e->gap, p->gap, sizeof e->gap);
  e->residual = m->residual, e->error = pow(mesh_roughness(m), 2);
  memcpy(e->g, m->g1, sizeof e->g);
  memcpy(e->nu, m->at.nu, sizeof e->nu);
  memcpy(e->r, m->at.x, (size_t)n * sizeof *e->r);
  memcpy(e->p, m->at.x + n, (size_t)n * sizeof *e->p);
  memcpy(e->lambda, m->at.x + 2 * n, (size_t)p->dim * sizeof *e->lambda);
  cb_status status = arrays(m, e);
  if (!status && p->homogeneous) return homogeneous_tell(m, e);
  if (!status) status = cb_wong_at(&e->wong, m->held[0], m->at.x, &(cb_wong_rates){.v = e->v});
  if (!status) status = cb_wong_at(&e->wong, m->held[m->arcs - 1], m->at.x + last, &(cb_wong_rates){.v = v});
  for (int i = 0; !status && i < n; i++) e->jump[i] = e->v[i] - v[i];
  return status ? status : extremal_invariants(m, e);
}

cb_status cb_extremal_solve(const cb_optimum_problem *o, const cb_gait *start, const double *lambda, double amount,
                            cb_extremal **out) {
  problem p;
  cb_extremal *e = calloc(1, sizeof *e);
  cb_status status = e ? check(o, start, lambda) : cb_fail(CB_ERROR_MEMORY, "no memory for an extremal");
  if (!status) status = ask(o, &p);
  if (!status) cb_gait_gap(start, p.gap);
  const bool farthest = o->seek == CB_SEEK_TARGET && !isfinite(o->length);
  if (!status && !farthest) status = bounds_solve(&p, start, lambda, amount, e);
  if (status > 0 && (o->lower || o->upper))
    status = bounds_tighten(&p, start, lambda, amount, e);
  else if (status > 0 || (!status && farthest))
    status = homogeneous_solve(&p, start, lambda, amount, status, e);
  if (status) {
    cb_extremal_free(e);
    return status;
  }
  *out = e;
  return CB_OK;
}

void cb_extremal_free(cb_extremal *e) {
  if (e) cb_arena_free(e->arena);
  free(e);
}
