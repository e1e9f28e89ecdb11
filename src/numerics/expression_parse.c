/* This file parses text to a tape by recursive descent, and holds the names that expressions know.
 *
 *   comparison = sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
 *   sum        = product {("+" | "-") product}
 *   product    = signed {("*" | "/") signed}
 *   signed     = {"+" | "-"} power
 *   power      = primary ["^" signed]
 *   primary    = number | name | function "(" comparison {"," comparison} ")" | "(" comparison ")"
 *
 * Each rule returns a ref of the tape (expression_private.h), or -1 after it has set the error.
 */
#include "numerics/expression_private.h"
#include <curvebody/node.h>

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUOTE_MAX 40 /* maximum number of bytes of the text that a message quotes */

typedef struct parser {
  const char *text, *next;
  const char *const *names;
  size_t n;
  const cb_expression_scope *scope; /* the names and values of parameters and controls */
  int depth;
  cb_tape *tape;
  const char *wrong; /* the place of the error in the text */
} parser;

static int comparison(parser *p);
static int sign(parser *p);

/* These functions use the characters of the C locale, whatever the present locale is. */
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c); }
static void skip_space(parser *p) { p->next += strspn(p->next, " \t\r\n"); }

__attribute__((format(printf, 3, 4))) static int fail(parser *p, const char *where, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  p->wrong = where;
  cb_fail(CB_ERROR_INPUT, "%s", text);
  return -1;
}

/* Returns the number of bytes from `at` that a message quotes: a word, or one character with all its UTF-8 bytes. */
static int quote_length(const char *at) {
  int length = 0;
  while (length < QUOTE_MAX && (is_name(at[length]) || (length > 0 && at[length] == '.'))) length++;
  if (length || !*at) return length;
  do length++;
  while (length < 4 && ((unsigned char)at[length] & 0xC0) == 0x80);
  return length;
}

/* Fails for an unexpected character. Control characters are shown as numbers, because they would spoil a terminal. */
static int fail_unexpected(parser *p, const char *expected) {
  const char *at = p->next;
  if (!*at) return fail(p, at, "the expression ends too early: expected %s", expected);
  if ((unsigned char)*at < ' ' || *at == 127) return fail(p, at, "unexpected byte 0x%02x: expected %s", *at, expected);
  const cb_expression_letter *letter = cb_expression_letter_at(at);
  if (letter) return fail(p, at, "unexpected `%s`: expected `%s`", letter->name, letter->text);
  return fail(p, at, "unexpected `%.*s`: expected %s", quote_length(at), at, expected);
}

/* Fails at a place where an operator could be, and names common mistakes. */
static int fail_operator(parser *p, const char *expected) {
  const char *at = p->next, *before = at;
  while (before > p->text && before[-1] == ' ') before--;
  const bool after_digit = before > p->text && is_digit(before[-1]);
  if (is_digit(*at) && after_digit)
    return fail(p, at, "expected an operator before `%.*s`: a number may not contain spaces", quote_length(at), at);
  if (*at == ',' && after_digit && is_digit(at[1]))
    return fail(p, at, "unexpected `,`: use a decimal point, and no thousands separators");
  if (is_name(*at) || *at == '(' || *at == '.')
    return fail(p, at, "expected an operator before `%.*s`: write multiplication with `*`", quote_length(at), at);
  if (*at == '=') return fail(p, at, "unexpected `=`: write equality as `==`");
  if (*at == '!') return fail(p, at, "unexpected `!`: write inequality as `!=`");
  return fail_unexpected(p, expected);
}

static int checked(parser *p, int ref) {
  if (ref >= 0) return ref;
  return fail(p, p->next, "the expression is too long: expected at most %d operations and numbers", CB_TAPE_MAX);
}

static int operation(parser *p, cb_opcode op, int a, int b) {
  return checked(p, cb_tape_operation(p->tape, op, a, b, b));
}

/* Returns the index of text[length] in names[n], or -1 if it is not among them. */
static int find(size_t n, const char *const *names, const char *text, int length) {
  for (size_t i = 0; i < n; i++)
    if (strlen(names[i]) == (size_t)length && memcmp(names[i], text, (size_t)length) == 0) return (int)i;
  return -1;
}

/* Fails for letters directly after a number: in `3pi` the `*` is missing, and `90deg` must be given in radians. After
 * `/` or `^`, as in `1/2pi`, the meaning of the product is not clear. */
