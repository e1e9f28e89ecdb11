/* Tests that bundles written as expressions equal the models that are written in C, with first and second derivatives.
 * Errors are reported with their places. Symbols are those of curvebody/bundle.h: r the shape, A the connection, M the
 * cost metric, B the curvature, and G the form from which A and M follow. */
#include "bundles.h"
#include "yaml/yaml.h"
#include "models.h"

static cb_status from_text(const char *text, cb_tree **tree, cb_bundle **out) {
  check_ok(cb_yaml_read_text("b.yaml", text, strlen(text), tree));
  return cb_bundle_create("expressions", cb_tree_root(*tree), out);
}

/* --- bundles as text equal models in C --- */

/* Purcell's swimmer with links of length 1/3, and drag 1 along and 2 across a link. The entries of G, of A and of M are
 * texts; A and M follow from G by Cramer's rule. */
typedef struct text {
  char t[20000];
} text;
static text G[5][5], adjugate[3][3], A[3][2], M[2][2], det;

__attribute__((format(printf, 2, 3))) static void put(text *out, const char *format, ...) {
  va_list more;
  va_start(more, format);
  assert_in_range(vsnprintf(out->t, sizeof out->t, format, more), 1, sizeof out->t - 1);
  va_end(more);
}

static void purcell_text(void) {
  static const char *const J[2][3][5] = {
      {{"cos(a)", "(-sin(a))", "l*sin(a)/2", "0", "0"},
       {"sin(a)", "cos(a)", "(-l*(1 + cos(a))/2)", "l/2", "0"},
       {"0", "0", "1", "(-1)", "0"}},
      {{"cos(b)", "sin(b)", "l*sin(b)/2", "0", "0"},
       {"(-sin(b))", "cos(b)", "l*(1 + cos(b))/2", "0", "l/2"},
       {"0", "0", "1", "0", "1"}},
  };
  static const char *const D[3] = {"l", "2*l", "l^3/6"};
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 5; j++) {
      int used = snprintf(G[i][j].t, sizeof G[i][j].t, "(%s", i == j && i < 3 ? D[i] : "0");
      for (int link = 0; link < 2; link++)
        for (int k = 0; k < 3; k++)
          used += snprintf(G[i][j].t + used, sizeof G[i][j].t - (size_t)used, " + %s*%s*%s", J[link][k][i], D[k],
                           J[link][k][j]);
      strcat(G[i][j].t, ")");
    }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const int p = (j + 1) % 3, q = (j + 2) % 3, u = (i + 1) % 3, v = (i + 2) % 3;
      put(&adjugate[i][j], "(%s*%s - %s*%s)", G[p][u].t, G[q][v].t, G[p][v].t, G[q][u].t);
    }
  put(&det, "(%s*%s + %s*%s + %s*%s)", G[0][0].t, adjugate[0][0].t, G[0][1].t, adjugate[1][0].t, G[0][2].t,
      adjugate[2][0].t);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 2; j++)
      put(&A[i][j], "(%s*%s + %s*%s + %s*%s)/%s", adjugate[i][0].t, G[0][3 + j].t, adjugate[i][1].t, G[1][3 + j].t,
          adjugate[i][2].t, G[2][3 + j].t, det.t);
}

static void metric_text(int i, int j) {
  static text a[3];
  for (int k = 0; k < 3; k++) put(&a[k], "%s*%s", G[k][3 + i].t, A[k][j].t);
  int used = snprintf(M[i][j].t, sizeof M[i][j].t, "%s", G[3 + i][3 + j].t);
  for (int k = 0; k < 3; k++) used += snprintf(M[i][j].t + used, sizeof M[i][j].t - (size_t)used, " - %s", a[k].t);
  assert_in_range(used, 1, sizeof M[i][j].t - 1);
}

