/* Tests of configuration spaces. Pendulums are compared with textbook equations solved by GSL and with Cartesian
 * coordinates. Other tests concern the orders of integrators, restarts, and derivatives of generalised forces. */
#include "memory_sink.h"
#include "system_runs.h"
#include <gsl/gsl_linalg.h>

/* --- double pendulum: masses m1 = 1 and m2 = .7, lengths l1 = 1 and l2 = .8, gravity g = 9.81 --- */

#define DOUBLE_PENDULUM                                                                 \
  "  coordinates: [a, b]\n  parameters: {m1: 1, m2: 0.7, l1: 1, l2: 0.8, g: 9.81}\n"    \
  "  metric: [[\"(m1 + m2)*l1^2\"], [\"m2*l1*l2*cos(a - b)\", \"m2*l2^2\"]]\n"          \
  "  potential: \"-(m1 + m2)*g*l1*cos(a) - m2*g*l2*cos(b)\"\n  position: [1.2, -0.4]\n" \
  "  velocity: [0.5, 1.5]\n"
#define ROUGH                                                                                                \
  "  coordinates: [a, b]\n  parameters: {m1: 1, m2: 0.7, l1: 1, l2: 0.8, g: 9.81, c1: 0.15, c2: 0.05}\n"     \
  "  metric: [[\"(m1 + m2)*l1^2\"], [\"m2*l1*l2*cos(a - b)\", \"m2*l2^2\"]]\n"                               \
  "  potential: \"-(m1 + m2)*g*l1*cos(a) - m2*g*l2*cos(b)\"\n  position: [1.2, 0.4]\n  velocity: [0.5, 1]\n" \
  "  forces: [\"-c1*a_dot - c2*a_dot*b^2\", \"-c1*b_dot^3*cos(a) + 0.2*sin(3*t)\"]\n"

/* Computes the accelerations from the Lagrangian in Landau and Lifshitz, Mechanics, section 5, problem 1. *user is true
 * if friction and a driving torque act. z contains the two angles and their rates; dz is its derivative. */
static int double_pendulum(double t, const double *z, double *dz, void *user) {
  const double m1 = 1, m2 = 0.7, l1 = 1, l2 = 0.8, g = 9.81, a = z[0], b = z[1], u = z[2], v = z[3];
  const double m = m1 + m2, c = cos(a - b), s = sin(a - b);
  double f = -m2 * l1 * l2 * s * v * v - m * g * l1 * sin(a), h = m2 * l1 * l2 * s * u * u - m2 * g * l2 * sin(b);
  if (*(bool *)user) {
    f += -0.15 * u - 0.05 * u * b * b;
    h += -0.15 * v * v * v * cos(a) + 0.2 * sin(3 * t);
  }
  const double aa = m * l1 * l1, ab = m2 * l1 * l2 * c, bb = m2 * l2 * l2, det = aa * bb - ab * ab;
  dz[0] = u;
  dz[1] = v;
  dz[2] = (bb * f - ab * h) / det;
  dz[3] = (aa * h - ab * f) / det;
  return GSL_SUCCESS;
}

static void double_pendulum_is_that_of_the_textbook_by_every_method(void **unused) {
  /* The bounds are about ten times the errors at t = 5, which come from round-off and the integrator's tolerance. */
  static const struct {
    const char *integrator;
    double step, bound;
  } methods[] = {{"gauss, stages: 4", 0.01, 1e-10},
                 {"gauss, stages: 4, solver: newton", 0.01, 1e-10},
                 {"lobatto, stages: 5", 0.01, 1e-10},
                 {"lobatto, stages: 5, solver: newton", 0.01, 1e-10},
                 {"radau_iia, stages: 5", 0.01, 1e-10},
                 {"radau_iia, stages: 5, solver: newton", 0.01, 1e-10},
                 {"rk4", 0.0005, 1e-8},
                 {"ida, rtol: 1e-12, atol: 1e-14", 0.05, 1e-7}};
  for (int rough = 0; rough < 2; rough++) {
    double z[4] = {1.2, rough ? 0.4 : -0.4, 0.5, rough ? 1 : 1.5};
    solve_reference(double_pendulum, &(bool){rough}, 4, 5, z);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
      simulation *s = run_system(rough ? ROUGH : DOUBLE_PENDULUM, methods[i].integrator, methods[i].step, 5);
      const double miss = distance_to(2, last_of(s, POSITION), z);
      print_message("%-40s %s %.1e\n", methods[i].integrator, rough ? "rough " : "smooth", miss);
      check_at_most(miss, methods[i].bound);
      const double a = z[0], b = z[1], cross = 0.7 * 0.8 * cos(a - b);
      check_near(last_of(s, MOMENTUM)[0], 1.7 * z[2] + cross * z[3], 10 * methods[i].bound);
      check_near(last_of(s, MOMENTUM)[1], cross * z[2] + 0.7 * 0.64 * z[3], 10 * methods[i].bound);
      simulation_free(s);
    }
  }
}