static int fail_letters(parser *p, const char *start, const char *letters) {
  static const char *const degrees[] = {"deg", "degree", "degrees"};
  const int digits = (int)(letters - start), shown = quote_length(start);
  const char *before = start;
  int length = 0;
  double value;
  while (before > p->text && strchr(" \t\r\n", before[-1])) before--;
  const bool clear = (before == p->text || !strchr("/^", before[-1])) && digits < QUOTE_MAX;
  while (is_name(letters[length])) length++;
  const bool exponent =
      length == 1 && (*letters == 'e' || *letters == 'E'); /* the letter of an exponent without digits, as in `2e` */
  const bool known =
      !exponent && (cb_constant_find(letters, (size_t)length, &value) ||
                    cb_function_find(letters, (size_t)length) >= 0 || find(p->n, p->names, letters, length) >= 0 ||
                    find(p->scope->n_parameters, p->scope->parameters, letters, length) >= 0 ||
                    find(p->scope->n_controls, p->scope->controls, letters, length) >= 0);
  if (clear && known && length < QUOTE_MAX)
    return fail(p, start, "number `%.*s` is followed by letters: write %.*s*%.*s", shown, start, digits, start, length,
                letters);
  if (find(sizeof degrees / sizeof *degrees, degrees, letters, length) >= 0 && clear)
    return fail(p, start, "number `%.*s` is followed by letters: write %.*s*pi/180", shown, start, digits, start);
  return fail(p, start, "number `%.*s` is followed by letters%s", shown, start,
              exponent ? "" : ": write numbers without units, and multiplication with `*`");
}

/* Reads a number. The decimal syntax is checked here, because strtod also takes hexadecimal, `inf` and `nan`. */
static int number(parser *p) {
  const char *start = p->next, *s = start;
  while (is_digit(*s)) s++;
  if (*s == '.') s++;
  while (is_digit(*s)) s++;
  if (s - start == 1 && *start == '.') return fail(p, start, "`.` is not a number: expected digits");
  if (*s == 'e' || *s == 'E') {
    const char *exponent = s + 1 + (s[1] == '+' || s[1] == '-');
    if (is_digit(*exponent)) {
      s = exponent;
      while (is_digit(*s)) s++;
    }
  }
  if (*s == '.')
    return fail(p, start, "`%.*s` is not a number: expected only one decimal point", quote_length(start), start);
  if (is_name(*s)) return fail_letters(p, start, s);
  char *end;
  double value = strtod(start, &end);
  if (end != s) return fail(p, start, "`%.*s` is not a number", quote_length(start), start);
  if (!isfinite(value)) return fail(p, start, "number `%.*s` is too large", quote_length(start), start);
  p->next = s;
  return checked(p, cb_tape_constant(p->tape, value));
}

/* Names with a meaning in other expressions (cb_expression_explain). */
static _Thread_local cb_expression_elsewhere elsewhere;

cb_expression_elsewhere cb_expression_explain(cb_expression_elsewhere names) {
  const cb_expression_elsewhere before = elsewhere;
  elsewhere = names;
  return before;
}

static int use_control(parser *p, int control) {
  if (elsewhere.used && elsewhere.names == p->scope->controls) elsewhere.used[control] = true;
  return checked(p, cb_tape_control(p->tape, p->scope->control_values + control));
}

static int fail_unknown(parser *p, const char *name, int length, bool called) {
  const char *known[3 * CB_EXPRESSION_VARIABLES + CB_FUNCTION_COUNT + 8];
  size_t count = 0;
  char token[QUOTE_MAX + 1] = "";
  memcpy(token, name, (size_t)(length < QUOTE_MAX ? length : QUOTE_MAX));
  for (size_t i = 0; i < p->n && !called; i++) known[count++] = p->names[i];
  for (size_t i = 0; i < p->scope->n_parameters && i < CB_EXPRESSION_VARIABLES && !called; i++)
    known[count++] = p->scope->parameters[i];
  for (size_t i = 0; i < p->scope->n_controls && i < CB_EXPRESSION_VARIABLES && !called; i++)
    known[count++] = p->scope->controls[i];
  for (int i = 0; cb_constant_names[i] && !called; i++) known[count++] = cb_constant_names[i];
  for (int i = 0; i < CB_FUNCTION_COUNT; i++) known[count++] = cb_expression_functions[i].name;
  if (!called && find(elsewhere.n, elsewhere.names, name, length) >= 0)
    return fail(p, name, "`%s`: %s", token, elsewhere.where);
  const char *what = called ? "function" : "name";
  const char *nearest = length < QUOTE_MAX ? cb_nearest_name(token, known, count) : NULL;
  if (nearest) return fail(p, name, "unknown %s `%s`: did you mean `%s`?", what, token, nearest);
  if (called) return fail(p, name, "unknown function `%s`", token);
  char list[512] = "none";
  for (size_t i = 0, used = 0; i < p->n && used < sizeof list; i++)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", p->names[i]);
  return fail(p, name, "unknown name `%s`: the variables here are: %s", token, list);
}

