/* Tests of ten thousand elastic contacts of balls of random masses in E3, S3, H3 and H2xE. Two kinds of quantities are
 * conserved:
 *
 *   energy                 in all cases: on the complete sphere, in a ball-shaped room around the base point, and
 *                          among balls joined by springs
 *   J_a = sum m <v, X_a>   for every Killing field X_a; in a room, only for the fields that do not move the room
 *
 * The sum is over the balls, of mass m and velocity v. The reversed motion is tested, too.
 */
#include "collide.h"
#include "run/contacts_step.h"
#include <gsl/gsl_linalg.h>

typedef struct kept {
  double energy, size, J[CB_KILLING_MAX];
} kept;

/* Measures the energy, the momenta J, and the size: the sum over the balls of the largest |J_a| of each ball. Errors of
 * J are relative to this size. */
static kept measure(const collision *k) {
  const cb_space *g = k->c.g;
  kept m = {0};
  for (int b = 0; b < k->balls; b++) {
    double x[CB_COORD_MAX], v[CB_COORD_MAX], one[CB_KILLING_MAX] = {0};
    const double mass = cb_system_masses(k->c.system)[cb_system_index(k->c.system, b)];
    where_is(k, b, x, v);
    m.energy += 0.5 * mass * cb_inner(g, v, v);
    for (int e = 0; e < g->embedding; e++) v[e] *= mass;
    cb_killing_momentum_add(g, x, v, one);
    double most = 0;
    for (int i = 0; i < g->n_killing; i++) {
      m.J[i] += one[i];
      most = fmax(most, fabs(one[i]));
    }
    m.size += most;
  }
  double potential;
  check_ok(cb_forces_potential(k->c.forces, k->c.state->t, k->c.state->x, &potential));
  m.energy += potential;
  return m;
}

static bool moves_a_room(const cb_space *g, int killing) {
  const char *name = g->killing[killing].name;
  return !strncmp(name, "boost", 5) || !strncmp(name, "translation", 11);
}

/* Chooses n random balls that do not touch, within the distance `within` from the base point. Their masses vary by a
 * factor of a hundred. */
static void fill(collision *k, int n, double within, double radius, double speed, uint64_t *seed,
                 double (*x)[CB_COORD_MAX], double (*v)[CB_COORD_MAX], double *mass) {
  const cb_space *g = k->c.g;
  for (int b = 0; b < n; b++) {
    bool clear;
    do {
      check_random_point(g, seed, within, x[b]);
      clear = true;
      for (int j = 0; j < b; j++) clear = clear && cb_distance(g, x[b], x[j]) > 2.02 * radius;
    } while (!clear);
    check_random_tangent(g, seed, x[b], speed, v[b]);
    mass[b] = pow(10, check_uniform(seed, -1, 1));
    for (int e = 0; e < g->embedding; e++) v[b][e] /= sqrt(mass[b]);
  }
}

enum { GAS = 24, BOUND = 8 };

/* Runs for intervals of time of length `piece` until there are at least `contacts` contacts, and returns their number.
 * *energy and *momentum receive the largest changes of the energy and of the momenta J. The change of the energy is
 * relative to the energy, the change of J to the size that measure() returns. In a room, only momenta of fields that do
 * not move the room are compared. */
static size_t run_until(collision *k, const char *method, double step, double piece, size_t contacts, bool room,
                        double *energy, double *momentum) {
  const cb_space *g = k->c.g;
  check_ok(prepare(k, method, step, 1e6));
  cb_contacts *loop;
  cb_run_free(k->run);
  k->run = NULL;
  check_ok(cb_contacts_create(k->c.system, k->c.integrator, &loop));
  check_ok(cb_contacts_check_start(loop, k->c.state));
  cb_sink sink = {k, collision_row, collision_event, collision_checkpoint, NULL};
  const kept before = measure(k);
  const int steps = (int)(piece / step);
  *energy = *momentum = 0;
  while (k->events < contacts) {
    cb_contacts_stop stopped;
    for (int i = 0; i < steps; i++) check_ok(cb_contacts_step(loop, k->c.state, step, &sink, &stopped));
    const kept now = measure(k);
    *energy = fmax(*energy, fabs(now.energy - before.energy) / before.energy);
    for (int i = 0; i < g->n_killing; i++)
      if (!room || !moves_a_room(g, i)) *momentum = fmax(*momentum, fabs(now.J[i] - before.J[i]) / before.size);
  }
  cb_contacts_free(loop);
  return k->events;
}