/* Compares connection, metric, their derivatives, curvature and its covariant derivative at random shapes. */
static void check_equal(const cb_bundle *b, const cb_bundle *model_, const double low[2], const double high[2]) {
  enum { MOST = CB_GROUP_DIM * 2 };
  uint64_t seed = check_seed();
  const int dim = b->group->dim, count = 2 * dim;
  assert_ptr_equal(b->group->exp, model_->group->exp);
  assert_int_equal(dim, model_->group->dim);
  assert_int_equal(b->n, 2);
  for (int trial = 0; trial < 20; trial++) {
    const double r[2] = {check_uniform(&seed, low[0], high[0]), check_uniform(&seed, low[1], high[1])};
    double x[2][MOST], dx[2][2 * MOST], m[2][4], dm[2][8], B[2][MOST], DB[2][2 * MOST], scale = 1;
    for (int k = 0; k < 2; k++) {
      const cb_bundle *which = k ? model_ : b;
      check_ok(cb_bundle_connection(which, r, x[k], dx[k], m[k], dm[k]));
      check_ok(cb_bundle_curvatures(which, r, B[k]));
      check_ok(cb_bundle_covariant(which, r, DB[k]));
    }
    for (int k = 0; k < 4; k++) scale = fmax(scale, fabs(m[1][k]));
    for (int k = 0; k < count; k++) check_near(x[0][k], x[1][k], 1e-12);
    for (int k = 0; k < 2 * count; k++) check_near(dx[0][k], dx[1][k], 1e-12);
    for (int k = 0; k < 4; k++) check_near(m[0][k], m[1][k], 1e-12 * scale);
    for (int k = 0; k < 8; k++) check_near(dm[0][k], dm[1][k], 1e-12 * scale);
    for (int k = 0; k < dim; k++) check_near(B[0][k], B[1][k], 1e-12);
    /* DB is less accurate, because it contains second derivatives of quotients */
    for (int k = 0; k < 2 * dim; k++) check_near(DB[0][k], DB[1][k], 1e-11);
    double alone[MOST];
    /* each result is the same if it is requested alone */
    check_ok(cb_bundle_connection(b, r, NULL, dx[0], NULL, NULL));
    check_ok(cb_bundle_connection(b, r, alone, NULL, NULL, NULL));
    for (int k = 0; k < count; k++) assert_true(alone[k] == x[0][k]);
    for (int k = 0; k < 2 * count; k++) check_near(dx[0][k], dx[1][k], 1e-12);
  }
}

static void check_model(const char *text_, const char *name, const char *parameters, const double low[2],
                        const double high[2]) {
  cb_tree *tree;
  cb_bundle *b, *other = model(name, parameters);
  check_ok(from_text(text_, &tree, &b));
  cb_tree_free(tree); /* the bundle keeps no reference to the tree */
  check_equal(b, other, low, high);
  cb_bundle_free(b);
  cb_bundle_free(other);
}

static void purcells_swimmer_as_text_is_the_model(void **unused) {
  static char all[200000];
  purcell_text();
  for (int i = 0; i < 2; i++)
    for (int j = 0; j <= i; j++) metric_text(i, j);
  snprintf(all, sizeof all,
           "group: se2\nshape: [a, b]\nparameters: {l: 1/3}\nA:\n- - %s\n  - %s\n- - %s\n  - %s\n- - %s\n  - %s\n"
           "M:\n- - %s\n- - %s\n  - %s\nperiod: {a: 2*pi, b: tau}\n",
           A[0][0].t, A[0][1].t, A[1][0].t, A[1][1].t, A[2][0].t, A[2][1].t, M[0][0].t, M[1][0].t, M[1][1].t);
  check_model(all, "purcell", "ratio 2", (double[2]){-2.5, -2.5}, (double[2]){2.5, 2.5});
  cb_tree *tree;
  cb_bundle *b;
  check_ok(from_text(all, &tree, &b));
  for (int i = 0; i < 2; i++) check_near(b->period[i], 2 * M_PI, 1e-15);
  double B[3];
  check_ok(cb_bundle_curvature(b, (double[2]){0, 0}, 0, 1, B));
  check_near(B[0], 5. / 243, 1e-15);
  cb_bundle_free(b);
  cb_tree_free(tree);
}

