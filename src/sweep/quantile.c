#include "sweep/quantile.h"

#include "tree/scalar.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct form {
  const char *name;
  cb_quantile_kind kind;
  size_t arguments;
} form;

static const form forms[] = {{"uniform", CB_QUANTILE_UNIFORM, 2},
                             {"log_uniform", CB_QUANTILE_LOG, 2},
                             {"normal", CB_QUANTILE_NORMAL, 2},
                             {"exponential", CB_QUANTILE_EXPONENTIAL, 1}};
enum { FORMS = sizeof forms / sizeof *forms };

/* The offset of the comma or parenthesis that ends the argument at `from`. */
static size_t argument_end(const char *text, size_t from) {
  int depth = 0;
  size_t i = from;
  for (; text[i]; i++) {
    if (depth == 0 && (text[i] == ',' || text[i] == ')')) break;
    depth += (text[i] == '(') - (text[i] == ')');
  }
  return i;
}

static cb_status read_argument(const cb_node *node, size_t from, size_t to, double *value) {
  char *text = strndup(node->text + from, to - from);
  if (!text) return cb_fail(CB_ERROR_MEMORY, "no memory for a number");
  size_t at = 0;
  const cb_status status = cb_expression_constant(text, &at, value);
  free(text);
  return status == CB_ERROR_INPUT ? cb_node_fail_at(node, from + at, "%s", cb_error_text()) : status;
}

static cb_status check(const cb_node *node, const cb_quantile *law) {
  if ((law->kind == CB_QUANTILE_UNIFORM || law->kind == CB_QUANTILE_LOG) && !(law->a < law->b))
    return cb_node_fail(node, "expected a range from a smaller to a larger number, found %g to %g", law->a, law->b);
  if (law->kind == CB_QUANTILE_LOG && !(law->a > 0))
    return cb_node_fail(node, "expected positive numbers for a logarithm, found %g", law->a);
  if (law->kind == CB_QUANTILE_NORMAL && !(law->b > 0))
    return cb_node_fail(node, "expected a positive standard deviation, found %g", law->b);
  if (law->kind == CB_QUANTILE_EXPONENTIAL && !(law->a > 0))
    return cb_node_fail(node, "expected a positive mean, found %g", law->a);
  return CB_OK;
}

cb_status cb_quantile_read(const cb_node *node, cb_quantile *law) {
  const char *text;
  cb_status status = cb_node_string(node, &text);
  if (status) return status;
  const size_t name = strcspn(text, "("), length = strlen(text);
  const form *f = forms;
  while (f < forms + FORMS && !(strlen(f->name) == name && !strncmp(f->name, text, name))) f++;
  if (f == forms + FORMS) {
    const char *names[FORMS];
    for (size_t i = 0; i < FORMS; i++) names[i] = forms[i].name;
    char word[32] = "";
    memcpy(word, text, name < sizeof word ? name : sizeof word - 1);
    const bool call = text[name] == '(' && name > 0 && strspn(word, "abcdefghijklmnopqrstuvwxyz_") == strlen(word);
    *law = (cb_quantile){CB_QUANTILE_NUMBER, 0, 0};
    status = cb_node_real(node, &law->a);
    return status == CB_ERROR_INPUT && call ? cb_fail_unknown(node, "distribution", word, names, FORMS) : status;
  }
  double value[2] = {0, 0};
  size_t from = name + 1, found = 0;
  for (; text[name] == '(' && found <= f->arguments && !status; found++) {
    const size_t to = argument_end(text, from);
    if (!text[to]) return cb_node_fail_at(node, length, "expected `)`");
    if (found < f->arguments) status = read_argument(node, from, to, &value[found]);
    from = to + 1;
    if (text[to] == ')') {
      found++;
      break;
    }
  }
  if (status) return status;
  if (found != f->arguments || text[from - 1] != ')' || text[from])
    return cb_node_fail(node, "expected %s with %zu number%s in parentheses, found '%s'", f->name, f->arguments,
                        f->arguments == 1 ? "" : "s", text);
  *law = (cb_quantile){f->kind, value[0], value[1]};
  return check(node, law);
}

double cb_quantile_at(const cb_quantile *law, double u) {
  switch (law->kind) {
    case CB_QUANTILE_UNIFORM: return law->a + (law->b - law->a) * u;
    case CB_QUANTILE_LOG: return law->a * pow(law->b / law->a, u);
    case CB_QUANTILE_NORMAL: return law->a + gsl_cdf_gaussian_Pinv(fmax(u, 0x1p-54), law->b);
    case CB_QUANTILE_EXPONENTIAL: return -law->a * log1p(-u);
    case CB_QUANTILE_NUMBER: break;
  }
  return law->a;
}

double cb_quantile_step(const cb_quantile *law, size_t i, size_t n) {
  if (i == 0) return law->a;
  if (i + 1 >= n) return law->b;
  const double x = cb_quantile_at(law, (double)i / (double)(n - 1));
  return law->kind == CB_QUANTILE_UNIFORM && fabs(x) < 1e-12 * fabs(law->b - law->a) ? 0 : x; /* not its round-off */
}