static void every_method_has_its_order(void **unused) {
  static const struct {
    const char *integrator;
    int order;
    double step; /* the first of three step lengths; each is half the previous one */
  } methods[] = {{"rk4", 4, 0.01},
                 {"gauss, stages: 1", 2, 0.02},
                 {"gauss, stages: 2", 4, 0.02},
                 {"gauss, stages: 3", 6, 0.02},
                 {"lobatto, stages: 2", 2, 0.02},
                 {"lobatto, stages: 3", 4, 0.02},
                 {"lobatto, stages: 4", 6, 0.02},
                 {"radau_iia, stages: 2", 3, 0.02},
                 {"radau_iia, stages: 3", 5, 0.04}};
  for (int rough = 0; rough < 2; rough++) {
    double z[4] = {1.2, rough ? 0.4 : -0.4, 0.5, rough ? 1 : 1.5};
    solve_reference(double_pendulum, &(bool){rough}, 4, 0.8, z);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
      double error[3];
      for (int k = 0; k < 3; k++) {
        const char *system = rough ? ROUGH : DOUBLE_PENDULUM;
        simulation *s = run_system(system, methods[i].integrator, methods[i].step / (1 << k), 0.8);
        error[k] = distance_to(2, last_of(s, POSITION), z);
        simulation_free(s);
      }
      const double order = log2(error[0] / error[2]) / 2;
      print_message("%-22s %s order %.3f of %d, error %.1e\n", methods[i].integrator, rough ? "rough " : "smooth",
                    order, methods[i].order, error[2]);
      check_near(order, methods[i].order, 0.35);
    }
  }
}

/* --- chains of pendulums --- */

enum { MOST_LINKS = CB_Q_MAX };

typedef struct chain {
  int n;
  /* below[i]: the total mass of the links i, i + 1, ... */
  double mass[MOST_LINKS], length[MOST_LINKS], below[MOST_LINKS];
} chain;

static chain make_chain(int n) {
  chain c = {.n = n};
  for (int i = 0; i < n; i++) {
    c.mass[i] = 0.5 + 0.11 * ((i * 7) % 5);
    c.length[i] = 0.3 + 0.04 * ((i * 3) % 4);
  }
  for (int i = n - 1; i >= 0; i--) c.below[i] = c.mass[i] + (i + 1 < n ? c.below[i + 1] : 0);
  return c;
}

static double start_angle(int i) { return 0.9 - 0.13 * i; }
static double start_rate(int i) { return 0.3 + 0.2 * (i % 3); }

/* Writes a scenario of the chain in angles a from the vertical. The metric is M l_i l_j cos(a_i - a_j), where l are
 * the lengths and M = below[max(i, j)]. The acceleration of gravity is 1.
 */
static void chain_in_angles(const chain *c, char *text, size_t size) {
  FILE *out = fmemopen(text, size, "w");
  fputs("  coordinates: [", out);
  for (int i = 0; i < c->n; i++) fprintf(out, "%sa%d", i ? ", " : "", i);
  fputs("]\n  metric:\n", out);
  for (int i = 0; i < c->n; i++) {
    for (int j = 0; j <= i; j++) {
      fprintf(out, "%s%.17g", j ? ", \"" : "    - [\"", c->below[i] * c->length[i] * c->length[j]);
      if (j < i) fprintf(out, "*cos(a%d - a%d)", i, j);
      fputc('"', out);
    }
    fputs("]\n", out);
  }
  fputs("  potential: \"0", out);
  for (int i = 0; i < c->n; i++) fprintf(out, " - %.17g*cos(a%d)", c->below[i] * c->length[i], i);
  fputs("\"\n  position: [", out);
  for (int i = 0; i < c->n; i++) fprintf(out, "%s%.17g", i ? ", " : "", start_angle(i));
  fputs("]\n  velocity: [", out);
  for (int i = 0; i < c->n; i++) fprintf(out, "%s%.17g", i ? ", " : "", start_rate(i));
  fputs("]\n", out);
  fclose(out);
}

