/* A gait held against the conditions of an optimum. */
#include "optimum/verdict.h"

#include "bundle/gait_private.h"
#include "optimum/find.h"

#include <math.h>
#include <string.h>

enum { SIZE_FIRST = 8, SIZE_LAST = 64, FUNCTIONS_MOST = 300 };

/* Slopes of a gait that is stationary but for its digits; arcs along walls are found less exactly. The cost errs by the
 * square. */
static const double stationary = 1e-7, stationary_at_walls = 1e-6;

/* What the gait does, as the target. */
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

/* The largest distance at the nodes, and of rates by their size. */
static double distance(const cb_direct *d, const cb_gait *gait) {
  const int n = d->v->n;
  double most = 0, fastest = 0, off = 0;
  for (int q = 0; q < d->basis->nodes; q++) {
    double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX];
    cb_gait_at(gait, d->basis->time[q], r, rate);
    for (int i = 0; i < n; i++) {
      most = fmax(most, fabs(r[i] - d->v->r[q * n + i]));
      off = fmax(off, fabs(rate[i] - d->v->v[q * n + i]));
      fastest = fmax(fastest, fabs(rate[i]));
    }
  }
  return fmax(most, fastest > 0 ? off / fastest : 0);
}

/* The gait as it is looked at. */
typedef struct cut_gait {
  const cb_gait *gait; /* borrowed */
  cb_gait *loop;       /* without drift */
  double drift[CB_SHAPE_MAX];
  int arcs;
  double end[CB_CONTACT_EDGES_MAX + 1];
  bool touches;
  int crossings;
  cb_crossing crossing[CB_CROSSINGS_MAX];
} cut_gait;

/* As a loop and the whole periods that it goes round in its cycle. */
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
  cb_walls *walls;
  *c = (cut_gait){.gait = gait};
  cb_status status = cb_walls_create(p, &walls);
  if (!status) status = cb_gait_contact_arcs(p->bundle, walls, gait, &c->arcs, c->end, &c->touches);
  cb_walls_free(walls);
  if (!status) status = cb_gait_crossings(p->bundle, gait, &c->crossings, c->crossing);
  return status ? status : unwind(p->bundle, c);
}

/* Harmonics, or arcs of this degree, in which it may turn at their ends. */
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

/* In as many functions as it needs, or can have: in smooth ones, unless it has corners or is at walls. */
static cb_status fitted(const cb_optimum_problem *p, const cut_gait *c, cb_direct **out, double *fit) {
  static const double exact = 1e-9, rough = 1e-6;
  bool smooth = !c->touches && !c->crossings && cb_direct_smooth(p);
  for (int size = SIZE_FIRST;; size *= 2) {
    cb_direct *d;
    cb_status status = create(p, c, smooth, size, &d);
    if (status) return status;
    memcpy(d->v->drift, c->drift, sizeof d->v->drift);
    status = cb_direct_from(d, c->loop);
    if (!status) status = cb_variation_at(d->v, d->c, 0);
    if (!status) *fit = distance(d, c->gait);
    const bool last =
        2 * size > (smooth ? SIZE_LAST : SIZE_LAST / 2) || (!smooth && c->arcs * 2 * size > FUNCTIONS_MOST);
    if (!status && (*fit < exact || (last && !(smooth && *fit > rough)))) return *out = d, CB_OK;
    cb_direct_free(d);
    if (status) return status;
    if (last) smooth = false, size = SIZE_FIRST / 2;
  }
}

/* Forces of the walls that it is at, which make the slope, the steps and the second variation those within them. */
static cb_status press(cb_direct *d, const cut_gait *c, cb_verdict *v) {
  cb_gait_contacts *contacts;
  if (!c->touches) return CB_OK;
  const int unknowns = d->v->unknowns + (d->problem->seek != CB_SEEK_COST);
  cb_status status = cb_gait_contacts_create(d->barrier->walls, d->basis, c->gait, unknowns, &contacts);
  if (!status) status = cb_direct_press(d, contacts);
  if (status) return status;
  v->contacts = contacts->count;
  memcpy(v->contact, contacts->item, sizeof v->contact);
  return CB_OK;
}

/* Its second variation where those contacts give way that neither press nor are left, and where they hold. */
static cb_status bend(cb_direct *d, cb_verdict *v) {
  cb_status status = cb_direct_bend(d);
  if (status) return status;
  cb_direct_signs(d, &v->index, &v->flat);
  if (!d->contacts || !d->contacts->idle) return CB_OK;
  int held, flat;
  d->contacts->all = true;
  status = cb_direct_bend(d);
  d->contacts->all = false;
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
  for (int i = 0; p->base && i < b->n; i++)
    if (fabs(r[i] - p->base[i]) > 1e-9 * (1 + fabs(r[i])))
      return cb_fail(CB_ERROR_ARGUMENT, "the gait begins at %s = %.9g, its base is at %.9g", b->shape[i], r[i],
                     p->base[i]);
  return CB_OK;
}

/* Wong's equations know bounds, not the lines of a picture. */
static void tell_stationary(cb_direct *d, const cut_gait *c, cb_verdict *v) {
  cb_optimum o = {.cost = v->cost};
  for (int k = 0; k < v->contacts; k++)
    if (d->barrier->walls->wall[v->contact[k].wall].variable < 0) return;
  memcpy(o.lambda, v->lambda, sizeof o.lambda);
  if (cb_gait_shifted(c->gait, 0, &o.gait)) return;
  if (!cb_optimum_by_wong(d, &o)) v->wong = o.wong;
  cb_gait_free(o.gait);
  if (v->contacts) return;
  v->conjugates = o.conjugates;
  memcpy(v->conjugate, o.conjugate, sizeof v->conjugate);
}

static cb_status judge(cb_direct *d, const cut_gait *c, cb_verdict *v) {
  cb_status status = press(d, c, v);
  if (!status) status = bend(d, v);
  if (status) return status;
  memcpy(v->lambda, d->lambda, sizeof v->lambda);
  v->amount = d->amount;
  double uneven;
  v->slope = hypot(d->slope, cb_variation_uneven(d->v, &uneven));
  v->stationary = v->slope <= (v->contacts ? stationary_at_walls : stationary) + 10 * v->fit;
  status = cb_direct_flow(d, &v->gain);
  if (uneven > d->v->cost) v->gain = 1 - (1 - v->gain) * d->v->cost / uneven;
  if (!status && v->stationary) tell_stationary(d, c, v);
  return status;
}

cb_status cb_verdict_of(const cb_optimum_problem *problem, const cb_gait *gait, cb_verdict *v) {
  const cb_group *G = problem->bundle->group;
  cb_optimum_problem p = *problem;
  cut_gait c = {0};
  cb_direct *d;
  *v = (cb_verdict){.wong = NAN, .conjugates = -1, .conjugate = {INFINITY, INFINITY}};
  cb_status status = check(&p, gait);
  if (!status) status = cb_holonomy(p.bundle, gait, 0, v->g, &v->length, &v->cost);
  if (status) return status;
  own_target(G, v->g, &p.target);
  p.seek = problem->seek == CB_SEEK_EFFICIENCY ? CB_SEEK_EFFICIENCY : CB_SEEK_COST;
  status = cut(&p, gait, &c);
  if (!status) status = fitted(&p, &c, &d, &v->fit);
  if (!status) {
    status = judge(d, &c, v);
    cb_direct_free(d);
  }
  cb_gait_free(c.loop);
  return status;
}