static int fail_called(parser *p, const char *name, int length) {
  return fail(p, p->next, "`%.*s` is not a function: write multiplication with `*`", length, name);
}

/* Reads the arguments of a function, whose name has been read. p->next is at the "(". */
static int call(parser *p, int function, const char *name) {
  const cb_function_doc *doc = &cb_expression_functions[function];
  int arg[3] = {0, 0, 0}, count = 0;
  const char *open = p->next++;
  for (;;) {
    int ref = comparison(p);
    if (ref < 0) return -1;
    if (count < 3) arg[count] = ref;
    count++;
    skip_space(p);
    if (*p->next != ',') break;
    p->next++;
  }
  if (*p->next != ')') {
    char expected[64];
    snprintf(expected, sizeof expected, "`,` or `)` after `(` at character %zu", (size_t)(open - p->text) + 1);
    return fail_operator(p, expected);
  }
  if (count != doc->arity)
    return fail(p, name, "`%s`: expected %d argument%s, found %d", doc->name, doc->arity, doc->arity > 1 ? "s" : "",
                count);
  p->next++;
  if (function == CB_OP_IF) return checked(p, cb_tape_operation(p->tape, CB_OP_IF, arg[1], arg[2], arg[0]));
  return operation(p, (cb_opcode)function, arg[0], count == 2 ? arg[1] : arg[0]);
}

/* Returns the number of bytes of the name at the next character. A name with dots, such as a.x, is one name if some
 * variable has a name with a dot. */
static int name_length(const parser *p) {
  int length = 0, whole;
  bool dots = false;
  while (is_name(p->next[length])) length++;
  for (size_t i = 0; i < p->n && !dots; i++) dots = strchr(p->names[i], '.') != NULL;
  for (whole = length; dots && p->next[whole] == '.' && is_name(p->next[whole + 1]);)
    for (whole++; is_name(p->next[whole]);) whole++;
  return whole;
}

static int name(parser *p) {
  const char *start = p->next;
  p->next += name_length(p);
  int length = (int)(p->next - start), shown = length < QUOTE_MAX ? length : QUOTE_MAX;
  skip_space(p);
  bool called = *p->next == '(';
  int function = cb_function_find(start, (size_t)length);
  if (called && function >= 0) return call(p, function, start);
  const int variable = find(p->n, p->names, start, length),
            parameter = find(p->scope->n_parameters, p->scope->parameters, start, length),
            control = find(p->scope->n_controls, p->scope->controls, start, length);
  double value;
  const bool constant = cb_constant_find(start, (size_t)length, &value);
  if (called && (variable >= 0 || parameter >= 0 || control >= 0 || constant)) return fail_called(p, start, shown);
  if (variable >= 0 && parameter >= 0)
    return fail(p, start, "`%.*s` is both a variable and a parameter here: give the parameter another name", shown,
                start);
  if (control >= 0 && (variable >= 0 || parameter >= 0))
    return fail(p, start, "`%.*s` is both a %s and a control here: give the control another name", shown, start,
                variable >= 0 ? "variable" : "parameter");
  if (control >= 0) return use_control(p, control);
  if (parameter >= 0) return checked(p, cb_tape_constant(p->tape, p->scope->values[parameter]));
  if (variable >= 0) return checked(p, cb_tape_variable(p->tape, variable));
  if (constant) return checked(p, cb_tape_constant(p->tape, value));
  if (function >= 0) return fail(p, start, "`%.*s` is a function: expected `(` after it", shown, start);
  return fail_unknown(p, start, length, called);
}

