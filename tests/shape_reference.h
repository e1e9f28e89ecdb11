/* A reference for shape variables that move by themselves: the equations of src/bundle/shape_motion.h, where the
 * symbols are defined, as ordinary differential equations for (g, r, mu, p), solved by GSL's rk8pd. The test cases are
 * shapes with forces of all kinds. */
#pragma once

#include "bundle/shape_motion.h"
#include "check.h"
#include "numerics/tableau.h"
#include "yaml/yaml.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_odeiv2.h>

enum { REFERENCE = CB_SHAPE_FORM };

/* A bundle with forces. If a text is NULL, there is no such force or drive. */
typedef struct shape_case {
  const char *name, *text; /* name of the bundle, and its parameters */
  const char *torque[3];   /* expressions of t, the shape variables and their rates */
  const char *drive[3];    /* expressions of t */
  const char *potential;   /* expression of the group element g0, g1, .. and of the shape variables */
  double momentum[6], r[3], v[3], stiffness[3], damping[3];
} shape_case;

typedef struct moving_shape {
  cb_bundle *bundle;
  cb_shape_variable variable[CB_SHAPE_MAX];
  cb_expression *expression[8];
  int expressions;
  cb_shape_problem problem;
  cb_shape_state start;
} moving_shape;

static inline const cb_expression *shape_expression(moving_shape *m, const char *text, const char *const *name, int n) {
  size_t at;
  check_ok(cb_expression_parse(text, name, (size_t)n, &at, &m->expression[m->expressions]));
  return m->expression[m->expressions++];
}

static inline void shape_open(const shape_case *c, bool drag, moving_shape *m) {
  static char names[CB_GROUP_SIZE + 2 * CB_SHAPE_MAX][64];
  const char *argument[1 + 2 * CB_SHAPE_MAX] = {"t"}, *place[CB_GROUP_SIZE + CB_SHAPE_MAX];
  cb_tree *tree;
  memset(m, 0, sizeof *m);
  check_ok(cb_yaml_read_text("test", c->text, strlen(c->text), &tree));
  check_ok(cb_bundle_create(c->name, cb_tree_root(tree), &m->bundle));
  cb_tree_free(tree);
  const cb_bundle *b = m->bundle;
  const cb_group *G = b->group;
  for (int i = 0; i < b->n; i++) {
    snprintf(names[i], sizeof *names, "%s_rate", b->shape[i]);
    argument[1 + i] = b->shape[i];
    argument[1 + b->n + i] = names[i];
    place[G->size + i] = b->shape[i];
  }
  for (int k = 0; k < G->size; k++) {
    snprintf(names[CB_SHAPE_MAX + k], sizeof *names, "g%d", k);
    place[k] = names[CB_SHAPE_MAX + k];
  }
  m->problem =
      (cb_shape_problem){.bundle = b, .drag = drag, .has_form = b->class_->form != NULL, .variable = m->variable};
  double rate[CB_SHAPE_MAX] = {0};
  G->identity(G, m->start.g);
  memcpy(m->start.mu, c->momentum, sizeof c->momentum);
  for (int i = 0; i < b->n; i++) {
    m->variable[i] = (cb_shape_variable){.stiffness = c->stiffness[i],
                                         .rest = .1,
                                         .damping = c->damping[i],
                                         .lowest = -INFINITY,
                                         .highest = INFINITY,
                                         .driven = c->drive[i] != NULL};
    if (c->torque[i]) m->variable[i].torque = shape_expression(m, c->torque[i], argument, 1 + 2 * b->n);
    if (c->drive[i]) m->variable[i].drive = shape_expression(m, c->drive[i], argument, 1);
    m->start.r[i] = c->r[i];
    rate[i] = c->v[i];
  }
  if (c->potential) m->problem.potential = shape_expression(m, c->potential, place, G->size + b->n);
  cb_shape_drive(&m->problem, 0, false, m->start.r, rate);
  if (!drag) check_ok(cb_shape_start(&m->problem, rate, &m->start));
}

static inline void shape_close(moving_shape *m) {
  for (int k = 0; k < m->expressions; k++) cb_expression_free(m->expression[k]);
  cb_bundle_free(m->bundle);
}

/* Solves a x = b for the components of x with given[i] false. The other components of x are known, and those of b are
 * not used. */
static inline void solve_partly(int N, const double *a, const double *b, const bool *given, double *x) {
  int index[REFERENCE], k = 0;
  double m[REFERENCE * REFERENCE], rhs[REFERENCE];
  for (int i = 0; i < N; i++)
    if (!given[i]) index[k++] = i;
  if (!k) return;
  for (int i = 0; i < k; i++) {
    rhs[i] = b[index[i]];
    for (int j = 0; j < N; j++)
      if (given[j]) rhs[i] -= a[index[i] * N + j] * x[j];
    for (int j = 0; j < k; j++) m[i * k + j] = a[index[i] * N + index[j]];
  }
  gsl_matrix_view M = gsl_matrix_view_array(m, (size_t)k, (size_t)k);
  gsl_vector_view R = gsl_vector_view_array(rhs, (size_t)k);
  gsl_permutation *order = gsl_permutation_alloc((size_t)k);
  int sign;
  gsl_linalg_LU_decomp(&M.matrix, order, &sign);
  gsl_linalg_LU_svx(&M.matrix, order, &R.vector);
  gsl_permutation_free(order);
  for (int i = 0; i < k; i++) x[index[i]] = rhs[i];
}