static void pushmepullyou_as_text_is_the_model(void **unused) {
  check_model(
      "group: r1\n"
      "shape: [l, v]\n"
      "parameters: {mu: 1, v0: 8*pi/3}\n"
      "A: [[\"(v^(1/3) - (v0 - v)^(1/3))/(v^(1/3) + (v0 - v)^(1/3))/2\", 1/(4*pi*l^2)]]\n"
      "M:\n"
      "- - 6*pi*mu*(3/(4*pi))^(1/3)*v^(1/3)*(v0 - v)^(1/3)/(v^(1/3) + (v0 - v)^(1/3))\n"
      "  - 0\n"
      "- - 0\n"
      "  - 4/3*mu*(1/v + 1/(v0 - v))\n",
      "pmpy", "viscosity 1", (double[2]){3, 1}, (double[2]){8, 7});
}

static void a_rolling_ball_as_text_is_the_model(void **unused) {
  check_model("group: so3\nshape: [x, y]\nparameters: {R: 0.7}\nA: [[0, -1/R], [1/R, 0], [0, 0]]\n", "rolling_ball",
              "radius 0.7", (double[2]){-3, -3}, (double[2]){3, 3});
}

static void heisenberg_as_text_is_the_model(void **unused) {
  check_model("group: r1\nshape: [x, y]\nA: [[y/2, -x/2]]\nM: [[1, 0], [0, 1]]\n", "heisenberg", "",
              (double[2]){-3, -3}, (double[2]){3, 3});
}

static void every_group_takes_expressions(void **unused) {
  for (int k = 0; test_group(k); k++) {
    const cb_group *group = test_group(k);
    char all[2000], name[16];
    if (k < 2)
      snprintf(name, sizeof name, "r%d", group->dim);
    else
      snprintf(name, sizeof name, "%s", group->name);
    int used = snprintf(all, sizeof all, "group: %s\nshape: [p, q, s]\nA:\n", name);
    for (int i = 0; i < group->dim; i++)
      used += snprintf(all + used, sizeof all - (size_t)used, "- [sin(p + %d*q), p*q*s - %d, cos(s)^2]\n", i, i);
    cb_tree *tree;
    cb_bundle *b;
    check_ok(from_text(all, &tree, &b));
    double r[3] = {.3, -.7, 1.1}, B[3 * CB_GROUP_DIM], DB[9 * CB_GROUP_DIM], plus[3 * CB_GROUP_DIM],
           minus[3 * CB_GROUP_DIM], entries[3 * CB_GROUP_DIM];
    const int dim = group->dim;
    check_ok(cb_bundle_connection(b, r, entries, NULL, NULL, NULL));
    check_ok(cb_bundle_curvatures(b, r, B));
    check_ok(cb_bundle_covariant(b, r, DB));
    for (int axis = 0; axis < 3; axis++) { /* D_k B = d_k B - [A_k, B], compared with differences */
      const double h = 1e-5, at = r[axis];
      r[axis] = at + h;
      check_ok(cb_bundle_curvatures(b, r, plus));
      r[axis] = at - h;
      check_ok(cb_bundle_curvatures(b, r, minus));
      r[axis] = at;
      for (int p = 0; p < 3; p++) {
        double a[CB_GROUP_DIM], bracket[CB_GROUP_DIM];
        for (int i = 0; i < dim; i++) a[i] = entries[i * 3 + axis];
        group->bracket(group, a, B + p * dim, bracket);
        for (int i = 0; i < dim; i++)
          check_near(DB[(axis * 3 + p) * dim + i], (plus[p * dim + i] - minus[p * dim + i]) / (2 * h) - bracket[i],
                     1e-8); /* the error of differences with the step h is about h^2 */
      }
    }
    cb_bundle_free(b);
    cb_tree_free(tree);
  }
}

/* The shape variables of a bundle may be functions of other variables, given as jets. The chain rule gives the same
 * result as expressions in the other variables. */
