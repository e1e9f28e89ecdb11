/* labels: release
 * A step on SE(3) allocates nothing: every call of the allocator is counted while bodies step and fail to step. */
#include "rigid.h"

static volatile bool counting;
static volatile size_t calls;

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *malloc(size_t n) { return calls += counting, __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return calls += counting, __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return calls += counting, __libc_realloc(p, n); }

static void no_step_allocates(void **unused) {
  (void)unused;
  body b = driven_body();
  const cb_rigid_problem p = problem_of(&b);
  calls = 0;
  counting = true;
  void *volatile one = malloc(10);
  counting = false;
  free(one);
  assert_int_equal(calls, 1);
  for (int method = 0; method < 4; method++) {
    cb_rigid_state s;
    check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, &s));
    calls = 0;
    counting = true;
    for (int n = 0; n < 100; n++) {
      if (method == RKMK4)
        cb_rigid_step_rkmk4(&p, n % 4 == 3 ? NAN : 0.02, &s);
      else
        cb_rigid_step_pontryagin(&p, (cb_se3_map)method, n % 4 == 3 ? 1e9 : 0.02, &s, NULL);
    }
    counting = false;
    assert_int_equal(calls, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_step_allocates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
