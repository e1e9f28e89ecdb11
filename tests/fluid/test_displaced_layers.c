/* Tests of the fluid that bodies in layers displace. The results are compared with slices for several closed surfaces,
 * and with closed forms for boxes and plates at any attitude, also with faces in an interface. */
#include "solid_slices.h"

static void layers_of_any_closed_body_are_cut_exactly(void **unused) {
  uint64_t seed = check_seed();
  strata s = sea;
  for (int which = 0; which < 4; which++) {
    solid b = any_solid(which, &seed);
    for (int turn = 0; turn < 2; turn++) {
      const cb_pose g = random_pose(&seed, 0.3);
      random_direction(&seed, s.up);
      solid_place(&b, &g);
      cb_medium *m = layers_of(&s);
      check_displaced(displaced_of(m, &b, NULL), by_slices(&s, &b), 2e-13);
      cb_medium_free(m);
    }
    solid_free(&b);
  }
}

/* --- boxes and plates in closed form --- */

/* A box (with dim = 2 a rectangle) has the half sides a, and its points y have the heights h0 + n.y. Computes the
 * content and the first moments of the part below the height l. They are signed sums over the corners v of contents and
 * moments of simplices n.(y - v) < d, y > v. A simplex has the content d^dim/(dim! prod n) and its centre at
 * v_i + d/((dim + 1) n_i). */
static void below(int dim, const double *a, double h0, const double *n, double l, double *content, double *moment) {
  *content = 0;
  for (int i = 0; i < dim; i++) moment[i] = 0;
  for (int corner = 0; corner < 1 << dim; corner++) {
    double d = l - h0, v[3], w = 1, sign[3];
    for (int i = 0; i < dim; i++) {
      sign[i] = n[i] < 0 ? -1 : 1; /* the box is mirrored, so that n > 0 */
      v[i] = corner >> i & 1 ? a[i] : -a[i];
      d -= fabs(n[i]) * v[i];
      w *= (corner >> i & 1 ? -1 : 1) / fabs(n[i]) / (i + 1);
    }
    if (d <= 0) continue;
    for (int i = 0; i < dim; i++) w *= d;
    *content += w;
    for (int i = 0; i < dim; i++) moment[i] += w * sign[i] * (v[i] + d / ((dim + 1) * fabs(n[i])));
  }
}

/* Returns the mass and moment of the medium that a body displaces, as a sum over all layers. With dim = 3 the body is a
 * box and `thickness` is 1. With dim = 2 the body is a plate of the thickness `thickness`. */
static displaced box_in_layers(const strata *s, int dim, const double *a, const cb_pose *g, double thickness) {
  double r[3][3], n[3], column = 0, first[3] = {0};
  displaced d = {0};
  cb_pose_rotation(g, r);
  cb_apply3_transposed((const double(*)[3])r, s->up, n);
  const double h0 = cb_dot3(g->x, s->up);
  double top = h0;
  for (int i = 0; i < dim; i++) top += fabs(n[i]) * a[i];
  double last = 0, last_moment[3] = {0};
  for (int i = 0; i <= s->n; i++) {
    const double l = i < s->n ? fmin(s->level[i], top) : top;
    double content, moment[3] = {0};
    below(dim, a, h0, n, l, &content, moment);
    const double part = thickness * (content - last);
    double y[3] = {0}, along = h0 * part;
    for (int k = 0; k < dim; k++) {
      y[k] = thickness * (moment[k] - last_moment[k]);
      along += n[k] * y[k];
    }
    d.mass += s->density[i] * part;
    for (int k = 0; k < 3; k++) first[k] += s->density[i] * y[k];
    /* In a layer of density rho the column int_0^h rho is column_of(border) + rho (h - border), where the border is the
     * upper border of the layer, or the lower border of the last layer. */
    const double border = s->level[i < s->n ? i : s->n - 1];
    column += (column_of(s, border) - s->density[i] * border) * part + s->density[i] * along;
    last = content;
    memcpy(last_moment, moment, sizeof moment);
  }
  cb_apply3((const double(*)[3])r, first, d.moment);
  for (int k = 0; k < 3; k++) d.moment[k] += d.mass * g->x[k];
  const double across = cb_dot3(d.moment, s->up);
  for (int k = 0; k < 3; k++) d.moment[k] += (column - across) * s->up[k];
  return d;
}

static void boxes_and_plates_in_layers_have_their_closed_form(void **unused) {
  uint64_t seed = check_seed();
  strata s = sea;
  const double a[3] = {0.7, 0.4, 0.5};
  solid box = solid_mesh(mesh_box(3, a, false)), plate = solid_mesh(mesh_plate(4, 2 * a[0], 2 * a[1], false));
  double *thickness = malloc(sizeof *thickness * (size_t)plate.n);
  for (int f = 0; f < plate.n; f++) thickness[f] = 0.01;
  for (int turn = 0; turn < 30; turn++) {
    const cb_pose g = random_pose(&seed, 0.8);
    random_direction(&seed, s.up);
    cb_medium *m = layers_of(&s);
    solid_place(&box, &g);
    solid_place(&plate, &g);
    /* the tolerance grows with 1/least^2, because the closed form divides differences by the product of the n[i] */
    double r[3][3], n[3], least = 1;
    cb_pose_rotation(&g, r);
    cb_apply3_transposed((const double(*)[3])r, s.up, n);
    for (int i = 0; i < 3; i++) least = fmin(least, fabs(n[i]));
    check_displaced(displaced_of(m, &box, NULL), box_in_layers(&s, 3, a, &g, 1), 1e-14 / least / least);
    check_displaced(displaced_of(m, &plate, thickness), box_in_layers(&s, 2, a, &g, 0.01), 1e-14 / least / least);
    cb_medium_free(m);
  }
  free(thickness);
  solid_free(&box);
  solid_free(&plate);
}

/* The test body is an upright cube of side 2, whose faces are parallel to the interfaces of layers or lie in them. */
static void faces_may_lie_in_an_interface(void **unused) {
  const double half[3] = {1, 1, 1}, density[3] = {3, 2, 1}, up[3] = {0, 0, 2};
  solid b = solid_mesh(mesh_box(2, half, false));
  const struct {
    double level[2], mass, column;
  } row[] = {
      {{-1, 1}, 8 * 2., 0}, /* the lower and the upper face are in interfaces */
      {{-1, 0}, 4 * 2. + 4 * 1., 4. * (-2 * 0.5 + 1 * 0.5)},
      {{0, 0.5}, 4 * 3. + 2 * 2. + 2 * 1., 4. * (-3 * 0.5 + 2 * 0.125 + 0.5 * 1 + 0.125)},
      {{1, 2}, 8 * 3., 0}, /* the upper face is in the lower interface */
      {{-2, -1}, 8 * 1., 0},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    cb_medium *m;
    check_ok(cb_medium_layers(2, row[i].level, density, up, &m));
    const displaced d = displaced_of(m, &b, NULL);
    check_near(d.mass, row[i].mass, 1e-14 * 24);
    check_near(d.moment[0], 0, 1e-14);
    check_near(d.moment[1], 0, 1e-14);
    check_near(d.moment[2], row[i].column, 1e-14 * 24);
    cb_medium_free(m);
  }
  solid_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layers_of_any_closed_body_are_cut_exactly),
      cmocka_unit_test(boxes_and_plates_in_layers_have_their_closed_form),
      cmocka_unit_test(faces_may_lie_in_an_interface),
  };
  return cmocka_run_group_tests_name("displaced_layers", tests, NULL, NULL);
}
