/* Media (see curvebody/medium.h): their creation, the density at places and faces, layers (below), and densities that
 * depend only on the height (below). */
#include "core/threads.h"

#include "fluid/medium_surfaces.h"

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

static cb_status check_density(double density) {
  if (density >= 0 && isfinite(density)) return CB_OK;
  return cb_fail(CB_ERROR_ARGUMENT, "density is %g: expected a number >= 0", density);
}

static cb_status check_layers(int n, const double *level, const double *density) {
  for (int i = 0; i <= n; i++)
    if (!(density[i] >= 0) || !isfinite(density[i]))
      return cb_fail(CB_ERROR_ARGUMENT, "density of layer %d is %g: expected a number >= 0", i + 1, density[i]);
  for (int i = 0; i < n; i++)
    if (!isfinite(level[i]) || (i && !(level[i] > level[i - 1])))
      return cb_fail(CB_ERROR_ARGUMENT, "level %d between layers is %g: expected finite levels that ascend", i + 1,
                     level[i]);
  return CB_OK;
}

static bool is_function(const cb_fluid_medium_class *c) { return c->density || c->at; }
static bool is_number(const cb_fluid_medium_class *c) { return !is_function(c) && !c->init; }

cb_status cb_medium_new(const cb_fluid_medium_class *class_, const double up[3], cb_medium **out) {
  double direction[3];
  const cb_status status = unit(up, direction);
  if (status) return status;
  cb_medium *m = calloc(1, sizeof *m);
  void *data = calloc(1, class_->size ? class_->size : 1);
  if (!m || !data) {
    free(m);
    free(data);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a medium");
  }
  *m = (cb_medium){.class_ = class_, .data = data, .uniform = class_->uniform};
  memcpy(m->up, direction, sizeof m->up);
  for (int i = 0; i < 3; i++) m->facts.uses[i] = is_function(class_);
  *out = m;
  return CB_OK;
}

/* Sets those members of m that depend on m->facts, for a medium of one density or of a smooth density. */
static cb_status complete_function(cb_medium *m) {
  static const double origin[3];
  const bool *uses = m->facts.uses;
  if (!uses[0] && !uses[1] && !uses[2]) {
    if (is_function(m->class_)) m->uniform = cb_smooth_at(m, origin, NULL);
    m->facts.density = &m->uniform;
    return check_density(m->uniform);
  }
  m->smooth = m->profile = true;
  for (int i = 0; i < 3; i++) m->profile &= fabs(m->up[i]) == 1 || !uses[i];
  return CB_OK;
}

cb_status cb_medium_complete(cb_medium *m, cb_status status, cb_medium **out) {
  const cb_medium_facts *f = &m->facts;
  if (!status) status = f->density ? check_layers(f->levels, f->level, f->density) : complete_function(m);
  if (status)
    cb_medium_free(m);
  else
    *out = m;
  return status;
}

cb_status cb_medium_create_class(const cb_fluid_medium_class *class_, const cb_node *value,
                                 const cb_expression_scope *parameters, const double up[3], cb_medium **out) {
  static const cb_expression_scope none = {.names = NULL};
  cb_medium *m = NULL;
  if (is_number(class_) && class_->uniform == 0) {
    *out = NULL;
    return cb_params_bind(NULL, value, value, NULL, 0, NULL);
  }
  cb_status status = cb_medium_new(class_, up, &m);
  if (status) return status;
  if (class_->params || !class_->init) status = cb_params_bind(class_->params, value, value, NULL, 0, m->data);
  if (!status && class_->init) status = class_->init(m->data, value, parameters ? parameters : &none, &m->facts);
  return cb_medium_complete(m, status, out);
}

bool cb_medium_named(const char *name, double *density) {
  const cb_fluid_medium_class *const *c = cb_fluid_medium_classes;
  while (*c && !(is_number(*c) && !strcmp(name, (*c)->name))) c++;
  if (*c) *density = (*c)->uniform;
  return *c;
}

void cb_medium_free(cb_medium *m) {
  if (!m) return;
  if (m->class_->release) m->class_->release(m->data);
  free(m->data);
  free(m);
}

bool cb_medium_is_uniform(const cb_medium *m) { return !m->smooth && m->facts.levels == 0; }

