/* Tests that integrators keep their order if a run has contacts. Two balls of unequal masses on a spring hit each other
 * and the wall of a room. The reference is GSL's Dormand-Prince method of order 8(7), with contacts from the gaps in
 * geodesic_balls.h. */
#include "collide.h"
#include "geodesic_balls.h"
#include <gsl/gsl_odeiv2.h>

static const double stiffness = 15, rest = 0.3;

enum { K = CB_COORD_MAX, Y = 4 * CB_COORD_MAX };

/* Computes the rates of y = (x_0, x_1, v_0, v_1), the positions and velocities of the two balls. With the force F of
 * the spring on a ball of mass m, in each factor of curvature K:
 *   x'' = F/m - K <x',x'> x */
static int reference_rate(double t, const double *y, double *dy, void *user) {
  const oracle *o = user;
  memset(dy, 0, Y * sizeof *dy);
  const double force = stiffness * (oracle_distance(o, y, y + K, NULL) - rest);
  for (int b = 0; b < 2; b++) {
    double away[K] = {0};
    const double *x = y + b * K, *v = y + (2 + b) * K;
    oracle_away(o, x, y + (1 - b) * K, away);
    for (int i = 0; i < o->g->n_factors; i++) {
      const cb_factor *f = &o->g->factor[i];
      const double square = oracle_form(f, v, v);
      for (int e = f->offset; e < f->offset + f->count; e++) {
        dy[b * K + e] = v[e];
        dy[(2 + b) * K + e] = -force * away[e] / o->mass[b] - f->curvature * square * x[e];
      }
    }
  }
  return GSL_SUCCESS;
}

static void to_oracle(oracle *o, const double *y) {
  for (int b = 0; b < 2; b++) {
    memcpy(o->x[b], y + b * K, sizeof o->x[b]);
    memcpy(o->v[b], y + (2 + b) * K, sizeof o->v[b]);
  }
}

static void from_oracle(const oracle *o, double *y) {
  for (int b = 0; b < 2; b++) {
    memcpy(y + b * K, o->x[b], sizeof o->x[b]);
    memcpy(y + (2 + b) * K, o->v[b], sizeof o->v[b]);
  }
}

static void solve(gsl_odeiv2_driver *driver, double *y, double from, double to) {
  gsl_odeiv2_driver_reset(driver);
  assert_int_equal(gsl_odeiv2_driver_apply(driver, &from, to, y), GSL_SUCCESS);
}

/* Returns the gap of contact `which`, and its rate: 0 is the contact of the two balls, 1 and 2 are the contacts of ball
 * 0 and ball 1 with the wall. */
static double reference_gap(oracle *o, const double *y, int which, double *rate) {
  to_oracle(o, y);
  const oracle_gap gap = {o, which == 2, which == 0 ? 1 : -2};
  return oracle_gap_at(&gap, 0, rate);
}

/* Integrates o until the time `end`, and lists its contacts. */
static void reference(oracle *o, double end) {
  gsl_odeiv2_system ode = {reference_rate, NULL, Y, o};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&ode, gsl_odeiv2_step_rk8pd, 1e-3, 1e-15, 1e-15);
  double y[Y] = {0}, t = 0;
  from_oracle(o, y);
  while (t < end) {
    const double next = fmin(t + 2e-3, end);
    double z[Y], rate, at = next;
    int met = -1;
    memcpy(z, y, sizeof z);
    solve(driver, z, t, next);
    for (int which = 0; which < 3 && met < 0; which++)
      if (reference_gap(o, z, which, &rate) < 0 && rate < 0) met = which;
    for (int i = 0; met >= 0 && i < 8; i++) {
      const double s = reference_gap(o, z, met, &rate);
      at -= s / rate;
      memcpy(z, y, sizeof z);
      if (at > t) solve(driver, z, t, at);
    }
    memcpy(y, z, sizeof y);
    t = at;
    if (met < 0) continue;
    to_oracle(o, y);
    o->i[o->contacts] = met == 2;
    o->j[o->contacts] = met == 0 ? 1 : -2;
    o->time[o->contacts] = t;
    oracle_reflect(o, o->i[o->contacts], o->j[o->contacts]);
    o->contacts++;
    from_oracle(o, y);
  }
  to_oracle(o, y);
  gsl_odeiv2_driver_free(driver);
}

