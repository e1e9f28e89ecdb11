/* A linear equation of the velocities of up to four particles, in the coordinates q of a chart of the world.
 *
 *   sum_p A_pc(q, t) dq^c_p/dt = b(q, t):   a_pa = A_pc q^c_a,
 *   da_pa/dx_rb = (dA_pc/dq^d_r) q^d_b q^c_a + A_pc q^c_ab [r = p]
 *
 * A_pc is the coefficient of coordinate c of particle p, and b is the right side; r and d are another particle and
 * coordinate. a_pa is the coefficient of the velocity of coordinate a of particle p at x_p. [r = p] is 1 if r = p and 0
 * otherwise. q^c_a and q^c_ab, the derivatives of q^c by the coordinates of a particle, are those of
 * constraint_private.h. If the row uses the space's own chart, q are the particle's coordinates themselves.
 */
#include "dynamics/builder_private.h"

#include <curvebody/node.h>
#include <stdio.h>
#include <string.h>

extern const cb_constraint_class cb_constraint_velocity;

typedef struct keys {
  const cb_node *particles, *chart, *coefficients, *equals, *name;
} keys;

static const cb_param table[] = {
    CB_CONSTRAINT_KEY(keys, "particles", particles, NULL, "", "one to four particles, [[a, 0], ..]"),
    CB_CONSTRAINT_KEY(keys, "chart", chart, "", "", "chart of the coordinates; if absent, the embedding"),
    CB_CONSTRAINT_KEY(keys, "coefficients", coefficients, NULL, "",
                      "one list per particle, with one expression of x0, y0, .., x1, .. and t per coordinate"),
    CB_CONSTRAINT_KEY(keys, "equals", equals, "", "",
                      "value of the sum of coefficients times velocities, an expression; if absent, 0"),
    CB_CONSTRAINT_NAME(keys, name),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

/* Names of the coordinates of n particles, x0, y0, ..., x1, ..., followed by t. */
static void number_names(const cb_chart *chart, int n, char text[][24], const char **names) {
  for (int i = 0; i < n * chart->size; i++) {
    snprintf(text[i], sizeof text[i], "%.8s%d", chart->coordinates[i % chart->size], i / chart->size);
    names[i] = text[i];
  }
  names[n * chart->size] = "t";
}

/* Parses the expressions of a velocity row, and adds the row. On failure *at is the index of the wrong text (count: the
 * text `equals`). */
static cb_status add_velocity(cb_builder *b, cb_constraint *row, const char *const *names, size_t n_names, size_t count,
                              const char *const *coefficient, const char *equals, size_t *at) {
  cb_status status = CB_OK;
  bool any = false;
  for (size_t i = 0; i < count && !status; i++) {
    if (!coefficient[i] || !strcmp(coefficient[i], "0")) continue;
    any = true;
    *at = i;
    status = cb_builder_parse(b, coefficient[i], names, n_names, &row->coefficient[i]);
  }
  if (!status && !any) status = cb_fail(CB_ERROR_ARGUMENT, "velocity: expected a coefficient other than 0");
  if (!status && equals && strcmp(equals, "0")) {
    *at = count;
    status = cb_builder_parse(b, equals, names, n_names, &row->expression);
  }
  if (!status) return cb_builder_add_row(b, row);
  cb_constraint_release(row);
  return status;
}

cb_status cb_builder_velocity_of(cb_builder *b, const char *name, int i, const char *const *coefficient,
                                 const char *equals, size_t *at) {
  const cb_chart *chart = b->space->chart;
  const char *names[CB_Q_MAX + 1];
  cb_constraint row = {.class = &cb_constraint_velocity,
                       .name = name,
                       .elements = 1,
                       .width = 1,
                       .particle = (int[]){i},
                       .chart = chart};
  cb_status status = cb_builder_check_particles(b, "velocity", 1, &i);
  if (!status && !chart) status = cb_fail(CB_ERROR_UNSUPPORTED, "velocity: expected a space with a chart");
  if (status) return status;
  for (int a = 0; a < chart->size; a++) names[a] = chart->coordinates[a];
  names[chart->size] = "t";
  return add_velocity(b, &row, names, (size_t)chart->size + 1, (size_t)chart->size, coefficient, equals, at);
}

cb_status cb_builder_velocity(cb_builder *b, const char *name, int n, const int *particle, const char *chart,
                              const char *const *coefficient, const char *equals) {
  if (n < 1 || n > CB_ELEMENT_PARTICLES)
    return cb_fail(CB_ERROR_ARGUMENT, "velocity: %d particles: expected 1 to %d", n, CB_ELEMENT_PARTICLES);
  int own[CB_ELEMENT_PARTICLES];
  memcpy(own, particle, (size_t)n * sizeof *own);
  cb_constraint row = {.class = &cb_constraint_velocity, .name = name, .elements = 1, .width = n, .particle = own};
  const cb_chart *found = NULL;
  char text[CB_ELEMENT_MAX][24];
  const char *names[CB_ELEMENT_MAX + 1];
  cb_status status = cb_builder_check_particles(b, "velocity", n, particle);
  if (!status) status = cb_builder_find_chart(b, "velocity", chart, &found, &row.chart);
  if (status) return status;
  const size_t count = (size_t)(n * found->size);
  size_t at;
  number_names(found, n, text, names);
  return add_velocity(b, &row, names, count + 1, count, coefficient, equals, &at);
}

static cb_status read_coefficients(const keys *k, size_t n, const cb_chart *chart, const char **coefficient,
                                   const char **equals) {
  char text[CB_ELEMENT_PARTICLES * CB_Q_MAX][32];
  const char *names[CB_ELEMENT_PARTICLES * CB_Q_MAX + 1];
  const size_t size = (size_t)chart->size;
  const cb_node *list = k->coefficients;
  for (size_t p = 0; p < n; p++)
    for (size_t c = 0; c < size; c++) {
      snprintf(text[p * size + c], sizeof text[0], "%s%zu", chart->coordinates[c], p);
      names[p * size + c] = text[p * size + c];
    }
  names[n * size] = "t";
  if (list->kind != CB_NODE_LIST || list->count != n)
    return cb_node_fail(list, "coefficients: expected %zu lists, one per particle", n);
  cb_status status = CB_OK;
  for (size_t p = 0; p < n; p++) {
    const cb_node *row = list->items[p];
    if (row->kind != CB_NODE_LIST || row->count != size)
      return cb_node_fail(row, "coefficients: expected %zu expressions, one per coordinate of the chart", size);
    for (size_t c = 0; c < size && !status; c++)
      status = cb_constraint_read_expression(row->items[c], names, n * size + 1, &coefficient[p * size + c]);
  }
  if (!status && k->equals) status = cb_constraint_read_expression(k->equals, names, n * size + 1, equals);
  return status;
}

static cb_status read(const cb_constraint_entry *e, const void *params) {
  const keys *p = params;
  const char *coefficient[CB_ELEMENT_PARTICLES * CB_Q_MAX], *equals = NULL, *chart;
  const cb_chart *found;
  int particle[CB_ELEMENT_PARTICLES];
  cb_status status = cb_constraint_read_particles(e, "particles", p->particles, 1, CB_ELEMENT_PARTICLES, particle);
  if (!status) status = cb_constraint_read_chart(e, p->chart, &chart, &found);
  if (status) return status;
  const size_t n = p->particles->count;
  status = read_coefficients(p, n, found, coefficient, &equals);
  if (status) return status;
  status = cb_builder_velocity(e->builder, e->name, (int)n, particle, chart, coefficient, equals);
  return cb_constraint_placed(e, status, e->map);
}

enum { PARTICLES = CB_ELEMENT_PARTICLES };

/* Computes the value of an expression and its first derivatives in all coordinates of a row's particles,
 * first[particle][coordinate], and in t. */
static cb_status differentiate(const cb_expression *e, int count, const cb_coordinates *q, double t, const char *what,
                               double *value, double first[PARTICLES][CB_Q_MAX], double *first_t) {
  const int n = q[0].size;
  double at[CB_ELEMENT_MAX + 1], gradient[CB_ELEMENT_MAX + 1];
  for (int p = 0; p < count; p++) memcpy(at + p * n, q[p].q, (size_t)n * sizeof *at);
  at[count * n] = t;
  *value = cb_expression_gradient(e, at, count * n + 1, gradient);
  for (int p = 0; p < count; p++) memcpy(first[p], gradient + p * n, (size_t)n * sizeof *gradient);
  *first_t = gradient[count * n];
  return cb_constraint_check_finite(*value, count * n + 1, gradient, what);
}

static cb_status velocity_at(const cb_constraints *c, const cb_constraint *row, bool own, double t,
                             const double *const *x, int order, cb_element *out) {
  const int k = own ? c->space->dim : c->space->embedding, count = row->width, size = count * k;
  cb_coordinates q[PARTICLES];
  q[0].size = 0;
  double first[PARTICLES][CB_Q_MAX], first_t;
  for (int p = 0; p < count; p++) {
    cb_status status = cb_constraint_coordinates(c, row, own, x[p], order, &q[p]);
    if (status) return status;
  }
  const int n = q[0].size;
  if (row->expression) {
    double b;
    cb_status status = differentiate(row->expression, count, q, t, "the right side", &b, first, &first_t);
    if (status) return status;
    out->value = -b;
    out->t1 = -first_t;
    for (int p = 0; order > 1 && p < count; p++)
      for (int a = 0; a < k; a++)
        for (int i = 0; i < n; i++) out->b_x[p * k + a] -= first[p][i] * q[p].first[i][a];
  }
  for (int p = 0; order && p < count; p++)
    for (int i = 0; i < n; i++) {
      const cb_expression *coefficient = row->coefficient[p * n + i];
      if (!coefficient) continue;
      double A;
      cb_status status = differentiate(coefficient, count, q, t, "a coefficient", &A, first, &first_t);
      if (status) return status;
      for (int a = 0; a < k; a++) out->gradient[p * k + a] += A * q[p].first[i][a];
      if (order < 2) continue;
      for (int a = 0; a < k; a++) {
        double *line = out->hessian + (p * k + a) * size;
        out->tx[p * k + a] += first_t * q[p].first[i][a];
        for (int b = 0; b < k; b++) line[p * k + b] += A * q[p].second[i][a][b];
        for (int r = 0; r < count; r++)
          for (int b = 0; b < k; b++)
            for (int j = 0; j < n; j++) line[r * k + b] += first[r][j] * q[r].first[j][b] * q[p].first[i][a];
      }
    }
  return CB_OK;
}

static cb_status velocity_in_embedding(const cb_constraints *c, const cb_constraint *row, int element, double t,
                                       const double *const *x, int order, cb_element *out) {
  (void)element;
  return velocity_at(c, row, false, t, x, order, out);
}

static cb_status velocity(const cb_constraints *c, const cb_constraint *row, int element, double t,
                          const double *const *x, int order, cb_element *out) {
  if (cb_constraint_own_chart(c, row)) return velocity_at(c, row, true, t, x, order, out);
  return cb_element_by_embedding(velocity_in_embedding, c, row, element, t, x, order, out);
}

const cb_constraint_class cb_constraint_velocity = {.name = "velocity",
                                                    .title = "a linear equation of velocities",
                                                    .doc = "",
                                                    .params = table,
                                                    .params_size = sizeof(keys),
                                                    .read = read,
                                                    .points = 0,
                                                    .element = velocity,
                                                    .velocity = true,
                                                    .timed = true,
                                                    .per_world = true};
