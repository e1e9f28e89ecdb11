/* Tests of contacts of bodies that act on each other through the fluid, and of impacts on bodies at rest. */
#include "memory_sink.h"
#include "system_runs.h"

enum { BALLS = 5 };

/* Removes all events that are not contacts from the list. Returns the number of contacts. */
static size_t contacts(memory_sink *m) {
  size_t n = 0;
  for (size_t e = 0; e < m->n_events; e++)
    if (m->event[e].kind == CB_EVENT_REFLECT) m->event[n++] = m->event[e];
  return m->n_events = n;
}

static void finish(memory_sink *m, cb_scenario *s) {
  memory_free(m);
  cb_scenario_free(s);
}

/* --- balls in a row that act on each other as dipoles ---
 *
 *   M_ii = k,  M_ij = -2 rho D^2/(4 pi |x_i - x_j|^3),  p = M v,  dp_i/dt = d/dx_i (v^T M v/2)
 * x are the places on a line, v the velocities, p the momenta, and rho is the density of the fluid. k is the inertia of
 * a ball and its fluid. D = V/2 + V' is the dipole moment of a ball at unit velocity, with the volumes V of the sphere
 * and V' inside the faces. At a contact of the balls i and i + 1 their momenta change by -J and J:
 *
 *   J = -(1 + e) s'/(n^T M^-1 n)
 * with the restitution e, the rate s' of the gap, and the vector n: -1 at i, 1 at i + 1 and 0 elsewhere. */
typedef struct row {
  double k, coupling; /* coupling: 2 rho D^2/(4 pi) */
} row;

/* Computes the velocities v = M^-1 p of the balls, with their positions x, momenta p and the inertia matrix M(x). */
static void velocities(const row *r, const double *x, const double *p, double *v) {
  double M[BALLS][BALLS + 1];
  for (int i = 0; i < BALLS; i++) {
    for (int j = 0; j < BALLS; j++) M[i][j] = i == j ? r->k : -r->coupling / pow(fabs(x[i] - x[j]), 3);
    M[i][BALLS] = p[i];
  }
  for (int c = 0; c < BALLS; c++) /* M is positive definite, so no pivoting is needed */
    for (int i = 0; i < BALLS; i++) {
      const double factor = i == c ? 0 : M[i][c] / M[c][c];
      for (int j = 0; j <= BALLS; j++) M[i][j] -= factor * M[c][j];
    }
  for (int i = 0; i < BALLS; i++) v[i] = M[i][BALLS] / M[i][i];
}

static int rhs(double t, const double *z, double *dz, void *user) {
  const row *r = user;
  velocities(r, z, z + BALLS, dz);
  for (int i = 0; i < BALLS; i++) {
    dz[BALLS + i] = 0;
    for (int j = 0; j < BALLS; j++) { /* d(-C/|d|^3)/dd = 3 C d/|d|^5 */
      const double d = z[i] - z[j];
      if (i != j) dz[BALLS + i] += dz[i] * dz[j] * 3 * r->coupling * d / pow(fabs(d), 5);
    }
  }
  (void)t;
  return 0;
}

/* Moves the balls for a time in which they do not touch. */
static void move(const row *r, double time, double z[2 * BALLS]) {
  row own = *r;
  if (time > 0) solve_reference(rhs, &own, 2 * BALLS, time, z);
}

/* Moves the balls to the first contact before the time `limit`, by bisection. Returns the left ball of this contact, or
 * -1 if there is none. *time becomes the time of the motion. */
static int next_contact(const row *r, double diameter, double limit, double z[2 * BALLS], double *time) {
  double at[2 * BALLS], v[BALLS];
  for (*time = 0; *time < limit;) {
    double step = fmin(.005, limit - *time);
    int first = -1;
    memcpy(at, z, sizeof at);
    move(r, step, at);
    for (int i = 0; i + 1 < BALLS; i++) {
      double low = 0, high = step, y[2 * BALLS];
      if (at[i + 1] - at[i] >= diameter) continue;
      for (int n = 0; n < 60; n++) {
        const double middle = (low + high) / 2;
        memcpy(y, z, sizeof y);
        move(r, middle, y);
        velocities(r, y, y + BALLS, v);
        *(y[i + 1] - y[i] > diameter || v[i + 1] > v[i] ? &low : &high) = middle;
        if (high - low < 1e-15) break;
      }
      step = high;
      first = i;
      memcpy(at, z, sizeof at);
      move(r, step, at);
    }
    *time += step;
    memcpy(z, at, sizeof at);
    if (first >= 0) return first;
  }
  return -1;
}

#define ROW                                                                                                       \
  "curvebody: 1\nfluid: {medium: 1000, gravity: [0, 0, 0], model: ellipsoid, coupling: dipole}\n"                 \
  "contacts: {shapes: true, restitution: %.17g}\nbodies:\n"                                                       \
  "  - {name: a, shape: &s {name: ball, radius: 0.1, resolution: %d}, density: 2500, drag: false,\n"              \
  "     place: {position: [-0.5, 0, 0]}, motion: {velocity: [1, 0, 0]}}\n"                                        \
  "  - {name: b, shape: *s, density: 2500, drag: false, place: {position: [0.22*i, 0, 0]}, repeat: {count: 4}}\n" \
  "integrator: {name: hamilton_pontryagin, order: 4, step: %.17g}\ntime: {end: 0.6}\n"                            \
  "record: {observables: [energy, momentum, inertia]}\n"

static cb_scenario *run_row(double restitution, int resolution, double step, memory_sink *m) {
  char text[2048];
  snprintf(text, sizeof text, ROW, restitution, resolution, step);
  return memory_go(m, text);
}

