/* Tests of bodies that fall under MuJoCo's fluid models. With MuJoCo's Runge–Kutta integrator and step, their positions
 * equal those of MuJoCo 3.14, to the digits of the table. This integrator is of order 2 here. The integrators rkmk4 and
 * hamilton_pontryagin converge to the same limit, each with its order. */
#include "csv.h"
#include "mujoco_fall.h"

#define BOX(a, b, c) \
  { ((b) * (b) + (c) * (c)) / 3, ((a) * (a) + (c) * (c)) / 3, ((a) * (a) + (b) * (b)) / 3 }
#define ELLIPSOID(a, b, c) \
  { ((b) * (b) + (c) * (c)) / 5, ((a) * (a) + (c) * (c)) / 5, ((a) * (a) + (b) * (b)) / 5 }
#define COIN(r, h) \
  { (3 * (r) * (r) + 4 * (h) * (h)) / 12, (3 * (r) * (r) + 4 * (h) * (h)) / 12, (r) * (r) / 2 }

static const faller fallers[] = {
    {"sphere_spin_water", "mujoco_ellipsoid", "{viscosity: 9e-4, geoms: [{type: sphere, size: [0.02]}]}", 1000, 0.09,
     ELLIPSOID(0.02, 0.02, 0.02)},
    {"triaxial_air", "mujoco_ellipsoid", "{viscosity: 1.8e-5, geoms: [{size: [0.2, 0.1, 0.03]}]}", 1.225, 0.05,
     ELLIPSOID(0.2, 0.1, 0.03)},
    {"plate_air", "mujoco_ellipsoid",
     "{viscosity: 1.8e-5, angular: 0.5, kutta: 2, geoms: [{type: box, size: [0.1, 0.05, 0.001]}]}", 1.225, 0.01,
     BOX(0.1, 0.05, 0.001)},
    {"plate_air_box", "mujoco_inertia_box", "{viscosity: 1.8e-5}", 1.225, 0.01, BOX(0.1, 0.05, 0.001)},
    {"coin_water", "mujoco_ellipsoid", "{viscosity: 9e-4, geoms: [{type: cylinder, size: [0.01213, 0.000875]}]}", 1000,
     0.00567, COIN(0.01213, 0.000875)},
    {"card_air", "mujoco_ellipsoid",
     "{viscosity: 1.8e-5, angular: 0.5, kutta: 2, geoms: [{type: box, size: [0.047, 0.032, 0.00035]}]}", 1.225,
     0.000184, BOX(0.047, 0.032, 0.00035)}};
enum { FALLERS = sizeof fallers / sizeof *fallers };

/* Writes the position, the orientation, the velocity in the axes of the world and the spin in the axes of the body in
 * the order of the table. Of the two quaternions of an orientation, it chooses the one nearer to `like`. */
static void row_of(const fall *f, const double like[4], double out[13]) {
  double r[3][3], Y[6], dot = 0;
  check_ok(cb_rigid_twist(cb_immersed_workspace_problem(f->workspace), &f->state, Y));
  cb_pose_rotation(&f->state.g, r);
  for (int i = 0; i < 4; i++) dot += f->state.g.q[i] * like[i];
  for (int i = 0; i < 3; i++) {
    out[i] = f->state.g.x[i];
    out[10 + i] = Y[i];
  }
  for (int i = 0; i < 4; i++) out[3 + i] = dot < 0 ? -f->state.g.q[i] : f->state.g.q[i];
  cb_apply3((const double(*)[3])r, Y + 3, out + 7);
}

/* Returns the maximum difference of positions, orientations, velocities and spins. Each is relative to the maximum
 * number of its kind in all calls with the same array `greatest`. */
static double distance(const double a[13], const double b[13], double greatest[4]) {
  static const int begin[5] = {0, 3, 7, 10, 13};
  double worst = 0;
  for (int part = 0; part < 4; part++) {
    double off = 0;
    for (int i = begin[part]; i < begin[part + 1]; i++) {
      greatest[part] = fmax(greatest[part], fabs(b[i]));
      off = fmax(off, fabs(a[i] - b[i]));
    }
    worst = fmax(worst, greatest[part] > 0 ? off / greatest[part] : off);
  }
  return worst;
}

/* The start in the table is rounded to 12 digits, which changes the results by this amount. */
static const double of_the_table = 3e-11;

static void by_its_own_method_they_are_where_mujoco_has_them(void **unused) {
  csv c = csv_open("mujoco/trajectories.csv", 1);
  fall f;
  const faller *b = NULL;
  double t = 0, greatest[4] = {0};
  int rows = 0;
  for (; csv_next(&c); rows++) {
    const double now = *csv_numbers(&c, "t"), *row = csv_numbers(&c, "x");
    if (now == 0) {
      if (b) fall_end(&f);
      for (b = fallers; strcmp(b->name, c.word[0]);) b++;
      fall_begin(&f, b, "mujoco_rk4", row);
      t = 0;
      memset(greatest, 0, sizeof greatest);
      continue;
    }
    double at[13];
    fall_by(&f, now - t, (int)lround((now - t) / 1e-4));
    t = now;
    row_of(&f, row + 3, at);
    const double off = distance(at, row, greatest);
    if (!(off <= of_the_table)) fail_msg("%s at t = %g: off by %.2g", b->name, t, off);
  }
  fall_end(&f);
  assert_int_equal(rows, 6 * FALLERS);
}

/* Computes the state of a triaxial ellipsoid after a fall of 0.3 s. */
static void end_of(const char *method, int steps, double out[13]) {
  static const double start[13] = {0, 0, 0, 0.965925826289, 0.258819045103, 0, 0, 0.5, 0, 0, 0, 1, 2};
  fall f;
  fall_begin(&f, &fallers[1], method, start);
  fall_by(&f, 0.3, steps);
  row_of(&f, start + 3, out);
  fall_end(&f);
}

static void methods_go_to_one_limit_with_their_orders(void **unused) {
  static const struct {
    const char *method;
    int steps; /* number of steps of the first run; the second and third run have two and four times as many */
    double order, last;
  } methods[] = {{"rkmk4", 200, 4, 1e-8}, {"hamilton_pontryagin", 800, 2, 1e-4}, {"mujoco_rk4", 800, 2, 1e-7}};
  double limit[13], check[13];
  end_of("rkmk4", 12800, limit);
  end_of("rkmk4", 6400, check);
  check_near(distance(check, limit, (double[4]){0}), 0, 1e-11); /* both runs have errors of order 4 */
  for (int m = 0; m < 3; m++) {
    double at[13], error[3];
    for (int i = 0; i < 3; i++) {
      end_of(methods[m].method, methods[m].steps << i, at);
      error[i] = distance(at, limit, (double[4]){0});
    }
    print_message("  %s: %.1e %.1e %.1e\n", methods[m].method, error[0], error[1], error[2]);
    check_near(log2(error[1] / error[2]), methods[m].order, 0.1); /* the tolerance is for terms of higher order */
    assert_true(error[2] < methods[m].last);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_its_own_method_they_are_where_mujoco_has_them),
                                     cmocka_unit_test(methods_go_to_one_limit_with_their_orders)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
