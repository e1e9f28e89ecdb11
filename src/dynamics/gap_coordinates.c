/* Walls and events that are functions s(q, t, r) of coordinates in the world, of the time t and of radii r of
 * particles: their values and first derivatives.
 *
 *   s_x = s_q q_x
 * q are the coordinates in a chart, or in the embedding, and q_x are their derivatives in the particle's moved frame
 * (constraint_private.h). In a space with a chart, s_x is pulled back to that chart. s comes from the class
 * (gap_class.h): by on_jets, or by a closed form. Source: Griewank & Walther, Evaluating Derivatives, 2nd ed. (2008),
 * chapter 13, doi:10.1137/1.9780898717761.
 */
#include "dynamics/gap_class.h"

#include "dynamics/constraint_private.h"

#include <math.h>
#include <string.h>

enum { K = CB_COORD_MAX };

static cb_status step_status(cb_status status) { return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status; }

const cb_chart *cb_gap_function_chart(const cb_space *g, const cb_gap_function *f) {
  const cb_gap_class *c = f->class;
  if (c->forms && c->forms->chart) return c->forms->chart(f->of);
  const cb_chart *chart = c->chart ? cb_chart_find(g, c->chart) : g->chart;
  return chart && (chart == g->chart || strcmp(chart->name, "embedding")) ? chart : NULL;
}

bool cb_gap_function_uses(const cb_gap_function *f, int i) {
  const cb_gap_forms *forms = f->class->forms;
  return forms && forms->uses ? forms->uses(f->of, i) : true;
}

bool cb_gap_function_timed(const cb_space *g, const cb_gap_function *f) {
  if (cb_gap_function_is_length(f)) return false;
  const cb_gap_forms *forms = f->class->forms;
  const cb_chart *chart = cb_gap_function_chart(g, f);
  return forms && forms->uses ? forms->uses(f->of, chart ? chart->size : g->embedding) : f->class->timed;
}

/* Evaluates on_jets. order > 0: with the derivatives of first and second order in the n coordinates and in t. */
static cb_status on_jets(const cb_space *g, const cb_gap_function *f, int n, const double *at, int order, cb_jet *out) {
  cb_jet x[CB_JET_MAX];
  for (int i = 0; i <= n; i++) x[i] = order ? cb_jet_variable(n + 1, i, at[i]) : cb_jet_constant(0, at[i]);
  return f->class->on_jets(f->of, g, x, &x[n], at + n + 1, out);
}

cb_jet cb_gap_function_jet(const cb_space *g, const cb_gap_function *f, int n, const double *at) {
  const cb_gap_forms *forms = f->class->forms;
  if (forms && forms->jet) return forms->jet(f->of, at, n + 1);
  cb_jet jet;
  return on_jets(g, f, n, at, 2, &jet) ? cb_jet_constant(n + 1, NAN) : jet;
}

/* Computes the value and, for order 1, the derivatives in the coordinates and in t. */
static cb_status differentiate(const cb_space *g, const cb_gap_function *f, int n, const double *at, int order,
                               cb_gap_value *out, double *first) {
  const cb_gap_forms *forms = f->class->forms;
  if (forms && forms->differentiate) {
    forms->differentiate(f->of, n, at, order, out, first);
  } else {
    cb_jet jet;
    const cb_status status = on_jets(g, f, n, at, order, &jet);
    if (status) return step_status(status);
    out->gap = jet.v;
    if (order) memcpy(first, jet.g, (size_t)(n + 1) * sizeof *first);
  }
  bool finite = isfinite(out->gap);
  for (int i = 0; order && i <= n; i++) finite = finite && isfinite(first[i]);
  if (!finite)
    return cb_fail(
        CB_STEP_DOMAIN,
        "the expression of a wall or event is not finite at this point: use a smaller `step` or another expression");
  out->rate_t = order ? first[n] : 0;
  return CB_OK;
}

/* to[dim] = J^T from, in a space with a chart: `from` is a gradient in the embedding, and J[embedding][dim] is the
 * Jacobian of the point in the coordinates of the chart. */
static void pull(const cb_space *g, const double *J, const double *from, double *to) {
  for (int i = 0; i < g->dim; i++) {
    to[i] = 0;
    for (int a = 0; a < g->embedding; a++) to[i] += J[a * g->dim + i] * from[a];
  }
}

/* The coordinates q of a particle with their derivatives. In a space with a chart, J is the Jacobian of the point of
 * the embedding in the coordinates of that chart. */
typedef struct place {
  cb_coordinates q;
  double J[K * CB_DIM_MAX];
} place;

/* Evaluates the coordinates of a particle at x. in_chart: the space has a chart that differs from the chart of the
 * function s. */
static cb_status locate(const cb_gaps *gaps, const cb_chart *chart, int particle, bool in_chart, const double *x,
                        int order, place *out) {
  const cb_space *g = gaps->space;
  double point[K];
  cb_isometry world;
  if (in_chart) {
    const cb_status status = step_status(g->chart->to_point(g, x, point, order ? out->J : NULL));
    if (status) return status;
  }
  cb_origin_isometry(g, cb_gap_origin(gaps, particle), &world);
  return cb_coordinates_at(g, chart, &world, in_chart ? point : x, order, &out->q);
}

cb_status cb_gap_coordinates(const cb_gaps *gaps, const cb_gap_function *f, const cb_gap *gap, double t,
                             const double *const *x, int order, cb_gap_value *out) {
  const cb_space *g = gaps->space;
  const cb_chart *chart = cb_gap_function_chart(g, f);
  const bool in_chart = g->chart && !g->intrinsic && chart != g->chart, own = g->chart && !gaps->moves && !in_chart;
  const int size = chart ? chart->size : g->embedding, n = gap->n * size;
  double at[CB_JET_MAX + 2], first[CB_JET_MAX], slope[K];
  place of[2];
  for (int p = 0; p < gap->n; p++) {
    at[n + 1 + p] = gaps->system->radius[gap->particle[p]];
    if (own) {
      memcpy(at + p * size, x[p], (size_t)size * sizeof *at);
      continue;
    }
    const cb_status status = locate(gaps, chart, gap->particle[p], in_chart, x[p], order, &of[p]);
    if (status) return status;
    memcpy(at + p * size, of[p].q.q, (size_t)size * sizeof *at);
  }
  at[n] = t;
  const cb_status status = differentiate(g, f, n, at, order, out, first);
  if (status || !order) return status;
  if (own) memcpy(out->gradient, first, (size_t)n * sizeof *first);
  for (int p = 0; p < gap->n && !own; p++) {
    double *own_gradient = out->gradient + p * g->k, *gradient = in_chart ? slope : own_gradient;
    for (int a = 0; a < g->embedding; a++) {
      gradient[a] = 0;
      for (int c = 0; c < size; c++) gradient[a] += first[p * size + c] * of[p].q.first[c][a];
    }
    if (in_chart) pull(g, of[p].J, slope, own_gradient);
  }
  return CB_OK;
}