static int primary(parser *p) {
  skip_space(p);
  const char *start = p->next;
  if (is_digit(*start) || *start == '.') return number(p);
  if (is_name(*start)) return name(p);
  if (*start != '(') {
    if (*start == '*' && start > p->text && start[-1] == '*')
      return fail(p, start, "unexpected `*`: write a power with `^`");
    return fail_unexpected(p, "a number, a name or `(`");
  }
  p->next++;
  int ref = comparison(p);
  if (ref < 0) return -1;
  skip_space(p);
  if (*p->next != ')') {
    char expected[64];
    snprintf(expected, sizeof expected, "`)` for `(` at character %zu", (size_t)(start - p->text) + 1);
    return fail_operator(p, expected);
  }
  p->next++;
  return ref;
}

static int power(parser *p) {
  int a = primary(p);
  if (a < 0) return -1;
  skip_space(p);
  if (*p->next != '^') return a;
  p->next++;
  int b = sign(p);
  return b < 0 ? -1 : operation(p, CB_OP_POW, a, b);
}

static int sign(parser *p) {
  if (++p->depth > CB_DEPTH_MAX)
    return fail(p, p->next, "nested too deeply: expected at most %d nested parentheses, calls and powers",
                CB_DEPTH_MAX);
  bool negative = false;
  for (skip_space(p); *p->next == '+' || *p->next == '-'; skip_space(p)) negative ^= *p->next++ == '-';
  int a = power(p);
  p->depth--;
  if (a < 0 || !negative) return a;
  return operation(p, CB_OP_NEGATE, a, a);
}

/* Parses operands that are joined by one of two operators (`signs`). The operators associate to the left. */
static int chain(parser *p, int (*part)(parser *), const char *signs, cb_opcode first, cb_opcode second) {
  int a = part(p);
  while (a >= 0) {
    skip_space(p);
    const char c = *p->next;
    if (c != signs[0] && c != signs[1]) break;
    p->next++;
    const int b = part(p);
    a = b < 0 ? -1 : operation(p, c == signs[0] ? first : second, a, b);
  }
  return a;
}

static int product(parser *p) { return chain(p, sign, "*/", CB_OP_MULTIPLY, CB_OP_DIVIDE); }
static int sum(parser *p) { return chain(p, product, "+-", CB_OP_ADD, CB_OP_SUBTRACT); }

/* Returns the comparison at s and sets its length, or returns 0 if there is none (no comparison has opcode 0). */
static cb_opcode comparison_at(const char *s, int *length) {
  *length = 1 + (s[0] && s[1] == '=');
  if (s[0] == '<') return *length == 2 ? CB_OP_LESS_EQUAL : CB_OP_LESS;
  if (s[0] == '>') return *length == 2 ? CB_OP_GREATER_EQUAL : CB_OP_GREATER;
  if (s[0] == '=' && s[1] == '=') return CB_OP_EQUAL;
  if (s[0] == '!' && s[1] == '=') return CB_OP_NOT_EQUAL;
  return (cb_opcode)0;
}

static int comparison(parser *p) {
  int a = sum(p), length;
  if (a < 0) return -1;
  skip_space(p);
  cb_opcode op = comparison_at(p->next, &length);
  if (!op) return a;
  p->next += length;
  int b = sum(p);
  if (b < 0) return -1;
  skip_space(p);
  if (comparison_at(p->next, &length))
    return fail(p, p->next, "comparisons cannot be chained: write a product such as (a < b)*(b < c)");
  return operation(p, op, a, b);
}

static int whole(parser *p) {
  if (!memchr(p->text, 0, CB_TEXT_MAX + 1))
    return fail(p, p->text + CB_TEXT_MAX, "the expression is too long: expected at most %d bytes", CB_TEXT_MAX);
  skip_space(p);
  if (!*p->next) return fail(p, p->next, "the expression is empty: expected a number, a name or `(`");
  int ref = comparison(p);
  if (ref < 0) return -1;
  skip_space(p);
  return *p->next ? fail_operator(p, "an operator or the end") : ref;
}

cb_status cb_expression_parse(const char *text, const char *const *names, size_t n, size_t *at, cb_expression **out) {
  return cb_expression_parse_in(text, &(cb_expression_scope){.names = names, .n = n}, at, out);
}

cb_status cb_expression_parse_in(const char *text, const cb_expression_scope *scope, size_t *at, cb_expression **out) {
  const size_t n = scope->n;
  if (!text || n > CB_EXPRESSION_VARIABLES)
    return cb_fail(CB_ERROR_ARGUMENT, "expected a text and at most %d variables, found %zu", CB_EXPRESSION_VARIABLES,
                   n);
  cb_tape *tape = malloc(sizeof *tape);
  if (!tape) return cb_fail(CB_ERROR_MEMORY, "no memory to parse an expression");
  tape->count = 0;
  parser p = {.text = text, .next = text, .names = scope->names, .n = n, .scope = scope, .tape = tape, .wrong = text};
  int result = whole(&p);
  cb_status status = result < 0 ? CB_ERROR_INPUT : cb_tape_finish(tape, result, out);
  free(tape);
  if (status == CB_ERROR_INPUT && at) *at = (size_t)(p.wrong - text);
  return status;
}