bool cb_medium_is_even(const cb_medium *m, const double middle[3], const double half[3][3], double *density) {
  if (m->smooth) return false;
  double reach = 0;
  for (int i = 0; i < 3; i++) reach += fabs(cb_dot3(half[i], m->up));
  const double h = cb_dot3(middle, m->up);
  const int layer = cb_medium_layer(m, h - reach);
  if (layer < m->facts.levels && !(h + reach < m->facts.level[layer])) return false;
  *density = m->facts.density[layer];
  return true;
}

cb_status cb_medium_at(const cb_medium *m, const double x[3], double *density) {
  if (m->smooth) return cb_smooth_value(m, x, density);
  *density = m->facts.density[cb_medium_layer(m, cb_dot3(x, m->up))];
  return CB_OK;
}

cb_status cb_medium_gradient(const cb_medium *m, const double x[3], double *density, double gradient[3]) {
  if (m->smooth) return cb_smooth_gradient(m, x, density, gradient);
  memset(gradient, 0, 3 * sizeof *gradient);
  return cb_medium_at(m, x, density);
}

/* Layers: the exact integrals over a triangle that interfaces cross.
 *
 *   p_j = rho_k h^j/j! + sum over levels l above o of (rho_above - rho_below) (h - l)^j/j! where h >= l
 *                      - sum over levels l below o of the same where h < l
 *
 * p_j is the repeated integral of the density rho along up (fluid/medium_surfaces.h). Heights h and levels l are
 * measured from the point o, and k is the layer of o. Each term is a polynomial on all of the triangle, on a corner of
 * it, or on the triangle without a corner.
 *
 * If h = l cuts off the corner c from the triangle (c, a, b), the piece with c is the triangle with the corners c,
 * c + t_a (a - c) and c + t_b (b - c), and has the share t_a t_b of the area. The mean of d y over a triangle, with d
 * and y linear, is the sum over the corners i of (d_1 + d_2 + d_3 + d_i) y_i/12. A face in an interface belongs to the
 * layer above, with slope 0.
 */

/* The part of a triangle that is above (or below) the height l: the piece with corner c (`inside`), or all except this
 * piece. a and b are the other corners, ta and tb the shares of the sides from c where the height is l. */
typedef struct cut {
  int c, a, b;
  double ta, tb;
  bool inside, whole, none;
} cut;

static cut cut_at(const double h[3], double l, bool above) {
  int c = 0, sides = 0;
  for (int i = 0; i < 3; i++) sides += (h[i] >= l) == above;
  cut k = {.none = sides == 0, .whole = sides == 3, .inside = sides == 1};
  if (k.none || k.whole) return k;
  while (((h[c] >= l) == above) != k.inside) c++;
  k.c = c;
  k.a = (c + 1) % 3;
  k.b = (c + 2) % 3;
  k.ta = (l - h[c]) / (h[k.a] - h[c]);
  k.tb = (l - h[c]) / (h[k.b] - h[c]);
  return k;
}

/* Adds to *out the means over a triangle of three functions: q = factor d^j/j!, q y, and factor d^(j+1)/(j+1)!, with
 * d = h - l. The corners have the places y and the heights h, and j is 0 or 1. */
static void add_means(const double y[3][3], const double h[3], double l, int j, double factor, cb_medium_means *out) {
  const double d[3] = {h[0] - l, h[1] - l, h[2] - l}, sum = d[0] + d[1] + d[2];
  if (j == 0) {
    out->p += factor;
    for (int s = 0; s < 3; s++) out->px[s] += factor / 3 * (y[0][s] + y[1][s] + y[2][s]);
    out->next += factor / 3 * sum;
  } else {
    out->p += factor / 3 * sum;
    for (int s = 0; s < 3; s++)
      out->px[s] += factor / 12 * ((sum + d[0]) * y[0][s] + (sum + d[1]) * y[1][s] + (sum + d[2]) * y[2][s]);
    out->next += factor / 24 * (sum * sum + cb_dot3(d, d));
  }
}

/* Does the same as add_means for the part of the triangle that is above l, or below l if `above` is false. The
 * integrals over this part are divided by the area of the complete triangle. */
