/* Tests of the potentials of geodesic panels at a point of S^3 (curvature K = 1) or H^3 (K = -1): the kernels of each
 * instruction set compared with quadrature by subdivision, and with each other, and gradients compared with
 * differences. S and D are the potentials of sources and of dipoles of strength 1 on a panel.
 */
#include "check.h"
#include "core/threads.h"
#include "numerics/numerics_curved.h"
#include "numerics/vec3.h"
#include "potential/curved_flow.h"

enum { PANELS = 61, DEPTH = 20 }; /* PANELS is not a multiple of the width of vectors */

typedef struct pair {
  double S, D;
} pair;

/* Computes the potential G of a unit source at the distance r of x and y, and its slope along the normal of the plane,
 * -G'(r) s/S, with functions of the C library. Here S is sin r or sinh r, and s is sin or sinh of the distance of x
 * from the plane. */
static pair kernel(double K, const double *x, const double *y, const double *plane) {
  double p[4];
  cb_curved_towards(K, x, y, p);
  const double S = sqrt(cb_dot3(p, p)), w = p[3], t = atan2(S, w), s = cb_dot3(plane, x) + plane[3] * x[3];
  if (K < 0) return (pair){(w / S - 1) / (4 * M_PI), s / (4 * M_PI * S * S * S)};
  return (pair){(M_PI - t) * w / (4 * M_PI * M_PI * S), s * (M_PI - t + S * w) / (4 * M_PI * M_PI * S * S * S)};
}

/* Adds the potentials at x of the panel with the corners y. Divides the panel into quarters until their size is a
 * fourth of their distance from x. Parts around x after DEPTH divisions are left out; they contribute about 2^-16 of
 * S. */
static void add(double K, const double (*y)[4], const double *x, const double *plane, int depth, pair *sum) {
  double half[3][4], size = 0, distance = INFINITY, nu[4];
  for (int k = 0; k < 3; k++) {
    size = fmax(size, cb_curved_distance(K, y[k], y[(k + 1) % 3]));
    distance = fmin(distance, cb_curved_distance(K, y[k], x));
  }
  if (depth == DEPTH) return;
  if (distance > 4 * size) {
    const double N = cb_curved_plane(K, y[0], y[1], y[2], nu);
    for (int k = 0; k < CB_CURVED_POINTS; k++) {
      double q[4];
      const double c = cb_curved_node(K, y, k, q), weight = cb_curved_rule[k][3] * N / (2 * c * sqrt(c));
      const pair g = kernel(K, x, q, plane);
      sum->S += weight * g.S;
      sum->D += weight * g.D;
    }
    return;
  }
  for (int k = 0; k < 3; k++) {
    for (int l = 0; l < 4; l++) half[k][l] = y[k][l] + y[(k + 1) % 3][l];
    const double root = sqrt(cb_curved_form(K, half[k], half[k]));
    for (int l = 0; l < 4; l++) half[k][l] /= root;
  }
  for (int k = 0; k < 4; k++) {
    double part[3][4];
    for (int c = 0; c < 3; c++)
      memcpy(part[c], k == 3 ? half[c] : c == 0 ? y[k] : half[c == 1 ? k : (k + 2) % 3], sizeof part[c]);
    add(K, (const double(*)[4])part, x, plane, depth + 1, sum);
  }
}

typedef struct set {
  double x[3 * PANELS][3];
  int face[PANELS][3];
} set;

/* Makes random triangles of about this size, within `reach` of the origin. */
static void anywhere(set *s, double size, double reach, uint64_t *seed) {
  for (int i = 0; i < PANELS; i++) {
    double at[3];
    for (int a = 0; a < 3; a++) at[a] = check_uniform(seed, -reach, reach) / sqrt(3);
    for (int k = 0; k < 3; k++)
      for (int a = 0; a < 3; a++) s->x[3 * i + k][a] = at[a] + size * (check_uniform(seed, -.1, .1) + (a == k));
    for (int k = 0; k < 3; k++) s->face[i][k] = 3 * i + k;
  }
}

static void place(cb_arena **arena, const set *s, double K, const char *isa, cb_curved_panels *p) {
  typedef struct owner {
    cb_arena *arena;
  } owner;
  check_ok(cb_isa_set(isa));
  owner *o = cb_arena_object(sizeof *o, "panels");
  *arena = o->arena;
  check_ok(cb_curved_panels_take(p, *arena, PANELS, K));
  check_ok(cb_curved_panels_place(p, s->x, s->face));
}

