/* Compares a given gait with the conditions of an optimum (find.h). */
#include "bundle/gait_private.h"
#include "optimum/find.h"

#include <math.h>
#include <string.h>

enum { SIZE_FIRST = 8, SIZE_LAST = 64, FUNCTIONS_MAXIMUM = 300 };

/* A gait with a slope up to these tolerances is stationary. Arcs along constraints are found less accurately. The
 * relative error of the cost is about the square of the slope. */
static const double stationary = 1e-7, stationary_at_constraints = 1e-6;

/* Sets the target to the holonomy of the gait. */
static void own_target(const cb_group *G, const double *g, cb_gait_target *t) {
  double c[CB_CONDITIONS_MAX];
  if (t->kind == CB_GAIT_ELEMENT || t->kind == CB_GAIT_PARTS) {
    for (int k = 0; k < G->size; k++)
      if (t->kind == CB_GAIT_ELEMENT || t->asked[k]) t->element[k] = g[k];
  } else {
    t->value = 0;
    if (!cb_gait_target_at(G, t, g, c, NULL, NULL)) t->value = c[0];
  }
}

/* Returns the largest difference between d and the gait at the nodes: of shapes, or of rates divided by the largest
 * rate. */
static double distance(const cb_direct *d, const cb_gait *gait) {
  const int n = d->v->n;
  double maximum = 0, fastest = 0, off = 0;
  for (int q = 0; q < d->basis->nodes; q++) {
    double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX];
    cb_gait_at(gait, d->basis->time[q], r, rate);
    for (int i = 0; i < n; i++) {
      maximum = fmax(maximum, fabs(r[i] - d->v->r[q * n + i]));
      off = fmax(off, fabs(rate[i] - d->v->v[q * n + i]));
      fastest = fmax(fastest, fabs(rate[i]));
    }
  }
  return fmax(maximum, fastest > 0 ? off / fastest : 0);
}

/* The gait in the form in which its optimality is computed. */
typedef struct cut_gait {
  const cb_gait *gait; /* borrowed */
  cb_gait *loop;       /* the gait minus drift t, owned */
  double drift[CB_SHAPE_MAX];
  int arcs;
  double end[CB_ACTIVE_CONSTRAINT_EDGES_MAX + 1];
  bool at_bounds;
  int crossings;
  cb_crossing crossing[CB_CROSSINGS_MAX];
} cut_gait;

/* Splits the gait into a loop and the full periods by which it is displaced in a cycle. */
static cb_status unwind(const cb_bundle *b, cut_gait *c) {
  double back[CB_SHAPE_MAX];
  cb_gait_gap(c->gait, c->drift);
  for (int i = 0; i < b->n; i++) {
    c->drift[i] = b->period[i] > 0 ? b->period[i] * rint(c->drift[i] / b->period[i]) : 0;
    back[i] = -c->drift[i];
  }
  return cb_gait_drifting(c->gait, back, &c->loop);
}

static cb_status cut(const cb_optimum_problem *p, const cb_gait *gait, cut_gait *c) {
  cb_shape_constraints *constraints;
  *c = (cut_gait){.gait = gait};
  cb_status status = cb_shape_constraints_create(p, &constraints);
  if (!status) status = cb_active_constraint_arcs(p->bundle, constraints, gait, &c->arcs, c->end, &c->at_bounds);
  cb_shape_constraints_free(constraints);
  if (!status) status = cb_gait_crossings(p->bundle, gait, &c->crossings, c->crossing);
  return status ? status : unwind(p->bundle, c);
}

/* Creates a search in `size` harmonics if `smooth` is true, and otherwise on the arcs of c, of degree `size` (2 size on
 * a single arc), with corners at their ends. */
static cb_status create(const cb_optimum_problem *p, const cut_gait *c, bool smooth, int size, cb_direct **out) {
  if (smooth) return cb_direct_create(p, size, out);
  cb_basis *basis;
  cb_status status = cb_basis_arcs(c->arcs, c->end, c->arcs == 1 ? 2 * size : size, 0, &basis);
  if (!status) status = cb_direct_create_on(p, basis, out);
  if (status) return status;
  status = cb_direct_cross(*out, c->crossings, c->crossing);
  if (status) cb_direct_free(*out);
  return status;
}

/* Fits the gait in as many functions as it needs, or in the maximum number; *fit: the remaining distance. The functions
 * are harmonics unless the gait has corners, crosses breaks, or is at constraints. */
static cb_status fitted(const cb_optimum_problem *p, const cut_gait *c, cb_direct **out, double *fit) {
  static const double exact = 1e-9, rough = 1e-6;
  bool smooth = !c->at_bounds && !c->crossings && cb_direct_smooth(p);
  for (int size = SIZE_FIRST;; size *= 2) {
    cb_direct *d;
    cb_status status = create(p, c, smooth, size, &d);
    if (status) return status;
    memcpy(d->v->drift, c->drift, sizeof d->v->drift);
    status = cb_direct_from(d, c->loop);
    if (!status) status = cb_variation_at(d->v, d->c, 0);
    if (!status) *fit = distance(d, c->gait);
    const bool last =
        2 * size > (smooth ? SIZE_LAST : SIZE_LAST / 2) || (!smooth && c->arcs * 2 * size > FUNCTIONS_MAXIMUM);
    if (!status && (*fit < exact || (last && !(smooth && *fit > rough)))) {
      *out = d;
      return CB_OK;
    }
    cb_direct_free(d);
    if (status) return status;
    if (last) {
      smooth = false;
      size = SIZE_FIRST / 2;
    }
  }
}

