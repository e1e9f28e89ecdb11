/* labels: release
 * A reflection allocates no memory if an earlier one had the same size. */
#include "count_allocations.h"
#include "reflect.h"

static void a_reflection_allocates_nothing_the_second_time(void **state) {
  uint64_t seed = check_seed();
  static const char *const spaces[] = {"e3", "h3", "h2xe", "s3 {chart: polar}"};
  for (int s = 0; s < 4; s++)
    for (int rule = 0; rule < 2; rule++) {
      body_case c;
      cb_gram *gram = NULL;
      cb_reflection *r;
      cb_reflection_contact contact[6];
      if (rule)
        open_gas(&c, spaces[s], 4, 2, &seed);
      else
        open_figure(&c, spaces[s], 4, RODS, 1, &seed);
      if (!rule) check_ok(cb_gram_create(c.forces, cb_forces_constraints(c.forces), &gram));
      check_ok(cb_reflection_create(c.system, &r));
      const cb_reflection_part part = whole(&c, gram);
      for (int round = 0; round < 3; round++) {
        int n = 0;
        for (int i = 0; i < 4; i++)
          for (int j = 0; j < i; j++) {
            if (!rule && (i - j) % 2) continue; /* a rod joins particles i and j */
            contact[n] = spheres(&c, i, j, 1, 1);
            if (contact_rate(&c, &contact[n]) > 0) contact[n] = spheres(&c, i, j, 1, -1);
            n++;
          }
        count_from_here();
        const cb_status status = cb_reflect(r, (cb_contact_rule)rule, 0, 1, &part, n, contact);
        const size_t n_calls = count_so_far();
        check_ok(status);
        if (round > 0) assert_int_equal(n_calls, 0);
      }
      cb_reflection_free(r);
      cb_gram_free(gram);
      close_case(&c);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_counter_counts),
      cmocka_unit_test(a_reflection_allocates_nothing_the_second_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
