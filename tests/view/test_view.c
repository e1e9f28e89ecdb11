/* Tests of pages, the HTML views of a record. Constant arrays are read unchanged. The frame of a moving point changes
 * by parallel transport along its path. If memory runs out while a page is made, an error is returned and no part of
 * the page remains.
 * needs: view */
#include "fail_allocations.h"

#include "view/view_private.h"
#include <curvebody/view.h>
#include <unistd.h>

static const char *const scenario[] = {
    "curvebody: 1\ntitle: rod\nspace: h3\nbodies: [{kind: rod, name: a, mass: 2, link: {spring: {stiffness: 1, rest: "
    "1}}, "
    "place: {chart: polar, points: [[1, 1, 0], [1, 1, 1]]}}]\nintegrator: {step: 0.1}\ntime: {end: 0.3}\n",
    "curvebody: 1\nspace: nil\nbodies: [{kind: rod, name: a, mass: 1, link: {spring: {stiffness: 1, rest: 1}}, place: "
    "{chart: heisenberg, points: [[0, 0, 0], [0.5, 0.1, 0]]}}]\nintegrator: {step: 0.1}\ntime: {end: 0.2}\n",
    "curvebody: 1\nfluid: {medium: water}\nbodies: [{name: b, shape: {name: box}, density: 2}]\nintegrator: {step: "
    "0.1}\ntime: {end: 0.2}\n",
    "curvebody: 1\nbundle: {name: purcell, links: 3, ratio: 2}\ngait: {fourier: {mean: [0, 0], cosine: [[1, 0]], sine: "
    "[[0, 1]]}}\nintegrator: {name: magnus, step: 0.5}\n"};
enum { SCENARIOS = sizeof scenario / sizeof *scenario };

static char record[256], page[300];

static void run(const char *text) {
  cb_scenario *s;
  cb_record *r;
  const cb_record_options how = {.overwrite = true};
  check_ok(cb_scenario_open_text("text", text, NULL, 0, &s));
  check_ok(cb_record_create(record, cb_scenario_layout(s), &how, &r));
  cb_sink sink = cb_record_sink(r);
  check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
  cb_record_free(r);
  cb_scenario_free(s);
}

static void constants_are_read(void **unused) {
  cb_reader *reader;
  double two[2], three[3];
  run(scenario[0]);
  check_ok(cb_reader_open(record, &reader));
  check_ok(cb_reader_constant(reader, "particle_mass", 2, two));
  assert_true(two[0] == 2 && two[1] == 2);
  check_ok(cb_reader_constant(reader, "bond_j", 1, two));
  assert_true(two[0] == 1);
  assert_int_equal(cb_reader_constant(reader, "particle_mass", 3, three), CB_ERROR_INPUT);
  assert_int_equal(cb_reader_constant(reader, "particle_name", 2, two), CB_ERROR_INPUT);
  assert_int_equal(cb_reader_constant(reader, "no_such", 1, two), CB_ERROR_INPUT);
  check_ok(cb_reader_constant(reader, "no_such", 0, NULL));
  cb_reader_close(reader);
}

/* The isometry `next`, which cb_carry_on makes from `carried`, maps the base point to the point y of the path. It maps
 * the frame at the base point to the frame that is moved along the path by parallel transport. */
static void frames_are_transported(void **unused) {
  static const char *const spaces[] = {"e2", "e3", "s2", "s3", "h2", "h3", "h2xe", "s2xe"};
  unsigned seed = check_seed();
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
    cb_space *g;
    check_ok(cb_space_create(spaces[i], NULL, &g));
    cb_origin none = {.direction = {1}};
    for (int a = 0; a < g->dim; a++) none.rotation[a * (g->dim + 1)] = 1;
    double x[CB_COORD_MAX], y[CB_COORD_MAX], v[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX], moved[CB_COORD_MAX];
    cb_isometry carried, next;
    cb_space_base_point(g, x);
    cb_space_frame(g, x, frame);
    cb_isometry_identity(g, &carried);
    double axis[CB_DIM_MAX * CB_COORD_MAX];
    memcpy(axis, frame, sizeof axis);
    for (int step = 0; step < 20; step++) {
      for (int e = 0; e < g->embedding; e++) v[e] = 0.4 * (rand_r(&seed) / (double)RAND_MAX - 0.5);
      cb_space_project_tangent(g, x, v);
      cb_exp(g, x, v, y, NULL);
      cb_carry_on(g, &none, &carried, &none, y, &next);
      double base[CB_COORD_MAX];
      cb_space_base_point(g, base);
      cb_isometry_point(g, &next, base, moved);
      for (int e = 0; e < g->embedding; e++) assert_true(fabs(moved[e] - y[e]) < 1e-12);
      for (int a = 0; a < g->dim; a++) {
        double w[CB_COORD_MAX];
        check_ok(cb_transport(g, x, y, frame + a * g->embedding, w));
        memcpy(frame + a * g->embedding, w, (size_t)g->embedding * sizeof *w);
        cb_isometry_vector(g, &next, axis + a * g->embedding, moved);
        for (int e = 0; e < g->embedding; e++)
          if (!(fabs(moved[e] - w[e]) < 1e-11))
            fail_msg("%s: axis %d is %g, transported %g", spaces[i], a, moved[e], w[e]);
      }
      carried = next;
      memcpy(x, y, sizeof x);
    }
    cb_space_free(g);
  }
}

static size_t read_page(char **text) {
  size_t n = 0;
  check_ok(cb_read_whole_file(page, (size_t)1 << 26, text, &n));
  return n;
}

/* About one allocation in ONE_IN fails, chosen by the seed; with CB_TEST_ALL, each allocation fails in turn. */
enum { ONE_IN = 10 };

static void pages_without_memory_say_so(void **unused) {
  uint64_t seed = check_seed();
  size_t wrong = 0, tried = 0;
  for (int i = 0; i < SCENARIOS; i++) {
    char *good, *found;
    run(scenario[i]);
    check_ok(cb_view_write(record, page, NULL));
    const size_t n = read_page(&good);
    for (size_t at = 1, failed = 1; failed; at = next_allocation(at, ONE_IN, &seed), tried++) {
      remove(page);
      fail_allocation(at, false);
      const cb_status status = cb_view_write(record, page, NULL);
      end_failing();
      failed = allocations.failed;
      if (status) {
        if (status == CB_ERROR_MEMORY && access(page, F_OK)) continue;
        print_error("scenario %d, request %zu: %s, `%s`\n", i, at, cb_status_name(status), cb_error_text());
        print_failed_allocation();
        wrong++;
        continue;
      }
      if (read_page(&found) != n || memcmp(found, good, n)) {
        print_error("scenario %d, request %zu: another page\n", i, at);
        print_failed_allocation();
        wrong++;
      }
      free(found);
    }
    free(good);
  }
  print_message("pages: %zu failures tried\n", tried);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
  snprintf(record, sizeof record, "%s/view_%d.h5", folder, (int)getpid());
  snprintf(page, sizeof page, "%s.html", record);
  const struct CMUnitTest tests[] = {cmocka_unit_test(constants_are_read), cmocka_unit_test(frames_are_transported),
                                     cmocka_unit_test(pages_without_memory_say_so)};
  const int failed = cmocka_run_group_tests_name("view", tests, NULL, NULL);
  remove(record);
  remove(page);
  return failed;
}
