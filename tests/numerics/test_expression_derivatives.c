/* Tests that random expressions agree with a tree that is evaluated in extended precision, and their gradients and
 * Hessians with differences of that tree. This covers precedence, common subexpressions, the storage of intermediate
 * results, and every smooth function. */
#include "check.h"
#include <curvebody/expression.h>

typedef long double real;
enum { VARIABLES = 4, DEPTH = 5 };
static const char *const names[VARIABLES] = {"x", "y", "z", "w"};

/* Each function is far from its singularities for operands below 1.5. */
static real f_tan(real u) { return tanl(u / 4); }
static real f_cot(real u) { return 1 / tanl(1.5L + u / 4); }
static real f_coth(real u) { return 1 / tanhl(2 + u / 4); }
static real f_sqrt(real u) { return sqrtl(2 + u); }
static real f_log(real u) { return logl(2 + u); }
static real f_log10(real u) { return log10l(2 + u); }
static real f_asin(real u) { return asinl(u / 4); }
static real f_acos(real u) { return acosl(u / 4); }
static real f_acosh(real u) { return acoshl(3 + u); }
static real f_atanh(real u) { return atanhl(u / 4); }
static real f_abs(real u) { return fabsl(3 + u); }
static real f_square(real u) { return u * u; }
static real f_cube(real u) { return u * u * u; }
static real f_inverse(real u) { return 1 / ((3 + u) * (3 + u)); }
static real f_power(real u) { return powl(2 + u, 1.7); }
static real f_negative(real u) { return -u; }

static const struct {
  const char *before, *after;
  real (*f)(real);
} unary[] = {
    {"sin(", ")", sinl},          {"cos(", ")", cosl},        {"tan((", ")/4)", f_tan},
    {"cot(1.5+(", ")/4)", f_cot}, {"exp(", ")", expl},        {"sqrt(2+", ")", f_sqrt},
    {"log(2+", ")", f_log},       {"log10(2+", ")", f_log10}, {"asin((", ")/4)", f_asin},
    {"acos((", ")/4)", f_acos},   {"atan(", ")", atanl},      {"sinh(", ")", sinhl},
    {"cosh(", ")", coshl},        {"tanh(", ")", tanhl},      {"coth(2+(", ")/4)", f_coth},
    {"asinh(", ")", asinhl},      {"acosh(3+", ")", f_acosh}, {"atanh((", ")/4)", f_atanh},
    {"abs(3+", ")", f_abs},       {"(", ")^2", f_square},     {"pow(", ", 3)", f_cube},
    {"(3+", ")^-2", f_inverse},   {"(2+", ")^1.7", f_power},  {"(-(", "))", f_negative},
};

static real b_add(real a, real b) { return a + b; }
static real b_subtract(real a, real b) { return a - b; }
static real b_multiply(real a, real b) { return a * b; }
static real b_divide(real a, real b) { return a / (3 + b); }
static real b_power(real a, real b) { return powl(2 + a, b); }
static real b_atan2(real a, real b) { return atan2l(3 + a, b); }
static real b_hypot(real a, real b) { return hypotl(3 + a, b); }
static real b_min(real a, real b) { return fminl(a, 9 + b); }
static real b_max(real a, real b) { return fmaxl(a, 9 + b); }
static real b_if(real a, real b) { return a < 9 ? b : a; }

static const struct {
  const char *before, *between, *after;
  real (*f)(real, real);
} binary[] = {
    {"(", "+", ")", b_add},           {"(", "-(", "))", b_subtract},
    {"(", ")*(", ")", b_multiply},    {"(", ")/(3+", ")", b_divide},
    {"(2+", ")^(", ")", b_power},     {"atan2(3+", ", ", ")", b_atan2},
    {"hypot(3+", ", ", ")", b_hypot}, {"min(", ", 9+", ")", b_min},
    {"max(", ", 9+", ")", b_max},     {"if(0.5*(", ") < 4.5, ", ", 0/0)", b_if},
};
enum { UNARY = sizeof unary / sizeof *unary, BINARY = sizeof binary / sizeof *binary };

/* A node of an expression. Some nodes repeat an earlier one, which makes common subexpressions. */
typedef struct tree {
  /* arity: number of operands; 0: the node is the variable number `function`; -1: the node is a constant. a and b: the
   * nodes of the operands */
  int arity, function;
  double constant;
  int a, b;
} tree;

typedef struct forest {
  tree node[400];
  int count;
  char text[60000];
  size_t length;
} forest;