static void shapes_may_be_jets(void **unused) {
  cb_tree *trees[2];
  cb_bundle *inner, *whole;
  check_ok(from_text("group: r2\nshape: [a, b]\nA: [[\"exp(a)*b\", sin(a*b)], [a^3, b^2]]\nM: [[2 + a^2], [a*b, 3]]\n",
                     &trees[0], &inner));
  check_ok(
      from_text("group: r2\nshape: [u, v, w]\n"
                "A: [[exp(u*v)*(u + w^2), sin(u*v*(u + w^2)), 0], [(u*v)^3, (u + w^2)^2, 0]]\n",
                &trees[1], &whole));
  cb_jet x[3], r[2], s, A_inner[4], M_inner[4], A_whole[6];
  const double at[3] = {.4, -.9, .6};
  for (int i = 0; i < 3; i++) x[i] = cb_jet_variable(3, i, at[i]);
  r[0] = cb_jet_mul(&x[0], &x[1]);
  s = cb_jet_mul(&x[2], &x[2]);
  r[1] = cb_jet_add(&x[0], &s);
  check_ok(inner->class_->on_jets(inner, r, A_inner, M_inner));
  check_ok(whole->class_->on_jets(whole, x, A_whole, NULL));
  for (int k = 0; k < 4; k++) {
    const cb_jet *found = &A_inner[k], *expected = &A_whole[k / 2 * 3 + k % 2];
    assert_int_equal(found->n, 3);
    check_near(found->v, expected->v, 1e-15);
    for (int i = 0; i < 3; i++) check_near(found->g[i], expected->g[i], 1e-14);
    for (int i = 0; i < 6; i++) check_near(found->h[i], expected->h[i], 1e-13);
  }
  const cb_jet product = cb_jet_mul(&r[0], &r[1]); /* entry 1 of M is a*b, and a and b are the jets r[0] and r[1] */
  for (int i = 0; i < 6; i++) check_near(M_inner[1].h[i], product.h[i], 1e-14);
  for (int i = 0; i < 2; i++) {
    cb_bundle_free(i ? whole : inner);
    cb_tree_free(trees[i]);
  }
}

/* --- errors --- */