/* Computes the forces of the active constraints of the gait. From then on the slope, the steps and the second variation
 * are restricted to the constraints. */
static cb_status press(cb_direct *d, const cut_gait *c, cb_optimality *v) {
  cb_active_constraints *active_constraints;
  if (!c->at_bounds) return CB_OK;
  const int unknowns = d->v->unknowns + (d->problem->objective != CB_OBJECTIVE_COST);
  cb_status status =
      cb_active_constraints_create(d->barrier->constraints, d->basis, c->gait, unknowns, &active_constraints);
  if (!status) status = cb_direct_press(d, active_constraints);
  if (status) return status;
  v->active_constraints = active_constraints->count;
  memcpy(v->active_constraint, active_constraints->item, sizeof v->active_constraint);
  return CB_OK;
}

/* Computes the second variation. If some active constraints neither press nor are left, it is computed twice: these
 * constraints are first released and then held. */
static cb_status second_variation(cb_direct *d, cb_optimality *v) {
  cb_status status = cb_direct_second_variation(d);
  if (status) return status;
  cb_direct_signs(d, &v->index, &v->flat);
  if (!d->active_constraints || !d->active_constraints->idle) return CB_OK;
  int held, flat;
  d->active_constraints->all = true;
  status = cb_direct_second_variation(d);
  d->active_constraints->all = false;
  if (!status) cb_direct_signs(d, &held, &flat);
  if (!status) v->loose = v->index - held;
  return status;
}

static cb_status check(const cb_optimum_problem *p, const cb_gait *gait) {
  const cb_bundle *b = p->bundle;
  double r[CB_SHAPE_MAX];
  const cb_status status = cb_gait_closed(b, gait);
  if (status) return status;
  cb_gait_at(gait, 0, r, NULL);
  for (int i = 0; p->start_shape && i < b->n; i++)
    if (fabs(r[i] - p->start_shape[i]) > 1e-9 * (1 + fabs(r[i])))
      return cb_fail(CB_ERROR_ARGUMENT, "the gait begins at %s = %.9g: expected the start shape, %.9g", b->shape[i],
                     r[i], p->start_shape[i]);
  return CB_OK;
}

/* Compares a stationary gait with Wong's equations (extremal.h). These include bounds, but not lines of the plot that
 * may not cross; a gait at such lines is not compared. */
static void certify_stationary(cb_direct *d, const cut_gait *c, cb_optimality *v) {
  cb_optimum o = {.cost = v->cost};
  for (int k = 0; k < v->active_constraints; k++)
    if (d->barrier->constraints->constraint[v->active_constraint[k].constraint].variable < 0) return;
  memcpy(o.lambda, v->lambda, sizeof o.lambda);
  if (cb_gait_shifted(c->gait, 0, &o.gait)) return;
  if (!cb_optimum_by_wong(d, &o)) v->wong = o.wong;
  cb_gait_free(o.gait);
  if (v->active_constraints) return;
  v->conjugates = o.conjugates;
  memcpy(v->conjugate, o.conjugate, sizeof v->conjugate);
}

static cb_status judge(cb_direct *d, const cut_gait *c, cb_optimality *v) {
  cb_status status = press(d, c, v);
  if (!status) status = second_variation(d, v);
  if (status) return status;
  memcpy(v->lambda, d->lambda, sizeof v->lambda);
  v->amount = d->amount;
  double uneven;
  v->slope = hypot(d->slope, cb_variation_uneven(d->v, &uneven));
  v->stationary = v->slope <= (v->active_constraints ? stationary_at_constraints : stationary) + 10 * v->fit;
  status = cb_direct_flow(d, &v->gain);
  if (uneven > d->v->cost) v->gain = 1 - (1 - v->gain) * d->v->cost / uneven;
  if (!status && v->stationary) certify_stationary(d, c, v);
  return status;
}

cb_status cb_optimality_of(const cb_optimum_problem *problem, const cb_gait *gait, cb_optimality *v) {
  const cb_group *G = problem->bundle->group;
  cb_optimum_problem p = *problem;
  cut_gait c = {0};
  cb_direct *d;
  *v = (cb_optimality){.wong = NAN, .conjugates = -1, .conjugate = {INFINITY, INFINITY}};
  cb_status status = check(&p, gait);
  if (!status) status = cb_holonomy(p.bundle, gait, 0, v->g, &v->length, &v->cost);
  if (status) return status;
  own_target(G, v->g, &p.target);
  p.objective = problem->objective == CB_OBJECTIVE_EFFICIENCY ? CB_OBJECTIVE_EFFICIENCY : CB_OBJECTIVE_COST;
  status = cut(&p, gait, &c);
  if (!status) status = fitted(&p, &c, &d, &v->fit);
  if (!status) {
    status = judge(d, &c, v);
    cb_direct_free(d);
  }
  cb_gait_free(c.loop);
  return status;
}