static void ten_thousand_contacts_keep_energy_and_momenta(void **unused) {
  static const struct {
    const char *space;
    double room;
  } cases[] = {{"e3", 1.5}, {"s3", 0}, {"h3", 1.4}, {"h2xe", 1.4}};
  uint64_t seed = check_seed();
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    collision k;
    double x[GAS][CB_COORD_MAX] = {{0}}, v[GAS][CB_COORD_MAX] = {{0}}, mass[GAS], base[CB_COORD_MAX], energy, momentum;
    open_collision(&k, cases[c].space, NULL);
    cb_space_base_point(k.c.g, base);
    if (cases[c].room > 0) check_ok(cb_builder_wall_ball(k.c.builder, "room", -1, base, cases[c].room, true, 1));
    const double radius = cases[c].room > 0 ? 0.2 : 0.3;
    fill(&k, GAS, cases[c].room > 0 ? cases[c].room - 0.25 : 2, radius, 1, &seed, x, v, mass);
    for (int b = 0; b < GAS; b++) add_ball(&k, mass[b], radius, x[b], v[b]);
    const size_t contacts = run_until(&k, "lobatto {stages: 4}", 0.02, 5, CHECK_SANITIZED ? 500 : 10000,
                                      cases[c].room > 0, &energy, &momentum);
    print_message("%s: %zu contacts by t = %g, energy %.3g, momenta %.3g\n", cases[c].space, contacts, k.c.state->t,
                  energy, momentum);
    check_at_most(energy, 1e-11);
    check_at_most(momentum, 1e-11);
    close_collision(&k);
  }
}

/* Subtracts the common motion from the velocities, so that the momenta J of boosts and translations are 0. */
static void come_to_rest(const cb_space *g, int n, double (*x)[CB_COORD_MAX], double (*v)[CB_COORD_MAX],
                         const double *mass) {
  double M[9] = {0}, J[3] = {0}, X[3][CB_COORD_MAX], c[3];
  int field[3], fields = 0, sign;
  for (int i = 0; i < g->n_killing; i++)
    if (moves_a_room(g, i)) field[fields++] = i;
  assert_int_equal(fields, 3);
  for (int b = 0; b < n; b++) {
    for (int i = 0; i < 3; i++) cb_killing_at(g, field[i], x[b], X[i]);
    for (int i = 0; i < 3; i++) {
      J[i] += mass[b] * cb_inner(g, X[i], v[b]);
      for (int j = 0; j < 3; j++) M[3 * i + j] += mass[b] * cb_inner(g, X[i], X[j]);
    }
  }
  gsl_matrix_view matrix = gsl_matrix_view_array(M, 3, 3);
  gsl_vector_view right = gsl_vector_view_array(J, 3), solution = gsl_vector_view_array(c, 3);
  size_t order[3];
  gsl_permutation permutation = {3, order};
  gsl_linalg_LU_decomp(&matrix.matrix, &permutation, &sign);
  gsl_linalg_LU_solve(&matrix.matrix, &permutation, &right.vector, &solution.vector);
  for (int b = 0; b < n; b++)
    for (int i = 0; i < 3; i++) {
      cb_killing_at(g, field[i], x[b], X[i]);
      for (int e = 0; e < g->embedding; e++) v[b][e] -= c[i] * X[i][e];
    }
}

/* All momenta are conserved, because here the balls are not enclosed in a room. Springs join the balls to one
 * component, in which an impulse stops and restarts the integration of all balls. */