static int grow(forest *t, uint64_t *seed, int depth) {
  if (t->count > 8 && check_uniform(seed, 0, 1) < 0.15) return (int)check_uniform(seed, 0, t->count);
  tree node = {0};
  double dice = check_uniform(seed, 0, 1);
  if (depth == 0 || dice < 0.1) {
    node.arity = dice < 0.02 ? -1 : 0;
    node.function = (int)check_uniform(seed, 0, VARIABLES);
    node.constant = floor(check_uniform(seed, 1, 100)) / 100;
  } else if (dice < 0.5) {
    node.arity = 1;
    node.function = (int)check_uniform(seed, 0, UNARY);
    node.a = grow(t, seed, depth - 1);
  } else {
    node.arity = 2;
    node.function = (int)check_uniform(seed, 0, BINARY);
    node.a = grow(t, seed, depth - 1);
    node.b = grow(t, seed, depth - 1);
  }
  assert_true(t->count < 400);
  t->node[t->count] = node;
  return t->count++;
}

static void put(forest *t, const char *text) {
  size_t length = strlen(text);
  if (t->length + length < sizeof t->text) memcpy(t->text + t->length, text, length + 1);
  t->length += length;
}

static void write_node(forest *t, int i) {
  const tree *node = &t->node[i];
  char number[32];
  switch (node->arity) {
    case -1:
      snprintf(number, sizeof number, "%.17g", node->constant);
      put(t, number);
      return;
    case 0: put(t, names[node->function]); return;
    case 1:
      put(t, unary[node->function].before);
      write_node(t, node->a);
      put(t, unary[node->function].after);
      return;
    default:
      put(t, binary[node->function].before);
      write_node(t, node->a);
      put(t, binary[node->function].between);
      write_node(t, node->b);
      put(t, binary[node->function].after);
  }
}

/* Evaluates node i at x. *range becomes at least the largest operand of a function. */
static real evaluate(const forest *t, int i, const real *x, real *range) {
  const tree *node = &t->node[i];
  if (node->arity == -1) return node->constant;
  if (node->arity == 0) return x[node->function];
  real a = evaluate(t, node->a, x, range);
  if (fabsl(a) > *range) *range = fabsl(a);
  if (node->arity == 1) return unary[node->function].f(a);
  real b = evaluate(t, node->b, x, range);
  if (fabsl(b) > *range) *range = fabsl(b);
  return binary[node->function].f(a, b);
}

static real shifted(const forest *t, int root, const double *q, int i, real di, int j, real dj) {
  real x[VARIABLES], range = 0;
  for (int k = 0; k < VARIABLES; k++) x[k] = q[k];
  x[i] += di;
  x[j] += dj;
  return evaluate(t, root, x, &range);
}

/* The step of the differences of fourth order, which are computed in extended precision. */
static const real step = 1e-3L;

static real slope(const forest *t, int root, const double *q, int i, int j, real dj) {
  return (8 * (shifted(t, root, q, i, step, j, dj) - shifted(t, root, q, i, -step, j, dj)) -
          (shifted(t, root, q, i, 2 * step, j, dj) - shifted(t, root, q, i, -2 * step, j, dj))) /
         (12 * step);
}

static real curvature(const forest *t, int root, const double *q, int i, int j) {
  return (8 * (slope(t, root, q, i, j, step) - slope(t, root, q, i, j, -step)) -
          (slope(t, root, q, i, j, 2 * step) - slope(t, root, q, i, j, -2 * step))) /
         (12 * step);
}

static void check_tree(const forest *t, int root, const double *q, real range) {
  cb_expression *e = NULL;
  check_ok(cb_expression_parse(t->text, names, VARIABLES, NULL, &e));
  real x[VARIABLES] = {q[0], q[1], q[2], q[3]};
  double f = (double)evaluate(t, root, x, &range), g[VARIABLES];
  cb_jet jet = cb_expression_jet(e, q, VARIABLES);
  if (fabs(jet.v - f) > 1e-13 * (1 + fabs(f))) print_error("%s\n", t->text);
  check_near(cb_expression_value(e, q), f, 1e-13 * (1 + fabs(f)));
  assert_true(jet.v == cb_expression_value(e, q) && jet.v == cb_expression_gradient(e, q, VARIABLES, g));
  double scale = 1 + fabs(f);
  for (int i = 0; i < VARIABLES; i++) scale += fabs(jet.g[i]);
  for (int k = 0; k < 10; k++) scale += fabs(jet.h[k]);
  for (int i = 0; i < VARIABLES; i++) {
    check_near(jet.g[i], (double)slope(t, root, q, i, i, 0), 1e-7 * scale); /* the truncation error contains fifth
                                                                             * derivatives */
    check_near(g[i], jet.g[i], 1e-13 * scale);
    for (int j = 0; j < VARIABLES; j++)
      check_near(jet.h[cb_jet_packed(i, j)], (double)curvature(t, root, q, i, j), 1e-6 * scale);
  }
  for (int m = 0; m < VARIABLES; m++) { /* the jet in the first m variables is a part of the jet in all variables */
    cb_jet part = cb_expression_jet(e, q, m);
    double head[VARIABLES];
    assert_true(part.n == m && part.v == jet.v && cb_expression_gradient(e, q, m, head) == jet.v);
    for (int i = 0; i < m; i++) check_near(part.g[i], jet.g[i], 1e-13 * scale);
    for (int i = 0; i < m; i++) check_near(head[i], g[i], 1e-13 * scale);
    for (int k = 0; k < m * (m + 1) / 2; k++) check_near(part.h[k], jet.h[k], 1e-13 * scale);
  }
  cb_expression_free(e);
}