static void open_rod(collision *k, oracle *o, const char *space) {
  static const double place[2][CB_DIM_MAX] = {{0.45, 0.1, 0.05}, {-0.3, -0.12, 0.2}},
                      speed[2][CB_DIM_MAX] = {{0.3, 0.5, -0.2}, {0.6, 0.35, 0.3}};
  memset(o, 0, sizeof *o);
  open_collision(k, space, NULL);
  const cb_space *g = k->c.g;
  o->g = g;
  o->n = 2;
  o->room = 1.1;
  cb_space_base_point(g, o->centre);
  check_ok(cb_builder_wall_ball(k->c.builder, "room", -1, o->centre, o->room, true, 1));
  for (int b = 0; b < 2; b++) {
    check_point_at(g, place[b], o->x[b]);
    check_vector_at(g, o->x[b], speed[b], o->v[b]);
    o->mass[b] = b ? 2.7 : 1;
    o->radius[b] = b ? 0.2 : 0.25;
    add_ball(k, o->mass[b], o->radius[b], o->x[b], o->v[b]);
  }
  check_ok(cb_builder_spring(k->c.builder, 0, 1, stiffness, rest, 0));
}

/* Returns the maximum error of positions and velocities at the end, or -1 if the contacts differ from those of the
 * reference. */
static double error_of(collision *k, const oracle *o, const char *method, double step, double end) {
  collide(k, method, step, end);
  double worst = 0;
  int n = 0;
  for (size_t e = 0; e < k->events; e++, n++) {
    const cb_event_row *row = &k->event[e];
    const int with = row->wall < 0 ? row->other : -2 - row->wall; /* walls have the numbers -2, -3, ..., as in the
                                                                   * reference */
    if (n >= o->contacts || row->particle != o->i[n] || with != o->j[n]) return -1;
  }
  if (n != o->contacts) return -1;
  for (int b = 0; b < 2; b++) {
    double x[K], v[K];
    where_is(k, b, x, v);
    worst = fmax(worst, check_distance_max(o->g->embedding, x, o->x[b]));
    worst = fmax(worst, check_distance_max(o->g->embedding, v, o->v[b]));
  }
  return worst;
}

/* Fits the slope of log(error) against log(step) by least squares. Contacts are at any time within steps, so that
 * errors scatter around the line, which changes the slope by at most half an order. Contacts from an interpolant would
 * reduce the order by two or more. */
static void methods_keep_their_order_through_contacts(void **unused) {
  static const char *const spaces[] = {"e3", "s3", "h3", "h2xe", "h3 {chart: poincare}", "s3 {chart: stereographic}"};
  static const struct {
    const char *text;
    double order;
    int steps; /* steps per unit of time of the first run; each later run has 1.3 times as many */
    bool embedding, chart;
  } methods[] = {{"lobatto {stages: 2}", 2, 80, true, false},
                 {"lobatto {stages: 3}", 4, 30, true, true},
                 {"lobatto {stages: 4}", 6, 15, true, true},
                 {"gauss {stages: 1}", 2, 80, true, true},
                 {"gauss {stages: 2}", 4, 30, true, true},
                 {"gauss {stages: 3}", 6, 15, true, true},
                 {"radau_iia {stages: 2}", 3, 40, true, true},
                 {"radau_iia {stages: 3}", 5, 28, true, true},
                 {"rk4", 4, 40, true, true}};
  enum { POINTS = 8 };
  const double end = 2;
  for (size_t c = 0; c < sizeof spaces / sizeof *spaces; c++) {
    collision k;
    oracle o;
    open_rod(&k, &o, spaces[c]);
    reference(&o, end);
    int pairs = 0;
    for (int i = 0; i < o.contacts; i++) pairs += o.j[i] >= 0;
    if (getenv("CB_TEST_SHOW")) print_message("%s: %d contacts, %d of the balls\n", spaces[c], o.contacts, pairs);
    assert_true(pairs >= 2 && o.contacts - pairs >= 2);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
      if (!(k.c.g->chart ? methods[m].chart : methods[m].embedding)) continue;
      double x = 0, y = 0, xx = 0, xy = 0, n = 0, last = 0;
      double steps = methods[m].steps;
      for (int p = 0; p < POINTS; p++, steps = round(1.3 * steps)) {
        const double error = error_of(&k, &o, methods[m].text, 1 / steps, end), a = log(1 / steps);
        if (error < 0) fail_msg("%s, %s, step 1/%g: other contacts", spaces[c], methods[m].text, steps);
        last = error;
        if (error < 3e-12) continue; /* such an error is close to the error of the reference */
        n++;
        x += a;
        y += log(error);
        xx += a * a;
        xy += a * log(error);
      }
      const double slope = (n * xy - x * y) / (n * xx - x * x);
      if (getenv("CB_TEST_SHOW"))
        print_message("  %-24s order %.2f of %g points, last error %.2g\n", methods[m].text, slope, n, last);
      if (!(fabs(slope - methods[m].order) <= 0.5)) print_error("%s, %s\n", spaces[c], methods[m].text);
      check_near(slope, methods[m].order, 0.5);
    }
    close_collision(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(methods_keep_their_order_through_contacts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