/* Computes the derivative dy of the state y = (numbers of g, r, mu, p) at time t. If the bundle has no form G, its
 * metric M is used instead of G. */
static inline int shape_derivative(double t, const double y[], double dy[], void *of) {
  const moving_shape *m = of;
  const cb_shape_problem *p = &m->problem;
  const cb_bundle *b = p->bundle;
  const cb_group *group = b->group;
  const int n = b->n, dim = p->has_form ? group->dim : 0, N = dim + n, size = group->size;
  const double *g = y, *mu = y + size + n, *momenta = mu + group->dim;
  double G[REFERENCE * REFERENCE], dG[CB_SHAPE_MAX * REFERENCE * REFERENCE], A[CB_GROUP_DIM * CB_SHAPE_MAX];
  double r[CB_SHAPE_MAX], v[CB_SHAPE_MAX] = {0}, b_[REFERENCE] = {0}, u[REFERENCE] = {0}, xi[CB_GROUP_DIM],
                          F[CB_GROUP_DIM], f[CB_SHAPE_MAX], turned[CB_GROUP_DIM] = {0};
  bool given[REFERENCE] = {false};
  cb_shape_force force;
  memcpy(r, y + size, sizeof *r * (size_t)n);
  cb_shape_drive(p, t, false, r, v);
  if (p->has_form ? b->class_->form(b, r, G, p->drag ? NULL : dG) : cb_bundle_evaluate(b, r, A, NULL, G, dG))
    return GSL_FAILURE;
  for (int i = 0; i < n; i++) {
    given[dim + i] = p->variable[i].driven;
    u[dim + i] = v[i];
  }
  cb_shape_potential(p, g, r, F, f);
  if (p->drag) { /* with drag, forces are linear in the rates: torques do not depend on them here */
    cb_shape_force_at(p, t, r, v, true, &force);
    for (int a = 0; a < dim; a++) b_[a] = F[a];
    for (int i = 0; i < n; i++) {
      b_[dim + i] = force.Q[i] + f[i] + p->variable[i].damping * v[i];
      G[(dim + i) * N + dim + i] += p->variable[i].damping;
    }
  } else {
    for (int a = 0; a < dim; a++) b_[a] = mu[a];
    for (int i = 0; i < n; i++) b_[dim + i] = momenta[i];
  }
  solve_partly(N, G, b_, given, u);
  for (int a = 0; a < group->dim; a++) {
    xi[a] = dim ? u[a] : 0;
    for (int i = 0; !dim && i < n; i++) xi[a] -= A[a * n + i] * u[i];
  }
  memset(dy, 0, sizeof *dy * (size_t)(size + 2 * n + group->dim));
  for (int k = -4; k <= 4; k++) { /* computes g' from differences of order 8 of g exp(t xi) */
    double step[CB_GROUP_DIM], moved[CB_GROUP_SIZE];
    static const double h = 1e-2;
    if (!k) continue;
    for (int a = 0; a < group->dim; a++) step[a] = k * h * xi[a];
    group->exp(group, step, moved);
    group->multiply(group, g, moved, moved);
    for (int i = 0; i < size; i++) dy[i] += (k > 0 ? 1 : -1) * cb_central_weight[abs(k) - 1] * moved[i] / h;
  }
  for (int i = 0; i < n; i++) dy[size + i] = u[dim + i];
  if (p->drag) return GSL_SUCCESS;
  cb_shape_force_at(p, t, r, u + dim, false, &force);
  if (dim) cb_group_ad_dual(group, xi, mu, turned);
  for (int a = 0; a < dim; a++) dy[size + n + a] = turned[a] + F[a];
  for (int i = 0; i < n; i++) {
    double sum = force.Q[i] + f[i];
    for (int a = 0; a < N; a++)
      for (int c = 0; c < N; c++) sum += u[a] * dG[(i * N + a) * N + c] * u[c] / 2;
    dy[size + n + group->dim + i] = given[dim + i] ? 0 : sum;
  }
  return GSL_SUCCESS;
}

/* Solves the equations from the start of a case to the time `end`. y becomes the numbers of g, followed by those of r;
 * its length is size + n. */
static inline void shape_reference(moving_shape *m, double end, double *y) {
  const cb_group *G = m->bundle->group;
  const size_t n = (size_t)m->bundle->n, size = (size_t)G->size, dim = (size_t)G->dim;
  double t = 0, all[CB_GROUP_SIZE + 2 * CB_SHAPE_MAX + CB_GROUP_DIM], r[CB_SHAPE_MAX];
  memcpy(all, m->start.g, size * sizeof *all);
  memcpy(all + size, m->start.r, n * sizeof *all);
  memcpy(all + size + n, m->start.mu, dim * sizeof *all);
  memcpy(all + size + n + dim, m->start.p, n * sizeof *all);
  gsl_odeiv2_system system = {shape_derivative, NULL, size + 2 * n + dim, m};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&system, gsl_odeiv2_step_rk8pd, 1e-3, 1e-13, 1e-13);
  assert_int_equal(gsl_odeiv2_driver_apply(driver, &t, end, all), GSL_SUCCESS);
  gsl_odeiv2_driver_free(driver);
  memcpy(r, all + size, sizeof *r * n);
  cb_shape_drive(&m->problem, end, false, r, NULL);
  memcpy(y, all, size * sizeof *y);
  memcpy(y + size, r, n * sizeof *y);
}