/* Five balls are in a row, with gaps of 2 cm. The first one hits the second, and in the end the last one leaves. All
 * contacts and the velocities at the end follow from the equations in the comment of `row`. At restitution 1 momentum
 * and energy are the same in all rows. */
static void cradle_in_water_has_the_inertia_of_all_balls(void **unused) {
  (void)unused;
  for (int n = 0; n < 2; n++) {
    const double e = n ? .5 : 1, volume = 4 * M_PI / 3 * 1e-3;
    memory_sink m;
    cb_scenario *s = run_row(e, 16, 5e-4, &m);
    const double k = memory_field(&m, 0, "inertia")[21], faces = (k - 1000 * volume / 2) / 2500,
                 moment = volume / 2 + faces, E = *memory_field(&m, 0, "energy");
    const row r = {k, 2 * 1000 * moment * moment / (4 * M_PI)};
    double z[2 * BALLS], v[BALLS], t = 0, passed, lost = 0;
    size_t found = 0;
    for (int i = 0; i < BALLS; i++) z[i] = i ? .22 * (i - 1) : -.5;
    for (int i = 0; i < BALLS; i++) z[BALLS + i] = i ? -r.coupling / pow(z[i] - z[0], 3) : k;
    contacts(&m);
    for (int i; (i = next_contact(&r, .2, .6 - t, z, &passed)) >= 0; found++) {
      double answer[BALLS], unit[BALLS] = {0};
      t += passed;
      velocities(&r, z, z + BALLS, v);
      unit[i] = -1;
      unit[i + 1] = 1;
      velocities(&r, z, unit, answer);
      const double rate = v[i + 1] - v[i], J = -(1 + e) * rate / (answer[i + 1] - answer[i]);
      z[BALLS + i] -= J;
      z[BALLS + i + 1] += J;
      lost += (1 - e * e) * rate * rate / (2 * (answer[i + 1] - answer[i]));
      assert_true(found < m.n_events);
      assert_int_equal(m.event[found].particle, i);
      check_near(m.event[found].time, t, 1e-10); /* the steps of the run have this error */
      check_relative(m.event[found].speed_before, rate, 1e-9);
      check_relative(m.event[found].impulse, J, 1e-9);
    }
    assert_int_equal(found, m.n_events);
    velocities(&r, z, z + BALLS, v);
    const double *Y = memory_field(&m, m.n_rows - 1, "twist");
    for (int i = 0; i < BALLS; i++) check_near(Y[6 * i + 3], v[i], 1e-9);
    print_message("e = %g: %zu contacts, the last ball leaves with %.8f\n", e, found, v[BALLS - 1]);
    check_relative(*memory_field(&m, m.n_rows - 1, "energy"), E - lost, 1e-12);
    for (size_t i = 1; i < m.n_rows; i++) {
      check_relative(memory_field(&m, i, "total_momentum")[3], memory_field(&m, 0, "total_momentum")[3], 1e-12);
      if (e == 1) check_relative(*memory_field(&m, i, "energy"), E, 1e-12);
    }
    finish(&m, s);
  }
}

/* If balls would overlap within a step by more than the coupling allows, the step is divided before the contact. */
static void long_steps_do_not_miss_contacts_in_a_coupling(void **unused) {
  (void)unused;
  memory_sink m[2];
  cb_scenario *s[2];
  for (int k = 0; k < 2; k++) {
    s[k] = run_row(1, 40, k ? .1 : .005, &m[k]);
    contacts(&m[k]);
  }
  assert_int_equal(m[0].n_events, 4);
  assert_int_equal(m[1].n_events, 4);
  for (int e = 0; e < 4; e++) check_near(m[1].event[e].time, m[0].event[e].time, 1e-4); /* long steps have this error */
  for (int k = 0; k < 2; k++) finish(&m[k], s[k]);
}

/* --- impacts on bodies that rest --- */

/* A ball falls on a ball that rests on a plane, at restitution 1. The resting ball cannot move. So the other ball rises
 * to the height from which it fell, and falls a second time. This holds for any time of the impact within a step. */
static void impact_on_a_resting_body_keeps_energy(void **unused) {
  (void)unused;
  for (int n = 0; n < 4; n++) {
    char text[1024];
    memory_sink m;
    snprintf(text, sizeof text,
             "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, -10]}\n"
             "contacts: {shapes: true, restitution: 1, accumulation: rest}\nbodies:\n"
             "  - {name: low, shape: {name: ball, radius: 0.1}, inertial: {mass: 5, inertia: [1, 1, 1]}, place: "
             "{position: [0, 0, 0.1]}}\n"
             "  - {name: high, shape: {name: ball, radius: 0.1}, inertial: {mass: 2, inertia: [1, 1, 1]}, place: "
             "{position: [0, 0, %.17g]}}\n"
             "walls: [{plane: {at: {point: [0, 0, 0]}, normal: [0, 0, 1], restitution: 0}}]\n"
             "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 0.8}\n",
             .5 + .003 * n);
    cb_scenario *s = memory_go(&m, text);
    assert_int_equal(contacts(&m), 2);
    check_near(*memory_field(&m, m.n_rows - 1, "energy"), *memory_field(&m, 0, "energy"),
               1e-12); /* round-off of an energy of 15 J */
    check_near(memory_field(&m, m.n_rows - 1, "pose")[2], .1, 1e-14);
    finish(&m, s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cradle_in_water_has_the_inertia_of_all_balls),
                                     cmocka_unit_test(long_steps_do_not_miss_contacts_in_a_coupling),
                                     cmocka_unit_test(impact_on_a_resting_body_keeps_energy)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
