/* A surface: the particle stays where an expression f(q, t) is 0, with the coordinates q of a chart of the world.
 *
 *   g = f(q, t):   g_a = f_c q^c_a,  g_ab = f_cd q^c_a q^d_b + f_c q^c_ab
 *
 * f_c is df/dq^c. q^c_a and q^c_ab, the derivatives of q^c by the coordinates of the particle, are those of
 * constraint_private.h. If the row uses the space's own chart, q are the particle's coordinates themselves.
 */
#include "dynamics/builder_private.h"

#include <curvebody/node.h>
#include <stdio.h>
#include <string.h>

extern const cb_constraint_class cb_constraint_surface;

typedef struct keys {
  const cb_node *particle, *body, *chart, *value, *name;
} keys;

static const cb_param table[] = {
    CB_CONSTRAINT_KEY(keys, "particle", particle, "", "", "[body, number]"),
    CB_CONSTRAINT_KEY(keys, "body", body, "", "", "instead of particle: all particles of a body"),
    CB_CONSTRAINT_KEY(keys, "chart", chart, "", "",
                      "chart whose coordinates the expression uses; if absent, the embedding"),
    CB_CONSTRAINT_KEY(keys, "value", value, NULL, "", "expression of the coordinates and t; it is 0 on the surface"),
    CB_CONSTRAINT_NAME(keys, name),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

cb_status cb_builder_surface(cb_builder *b, const char *name, int i, const char *chart, const char *expression) {
  cb_constraint row = {
      .class = &cb_constraint_surface, .name = name, .elements = 1, .width = 1, .particle = (int[]){i}};
  const cb_chart *found = NULL;
  const char *names[CB_Q_MAX + 1];
  cb_status status = cb_builder_check_particles(b, "surface", 1, &i);
  if (!status) status = cb_builder_find_chart(b, "surface", chart, &found, &row.chart);
  if (status) return status;
  const size_t n = (size_t)found->size;
  for (size_t a = 0; a < n; a++) names[a] = found->coordinates[a];
  names[n] = "t";
  status = cb_builder_parse(b, expression, names, n + 1, &row.expression);
  if (status) return status;
  bool used = false;
  for (size_t a = 0; a < n; a++) used = used || cb_expression_uses(row.expression, a);
  if (!used) {
    cb_constraint_release(&row);
    return cb_fail(CB_ERROR_ARGUMENT,
                   "surface: '%.40s' does not depend on the position: expected an expression of the coordinates",
                   expression);
  }
  return cb_builder_add_row(b, &row);
}

static cb_status read(const cb_constraint_entry *e, const void *params) {
  const keys *p = params;
  const char *value, *chart, *name = e->name;
  const cb_chart *found;
  char numbered[256];
  int first = -1, count = 1, body = -1;
  if (!p->particle == !p->body)
    return p->body ? cb_node_fail(p->body, "`body` next to `particle`: expected only one of them")
                   : cb_node_fail(e->map, "missing key 'particle': expected a particle [body, number], or `body`");
  cb_status status = cb_constraint_read_chart(e, p->chart, &chart, &found);
  if (!status) status = cb_node_string(p->value, &value);
  if (!status)
    status = p->body ? cb_constraint_read_body(e, p->body, &body) : cb_constraint_read_particle(e, p->particle, &first);
  if (!status && p->body) count = cb_builder_body_particles(e->builder, body, &first);
  for (int i = 0; i < count && !status; i++) {
    if (e->name && p->body) {
      snprintf(numbered, sizeof numbered, "%s.%d", e->name, i);
      name = numbered;
    }
    status = cb_builder_surface(e->builder, name, first + i, chart, value);
    status = cb_constraint_placed_in(e, status, p->value);
  }
  return status;
}

static cb_status surface_at(const cb_constraints *c, const cb_constraint *row, bool own, double t, const double *x,
                            int order, cb_element *out) {
  const int k = own ? c->space->dim : c->space->embedding;
  cb_coordinates q;
  cb_status status = cb_constraint_coordinates(c, row, own, x, order, &q);
  if (status) return status;
  const int n = q.size;
  double at[CB_Q_MAX + 1], first[CB_Q_MAX + 1];
  memcpy(at, q.q, (size_t)n * sizeof *at);
  at[n] = t;
  if (order < 2) {
    out->value = cb_expression_gradient(row->expression, at, n + 1, first);
    out->t1 = first[n];
    status = cb_constraint_check_finite(out->value, order ? n + 1 : 0, first, "the function");
    if (status) return status;
    for (int a = 0; order && a < k; a++)
      for (int i = 0; i < n; i++) out->gradient[a] += first[i] * q.first[i][a];
    return CB_OK;
  }
  const cb_jet jet = cb_expression_jet(row->expression, at, n + 1);
  status = cb_constraint_check_finite(jet.v, n + 1, jet.g, "the function");
  if (status) return status;
  out->value = jet.v;
  out->t1 = jet.g[n];
  out->t2 = jet.h[cb_jet_packed(n, n)];
  for (int a = 0; a < k; a++)
    for (int i = 0; i < n; i++) {
      out->gradient[a] += jet.g[i] * q.first[i][a];
      out->tx[a] += jet.h[cb_jet_packed(n, i)] * q.first[i][a];
      for (int b = 0; b < k; b++) {
        double sum = jet.g[i] * q.second[i][a][b];
        for (int j = 0; j < n; j++) sum += jet.h[cb_jet_packed(i, j)] * q.first[i][a] * q.first[j][b];
        out->hessian[a * k + b] += sum;
      }
    }
  return CB_OK;
}

static cb_status surface_in_embedding(const cb_constraints *c, const cb_constraint *row, int element, double t,
                                      const double *const *x, int order, cb_element *out) {
  (void)element;
  return surface_at(c, row, false, t, x[0], order, out);
}

static cb_status surface(const cb_constraints *c, const cb_constraint *row, int element, double t,
                         const double *const *x, int order, cb_element *out) {
  if (cb_constraint_own_chart(c, row)) return surface_at(c, row, true, t, x[0], order, out);
  return cb_element_by_embedding(surface_in_embedding, c, row, element, t, x, order, out);
}

const cb_constraint_class cb_constraint_surface = {.name = "surface",
                                                   .title = "a particle stays on a surface",
                                                   .doc = "",
                                                   .params = table,
                                                   .params_size = sizeof(keys),
                                                   .read = read,
                                                   .points = 1,
                                                   .element = surface,
                                                   .timed = true,
                                                   .per_world = true};
