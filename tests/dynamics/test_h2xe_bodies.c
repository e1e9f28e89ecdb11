/* Tests of rigid triangles and tetrahedra with unequal masses in H2 x E, where no isometry rotates a body out of the
 * hyperbolic plane. Lobatto is compared with IDA and Radau, which have no code in common with it except the rods. The
 * lengths of rods, the energy and the four Killing momenta are checked, too.
 */
#include "constrained.h"
#include "linked.h"

enum { TRIALS = CHECK_SANITIZED ? 1 : 3 };

static void momenta(const body_case *c, double *j) {
  memset(j, 0, CB_KILLING_MAX * sizeof *j);
  for (int a = 0; a < c->state->n; a++)
    cb_killing_momentum_add(c->g, c->state->x + a * c->state->k, c->state->p + a * c->state->k, j);
}

/* The result of a run: positions x and velocities v at the end, the maximum changes of the energy and the momenta
 * relative to the energy, and the maximum residual `rows` of the rods. */
typedef struct outcome {
  double x[MOST], v[MOST], energy, momenta, rows;
} outcome;

static void run_to(double end, double h, const char *method, int n, bool centre, uint64_t seed, outcome *out) {
  body_case c;
  double before[CB_KILLING_MAX], after[CB_KILLING_MAX];
  open_frame(&c, "h2xe", n, false, centre, &seed);
  for (int i = 0; i < c.state->n * c.state->k; i++) c.state->p[i] *= 1.5;
  use_method(&c, method);
  momenta(&c, before);
  const double start = energy(&c);
  *out = (outcome){.rows = 0};
  for (long step = 0; step < lround(end / h); step++) {
    advance(&c, h, 1);
    momenta(&c, after);
    out->rows = fmax(out->rows, residual(&c));
    out->energy = fmax(out->energy, fabs(energy(&c) / start - 1));
    out->momenta = fmax(out->momenta, check_distance_max(4, before, after) / start);
  }
  memcpy(out->x, c.state->x, (size_t)(c.state->n * c.state->k) * sizeof(double));
  velocities(&c, out->v);
  assert_int_equal(c.g->n_killing, 4);
  close_case(&c);
}

static double apart(int n, const outcome *a, const outcome *b) {
  return fmax(check_distance_max(4 * n, a->x, b->x), check_distance_max(4 * n, a->v, b->v));
}

static void rigid_bodies_without_symmetry_move_alike_by_every_method(void **s) {
  uint64_t seed = check_seed();
  for (int n = 3; n <= 4; n++) {
    outcome lobatto, ida, radau, coarse;
    double by_ida = 0, by_radau = 0, lost = 0, kept = 0, rows = 0, order = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
      const uint64_t own = seed + (uint64_t)(10 * n + trial);
      run_to(3, 0.01, "lobatto {stages: 4}", n, false, own, &lobatto);
      run_to(3, 0.1, "ida {rtol: 1e-12, atol: 1e-13}", n, false, own, &ida);
      run_to(3, 0.02, "radau_iia {stages: 4}", n, false, own, &radau);
      run_to(3, 0.1, "lobatto {stages: 4}", n, false, own, &coarse);
      by_ida = fmax(by_ida, apart(n, &lobatto, &ida));
      by_radau = fmax(by_radau, apart(n, &lobatto, &radau));
      order = fmax(order, apart(n, &lobatto, &coarse));
      lost = fmax(lost, lobatto.energy);
      kept = fmax(kept, lobatto.momenta);
      rows = fmax(rows, lobatto.rows);
    }
    print_message("%d particles: IDA %.1e, Radau %.1e apart, step of 0.1 %.1e; energy %.1e, momenta %.1e, rods %.1e\n",
                  n, by_ida, by_radau, order, lost, kept, rows);
    check_at_most(by_ida, 1e-8);
    check_at_most(by_radau, 1e-9);
    check_at_most(lost, 1e-12);
    check_at_most(kept, 1e-13);
    check_at_most(rows, 1e-13);
  }
}

/* In a harmonic potential the maximum error of the energy in a long run is at most ten times the maximum in its first
 * half. */
static void the_energy_neither_grows_nor_wanders(void **s) {
  uint64_t seed = check_seed() + 7;
  outcome early, late;
  run_to(CHECK_SANITIZED ? 20 : 200, 0.05, "lobatto {stages: 3}", 4, true, seed, &early);
  run_to(CHECK_SANITIZED ? 40 : 400, 0.05, "lobatto {stages: 3}", 4, true, seed, &late);
  print_message("energy: %.1e to the middle, %.1e to the end; rods %.1e\n", early.energy, late.energy, late.rows);
  check_at_most(late.energy, 10 * early.energy); /* a chaotic motion may later reach steeper places of the potential */
  check_at_most(late.rows, 1e-13);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rigid_bodies_without_symmetry_move_alike_by_every_method),
      cmocka_unit_test(the_energy_neither_grows_nor_wanders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
