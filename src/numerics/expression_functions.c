/* Names that expressions know: functions with their documentation, and constants. */
#include "numerics/expression_private.h"
#include <string.h>

const cb_function_doc cb_expression_functions[CB_FUNCTION_COUNT + 1] = {
    [CB_OP_SQRT] = {"sqrt", 1, "square root; nan for x < 0; slope inf at 0"},
    [CB_OP_EXP] = {"exp", 1, "e to the power x"},
    [CB_OP_LOG] = {"log", 1, "natural logarithm; nan for x < 0, -inf at 0"},
    [CB_OP_LOG10] = {"log10", 1, "logarithm to base 10; nan for x < 0, -inf at 0"},
    [CB_OP_POW] = {"pow", 2, "x to the power y, the same as x^y; nan for x < 0 unless y is an integer"},
    [CB_OP_SIN] = {"sin", 1, "sine of radians"},
    [CB_OP_COS] = {"cos", 1, "cosine of radians"},
    [CB_OP_TAN] = {"tan", 1, "tangent of radians"},
    [CB_OP_COT] = {"cot", 1, "cotangent of radians; inf at 0"},
    [CB_OP_ASIN] = {"asin", 1, "inverse sine in [-pi/2, pi/2]; nan for |x| > 1"},
    [CB_OP_ACOS] = {"acos", 1, "inverse cosine in [0, pi]; nan for |x| > 1"},
    [CB_OP_ATAN] = {"atan", 1, "inverse tangent in (-pi/2, pi/2)"},
    [CB_OP_ATAN2] = {"atan2", 2, "atan2(y, x): angle of the point (x, y) in [-pi, pi]; slopes nan at the origin"},
    [CB_OP_SINH] = {"sinh", 1, "hyperbolic sine"},
    [CB_OP_COSH] = {"cosh", 1, "hyperbolic cosine"},
    [CB_OP_TANH] = {"tanh", 1, "hyperbolic tangent"},
    [CB_OP_COTH] = {"coth", 1, "hyperbolic cotangent; inf at 0"},
    [CB_OP_ASINH] = {"asinh", 1, "inverse hyperbolic sine"},
    [CB_OP_ACOSH] = {"acosh", 1, "inverse hyperbolic cosine, >= 0; nan for x < 1"},
    [CB_OP_ATANH] = {"atanh", 1, "inverse hyperbolic tangent; nan for |x| > 1, inf at 1"},
    [CB_OP_ABS] = {"abs", 1, "absolute value; slope at 0 from the right, 1"},
    [CB_OP_SIGN] = {"sign", 1, "-1, 0 or 1; slope 0 everywhere"},
    [CB_OP_FLOOR] = {"floor", 1, "largest integer not above x; slope 0 everywhere"},
    [CB_OP_STEP] = {"step", 1, "1 for x >= 0, otherwise 0; slope 0 everywhere"},
    [CB_OP_MIN] = {"min", 2, "the lesser; slope of the first where they are equal"},
    [CB_OP_MAX] = {"max", 2, "the greater; slope of the first where they are equal"},
    [CB_OP_HYPOT] = {"hypot", 2, "sqrt(x^2 + y^2) without overflow; slope (1, 0) at the origin"},
    [CB_OP_IF] = {"if", 3, "if(condition, a, b): a where the condition is not 0, otherwise b; slopes of that side"},
    [CB_FUNCTION_COUNT] = {NULL, 0, NULL},
};

const char *const cb_constant_names[] = {"pi", "e", "tau", NULL};
static const double constants[] = {3.14159265358979323846, 2.71828182845904523536, 6.28318530717958647693};

static int equal(const char *name, const char *text, size_t length) {
  return strncmp(name, text, length) == 0 && name[length] == 0;
}

int cb_function_find(const char *name, size_t length) {
  for (int i = 0; i < CB_FUNCTION_COUNT; i++)
    if (equal(cb_expression_functions[i].name, name, length)) return i;
  return -1;
}

static int is_name(const char *name) {
  static const char digits[] = "0123456789",
                    letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  return name[0] && !strchr(digits, name[0]) && !name[strspn(name, letters)];
}

cb_status cb_expression_check_variable(const char *name, const cb_expression_scope *scope, const char *kind) {
  if (!is_name(name) || strlen(name) > CB_EXPRESSION_NAME)
    return cb_fail(CB_ERROR_INPUT, "expected a name of at most %d letters, digits and _, found '%.40s'",
                   CB_EXPRESSION_NAME, name);
  if (cb_function_find(name, strlen(name)) >= 0)
    return cb_fail(CB_ERROR_INPUT, "the name '%s' is that of a function", name);
  for (size_t i = 0; i < scope->n + scope->n_parameters; i++)
    if (!strcmp(name, i < scope->n ? scope->names[i] : scope->parameters[i - scope->n]))
      return cb_fail(CB_ERROR_INPUT, "the name '%s' is given twice: it is a %s already", name,
                     i < scope->n ? kind : "parameter");
  return CB_OK;
}

cb_status cb_expression_check_parameter(const char *name, const cb_expression_scope *scope, const char *kind) {
  double value;
  if (cb_constant_find(name, strlen(name), &value))
    return cb_fail(CB_ERROR_INPUT, "the name '%s' is that of a constant", name);
  return cb_expression_check_variable(name, scope, kind);
}

int cb_constant_find(const char *name, size_t length, double *value) {
  for (int i = 0; cb_constant_names[i]; i++)
    if (equal(cb_constant_names[i], name, length)) {
      *value = constants[i];
      return 1;
    }
  return 0;
}

static const cb_expression_letter letters[] = {
    {"\xcf\x80", "pi"},     {"\xcf\x84", "tau"},   {"\xc3\x97", "*"},     {"\xc2\xb7", "*"},
    {"\xe2\x8b\x85", "*"}, {"\xc3\xb7", "/"},     {"\xe2\x88\x95", "/"}, {"\xe2\x88\x92", "-"},
    {"\xe2\x80\x93", "-"}, {"\xc2\xb2", "^2"},    {"\xc2\xb3", "^3"},    {"\xe2\x88\x9a", "sqrt"},
    {"\xe2\x89\xa4", "<="}, {"\xe2\x89\xa5", ">="}, {"\xe2\x89\xa0", "!="},
};

const cb_expression_letter *cb_expression_letter_at(const char *text) {
  for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
    if (!strncmp(text, letters[i].name, strlen(letters[i].name))) return &letters[i];
  return NULL;
}
