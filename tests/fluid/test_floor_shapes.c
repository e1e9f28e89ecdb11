/* Tests that throw every built-in shape at a reflecting floor, from random orientations. The bodies have the added mass
 * of a fluid. No part passes through the floor, conserved quantities are constant, the energy never increases, and all
 * bodies come to rest. */
#include "floor_drop.h"
#include "fluid/local.h"
#include "surface_measures.h"

typedef struct thrown {
  drop *d;
  cb_rigid_state s;
  double size, time; /* the maximum distance of a vertex from the origin, and the time of a fall by this distance */
} thrown;

/* Throws a shape. Its density is 500, and the thickness of sheets is a hundredth of its size. The density of the fluid
 * is 300, or 3 if the shape has sheets. */
static thrown throw_shape(const char *name, double restitution, int method, uint64_t *seed) {
  cb_surface *s = shape(name, "resolution=12");
  cb_material *material = calloc((size_t)s->parts, sizeof *material);
  cb_local *local;
  cb_mass m;
  double added[6][6], size = 0, Y[6], norm = 0, fluid = 300;
  body b = {.g = {0, 0, -10}};
  for (int i = 0; i < s->vertices; i++) size = fmax(size, sqrt(cb_dot3(s->x[i], s->x[i])));
  for (int p = 0; p < s->parts; p++) {
    material[p] = (cb_material){500, s->open[p] ? 0.01 * size : 0};
    if (s->open[p]) fluid = 3;
  }
  check_ok(cb_mass_of(s, NULL, material, &m));
  check_ok(cb_local_create(s, &local));
  cb_local_added_mass(local, fluid, NULL, added, NULL, NULL);
  for (int i = 0; i < 36; i++) b.K0[i / 6][i % 6] = m.inertia[i / 6][i % 6] + added[i / 6][i % 6];
  b.weight = m.mass;
  for (int i = 0; i < 3; i++) b.moment[i] = m.mass * m.centre[i];
  assert_true(s->vertices <= MOST_POINTS);
  thrown out = {.d = drop_create(&b, restitution, s->vertices, (const double(*)[3])s->x, method), .size = size};
  out.time = sqrt(2 * size / 10);
  cb_pose g = {{0}, {1, 2, 1.5 * size}};
  for (int i = 0; i < 4; i++) {
    g.q[i] = check_uniform(seed, -1, 1);
    norm += g.q[i] * g.q[i];
  }
  for (int i = 0; i < 4; i++) g.q[i] /= sqrt(norm);
  for (int i = 0; i < 6; i++) Y[i] = check_uniform(seed, -1, 1) * (i < 3 ? 1 : size) / out.time;
  check_ok(cb_rigid_start(&out.d->p, 0, &g, Y, &out.s));
  cb_local_free(local);
  cb_surface_free(s);
  free(material);
  return out;
}

/* Computes the quantities that the floor does not change: the two horizontal momenta, and the angular momentum about
 * the vertical. */
static void kept_by_the_floor(const cb_rigid_state *s, double kept[3]) {
  double world[6];
  world_momentum(s, world);
  kept[0] = world[3];
  kept[1] = world[4];
  kept[2] = world[2];
}

static double largest(const cb_rigid_state *s) {
  double most = 0;
  for (int i = 0; i < 6; i++) most = fmax(most, fabs(s->world[i]));
  return most;
}

/* Makes a step. If it fails, two steps of half the length replace it, as in a run; these may be halved again, up to ten
 * times. Thin bodies may rotate by several radians in a step. */
static cb_status step_halved(drop *d, double h, cb_rigid_state *s, int depth) {
  cb_status status = drop_try(d, h, s);
  if (status <= 0 || depth == 10) return status;
  for (int half = 0; half < 2; half++)
    if ((status = step_halved(d, h / 2, s, depth + 1))) return status;
  return CB_OK;
}

/* Makes steps of h times the time of a fall. Checks after each step that no vertex is below the floor, and that the
 * quantities of kept_by_the_floor have not changed since the start. *most_trials becomes the maximum number of trials
 * in a step. */
static void fall(thrown *t, double h, int steps, double *most_trials) {
  double first[3], now[3], scale = 0;
  kept_by_the_floor(&t->s, first);
  for (int n = 0; n < steps; n++) {
    const int before = t->d->steps;
    check_ok(step_halved(t->d, h * t->time, &t->s, 0));
    *most_trials = fmax(*most_trials, t->d->steps - before);
    check_at_least(drop_gap(t->d, &t->s), -1e-13 * t->size);
    kept_by_the_floor(&t->s, now);
    scale = fmax(scale, largest(&t->s) * fmax(1, 2 / t->size));
    for (int i = 0; i < 3; i++) check_near(now[i], first[i], 1e-11 * scale);
  }
}

static void blows_of_restitution_one_keep_energy_and_what_is_across_up(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; cb_shape_classes[i]; i++)
    for (int method = 0; method <= RKMK4; method += RKMK4) {
      thrown t = throw_shape(cb_shape_classes[i]->name, 1, method, &seed);
      double most = 0;
      fall(&t, 0.005, 1000, &most);
      assert_true(t.d->blows >= 1);
      check_at_most(t.d->worst_energy, 1e-12);
      drop_free(t.d);
    }
}

static void all_shapes_come_to_lie_and_gain_no_energy(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; cb_shape_classes[i]; i++) {
    thrown t = throw_shape(cb_shape_classes[i]->name, 0.2, CB_SE3_CAYLEY, &seed);
    double most = 0, lost, start = drop_energy(t.d, &t.s);
    fall(&t, 0.02, 1500, &most);
    lost = start - drop_energy(t.d, &t.s);
    check_at_most(t.d->energy_gained, 1e-12);
    check_at_least(lost, 0);
    const int steps = t.d->steps;
    fall(&t, 0.02, 20, &most);
    print_message("  %-14s %5d vertices, %4d reflections, at most %4.0f trials a step, at the end %.1f\n",
                  cb_shape_classes[i]->name, t.d->n, t.d->hits, most, (t.d->steps - steps) / 20.);
    check_near(drop_gap(t.d, &t.s), 0, 1e-3 * t.size);
    drop_free(t.d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blows_of_restitution_one_keep_energy_and_what_is_across_up),
      cmocka_unit_test(all_shapes_come_to_lie_and_gain_no_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
