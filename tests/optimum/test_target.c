/* Tests of the targets of gaits: derivatives of their conditions, also near the identity, and invariance under
 * conjugation. */
#include "lie_groups.h"
#include "optimum/target.h"

static void values(const cb_group *G, const cb_gait_target *t, const double *g, const double *y, double *c) {
  double h[CB_GROUP_SIZE];
  G->exp(G, y, h);
  G->multiply(G, h, g, h);
  check_ok(cb_gait_target_at(G, t, h, c, NULL, NULL));
}

/* Compares derivatives of the conditions c along changes y of the element g with central differences of step h. The
 * first derivatives have differences of order 4 and the error (h/size)^4, where `size` is that of the motion. The
 * second derivatives have differences of order 2 and the error (h/size)^2. */
static void check_target(const cb_group *G, const cb_gait_target *t, const double *g, double h, uint64_t *seed) {
  enum { ROOM = CB_CONDITIONS_MAX };
  double c[5][ROOM], first[ROOM * CB_GROUP_DIM], second[ROOM * CB_GROUP_DIM * CB_GROUP_DIM], y[CB_GROUP_DIM];
  const int count = cb_gait_target_count(G, t), dim = G->dim;
  check_ok(cb_gait_target_at(G, t, g, c[2], first, second));
  random_algebra(G, seed, 1, y);
  for (int s = -2; s <= 2; s++) {
    double step[CB_GROUP_DIM];
    for (int a = 0; a < dim; a++) step[a] = s * h * y[a];
    values(G, t, g, step, c[s + 2]);
  }
  for (int k = 0; k < count; k++) {
    double slope = 0, curvature = 0;
    for (int a = 0; a < dim; a++) {
      slope += first[k * dim + a] * y[a];
      for (int b = 0; b < dim; b++) curvature += second[(k * dim + a) * dim + b] * y[a] * y[b];
    }
    const double off = (c[0][k] - 8 * c[1][k] + 8 * c[3][k] - c[4][k]) / (12 * h);
    check_near(slope, off, 1e-6 * (1 + fabs(off)));
    if (t->kind == CB_GAIT_ELEMENT) continue; /* second derivatives of this kind of target are set to 0 */
    const double turn = (c[3][k] - 2 * c[2][k] + c[1][k]) / (h * h);
    check_near(curvature, turn, 1e-3 * (1 + fabs(turn)));
  }
}

static void derivatives_agree_with_differences_however_small_the_target(void **state) {
  uint64_t seed = check_seed();
  EACH_GROUP(G) {
    const bool rotations = !strcmp(G->name, "so3") || !strcmp(G->name, "se3");
    const bool moves = G->abelian || !strcmp(G->name, "se2") || !strcmp(G->name, "se3");
    const bool turns = rotations || !strcmp(G->name, "so2") || !strcmp(G->name, "se2");
    for (double size = 1; size > 1e-3; size /= 10) {
      double g[CB_GROUP_SIZE];
      cb_gait_target t = {.kind = CB_GAIT_MOVE, .value = size};
      random_element(G, &seed, size, g);
      if (moves) check_target(G, &t, g, 1e-2 * size, &seed);
      t.kind = CB_GAIT_TURN;
      if (turns) check_target(G, &t, g, 1e-2 * size, &seed);
    }
    double g[CB_GROUP_SIZE];
    cb_gait_target t = {.kind = CB_GAIT_ELEMENT};
    random_element(G, &seed, .5, g);
    memcpy(t.element, g, sizeof g);
    check_target(G, &t, g, 1e-2, &seed);
    t.kind = CB_GAIT_PARTS;
    for (int k = 0; k < G->size; k++) t.asked[k] = k % 2 == 0;
    check_target(G, &t, g, 1e-2, &seed);
  }
}

static void distances_and_angles_are_those_of_conjugate_elements(void **state) {
  uint64_t seed = check_seed();
  static const char *const names[] = {"se2", "se3", "so3", "so2", "r3"};
  for (int k = 0; k < 5; k++)
    for (int kind = CB_GAIT_MOVE; kind <= CB_GAIT_TURN; kind++) {
      const cb_group *G = cb_group_find(names[k]);
      const bool shift = kind == CB_GAIT_MOVE;
      if (shift ? k == 2 || k == 3 : k == 4) continue;
      double a[CB_GROUP_DIM], g[CB_GROUP_SIZE], h[CB_GROUP_SIZE], c[2][CB_CONDITIONS_MAX];
      const cb_gait_target t = {.kind = shift ? CB_GAIT_MOVE : CB_GAIT_TURN, .value = .3};
      random_algebra(G, &seed, .5, a);
      if (shift && k == 0) a[2] = 0; /* a translation without rotation */
      if (shift && k == 1) a[0] = a[1] = a[2] = 0;
      G->exp(G, a, g);
      random_element(G, &seed, 1, h);
      check_ok(cb_gait_target_at(G, &t, g, c[0], NULL, NULL));
      cb_group_conjugate(G, h, g, g);
      check_ok(cb_gait_target_at(G, &t, g, c[1], NULL, NULL));
      for (int i = 0; i < cb_gait_target_count(G, &t); i++) check_near(c[1][i], c[0][i], 1e-13);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_differences_however_small_the_target),
      cmocka_unit_test(distances_and_angles_are_those_of_conjugate_elements),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
