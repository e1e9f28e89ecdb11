/* Media: making one, and the density of faces, for each of its kinds. See medium.h. */
#include "core/threads.h"
#include "fluid/medium.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static cb_status unit(const double up[3], double out[3]) {
  const double size = sqrt(cb_dot3(up, up));
  if (!(size > 0) || !isfinite(size))
    return cb_fail(CB_ERROR_ARGUMENT, "up is (%g, %g, %g): expected a direction", up[0], up[1], up[2]);
  for (int i = 0; i < 3; i++) out[i] = up[i] / size;
  return CB_OK;
}

cb_status cb_medium_layers(int n, const double *level, const double *density, const double up[3], cb_medium **out) {
  double direction[3];
  cb_status status = unit(up, direction);
  if (status) return status;
  if (n < 0) return cb_fail(CB_ERROR_ARGUMENT, "%d levels between layers", n);
  for (int i = 0; i <= n; i++)
    if (!(density[i] >= 0) || !isfinite(density[i]))
      return cb_fail(CB_ERROR_ARGUMENT, "density of layer %d is %g: expected a number >= 0", i + 1, density[i]);
  for (int i = 0; i < n; i++)
    if (!isfinite(level[i]) || (i && !(level[i] > level[i - 1])))
      return cb_fail(CB_ERROR_ARGUMENT, "level %d between layers is %g: expected finite levels that ascend", i + 1,
                     level[i]);
  cb_medium *m = malloc(sizeof *m);
  double *numbers = malloc((2 * (size_t)n + 1) * sizeof *numbers);
  if (!m || !numbers) {
    free(m), free(numbers);
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d layers", n + 1);
  }
  *m = (cb_medium){.levels = n, .density = numbers, .level = numbers + n + 1};
  memcpy(m->up, direction, sizeof m->up);
  memcpy(m->density, density, ((size_t)n + 1) * sizeof *density);
  if (n) memcpy(m->level, level, (size_t)n * sizeof *level);
  *out = m;
  return CB_OK;
}

cb_status cb_medium_uniform(double density, cb_medium **out) {
  if (!(density >= 0) || !isfinite(density))
    return cb_fail(CB_ERROR_ARGUMENT, "density is %g: expected a number >= 0", density);
  return cb_medium_layers(0, NULL, &density, (double[3]){0, 0, 1}, out);
}

cb_status cb_medium_expression(const char *text, size_t n, const char *const *names, const double *values,
                               const double up[3], size_t *at, cb_medium **out) {
  static const char *const variables[] = {"x", "y", "z"};
  const cb_expression_scope scope = {variables, 3, names, values, n};
  double direction[3], value;
  cb_status status = unit(up, direction);
  if (status) return status;
  cb_expression *e;
  if ((status = cb_expression_parse_in(text, &scope, at, &e))) return status;
  if (!cb_expression_uses(e, 0) && !cb_expression_uses(e, 1) && !cb_expression_uses(e, 2)) {
    value = cb_expression_value(e, (double[3]){0});
    cb_expression_free(e);
    if (value >= 0 && isfinite(value)) return cb_medium_uniform(value, out);
    if (at) *at = 0;
    return cb_fail(CB_ERROR_INPUT, "density '%s' is %g: expected a number >= 0", text, value);
  }
  cb_medium *m = malloc(sizeof *m);
  if (!m) {
    cb_expression_free(e);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a medium");
  }
  *m = (cb_medium){.e = e, .profile = true};
  for (size_t i = 0; i < 3; i++) m->profile &= fabs(direction[i]) == 1 || !cb_expression_uses(e, i);
  memcpy(m->up, direction, sizeof m->up);
  *out = m;
  return CB_OK;
}

void cb_medium_free(cb_medium *m) {
  if (!m) return;
  cb_expression_free(m->e);
  free(m->density);
  free(m);
}

bool cb_medium_is_uniform(const cb_medium *m) { return !m->e && m->levels == 0; }

bool cb_medium_is_even(const cb_medium *m, const double middle[3], const double half[3][3], double *density) {
  if (m->e) return false;
  double reach = 0;
  for (int i = 0; i < 3; i++) reach += fabs(cb_dot3(half[i], m->up));
  const double h = cb_dot3(middle, m->up);
  const int layer = cb_medium_layer(m, h - reach);
  if (layer < m->levels && !(h + reach < m->level[layer])) return false;
  *density = m->density[layer];
  return true;
}

cb_status cb_medium_at(const cb_medium *m, const double x[3], double *density) {
  if (m->e) return cb_medium_value(m, x, density);
  *density = m->density[cb_medium_layer(m, cb_dot3(x, m->up))];
  return CB_OK;
}

typedef struct task {
  const cb_medium *m;
  int n;
  const double (*corner)[3][3];
  double *density, (*slope)[3][3];
  atomic_int failed;
} task;

/* Faces from f on, of block f/CB_MEDIUM_BLOCK. */
static cb_status block(const task *t, int f, int *at) {
  const int n = t->n - f < CB_MEDIUM_BLOCK ? t->n - f : CB_MEDIUM_BLOCK;
  double(*slope)[3][3] = t->slope ? t->slope + f : NULL;
  if (t->m->e) return cb_expression_faces(t->m, n, t->corner + f, t->density + f, slope, at);
  for (int i = 0; i < n; i++) cb_layers_face(t->m, t->corner[f + i], &t->density[f + i], slope ? slope[i] : NULL);
  return CB_OK;
}

static void blocks(void *context, int begin, int end) {
  task *t = context;
  int at;
  for (int i = begin; i < end; i++)
    if (block(t, i * CB_MEDIUM_BLOCK, &at)) {
      cb_threads_least(&t->failed, i);
      return;
    }
}

cb_status cb_medium_faces(const cb_medium *m, int n, const double (*corner)[3][3], double *density,
                          double (*slope)[3][3]) {
  const int count = (n + CB_MEDIUM_BLOCK - 1) / CB_MEDIUM_BLOCK;
  task t = {m, n, corner, density, slope, count};
  int at;
  cb_threads_range(cb_threads_for((size_t)n), count, blocks, &t);
  return t.failed < count ? block(&t, t.failed * CB_MEDIUM_BLOCK, &at) : CB_OK;
}

/* Air at 15 degrees Celsius and one atmosphere, fresh water at 20 degrees. */
const char *const cb_medium_names[CB_MEDIUM_NAMES] = {"air", "water", "none"};
static const double densities[CB_MEDIUM_NAMES] = {1.225, 998, 0}; /* kg/m^3 */

bool cb_medium_named(const char *name, double *density) {
  int i = 0;
  while (i < CB_MEDIUM_NAMES && strcmp(name, cb_medium_names[i])) i++;
  if (i == CB_MEDIUM_NAMES) return false;
  *density = densities[i];
  return true;
}