static void ten_thousand_contacts_of_bound_balls_keep_all_momenta(void **unused) {
  static const char *const spaces[] = {"e3", "h3", "h2xe"};
  uint64_t seed = check_seed();
  for (size_t c = 0; c < sizeof spaces / sizeof *spaces; c++) {
    collision k;
    double x[BOUND][CB_COORD_MAX] = {{0}}, v[BOUND][CB_COORD_MAX] = {{0}}, mass[BOUND], energy, momentum;
    open_collision(&k, spaces[c], NULL);
    fill(&k, BOUND, 1, 0.2, 1, &seed, x, v, mass);
    come_to_rest(k.c.g, BOUND, x, v, mass);
    for (int b = 0; b < BOUND; b++) add_ball(&k, mass[b], 0.2, x[b], v[b]);
    for (int b = 0; b < BOUND; b++)
      for (int j = 1; j <= 2; j++) check_ok(cb_builder_spring(k.c.builder, b, (b + j) % BOUND, 0.3, 0.1, 0));
    const size_t contacts =
        run_until(&k, "lobatto {stages: 5}", 0.02, 5, CHECK_SANITIZED ? 200 : 10000, false, &energy, &momentum);
    print_message("%s: %zu contacts by t = %g, energy %.3g, momenta %.3g\n", spaces[c], contacts, k.c.state->t, energy,
                  momentum);
    check_at_most(momentum, 1e-11);
    check_at_most(energy, 1e-11);
    close_collision(&k);
  }
}

static void turn_round(collision *k) {
  const int count = k->c.state->n * k->c.state->k;
  for (int e = 0; e < count; e++) {
    k->c.state->p[e] = -k->c.state->p[e];
    k->c.state->p_low[e] = -k->c.state->p_low[e];
  }
  cb_integrator_reset(k->c.integrator);
}

/* The reversed motion uses the same complete and partial steps as the forward motion, and the integrator is symmetric.
 * The difference from the start is round-off, which grows about five times with each contact of a ball. */
static void turned_round_after_twenty_contacts_balls_return_to_their_start(void **unused) {
  static const struct {
    const char *space;
    double room;
    bool bound;
  } cases[] = {{"e3", 1.5, false}, {"s3", 0, false}, {"h3", 1.4, false}, {"h2xe", 1.4, false},
               {"e3", 1.5, true},  {"s3", 0, true},  {"h3", 1.4, true},  {"h2xe", 1.4, true}};
  uint64_t seed = check_seed();
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    collision k;
    double x[GAS][CB_COORD_MAX] = {{0}}, v[GAS][CB_COORD_MAX] = {{0}}, mass[GAS], base[CB_COORD_MAX];
    open_collision(&k, cases[c].space, NULL);
    cb_space_base_point(k.c.g, base);
    if (cases[c].room > 0) check_ok(cb_builder_wall_ball(k.c.builder, "room", -1, base, cases[c].room, true, 1));
    fill(&k, GAS, 1.2, 0.2, 1, &seed, x, v, mass);
    for (int b = 0; b < GAS; b++) add_ball(&k, mass[b], 0.2, x[b], v[b]);
    for (int b = 0; cases[c].bound && b + 1 < GAS; b += 2) /* balls are joined in pairs */
      check_ok(cb_builder_spring(k.c.builder, b, b + 1, 0.7, 0.5, 0));
    check_ok(prepare(&k, "lobatto {stages: 4}", 0.02, 1));
    cb_contacts *loop;
    check_ok(cb_contacts_create(k.c.system, k.c.integrator, &loop));
    cb_sink sink = {&k, collision_row, collision_event, collision_checkpoint, NULL};
    cb_state *start = clone_state(&k.c);
    cb_contacts_stop stopped;
    int steps = 0;
    for (; k.events < 20; steps++) check_ok(cb_contacts_step(loop, k.c.state, 0.02, &sink, &stopped));
    const size_t out = k.events;
    turn_round(&k);
    for (int i = 0; i < steps; i++) check_ok(cb_contacts_step(loop, k.c.state, 0.02, &sink, &stopped));
    turn_round(&k);
    const int count = start->n * start->k;
    const double miss =
        fmax(check_distance_max(count, start->x, k.c.state->x), check_distance_max(count, start->p, k.c.state->p));
    print_message("%s%s: %zu contacts out, %zu back, miss %.3g\n", cases[c].space,
                  cases[c].bound ? " with springs" : "", out, k.events - out, miss);
    assert_int_equal(k.events, 2 * out);
    check_at_most(miss, 1e-9);
    cb_state_free(start);
    cb_contacts_free(loop);
    close_collision(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ten_thousand_contacts_keep_energy_and_momenta),
      cmocka_unit_test(ten_thousand_contacts_of_bound_balls_keep_all_momenta),
      cmocka_unit_test(turned_round_after_twenty_contacts_balls_return_to_their_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
