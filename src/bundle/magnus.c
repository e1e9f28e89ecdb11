/* Magnus's method of orders 4 and 6: the equations of magnus.h. */
#include "bundle/magnus.h"

#include <stddef.h>

static const double root3 = 1.7320508075688772, root15 = 3.872983346207417;

static const cb_magnus of_order_4 = {4, 2, {.2113248654051871, .7886751345948129}, {.5, .5}};
static const cb_magnus of_order_6 = {
    6, 3, {.1127016653792583, .5, .8872983346207417}, {5. / 18, 4. / 9, 5. / 18}};

const cb_magnus *cb_magnus_of(int order) { return order == 4 ? &of_order_4 : order == 6 ? &of_order_6 : NULL; }

static void exponent_4(const cb_group *G, double h, double (*a)[CB_GROUP_DIM], double *out) {
  double C[CB_GROUP_DIM] = {0};
  if (!G->abelian) G->bracket(G, a[0], a[1], C);
  for (int k = 0; k < G->dim; k++) out[k] = root3 / 12 * h * h * C[k] - h / 2 * (a[0][k] + a[1][k]);
}

static void exponent_6(const cb_group *G, double h, double (*a)[CB_GROUP_DIM], double *out) {
  const int dim = G->dim;
  double p[CB_GROUP_DIM] = {0}, q[CB_GROUP_DIM] = {0}, s[CB_GROUP_DIM], C[CB_GROUP_DIM], D[CB_GROUP_DIM];
  double left[CB_GROUP_DIM] = {0}, right[CB_GROUP_DIM] = {0};
  for (int k = 0; k < dim; k++) {
    p[k] = h * a[1][k];
    q[k] = root15 / 3 * h * (a[2][k] - a[0][k]);
    s[k] = 10. / 3 * h * (a[2][k] - 2 * a[1][k] + a[0][k]);
    out[k] = -(p[k] + s[k] / 12);
  }
  if (G->abelian) return;
  G->bracket(G, p, q, C);
  for (int k = 0; k < dim; k++) left[k] = 2 * s[k] + C[k];
  G->bracket(G, p, left, D);
  for (int k = 0; k < dim; k++) {
    left[k] = -20 * p[k] - s[k] + C[k];
    right[k] = q[k] - D[k] / 60;
  }
  G->bracket(G, left, right, D);
  for (int k = 0; k < dim; k++) out[k] -= D[k] / 240;
}

void cb_magnus_exponent(const cb_magnus *m, const cb_group *G, double h, double (*a)[CB_GROUP_DIM], double *out) {
  if (m->order == 4) exponent_4(G, h, a, out);
  else exponent_6(G, h, a, out);
}