/* Computes the maximum errors over all pairs of panels: of S (except S on the panel itself), relative to the potential
 * at the distance of one side, and of D, absolute. */
static void compare(double K, double size, double reach, uint64_t *seed, double *off_S, double *off_D) {
  set s;
  cb_curved_panels p;
  cb_arena *arena;
  anywhere(&s, size, reach, seed);
  place(&arena, &s, K, "auto", &p);
  *off_S = *off_D = 0;
  for (int i = 0; i < PANELS; i++) {
    double S[PANELS], D[PANELS], y[3][4];
    cb_curved_panels_range(&p, p.centre[i], 0, PANELS, i, S, D);
    for (int j = 0; j < PANELS; j++) {
      pair sum = {0, 0};
      for (int k = 0; k < 3; k++) cb_curved_point(K, s.x[s.face[j][k]], y[k]);
      add(K, (const double(*)[4])y, p.centre[i], p.plane[j], 0, &sum);
      if (i == j) sum.D = 0; /* D of a panel is 0 in its own plane */
      double side = 0;
      for (int k = 0; k < 3; k++) side = fmax(side, cb_curved_distance(K, y[k], y[(k + 1) % 3]));
      const double share = p.area[j] / (4 * M_PI);
      /* At the centre of the panel itself, S without its singular part has a tip like a cone, which the quadrature rule
       * smooths. So this tolerance is larger. */
      if (i == j) check_near(S[j], sum.S, .5 * side * share + 1e-4 * sum.S);
      if (i != j) *off_S = fmax(*off_S, fabs(S[j] - sum.S) / (share / side));
      *off_D = fmax(*off_D, fabs(D[j] - sum.D));
    }
  }
  cb_arena_free(arena);
}

static void potentials_are_the_integrals(void **unused) {
  static const struct {
    double K, size, reach, S, D;
  } of[] = {{-1, .03, 1, 1e-4, 1e-8}, {-1, .4, 2, 2e-2, 1e-8}, {1, .03, 2.5, 1e-4, 1e-9}, {1, .4, 2, 2e-2, 2e-6}};
  uint64_t seed = check_seed();
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    double S, D;
    compare(of[i].K, of[i].size, of[i].reach, &seed, &S, &D);
    print_message("K %2g, size %g: S %.1e, D %.1e\n", of[i].K, of[i].size, S, D);
    assert_true(S < of[i].S);
    assert_true(D < of[i].D); /* for K < 0 the difference is the error of the quadrature */
  }
}

/* The kernels of the instruction sets differ by round-off, because some use fused multiply-add. */
static void instruction_sets_agree(void **unused) {
  uint64_t seed = check_seed();
  for (int trial = 0; trial < 8; trial++) {
    const double K = trial & 1 ? 1 : -1, size = trial & 2 ? .03 : .4;
    static const char *const isa[] = {CB_ISA_BASE, "avx2", "avx512"};
    double S[3][PANELS], D[3][PANELS], only[PANELS];
    int known = 0;
    set s;
    anywhere(&s, size, trial & 4 ? .5 : 2, &seed);
    for (int k = 0; k < 3; k++) {
      cb_curved_panels p;
      cb_arena *arena;
      if (cb_isa_set(isa[k])) continue; /* not supported by this processor */
      place(&arena, &s, K, isa[k], &p);
      cb_curved_panels_range(&p, p.centre[trial], 0, PANELS, trial, S[known], D[known]);
      cb_curved_panels_range(&p, p.centre[trial], 0, PANELS, trial, only, NULL);
      for (int j = 0; j < PANELS; j++) assert_true(only[j] == S[known][j]);
      for (int j = 0; j < PANELS; j++) {
        check_near(S[known][j], S[0][j], 1e-12 * size);
        check_near(D[known][j], D[0][j], 1e-12);
      }
      cb_arena_free(arena);
      known++;
    }
    check_ok(cb_isa_set("auto"));
  }
}

/* Moves x by t along direction `axis` of the frame at x. This is the frame of the base point after parallel transport
 * to x. */
static void moved(double K, const double x[4], int axis, double t, double y[4]) {
  double u[4], c = K > 0 ? cos(t) : cosh(t), s = K > 0 ? sin(t) : sinh(t);
  for (int k = 0; k < 3; k++) u[k] = (k == axis) - K * x[k] * x[axis] / (1 + x[3]);
  u[3] = -K * x[axis];
  for (int k = 0; k < 4; k++) y[k] = c * x[k] + s * u[k];
}