static void places(const chain *c, const double *angle, double *x) {
  double at[2] = {0};
  for (int i = 0; i < c->n; i++) {
    x[2 * i] = at[0] += c->length[i] * sin(angle[i]);
    x[2 * i + 1] = at[1] -= c->length[i] * cos(angle[i]);
  }
}

/* Writes a scenario of the same chain in Cartesian coordinates, with one constraint per link. */
static void chain_in_the_plane(const chain *c, char *text, size_t size) {
  FILE *out = fmemopen(text, size, "w");
  double angle[MOST_LINKS] = {0}, x[2 * MOST_LINKS], u = 0, v = 0;
  for (int i = 0; i < c->n; i++) angle[i] = start_angle(i);
  places(c, angle, x);
  fputs("  coordinates: [", out);
  for (int i = 0; i < c->n; i++) fprintf(out, "%sx%d, y%d", i ? ", " : "", i, i);
  fputs("]\n  metric:\n", out);
  for (int i = 0; i < 2 * c->n; i++) {
    for (int j = 0; j < i; j++) fputs(j ? ", 0" : "    - [0", out);
    fprintf(out, i ? ", %.17g]\n" : "    - [%.17g]\n", c->mass[i / 2]);
  }
  fputs("  potential: \"0", out);
  for (int i = 0; i < c->n; i++) fprintf(out, " + %.17g*y%d", c->mass[i], i);
  fputs("\"\n  constraints:\n", out);
  for (int i = 0; i < c->n; i++) {
    if (i)
      fprintf(out, "    - {surface: \"(x%d - x%d)^2 + (y%d - y%d)^2 - %.17g^2\", name: link_%d}\n", i, i - 1, i, i - 1,
              c->length[i], i);
    else
      fprintf(out, "    - \"x0^2 + y0^2 - %.17g^2\"\n", c->length[i]);
  }
  fputs("  position: [", out);
  for (int i = 0; i < 2 * c->n; i++) fprintf(out, "%s%.17g", i ? ", " : "", x[i]);
  fputs("]\n  velocity: [", out);
  for (int i = 0; i < c->n; i++) {
    u += c->length[i] * cos(angle[i]) * start_rate(i);
    v += c->length[i] * sin(angle[i]) * start_rate(i);
    fprintf(out, "%s%.17g, %.17g", i ? ", " : "", u, v);
  }
  fputs("]\n", out);
  fclose(out);
}

/* Computes the angular accelerations a'' of the chain by LU decomposition. They solve
 * sum_j M_ij l_i l_j (cos(a_i - a_j) a_j'' + sin(a_i - a_j) a_j'^2) = -M_i l_i sin a_i with the lengths l,
 * M_i = below[i] and M_ij = below[max(i, j)]. */
static int chain_rhs(double t, const double *z, double *dz, void *user) {
  const chain *c = user;
  const size_t n = (size_t)c->n;
  double m[MOST_LINKS * MOST_LINKS], b[MOST_LINKS];
  for (size_t i = 0; i < n; i++) {
    b[i] = -c->below[i] * c->length[i] * sin(z[i]);
    for (size_t j = 0; j < n; j++) {
      const double w = c->below[i > j ? i : j] * c->length[i] * c->length[j];
      m[i * n + j] = w * cos(z[i] - z[j]);
      b[i] -= w * sin(z[i] - z[j]) * z[n + j] * z[n + j];
    }
    dz[i] = z[n + i];
  }
  gsl_matrix_view matrix = gsl_matrix_view_array(m, n, n);
  gsl_vector_view right = gsl_vector_view_array(b, n), rate = gsl_vector_view_array(dz + n, n);
  size_t order[MOST_LINKS];
  gsl_permutation p = {n, order};
  int sign;
  gsl_linalg_LU_decomp(&matrix.matrix, &p, &sign);
  return gsl_linalg_LU_solve(&matrix.matrix, &p, &right.vector, &rate.vector);
}

