/* Tests of the kernels of the local fluid model. Each instruction set is compared with local_scalar.h. Other tests
 * check edges of every angle, and that results are identical with any number of threads. */
#include "core/threads.h"
#include "local_cases.h"
#include "local_scalar.h"

static void compare(const char *what, int n, const double *a, const double *b) {
  double size = 0;
  for (int i = 0; i < n; i++) size = fmax(size, fabs(b[i]));
  for (int i = 0; i < n; i++)
    if (!(fabs(a[i] - b[i]) <= 1e-14 * size))
      fail_msg("%s[%d] with %s = %.17g, scalar %.17g: %.3g of %.3g", what, i, cb_isa_name(), a[i], b[i],
               fabs(a[i] - b[i]), size);
}

static void kernels_agree_with_the_scalar_equations(void **unused) {
  uint64_t seed = check_seed();
  const char *const names[] = {CB_ISA_BASE, "avx2", "avx512"};
  for (int isa = 0; isa < 3; isa++) {
    if (cb_isa_set(names[isa])) continue;
    setting t = setting_open(&seed, 20);
    for (int turn = 0; turn < 8; turn++) {
      const double *rho = turn & 1 ? t.rho : NULL, (*flow)[3] = turn & 2 ? (const double(*)[3])t.flow : NULL,
                   c = turn & 4 ? 0.4 : 0;
      setting_pose(&t, turn != 0);
      if (turn == 3) cb_local_removed_normal_velocity(t.l, true);
      double K[2][36], mu[2][6], F[2][6], J[2][36];
      cb_local_part part[2][3];
      cb_local_added_mass(t.l, 1.3, rho, (double(*)[6])K[0], mu[0], part[0]);
      scalar_added_mass(t.l, 1.3, rho, (double(*)[6])K[1], mu[1], part[1]);
      compare("K", 36, K[0], K[1]);
      compare("mu0", 6, mu[0], mu[1]);
      for (int p = 0; p < 3; p++) {
        check_relative(part[0][p].delta, part[1][p].delta, 1e-14);
        check_relative(part[0][p].area, part[1][p].area, 1e-14);
        check_near(part[0][p].volume, part[1][p].volume, 1e-14 * part[1][p].area * 10);
        check_relative(part[0][p].border, part[1][p].border, 1e-14);
        assert_int_equal(part[0][p].open, p == 2);
      }
      cb_local_drag(t.l,
                    &(cb_local_stream){.rho1 = 1.3, .rho = rho, .flow1 = t.flow1, .flow = flow, .c_n = c, .c_t = c / 2},
                    t.Y, F[0], (double(*)[6])J[0]);
      scalar_drag(t.l, 1.3, rho, t.Y, t.flow1, flow, c, c / 2, F[1], (double(*)[6])J[1]);
      compare("wrench", 6, F[0], F[1]);
      compare("jacobian", 36, J[0], J[1]);
      cb_local_drag(t.l,
                    &(cb_local_stream){.rho1 = 1.3, .rho = rho, .flow1 = t.flow1, .flow = flow, .c_n = c, .c_t = c / 2},
                    t.Y, F[0], NULL);
      compare("wrench alone", 6, F[0], F[1]);
    }
    setting_close(&t);
  }
  check_ok(cb_isa_set("auto"));
}

/* The turning of a surface is the sum over its edges of the length times the signed angle between the normals of the
 * two faces. It has closed forms for a box, and for two faces with a common edge and any angle between them. */
static void sharp_edges_turn_by_their_angle(void **unused) {
  const char *const names[] = {CB_ISA_BASE, "avx2", "avx512"};
  for (int isa = 0; isa < 3; isa++) {
    if (cb_isa_set(names[isa])) continue;
    const added box = added_of(mesh_box(3, (double[3]){1, 0.5, 0.25}, false));
    check_relative(box.part.turning, PI / 2 * 4 * 2 * 1.75, 1e-14);
    for (int k = 1; k < 16; k++) { /* the angles are between -pi and pi */
      const double bend = PI * (k - 8) / 8.5;
      mesh m = mesh_room(4, 2);
      mesh_vertex(&m, 0, 0, 0);
      mesh_vertex(&m, 0, 2, 0);
      mesh_vertex(&m, -1, 0.5, 0);
      mesh_vertex(&m, cos(bend), 1.5, -sin(bend));
      mesh_face(&m, 0, 1, 2);
      mesh_face(&m, 0, 3, 1);
      const added two = added_of(m);
      check_near(two.part.turning, 2 * bend, 4e-15);
    }
  }
  check_ok(cb_isa_set("auto"));
}

static void threads_change_no_byte(void **unused) {
  uint64_t seed = check_seed();
  double K[2][36], mu[2][6], F[2][6], J[2][36];
  for (int threads = 1; threads <= 2; threads++) {
    uint64_t same = seed;
    cb_threads_set(threads);
    setting t = setting_open(&same, 72); /* more faces than one thread processes */
    assert_true(t.s->faces > CB_THREADS_MIN_ELEMENTS);
    setting_pose(&t, true);
    cb_local_added_mass(t.l, 1.3, NULL, (double(*)[6])K[threads - 1], mu[threads - 1], NULL);
    cb_local_drag(t.l, &(cb_local_stream){.rho1 = 1.3, .flow1 = t.flow1}, t.Y, F[threads - 1],
                  (double(*)[6])J[threads - 1]);
    setting_close(&t);
  }
  cb_threads_set(0);
  assert_memory_equal(K[0], K[1], sizeof K[0]);
  assert_memory_equal(mu[0], mu[1], sizeof mu[0]);
  assert_memory_equal(F[0], F[1], sizeof F[0]);
  assert_memory_equal(J[0], J[1], sizeof J[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_agree_with_the_scalar_equations),
      cmocka_unit_test(sharp_edges_turn_by_their_angle),
      cmocka_unit_test(threads_change_no_byte),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