/* Returns whether x is near a point at which the kernels change from one formula to another. For S of panel i, such a
 * point is at five times the longest side from the nearest corner, or the least of the products <x, y> with the corners
 * y is 0.3 there. For D, the mean of <x, y> over the corners is -1/2 there. */
static bool on_border(const cb_curved_panels *p, const set *s, int i, const double x[4]) {
  double y[3][4], side = 0, nearest = INFINITY, low = INFINITY, mean = 0;
  for (int k = 0; k < 3; k++) cb_curved_point(p->K, s->x[s->face[i][k]], y[k]);
  for (int k = 0; k < 3; k++) {
    const double w = cb_curved_form(p->K, x, y[k]);
    side = fmax(side, cb_curved_distance(p->K, y[k], y[(k + 1) % 3]));
    nearest = fmin(nearest, sqrt(fabs(1 - w * w)));
    low = fmin(low, w);
    mean += w / 3;
  }
  return fabs(nearest - 5 * side) < 1e-3 || fabs(low - 0.3) < 1e-3 || fabs(mean + 0.5) < 1e-3;
}

/* Compares gradients with differences of fourth order and with steps of 1e-4 of a panel. The points are at least a
 * tenth of a panel away from panels, so that the error of the differences is below 1e-9; round-off is about 1e-12. */
static void check_gradients(const cb_curved_panels *p, const set *s, double size, const double x[4]) {
  const double e = 1e-4 * size;
  double S[4][PANELS], D[4][PANELS], slope_S[3 * PANELS], slope_D[3 * PANELS];
  cb_curved_panels_gradients(p, x, 0, PANELS, PANELS, slope_S, slope_D);
  for (int axis = 0; axis < 3; axis++) {
    for (int k = 0; k < 4; k++) {
      double y[4];
      moved(p->K, x, axis, e * (k < 2 ? k - 2 : k - 1), y);
      cb_curved_panels_range(p, y, 0, PANELS, -1, S[k], D[k]);
    }
    for (int i = 0; i < PANELS; i++) {
      if (on_border(p, s, i, x)) continue;
      check_near(slope_S[axis * PANELS + i], (S[0][i] - 8 * S[1][i] + 8 * S[2][i] - S[3][i]) / (12 * e), 2e-9);
      check_near(size * slope_D[axis * PANELS + i], (D[0][i] - 8 * D[1][i] + 8 * D[2][i] - D[3][i]) / (1.2e-3), 2e-9);
    }
  }
}

/* Each point is above one of the panels and far enough from the others. */
static void gradients_are_those_of_the_potentials(void **unused) {
  static const char *const isa[] = {CB_ISA_BASE, "avx2", "avx512"};
  uint64_t seed = check_seed();
  for (int trial = 0; trial < 24; trial++) {
    const double K = trial & 1 ? 1 : -1, size = trial & 2 ? .03 : .4;
    set s;
    cb_curved_panels p;
    cb_arena *arena;
    int points = 0;
    if (cb_isa_set(isa[trial / 8])) continue; /* not supported by this processor */
    anywhere(&s, size, trial & 4 ? 2.5 : size > .1 ? 2 : .5, &seed);
    place(&arena, &s, K, isa[trial / 8], &p);
    assert_true(p.few == (size < .1));
    for (int i = 0; i < PANELS; i++) {
      double x[4];
      const double *c = p.centre[i], *nu = p.plane[i], t = .15 * size, w = K > 0 ? cos(t) : cosh(t),
                   z = K > 0 ? sin(t) : sinh(t);
      bool clear = true;
      for (int k = 0; k < 4; k++) x[k] = w * c[k] + z * (k < 3 ? 1 : K) * nu[k];
      for (int j = 0; j < PANELS; j++) clear = clear && (j == i || cb_curved_distance(K, x, p.centre[j]) > size);
      if (!clear) continue;
      check_gradients(&p, &s, size, x);
      points++;
    }
    assert_true(points > 0);
    cb_arena_free(arena);
    check_ok(cb_isa_set("auto"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(potentials_are_the_integrals),
      cmocka_unit_test(instruction_sets_agree),
      cmocka_unit_test(gradients_are_those_of_the_potentials),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