static void chain_of_twelve_angles_is_that_of_gsl(void **unused) {
  chain c = make_chain(12);
  char text[8192];
  double z[2 * MOST_LINKS];
  chain_in_angles(&c, text, sizeof text);
  for (int i = 0; i < 12; i++) {
    z[i] = start_angle(i);
    z[12 + i] = start_rate(i);
  }
  solve_reference(chain_rhs, &c, 24, 1, z);
  static const char *const methods[] = {"gauss, stages: 4", "lobatto, stages: 5", "radau_iia, stages: 5",
                                        "gauss, stages: 4, solver: newton", "ida, rtol: 1e-12, atol: 1e-14"};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    const bool ida = methods[i][0] == 'i';
    simulation *s = run_system(text, methods[i], ida ? 0.1 : 0.02, 1);
    assert_int_equal(s->width[POSITION], 12);
    const double miss = distance_to(12, last_of(s, POSITION), z);
    print_message("%-34s from GSL %.1e, energy %.1e\n", methods[i], miss, energy_drift(s));
    check_at_most(miss, ida ? 1e-7 : 1e-10);
    simulation_free(s);
  }
}

/* Compares the motion in twelve Cartesian coordinates, with six constraints, with that in six angles, without
 * constraints. */
static void chain_is_the_same_in_angles_and_by_constraints(void **unused) {
  chain c = make_chain(6);
  char angles[4096], plane[4096];
  chain_in_angles(&c, angles, sizeof angles);
  chain_in_the_plane(&c, plane, sizeof plane);
  simulation *a = run_system(angles, "gauss, stages: 4", 0.01, 1);
  static const char *const methods[] = {"lobatto, stages: 5", "lobatto, stages: 5, solver: newton",
                                        "radau_iia, stages: 5", "ida, rtol: 1e-12, atol: 1e-14"};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    const bool ida = methods[i][0] == 'i';
    simulation *b = run_system(plane, methods[i], 0.01, 1);
    assert_int_equal(b->width[POSITION], 12);
    double worst = 0, x[12];
    for (size_t row = 0; row < a->rows; row++) {
      places(&c, row_of(a, POSITION, row), x);
      worst = fmax(worst, distance_to(12, row_of(b, POSITION, row), x));
      check_near(*row_of(b, ENERGY, row), *row_of(a, ENERGY, row), ida ? 1e-7 : 1e-10);
    }
    print_message("%-34s %.1e\n", methods[i], worst);
    check_at_most(worst, ida ? 1e-7 : 1e-10);
    simulation_free(b);
  }
  simulation_free(a);
}

/* --- restarts, derivatives --- */

static void a_system_from_a_checkpoint_repeats_the_bytes(void **unused) {
  static const char *const methods[] = {"gauss", "gauss, solver: newton", "lobatto", "radau_iia", "rk4", "ida"};
  for (size_t i = 0; i < 2 * sizeof methods / sizeof *methods; i++) {
    char text[2048];
    snprintf(text, sizeof text,
             "curvebody: 1\nsystem:\n%s%sintegrator: {name: %s, step: 0.01}\ntime: {end: 0.457}\n"
             "record: {every: 2, checkpoint: 7, observables: [energy, coordinates]}\n",
             ROUGH, i % 2 ? "  constraints: [\"a - b - 0.8\"]\n" : "", methods[i / 2]);
    if (i % 2 && (!strncmp(methods[i / 2], "gauss", 5) || !strcmp(methods[i / 2], "rk4"))) continue;
    cb_scenario *whole;
    check_ok(cb_scenario_open_text("test", text, NULL, 0, &whole));
    memory_sink m;
    cb_sink sink = memory_open(&m, cb_scenario_run(whole));
    check_ok(cb_run_go(cb_scenario_run(whole), &sink, NULL, NULL, NULL));
    assert_in_range(m.n_checkpoints, 3, 20);
    for (size_t c = 0; c < m.n_checkpoints; c++) {
      cb_scenario *rest;
      check_ok(cb_scenario_open_text("test", text, NULL, 0, &rest));
      check_rest(methods[i / 2], &m, c, rest);
    }
    memory_free(&m);
    cb_scenario_free(whole);
  }
}