static void add_side(const double y[3][3], const double h[3], double l, bool above, int j, double factor,
                     cb_medium_means *out) {
  const cut k = cut_at(h, l, above);
  if (k.none) return;
  if (!k.inside) add_means(y, h, l, j, factor, out);
  if (k.whole) return;
  double corner[3][3], height[3] = {h[k.c], l, l};
  for (int s = 0; s < 3; s++) {
    corner[0][s] = y[k.c][s];
    corner[1][s] = y[k.c][s] + k.ta * (y[k.a][s] - y[k.c][s]);
    corner[2][s] = y[k.c][s] + k.tb * (y[k.b][s] - y[k.c][s]);
  }
  add_means(corner, height, l, j, (k.inside ? 1 : -1) * k.ta * k.tb * factor, out);
}

void cb_layers_means(const cb_medium_origin *from, const double y[3][3], int j, cb_medium_means *out) {
  const cb_medium *m = from->m;
  const double height = cb_dot3(from->o, m->up);
  double h[3];
  for (int i = 0; i < 3; i++) h[i] = cb_dot3(y[i], m->up);
  *out = (cb_medium_means){0};
  add_means(y, h, 0, j, m->facts.density[from->layer], out);
  for (int i = 0; i < m->facts.levels; i++) {
    const bool above = i >= from->layer;
    const double step = m->facts.density[i + 1] - m->facts.density[i];
    add_side(y, h, m->facts.level[i] - height, above, j, above ? step : -step, out);
  }
}

/* Finds the mean density of a face, rho_f = rho_k + sum over levels l of (rho_above - rho_below) F, and its derivatives
 * in the corners. F is the share of the face above l, and k the layer of the lowest corner. The derivatives of t_a are
 * dt_a/dh_c = (l - h_a)/(h_a - h_c)^2 and dt_a/dh_a = -(l - h_c)/(h_a - h_c)^2, with the heights h_a and h_c of
 * corners. */
static void layers_face(const cb_medium *m, const double x[3][3], double *density, double slope[3][3]) {
  double h[3], dh[3] = {0};
  for (int i = 0; i < 3; i++) h[i] = cb_dot3(x[i], m->up);
  double low = h[0];
  for (int i = 1; i < 3; i++) low = h[i] < low ? h[i] : low;
  int i = cb_medium_layer(m, low);
  *density = m->facts.density[i];
  for (; i < m->facts.levels; i++) {
    if (h[0] < m->facts.level[i] && h[1] < m->facts.level[i] && h[2] < m->facts.level[i]) break;
    const double l = m->facts.level[i], step = m->facts.density[i + 1] - m->facts.density[i];
    const cut k = cut_at(h, l, true); /* never all of the triangle, because the lowest corner is below l */
    if (k.none) break;
    *density += step * (k.inside ? k.ta * k.tb : 1 - k.ta * k.tb);
    const double da = h[k.a] - h[k.c], db = h[k.b] - h[k.c], sign = k.inside ? step : -step;
    dh[k.a] -= sign * k.tb * k.ta / da;
    dh[k.b] -= sign * k.ta * k.tb / db;
    dh[k.c] += sign * (k.tb * (k.ta - 1) / da + k.ta * (k.tb - 1) / db);
  }
  for (int c = 0; slope && c < 3; c++)
    for (int s = 0; s < 3; s++) slope[c][s] = dh[c] * m->up[s];
}

double cb_layers_column(const cb_medium *m, double h) {
  const double low = h < 0 ? h : 0, high = h < 0 ? 0 : h;
  double sum = 0, from = low;
  for (int i = cb_medium_layer(m, low); i < m->facts.levels && m->facts.level[i] < high; i++) {
    sum += m->facts.density[i] * (m->facts.level[i] - from);
    from = m->facts.level[i];
  }
  sum += m->facts.density[cb_medium_layer(m, from)] * (high - from);
  return h < 0 ? -sum : sum;
}

typedef struct task {
  const cb_medium *m;
  int n;
  const double (*corner)[3][3];
  double *density, (*slope)[3][3];
  atomic_int failed;
} task;

/* Finds the densities of one block of faces, from f on. If a smooth density is invalid at a face, *at becomes the
 * number of this face, counted from f. */
