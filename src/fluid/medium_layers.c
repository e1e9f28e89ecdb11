/* Layers: what a triangle has above an interface, exactly.
 *
 *   p_j = rho_k h^j/j! + sum over levels l above o of (rho_above - rho_below) (h - l)^j/j! where h >= l
 *                      - sum over levels l below o of the same where h < l
 * k the layer of o, heights from o. Each is a polynomial on the whole triangle, on a corner of it, or on the whole
 * without a corner; the corner c that h = l cuts off has the other corners c + t_a (a - c), c + t_b (b - c) and the
 * share t_a t_b of the area. The mean of d y, both linear, is the sum of (d_1 + d_2 + d_3 + d_i) y_i/12. A face in an
 * interface belongs to the layer above, with slope 0.
 */
#include "fluid/medium.h"

/* Of a triangle with heights h: the share above l, `inside` at the corner c or (not inside) all but that. */
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
  k.c = c, k.a = (c + 1) % 3, k.b = (c + 2) % 3;
  k.ta = (l - h[c]) / (h[k.a] - h[c]);
  k.tb = (l - h[c]) / (h[k.b] - h[c]);
  return k;
}

/* out += the means of q = factor d^j/j!, q y and factor d^(j+1)/(j+1)! over a triangle, d = h - l, j = 0 or 1. */
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

/* The same over the part of it that is above l, or below. */
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
  add_means(y, h, 0, j, m->density[from->layer], out);
  for (int i = 0; i < m->levels; i++) {
    const bool above = i >= from->layer;
    const double step = m->density[i + 1] - m->density[i];
    add_side(y, h, m->level[i] - height, above, j, above ? step : -step, out);
  }
}

/* rho_f = rho_k + sum over levels of (rho_above - rho_below) F(l), F the share above, k the layer of the lowest corner;
 * dt_a/dh_c = (l - h_a)/(h_a - h_c)^2, dt_a/dh_a = -(l - h_c)/(h_a - h_c)^2. */
void cb_layers_face(const cb_medium *m, const double x[3][3], double *density, double slope[3][3]) {
  double h[3], dh[3] = {0};
  for (int i = 0; i < 3; i++) h[i] = cb_dot3(x[i], m->up);
  double low = h[0];
  for (int i = 1; i < 3; i++) low = h[i] < low ? h[i] : low;
  int i = cb_medium_layer(m, low);
  *density = m->density[i];
  for (; i < m->levels; i++) {
    if (h[0] < m->level[i] && h[1] < m->level[i] && h[2] < m->level[i]) break;
    const double l = m->level[i], step = m->density[i + 1] - m->density[i];
    const cut k = cut_at(h, l, true); /* not the whole: the lowest corner is below */
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
  for (int i = cb_medium_layer(m, low); i < m->levels && m->level[i] < high; i++) {
    sum += m->density[i] * (m->level[i] - from);
    from = m->level[i];
  }
  sum += m->density[cb_medium_layer(m, from)] * (high - from);
  return h < 0 ? -sum : sum;
}