/* The potential and forces depend on every coordinate, every velocity and the time. */
static void derivatives_of_generalised_forces_are_those_of_differences(void **unused) {
  static const char text[] =
      "curvebody: 1\nsystem:\n  coordinates: [u, v, w]\n  parameters: {c: 0.7}\n  metric: [[1], [0, 2], [0, 0, \"2 + "
      "u^2\"]]\n"
      "  potential: \"c*sin(u*v)*w + t*u\"\n"
      "  forces: [\"-c*u_dot*v_dot + sin(w)\", \"exp(-u)*w_dot^2*t\", \"cos(u_dot - v)/(1 + w^2)\"]\n"
      "integrator: {name: gauss, step: 0.1}\ntime: {end: 1}\n";
  enum { N = 3 };
  cb_scenario *s;
  cb_forces *f;
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
  check_ok(cb_forces_create(cb_scenario_system(s), &f));
  uint64_t seed = check_seed();
  double worst = 0;
  for (int trial = 0; trial < 50; trial++) {
    double z[2 * N], d[2][N * N];
    const double t = check_uniform(&seed, 0, 3), h = 1e-3;
    for (int a = 0; a < 2 * N; a++) z[a] = check_uniform(&seed, -1.5, 1.5);
    check_ok(cb_forces_jacobian(f, t, z, z + N, d[0], d[1]));
    for (int b = 0; b < 2 * N; b++) {
      double difference[N] = {0};
      for (int side = -2; side <= 2; side++) {
        static const double weight[] = {1.0 / 12, -2.0 / 3, 0, 2.0 / 3, -1.0 / 12};
        double at[2 * N], force[N];
        memcpy(at, z, sizeof z);
        at[b] += side * h;
        check_ok(cb_forces_eval(f, t, at, at + N, force));
        for (int a = 0; a < N; a++) difference[a] += weight[side + 2] * force[a] / h;
      }
      for (int a = 0; a < N; a++) worst = fmax(worst, fabs(difference[a] - d[b / N][a * N + b % N]));
    }
  }
  print_message("from differences: %.1e\n", worst);
  /* The tolerance is for the errors of differences with the step h: h^4 times fifth derivatives, and round-off divided
   * by h. */
  check_at_most(worst, 1e-10);
  cb_forces_free(f);
  cb_scenario_free(s);
}

static void parameters_may_be_called_as_what_only_particles_have(void **unused) {
  static const char *const names[2][2] = {{"m", "q"}, {"c", "d"}};
  double end[2][2];
  for (int i = 0; i < 2; i++) {
    const char *m = names[i][0], *q = names[i][1];
    char system[512];
    snprintf(system, sizeof system,
             "  coordinates: [u, v]\n  parameters: {%s: 3, %s: 0.7}\n  metric: [[%s], [0, 2]]\n"
             "  potential: %s*u^2 + %s*v^2\n  forces: [-%s*u_dot, %s*cos(t)]\n  position: [1, %s]\n",
             m, q, m, m, q, q, m, q);
    simulation *s = run_system(system, "radau_iia", 0.01, 1);
    memcpy(end[i], last_of(s, POSITION), sizeof end[i]);
    simulation_free(s);
  }
  assert_memory_equal(end[0], end[1], sizeof end[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(double_pendulum_is_that_of_the_textbook_by_every_method),
                                     cmocka_unit_test(every_method_has_its_order),
                                     cmocka_unit_test(chain_of_twelve_angles_is_that_of_gsl),
                                     cmocka_unit_test(chain_is_the_same_in_angles_and_by_constraints),
                                     cmocka_unit_test(a_system_from_a_checkpoint_repeats_the_bytes),
                                     cmocka_unit_test(derivatives_of_generalised_forces_are_those_of_differences),
                                     cmocka_unit_test(parameters_may_be_called_as_what_only_particles_have)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
