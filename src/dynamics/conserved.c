/* What a system conserves: see conserved.h. */
#include "dynamics/conserved.h"

#include "dynamics/contact_private.h"

#include <math.h>

/* Of the largest number of its kind: what is less is round-off. */
static const double vanishes = 1e-12;

/* --- energy --- */

static bool timed(const cb_expression *e, int variable) { return e && cb_expression_uses(e, (size_t)variable); }

/* Time stands behind the coordinates of an expression. */
static int coordinates(const cb_geometry *g, const cb_chart *chart) { return chart ? chart->size : g->embedding; }

static bool forces_keep_energy(const cb_system *s) {
  bool keeps = !s->damped && !s->n_generalised;
  for (int i = 0; i < s->n_interactions; i++) keeps = keeps && !timed(s->interaction[i].law.expression, 1);
  for (int i = 0; i < s->n_centrals; i++) keeps = keeps && !timed(s->central[i].law.expression, 1);
  for (int i = 0; i < s->n_fields; i++)
    keeps = keeps && !timed(s->field[i].expression, coordinates(s->space, s->field[i].chart));
  return keeps;
}

/* Of a constraint of velocities `expression` is b in a v = b. */
static bool constraint_keeps_energy(const cb_system *s, const cb_constraint *c) {
  if (c->kind->velocity) return !c->expression;
  return !timed(c->law, 0) && !timed(c->expression, coordinates(s->space, c->chart));
}

static bool contacts_keep_energy(const cb_system *s) {
  const cb_contact_set *set = s->contacts;
  if (!set) return true;
  bool keeps = !set->on || set->options.restitution == 1;
  for (int i = 0; i < set->n_walls; i++)
    keeps = keeps && set->wall[i].restitution == 1 &&
            !timed(set->wall[i].expression, coordinates(s->space, set->wall[i].chart));
  return keeps && set->options.pile != CB_PILE_REST;
}

/* --- momenta --- */

static void break_all(const cb_geometry *g, cb_conserved *out) {
  for (int f = 0; f < g->n_killing; f++) out->momentum[f] = false;
}

/* Something stands at the point: what moves it is broken. */
static void keep_point(const cb_geometry *g, const cb_fixed *at, cb_conserved *out) {
  double size[CB_KILLING_MAX], most = 0;
  if (cb_origin_killing_sizes(g, &at->origin, at->x, size)) {
    break_all(g, out);
    return;
  }
  for (int f = 0; f < g->n_killing; f++) most = fmax(most, size[f]);
  for (int f = 0; f < g->n_killing; f++)
    if (!(size[f] <= vanishes * most)) out->momentum[f] = false;
}

/* A plane <n, x - foot> = 0 is kept where A n = 0 and <n, b> = 0. */
static void keep_plane(const cb_geometry *g, const double *normal, cb_conserved *out) {
  for (int f = 0; f < g->n_killing; f++) {
    const cb_killing *X = &g->killing[f];
    double off = 0, along = 0;
    for (int a = 0; a < g->embedding; a++) {
      double turned = 0;
      for (int b = 0; b < g->embedding; b++) turned += X->a[a][b] * normal[b];
      off = fmax(off, fabs(turned));
      along += g->form[a] * normal[a] * X->b[a];
    }
    if (!(fmax(off, fabs(along)) <= vanishes)) out->momentum[f] = false;
  }
}

/* How fast Killing field f moves each coordinate of a chart (NULL: the embedding), at the most of some points that
 * stand in no symmetry to it. */
static cb_status rates(const cb_geometry *g, const cb_chart *chart, int f, double *rate) {
  static const double offset[][CB_Q_MAX] = {
      {0.31, 0.17, 0.23, 0.11, -0.19, 0.13, 0.29, -0.07, 0.05, 0.21, -0.27, 0.15},
      {-0.13, 0.29, 0.19, 0.07, 0.11, -0.23, 0.17, 0.31, -0.05, 0.27, 0.21, -0.15},
      {0.21, -0.27, -0.15, 0.05, 0.29, 0.07, -0.31, 0.13, 0.23, -0.11, 0.19, 0.17}};
  for (int a = 0; a < CB_Q_MAX; a++) rate[a] = 0;
  for (size_t p = 0; p < sizeof offset / sizeof *offset; p++) {
    double x[CB_Q_MAX], v[CB_Q_MAX], q[CB_Q_MAX], u[CB_Q_MAX];
    cb_geometry_base_point(g, x);
    for (int a = 0; a < g->embedding; a++) x[a] += offset[p][a];
    cb_geometry_project_point(g, x);
    cb_killing_at(g, f, x, v);
    const bool plain = !chart || g->intrinsic;
    const cb_status status = plain ? CB_OK : cb_chart_pull(g, chart, x, v, q, u);
    if (status) return status;
    for (int a = 0; a < coordinates(g, chart); a++) rate[a] = fmax(rate[a], fabs(plain ? v[a] : u[a]));
  }
  return CB_OK;
}

/* An expression of coordinates is kept by what moves none of those that it uses. */
static void keep_coordinates(const cb_geometry *g, const cb_chart *chart, const cb_expression *e, cb_conserved *out) {
  for (int f = 0; f < g->n_killing; f++) {
    double rate[CB_Q_MAX];
    bool keeps = out->momentum[f] && !rates(g, chart, f, rate);
    for (int a = 0; keeps && a < coordinates(g, chart); a++)
      keeps = rate[a] <= vanishes || !cb_expression_uses(e, (size_t)a);
    out->momentum[f] = keeps;
  }
}

static void keep_constraint(const cb_system *s, const cb_constraint *c, cb_conserved *out) {
  if (c->kind->velocity) break_all(s->space, out);
  else if (c->expression) keep_coordinates(s->space, c->chart, c->expression, out);
  else if (c->kind->per_world) keep_point(s->space, &c->centre, out);
}

static void keep_wall(const cb_system *s, const cb_wall *wall, cb_conserved *out) {
  cb_fixed centre;
  switch (wall->kind) {
    case CB_WALL_PLANE: keep_plane(s->space, wall->normal, out); break;
    case CB_WALL_EXPRESSION: keep_coordinates(s->space, wall->chart, wall->expression, out); break;
    case CB_WALL_BALL:
      cb_origin_identity(s->space, &centre.origin);
      for (int a = 0; a < CB_COORD_MAX; a++) centre.x[a] = wall->centre[a];
      keep_point(s->space, &centre, out);
      break;
  }
}

cb_conserved cb_system_conserved(const cb_system *s) {
  cb_conserved out = {.energy = forces_keep_energy(s) && contacts_keep_energy(s)};
  for (int f = 0; f < s->space->n_killing; f++) out.momentum[f] = !s->n_generalised;
  for (int i = 0; i < s->n_centrals; i++)
    if (s->central[i].group.n) keep_point(s->space, &s->central[i].centre, &out);
  for (int i = 0; i < s->n_fields; i++)
    if (s->field[i].group.n) keep_coordinates(s->space, s->field[i].chart, s->field[i].expression, &out);
  for (int r = 0; r < s->n_constraints; r++) {
    out.energy = out.energy && constraint_keeps_energy(s, &s->constraint[r]);
    keep_constraint(s, &s->constraint[r], &out);
  }
  for (int i = 0; s->contacts && i < s->contacts->n_walls; i++) keep_wall(s, &s->contacts->wall[i], &out);
  return out;
}