static void refused_at_the_very_expression(void **unused) {
  static const struct {
    const char *text, *error;
  } cases[] = {
      {"group: se9\nshape: [a]\nA: [[a]]\n", "b.yaml:1:8: error: unknown group 'se9', did you mean 'se2'?"},
      {"shape: [a]\nA: [[a]]\n", "b.yaml:1:1: error: "},
      {"group: r1\nshape: a\nA: [[a]]\n",
       "b.yaml:2:8: error: shape: expected a list of 1 to 13 names of shape variables"},
      {"group: r1\nshape: [a, 2b]\nA: [[a, a]]\n",
       "b.yaml:2:12: error: shape: expected a name of at most 31 letters, digits and _, found '2b'"},
      {"group: r1\nshape: [a, a]\nA: [[a, a]]\n",
       "b.yaml:2:12: error: shape: the name 'a' is given twice: it is already a shape variable"},
      {"group: r2\nshape: [a]\nA: [[a]]\n", "b.yaml:3:4: error: expected 2 rows of expressions, one per axis of r2"},
      {"group: r1\nshape: [a, b]\nA: [[a]]\n", "b.yaml:3:5: error: row 1 of A has 1 expressions: expected 2"},
      {"group: r1\nshape: [a, b]\nA: [a]\n", "b.yaml:3:5: error: row 1 of A: expected a list of 2 expressions"},
      {"group: r1\nshape: [a, b]\nA: [[a, sin(c)]]\n", "b.yaml:3:13: error: A: "},
      {"group: r2\nshape: [a, b]\nA:\n- [a, b]\n- [a, \"2*(a + \"]\n", "b.yaml:5:15: error: A: "},
      {"group: r1\nshape: [a]\nparameters: {a: 2}\nA: [[a]]\n",
       "b.yaml:3:14: error: parameters: the name 'a' is given twice: it is already a shape variable"},
      {"group: r1\nshape: [a]\nparameters: {k: x}\nA: [[a]]\n", "b.yaml:3:17: error: k: "},
      {"group: r1\nshape: [sin]\nA: [[1]]\n",
       "b.yaml:2:9: error: shape: the name 'sin' is the name of a function: expected another name"},
      {"group: r1\nshape: [a]\nparameters: {k: 1, l: k/0}\nA: [[a]]\n",
       "b.yaml:3:23: error: l: expected a finite number, found inf"},
      {"group: r1\nshape: [a]\nperiod: {b: 1}\nA: [[a]]\n", "b.yaml:3:10: error: unknown key 'b'"},
      {"group: r1\nshape: [a]\nperiod: {a: 0}\nA: [[a]]\n",
       "b.yaml:3:13: error: period: expected a number > 0, found 0"},
      {"group: r1\nshape: [a]\nbreaks: {b: [1]}\nA: [[a]]\n", "b.yaml:3:10: error: unknown key 'b'"},
      {"group: r1\nshape: [a]\nbreaks: {a: 1}\nA: [[a]]\n",
       "b.yaml:3:13: error: breaks: expected a list of at most 64 numbers"},
      {"group: r1\nshape: [a]\nbreaks: {a: [1, 1]}\nA: [[a]]\n",
       "b.yaml:3:17: error: breaks: expected numbers that increase, found 1, then 1"},
      {"group: r1\nshape: [a]\nperiod: {a: 2}\nbreaks: {a: [1, 2]}\nA: [[a]]\n",
       "b.yaml:4:17: error: breaks: expected a number in [0, 2), within one period, found 2"},
      {"group: r1\nshape: [a]\nbreaks: {a: [1/0]}\nA: [[a]]\n",
       "b.yaml:3:14: error: breaks: expected a finite number, found inf"},
      {"group: r1\nshape: [a, b]\nA: [[a, b]]\nM: [[1, a], [b, 1]]\n", "b.yaml:4:9: error: M is not symmetric: "},
      {"group: r1\nshape: [a, b]\nA: [[a, b]]\nM: [[1], [b]]\n",
       "b.yaml:4:10: error: row 2 of M has 1 expressions: expected 2"},
      {"group: r1\nshape: [a, b]\nA: [[a, b]]\nM: [[1, 0]]\n", "b.yaml:4:4: error: expected 2 rows of expressions"},
      {"group: r1\nshape: [a, b]\nA: [[a, b]]\nM: [[1], [b, foo(a)]]\n", "b.yaml:4:14: error: M: "},
      {"group: r1\nshape: [a]\nA: [[a]]\nB: 3\n", "b.yaml:4:1: error: unknown key 'B'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_tree *tree;
    cb_bundle *b = NULL;
    check_case_begins(cases[i].text, from_text(cases[i].text, &tree, &b), CB_ERROR_INPUT, cases[i].error);
    assert_null(b);
    cb_tree_free(tree);
  }
}

static void the_two_halves_of_a_metric_may_be_written_differently(void **unused) {
  cb_tree *tree;
  cb_bundle *b;
  check_ok(
      from_text("group: r1\nshape: [a, b]\nA: [[a, b]]\n"
                "M: [[2, sqrt(a)*sin(2*b)], [2*sin(b)*cos(b)*sqrt(a), 2]]\n",
                &tree, &b));
  cb_bundle_free(b);
  cb_tree_free(tree);
}

static void outside_the_domain_by_name(void **unused) {
  cb_tree *tree;
  cb_bundle *b;
  check_ok(from_text("group: se2\nshape: [a, b]\nA: [[0, 0], [0, log(b)], [1, 1]]\nM: [[1], [0, 1/a]]\n", &tree, &b));
  double entries[6], M_[4];
  check_error(cb_bundle_connection(b, (double[2]){1, -2}, entries, NULL, NULL, NULL), CB_STEP_DOMAIN,
              "bundle expressions at a = 1, b = -2: the entry (v_y, b) of A is nan: expected a finite number");
  check_error(cb_bundle_connection(b, (double[2]){0, 1}, NULL, NULL, M_, NULL), CB_STEP_DOMAIN,
              "bundle expressions at a = 0, b = 1: the entry (b, b) of M is inf: expected a finite number");
  check_ok(cb_bundle_connection(b, (double[2]){0, 1}, entries, NULL, NULL, NULL));
  cb_bundle_free(b);
  cb_tree_free(tree);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(purcells_swimmer_as_text_is_the_model),
      cmocka_unit_test(pushmepullyou_as_text_is_the_model),
      cmocka_unit_test(a_rolling_ball_as_text_is_the_model),
      cmocka_unit_test(heisenberg_as_text_is_the_model),
      cmocka_unit_test(every_group_takes_expressions),
      cmocka_unit_test(shapes_may_be_jets),
      cmocka_unit_test(refused_at_the_very_expression),
      cmocka_unit_test(the_two_halves_of_a_metric_may_be_written_differently),
      cmocka_unit_test(outside_the_domain_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
