/* labels: release
 * Tests that a step of a body in a fluid and the computation of its recorded row allocate no memory. The functions here
 * replace those of the C library and count the calls. */
#include "immersed.h"

static volatile bool counting;
static volatile size_t calls;

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *malloc(size_t n) {
  calls += counting;
  return __libc_malloc(n);
}
void *calloc(size_t n, size_t size) {
  calls += counting;
  return __libc_calloc(n, size);
}
void *realloc(void *p, size_t n) {
  calls += counting;
  return __libc_realloc(p, n);
}

static void no_step_allocates(void **unused) {
  const double up[3] = {0, 0, 1};
  for (int kind = 0; kind < 5; kind++) { /* body 4 is in hyperbolic space */
    tank k = tank_of(mesh_ellipsoid(3, 0.5, 0.3, 0.2), 0.9, 0);
    cb_medium *medium;
    cb_flow *flow = NULL;
    const bool curved = kind == 4;
    if (curved) check_ok(cb_surface_embed(k.surface, k.fluid.curvature = -0.5, CB_CHART_GNOMONIC));
    if (kind % 2)
      check_ok(cb_medium_layers(1, (double[1]){0}, (double[2]){1, 0.5}, up, &medium));
    else
      check_ok(cb_medium_uniform(1, &medium));
    if (kind / 2 == 1)
      check_ok(cb_flow_vortex((double[3]){.4, -.6, .2}, (double[3]){0, 0, 1}, 2.5, .5, &flow));
    else if (!curved)
      check_ok(cb_flow_uniform((double[3]){.3, .2, .1}, &flow));
    k.fluid.medium = medium;
    k.fluid.flow = flow;
    k.fluid.gravity[2] = curved ? 0 : -1;
    k.options.c_n = 0.2;
    static const cb_wrench_text wrench = {.name = "thrust", .force = {"sin(t)", "-x", NULL}};
    k.options.n_wrenches = 1;
    k.options.wrenches = &wrench;
    if (!curved) tank_moves(&k, "X*(1 + 0.1*sin(t))", "Y + 0.1*sin(3*X - 2*t)", "Z");
    tank_fill(&k);
    cb_rigid_state s;
    double rows[8][6];
    cb_immersed_row row = {.wrench = rows};
    check_ok(cb_rigid_start(k.problem, 0, &generic_pose, generic_twist, &s));
    calls = 0;
    counting = true;
    bool failed = false;
    for (int n = 0; n < 10; n++) {
      failed |= cb_rigid_step_pontryagin(k.problem, CB_SE3_CAYLEY, 0.01, &s, NULL);
      failed |= cb_rigid_step_rkmk4(k.problem, 0.01, &s);
      failed |= cb_immersed_workspace_measure(k.workspace, &s, &row);
    }
    counting = false;
    assert_false(failed);
    assert_int_equal(calls, 0);
    tank_empty(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_step_allocates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