cb_status cb_expression_constant(const char *text, size_t *at, double *value) {
  cb_expression *e;
  cb_status status = cb_expression_parse(text, NULL, 0, at, &e);
  if (status != CB_OK) return status;
  double result = cb_expression_value(e, NULL);
  cb_expression_free(e);
  if (!isfinite(result)) {
    if (at) *at = 0;
    return cb_fail(CB_ERROR_INPUT, "`%.*s` is %s: expected a finite number", QUOTE_MAX, text,
                   result != result ? "not a number" : "infinite");
  }
  *value = result;
  return CB_OK;
}

/* --- the names that expressions know: functions with their documentation, and constants --- */

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
    [CB_OP_MIN] = {"min", 2, "minimum; slope of the first argument if both are equal"},
    [CB_OP_MAX] = {"max", 2, "maximum; slope of the first argument if both are equal"},
    [CB_OP_HYPOT] = {"hypot", 2, "sqrt(x^2 + y^2) without overflow; slope (1, 0) at the origin"},
    [CB_OP_IF] = {"if", 3,
                  "if(condition, a, b): a if the condition is not 0, otherwise b; slopes of the chosen branch"},
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

static int is_function_name(const char *name) {
  static const char digits[] = "0123456789",
                    letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  return name[0] && !strchr(digits, name[0]) && !name[strspn(name, letters)];
}

cb_status cb_expression_check_variable(const char *name, const cb_expression_scope *scope, const char *kind) {
  if (!is_function_name(name) || strlen(name) > CB_EXPRESSION_NAME)
    return cb_fail(CB_ERROR_INPUT, "expected a name of at most %d letters, digits and _, found '%.40s'",
                   CB_EXPRESSION_NAME, name);
  if (cb_function_find(name, strlen(name)) >= 0)
    return cb_fail(CB_ERROR_INPUT, "the name '%s' is the name of a function: expected another name", name);
  const size_t n = strlen(name);
  const char *what = find(scope->n, scope->names, name, (int)n) >= 0                   ? kind
                     : find(scope->n_parameters, scope->parameters, name, (int)n) >= 0 ? "parameter"
                     : find(scope->n_controls, scope->controls, name, (int)n) >= 0     ? "control"
                                                                                       : NULL;
  return what ? cb_fail(CB_ERROR_INPUT, "the name '%s' is given twice: it is already a %s", name, what) : CB_OK;
}

cb_status cb_expression_check_parameter(const char *name, const cb_expression_scope *scope, const char *kind) {
  double value;
  if (cb_constant_find(name, strlen(name), &value))
    return cb_fail(CB_ERROR_INPUT, "the name '%s' is the name of a constant: expected another name", name);
  return cb_expression_check_variable(name, scope, kind);
}

size_t cb_expression_next_name(const char **at, const char **name) {
  size_t length;
  do {
    while (**at && !is_name(**at) && **at != '.') ++*at;
    *name = *at;
    while (is_name(**at) || **at == '.') ++*at;
    length = (size_t)(*at - *name);
  } while (length && (is_digit(**name) || **name == '.')); /* skips numbers */
  return length;
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
    {"\xcf\x80", "pi"},     {"\xcf\x84", "tau"},    {"\xc3\x97", "*"},      {"\xc2\xb7", "*"},
    {"\xe2\x8b\x85", "*"},  {"\xc3\xb7", "/"},      {"\xe2\x88\x95", "/"},  {"\xe2\x88\x92", "-"},
    {"\xe2\x80\x93", "-"},  {"\xc2\xb2", "^2"},     {"\xc2\xb3", "^3"},     {"\xe2\x88\x9a", "sqrt"},
    {"\xe2\x89\xa4", "<="}, {"\xe2\x89\xa5", ">="}, {"\xe2\x89\xa0", "!="},
};

const cb_expression_letter *cb_expression_letter_at(const char *text) {
  for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
    if (!strncmp(text, letters[i].name, strlen(letters[i].name))) return &letters[i];
  return NULL;
}