static cb_status block(const task *t, int f, int *at) {
  const int n = t->n - f < CB_MEDIUM_BLOCK ? t->n - f : CB_MEDIUM_BLOCK;
  double(*slope)[3][3] = t->slope ? t->slope + f : NULL;
  if (t->m->smooth) return cb_smooth_faces(t->m, n, t->corner + f, t->density + f, slope, at);
  for (int i = 0; i < n; i++) layers_face(t->m, t->corner[f + i], &t->density[f + i], slope ? slope[i] : NULL);
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

/* A density rho that depends only on the height h: its repeated integrals over the heights of a surface, from one pass
 * along up.
 *
 *   rho(h) = sum_k a_k u^k on each of the cells h = h_c + w u, 0 <= u <= 1: the polynomial of degree 4 through five
 *   points of the cell;  int rho = w sum a_k u^(k+1)/(k+1),  int int rho = w^2 sum a_k u^(k+2)/((k+1) (k+2))
 *
 * h_c is the lower end of a cell and w its height, about half of a face's edge. The error is O(w^5) for the density and
 * O(w^6) for its integrals. The integrals of an interpolated density are consistent with each other to round-off. */

/* Finds the coefficients a of the powers of u from the five values f at u = 0, 1/4 .. 1. */
static void powers(const double f[5], double a[5]) {
  a[0] = f[0];
  a[1] = (-25 * f[0] + 48 * f[1] - 36 * f[2] + 16 * f[3] - 3 * f[4]) / 3;
  a[2] = (35 * f[0] - 104 * f[1] + 114 * f[2] - 56 * f[3] + 11 * f[4]) * 2 / 3;
  a[3] = (-5 * f[0] + 18 * f[1] - 24 * f[2] + 14 * f[3] - 3 * f[4]) * 16 / 3;
  a[4] = (f[0] - 4 * f[1] + 6 * f[2] - 4 * f[3] + f[4]) * 32 / 3;
}

/* Finds the density, its integral, and its double integral, from the lowest height of the table to h = h_c + w u in
 * cell c. */
static void in_cell(const cb_medium_cell *c, double w, double u, double out[3]) {
  static const double first[5] = {1, 1. / 2, 1. / 3, 1. / 4, 1. / 5},
                      second[5] = {1. / 2, 1. / 6, 1. / 12, 1. / 20, 1. / 30};
  double rho = 0, one = 0, two = 0;
  for (int k = 5; k-- > 0;) {
    rho = rho * u + c->a[k];
    one = one * u + c->a[k] * first[k];
    two = two * u + c->a[k] * second[k];
  }
  out[0] = rho;
  out[1] = c->one + w * u * one;
  out[2] = c->two + w * u * (c->one + w * u * two);
}

static void from_low(const cb_medium_profile *p, double h, double out[3]) {
  const double at = (h - p->low) / p->width;
  const int i = at < 1 ? 0 : at < p->cells - 1 ? (int)at : p->cells - 1;
  in_cell(&p->cell[i], p->width, at - i, out);
}

cb_status cb_profile_make(const cb_medium *m, const double o[3], double low, double high, int cells,
                          cb_medium_profile *p) {
  p->cells = cells;
  p->low = low;
  p->width = high > low ? (high - low) / cells : 1; /* not 0, even if all places have the same height */
  double f[5], next[3] = {0};
  for (int i = 0; i < cells; i++) {
    for (int k = i ? 1 : 0; k < 5; k++) {
      const double h = low + (high - low) * (i + k / 4.) / cells;
      double x[3];
      for (int s = 0; s < 3; s++) x[s] = o[s] + h * m->up[s];
      const cb_status status = cb_smooth_value(m, x, &f[k]);
      if (status) return status;
    }
    cb_medium_cell *c = &p->cell[i];
    powers(f, c->a);
    c->one = next[1];
    c->two = next[2];
    in_cell(c, p->width, 1, next);
    f[0] = f[4];
  }
  from_low(p, 0, p->zero);
  return CB_OK;
}

void cb_profile_at(const cb_medium_profile *p, double h, double out[3]) {
  from_low(p, h, out);
  out[1] -= p->zero[1];
  out[2] -= p->zero[2] + p->zero[1] * h;
}

/* --- the fluid at one place --- */

cb_status cb_fluid_point_at(const cb_flow *flow, const cb_medium *medium, double t, const double x[3],
                            cb_fluid_point *out) {
  *out = (cb_fluid_point){.density = 0};
  cb_status status = flow ? cb_flow_at(flow, t, 1, (const double(*)[3])x, &out->u, &out->gradient, &out->rate) : CB_OK;
  if (!status && medium) status = cb_medium_gradient(medium, x, &out->density, out->density_gradient);
  for (int i = 0; i < 3; i++) out->acceleration[i] = out->rate[i] + cb_dot3(out->gradient[i], out->u);
  return status;
}
