/* Tests of constraints that are impossible, and of the messages of the builder. */
#include "check_constraints.h"

typedef struct refused {
  cb_space *g;
  cb_builder *b;
} refused;

static refused refused_in(const cb_space_class *class_, const char *name) {
  refused u;
  check_ok(class_ ? cb_space_create_class(class_, NULL, &u.g) : cb_space_create(name, NULL, &u.g));
  check_ok(cb_builder_create(u.g, &u.b));
  check_ok(cb_builder_body(u.b, "a", NULL));
  for (int i = 0; i < 5; i++) {
    double x[COORDS], v[COORDS] = {0}, base[COORDS];
    cb_space_base_point(u.g, base);
    v[0] = 0.1 + 0.2 * (i == 1);
    v[1] = 0.25 * (i == 2);
    if (u.g->dim > 2)
      v[2] = 0.2 * (i == 3) - 0.3 * (i == 4);
    else
      v[0] -= 0.3 * (i == 3) + 0.5 * (i == 4);
    cb_exp(u.g, base, v, x, NULL);
    check_ok(cb_builder_particle(u.b, NULL, 1, 0, 0, x, NULL, NULL));
  }
  return u;
}

static void refused_free(refused *u) {
  cb_builder_free(u->b);
  cb_space_free(u->g);
}