static void random_expressions_agree_with_extended_precision(void **state) {
  static forest t;
  uint64_t seed = check_seed();
  int checked = 0;
  size_t longest = 0;
  while (checked < 2000) {
    t.count = 0;
    t.length = 0;
    int root = grow(&t, &seed, DEPTH);
    write_node(&t, root);
    if (t.length >= sizeof t.text) continue;
    double q[VARIABLES];
    real x[VARIABLES], range = 0;
    for (int i = 0; i < VARIABLES; i++) x[i] = q[i] = check_uniform(&seed, -1, 1);
    real f = evaluate(&t, root, x, &range);
    if (!(range < 1.5L) || !isfinite(f)) continue; /* an operand is outside the range of the functions above */
    check_tree(&t, root, q, range);
    if (t.length > longest) longest = t.length;
    checked++;
  }
  print_message("longest of %d expressions: %zu characters\n", checked, longest);
}

/* log10, cot and coth have no jet function of their own. Their identities, and those of powers and hypot, hold to
 * round-off. */
static void functions_without_a_jet_satisfy_their_identities(void **state) {
  static const char *const pairs[][2] = {
      {"log10(x)", "log(x)/log(10)"}, {"cot(x)", "cos(x)/sin(x)"},
      {"coth(x)", "cosh(x)/sinh(x)"}, {"hypot(x, y)", "sqrt(x^2 + y^2)"},
      {"x^1.5", "x*sqrt(x)"},         {"x^y", "exp(y*log(x))"},
      {"x^-40", "(x^-20)^2"},
  };
  uint64_t seed = check_seed();
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
    cb_expression *a = NULL, *b = NULL;
    check_ok(cb_expression_parse(pairs[k][0], names, VARIABLES, NULL, &a));
    check_ok(cb_expression_parse(pairs[k][1], names, VARIABLES, NULL, &b));
    for (int trial = 0; trial < 100; trial++) {
      double q[VARIABLES] = {check_uniform(&seed, 0.5, 1.5), check_uniform(&seed, 0.5, 1.5)};
      cb_jet ja = cb_expression_jet(a, q, 2), jb = cb_expression_jet(b, q, 2);
      double scale = fabs(jb.v) + fabs(jb.g[0]) + fabs(jb.h[0]) + 1;
      check_near(ja.v, jb.v, 2e-14 * scale);
      for (int i = 0; i < 2; i++) check_near(ja.g[i], jb.g[i], 2e-14 * scale);
      for (int i = 0; i < 3; i++) check_near(ja.h[i], jb.h[i], 2e-14 * scale);
    }
    cb_expression_free(a);
    cb_expression_free(b);
  }
}

/* A jet in twelve variables, with one unused variable and one parameter. All values are integers, so only last bits are
 * inexact. */
static void jets_of_twelve_variables_are_right(void **state) {
  static const char *const a[] = {"a0", "a1", "a2", "a3",  "a4",  "a5",     "a6",
                                  "a7", "a8", "a9", "a10", "a11", "unused", "p"};
  cb_expression *e = NULL;
  check_ok(cb_expression_parse("p*(a0*a1 + a2*a3 + a4*a5 + a6*a7 + a8*a9 + a10*a11) + a11^3", a, 14, NULL, &e));
  double x[14];
  for (int i = 0; i < 14; i++) x[i] = i + 1;
  cb_jet j = cb_expression_jet(e, x, 12);
  for (int i = 0; i < 12; i++) {
    check_near(j.g[i], 14 * x[i ^ 1] + (i == 11 ? 3 * 12 * 12 : 0), 1e-12);
    for (int k = 0; k <= i; k++)
      check_near(j.h[cb_jet_packed(i, k)], (k == (i ^ 1) ? 14 : 0) + (i == 11 && k == 11 ? 72 : 0), 1e-12);
  }
  double g[14];
  cb_expression_gradient(e, x, 14, g);
  assert_true(g[12] == 0);
  check_near(g[13], 2 + 12 + 30 + 56 + 90 + 132, 1e-12);
  cb_expression_free(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_expressions_agree_with_extended_precision),
      cmocka_unit_test(functions_without_a_jet_satisfy_their_identities),
      cmocka_unit_test(jets_of_twelve_variables_are_right),
  };
  return cmocka_run_group_tests_name("expression derivatives", tests, NULL, NULL);
}