static void builders_say_what_cannot_be(void **state) {
  const cb_target start = {.value = NAN};
  double base[COORDS], off[COORDS] = {0.2, 0, 0, 3};
  refused u = refused_in(NULL, "s3");
  cb_space_base_point(u.g, base);
  check_error(cb_builder_distance_to_point(u.b, NULL, 5, base, start), CB_ERROR_ARGUMENT,
              "distance_to_point: particle 5: expected 0 to 4");
  check_error(cb_builder_distance_to_point(u.b, NULL, 0, base, (cb_target){.value = -1}), CB_ERROR_ARGUMENT,
              "distance_to_point: length -1: expected > 0");
  check_error_begins(cb_builder_distance_to_point(u.b, NULL, 0, off, start), CB_ERROR_DOMAIN, "");
  check_error(cb_builder_distance_to_point(u.b, NULL, 0, (double[]){NAN, 0, 0, 1}, start), CB_ERROR_DOMAIN,
              "distance_to_point: expected finite coordinates");
  check_error(cb_builder_pin(u.b, NULL, -1, NULL), CB_ERROR_ARGUMENT, "pin: particle -1: expected 0 to 4");
  check_error_begins(cb_builder_pin(u.b, NULL, 1, off), CB_ERROR_DOMAIN, "");
  check_error(cb_builder_angle(u.b, NULL, 0, 1, 0, start), CB_ERROR_ARGUMENT,
              "angle: expected different particles, found 0 twice");
  check_error(cb_builder_angle(u.b, NULL, 0, 1, 2, (cb_target){.value = 3.2}), CB_ERROR_ARGUMENT,
              "angle: value 3.2: expected > 0 and < 3.14159");
  check_error(cb_builder_area(u.b, NULL, 0, NULL, start), CB_ERROR_ARGUMENT,
              "area: expected at least one triangle, found 0");
  check_error(cb_builder_area(u.b, NULL, 1, (const int[1][3]){{0, 1, 9}}, start), CB_ERROR_ARGUMENT,
              "area: particle 9: expected 0 to 4");
  check_error(cb_builder_area(u.b, NULL, 1, (const int[1][3]){{0, 2, 0}}, start), CB_ERROR_ARGUMENT,
              "area: triangle 0 has particle 0 twice");
  check_error(cb_builder_area(u.b, NULL, 1, (const int[1][3]){{0, 1, 2}}, (cb_target){.value = 0}), CB_ERROR_ARGUMENT,
              "area: value 0: expected > 0");
  check_error(cb_builder_area(u.b, NULL, 1, (const int[1][3]){{0, 1, 2}}, (cb_target){.expression = "2 + x"}),
              CB_ERROR_INPUT, "unknown name `x`: the variables here are: t");
  check_error(cb_builder_volume(u.b, NULL, 5, bipyramid, start), CB_ERROR_ARGUMENT,
              "volume: the surface is not closed: edge 0-4 belongs to only one triangle, expected two");
  int bad[6][3];
  memcpy(bad, bipyramid, sizeof bad);
  bad[1][0] = 2;
  bad[1][1] = 1;
  check_error_begins(
      cb_builder_volume(u.b, NULL, 6, (const int(*)[3])bad, start), CB_ERROR_ARGUMENT,
      "volume: two triangles have the edge 1-3 in the same direction: expected consistently oriented triangles");
  check_error(cb_builder_volume(u.b, NULL, 6, bipyramid, (cb_target){.value = 0}), CB_ERROR_ARGUMENT,
              "volume: value 0: expected a number other than 0");
  check_error(cb_builder_surface(u.b, NULL, 0, "nowhere", "x"), CB_ERROR_ARGUMENT,
              "surface: the space has no chart 'nowhere': `curvebody list spaces` lists its charts");
  check_error(cb_builder_surface(u.b, NULL, 0, NULL, "1 + sin(t)"), CB_ERROR_ARGUMENT,
              "surface: '1 + sin(t)' does not depend on the position: expected an expression of the coordinates");
  check_error_begins(cb_builder_surface(u.b, NULL, 0, "polar", "a + q"), CB_ERROR_INPUT, "unknown name `q`");
  assert_int_equal(cb_builder_expression_at(u.b), 4);
  const char *none[4] = {NULL, "0", NULL, "0"}, *wrong[4] = {"x0", "x1", NULL, NULL};
  check_error(cb_builder_velocity(u.b, NULL, 1, (int[]){0}, NULL, none, NULL), CB_ERROR_ARGUMENT,
              "velocity: expected a coefficient other than 0");
  check_error_begins(cb_builder_velocity(u.b, NULL, 1, (int[]){0}, NULL, wrong, NULL), CB_ERROR_INPUT,
                     "unknown name `x1`");
  check_error(cb_builder_velocity(u.b, NULL, 5, (int[]){0, 1, 2, 3, 4}, NULL, none, NULL), CB_ERROR_ARGUMENT,
              "velocity: 5 particles: expected 1 to 4");
  check_error(cb_builder_knife_edge(u.b, NULL, 0, 1), CB_ERROR_ARGUMENT,
              "knife_edge: expected a space of dimension 2, found 3");
  refused_free(&u);

  u = refused_in(NULL, "s2");
  check_error(cb_builder_knife_edge(u.b, NULL, 0, 0), CB_ERROR_ARGUMENT,
              "knife_edge: expected different particles, found 0 twice");
  check_error(cb_builder_volume(u.b, NULL, 6, bipyramid, start), CB_ERROR_ARGUMENT,
              "volume: expected a space of dimension 3, found 2");
  refused_free(&u);

  u = refused_in(NULL, "h2xe");
  check_error(cb_builder_volume(u.b, NULL, 6, bipyramid, start), CB_ERROR_ARGUMENT,
              "volume: expected a space of one factor, found a product");
  check_error(cb_builder_area(u.b, NULL, 1, bipyramid, start), CB_ERROR_ARGUMENT,
              "area: expected a space of one factor, found a product");
  check_error(cb_builder_knife_edge(u.b, NULL, 0, 1), CB_ERROR_ARGUMENT,
              "knife_edge: expected a space of one factor, found a product");
  refused_free(&u);

  cb_space *g;
  cb_builder *b;
  check_map m;
  check_ok(cb_space_create("e3", check_map_fill(&m, "chart", "polar", NULL, NULL), &g));
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "a", NULL));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, (double[]){1, 1, 1}, NULL, NULL));
  /* the expression is in coordinates of the space's chart */
  check_ok(cb_builder_surface(b, NULL, 0, NULL, "a - 2*sin(b)"));
  check_error_begins(cb_builder_surface(b, NULL, 0, NULL, "x - 2"), CB_ERROR_INPUT, "unknown name `x`");
  check_error_begins(cb_builder_pin(b, NULL, 0, (double[]){0, 0, 0}), CB_ERROR_DOMAIN, "");
  cb_builder_free(b);
  cb_space_free(g);

  u = refused_in(NULL, "s3");
  double x[COORDS] = {0, 0, -1, 0};
  check_ok(cb_builder_particle(u.b, NULL, 1, 0, 0, x, NULL, NULL)); /* particle 5, far from particle 0 */
  const int big[4][3] = {{3, 0, 1}, {0, 5, 1}, {3, 1, 5}, {3, 5, 0}};
  check_error_begins(cb_builder_volume(u.b, NULL, 4, big, start), CB_ERROR_DOMAIN, "volume: particle 5 is ");
  refused_free(&u);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(builders_say_what_cannot_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
