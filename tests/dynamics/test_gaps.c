/* Tests of gaps of particles, walls and events: values, derivatives, bounds on second derivatives, and errors. */
#include "check_gaps.h"

static const double pi = 3.14159265358979323846;

/* --- a scene with every type of gap: two particles, walls, events --- */

enum { BALL, ROOM, PLANE, FORMULA, JETS, POLAR, WALLS };
enum { NEAR, LEVEL, BETWEEN }; /* the events of the scene */

typedef struct walls {
  const cb_space *g;
  mover centre;
  double normal[COORDS], radius, room;
  int count, kind[WALLS];
} walls;

/* Writes an expression that depends on the time t, the radius r and all coordinates of a chart. */
static void some_formula(const cb_chart *chart, char *text, size_t size) {
  size_t at = (size_t)snprintf(text, size, "0.7 - r + 0.3*cos(2*t + 1)");
  for (int i = 0; i < chart->size; i++)
    at += (size_t)snprintf(text + at, size - at, " + (%g + 0.1*t)*%s + %g*%s*sin(%s)", 0.3 + 0.1 * i,
                           chart->coordinates[i], 0.2 + 0.07 * i, chart->coordinates[i],
                           chart->coordinates[(i + 1) % chart->size]);
}

/* Computes the function that some_formula writes as text, on jets. It is the function of a class of walls. */
static cb_status formula_on_jets(const void *of, const cb_space *g, const cb_jet *x, const cb_jet *t,
                                 const double *radius, cb_jet *s) {
  const int n = g->chart ? g->chart->size : g->embedding;
  cb_jet phase = cb_jet_scale(t, 2);
  phase = cb_jet_shift(&phase, 1);
  phase = cb_jet_cos(&phase);
  *s = cb_jet_scale(&phase, 0.3);
  *s = cb_jet_shift(s, 0.7 - radius[0]);
  for (int i = 0; i < n; i++) {
    cb_jet slope = cb_jet_scale(t, 0.1), wave = cb_jet_sin(&x[(i + 1) % n]);
    slope = cb_jet_shift(&slope, 0.3 + 0.1 * i);
    slope = cb_jet_mul(&slope, &x[i]);
    wave = cb_jet_scale(&wave, 0.2 + 0.07 * i);
    wave = cb_jet_mul(&wave, &x[i]);
    *s = cb_jet_add(s, &slope);
    *s = cb_jet_add(s, &wave);
  }
  return CB_OK;
}

/* A function of two particles with many mixed second derivatives: the sum over all coordinates i of c_i (x_i - y_i) + 3
 * x_i y_i + sin(x_i y_(i+1)) + t x_i, minus r_x, plus r_y/2. x and y are the coordinates of the particles, r_x and r_y
 * their radii, and c_i are numbers. */
static cb_status between_on_jets(const void *of, const cb_space *g, const cb_jet *x, const cb_jet *t,
                                 const double *radius, cb_jet *s) {
  const int n = g->chart ? g->chart->size : g->embedding;
  *s = cb_jet_constant(t->n, radius[1] / 2 - radius[0]);
  for (int i = 0; i < n; i++) {
    cb_jet apart = cb_jet_sub(&x[i], &x[n + i]), product = cb_jet_mul(&x[i], &x[n + (i + 1) % n]),
           timed = cb_jet_mul(&x[i], t), mixed = cb_jet_mul(&x[i], &x[n + i]);
    mixed = cb_jet_scale(&mixed, 3);
    apart = cb_jet_scale(&apart, *(const double *)of + 0.1 * i);
    product = cb_jet_sin(&product);
    *s = cb_jet_add(s, &apart);
    *s = cb_jet_add(s, &product);
    *s = cb_jet_add(s, &timed);
    *s = cb_jet_add(s, &mixed);
  }
  return CB_OK;
}

static const cb_wall_class on_jets = {
    .name = "jets", .title = "", .doc = "", .timed = true, .on_jets = formula_on_jets};
static const cb_event_class between_jets = {.name = "between",
                                            .title = "",
                                            .doc = "",
                                            .params_size = sizeof(double),
                                            .particles = 2,
                                            .timed = true,
                                            .on_jets = between_on_jets};

static void add_walls(cb_builder *b, void *user) {
  walls *w = user;
  const cb_space *g = w->g;
  double centre[COORDS], normal[COORDS];
  char text[2048];
  mover m = w->centre;
  memcpy(m.v, w->normal, sizeof m.v);
  assert_true(mover_at(g, &m, 0, centre, normal));
  check_ok(cb_builder_wall_ball(b, "ball", -1, centre, w->radius, false, 0.5));
  check_ok(cb_builder_wall_ball(b, "room", 1, centre, w->room, true, 1));
  w->kind[0] = BALL;
  w->kind[1] = ROOM;
  w->count = 2;
  if (!g->intrinsic) {
    check_ok(cb_builder_wall_plane(b, NULL, -1, centre, normal, 1));
    w->kind[w->count++] = PLANE;
  }
  some_formula(g->chart ? g->chart : cb_chart_find(g, "embedding"), text, sizeof text);
  check_ok(cb_builder_wall_expression(b, "formula", -1, NULL, text, 1));
  w->kind[w->count++] = FORMULA;
  check_ok(cb_builder_wall(b, &on_jets, NULL, "jets", -1, 1));
  w->kind[w->count++] = JETS;
  if (cb_chart_find(g, "polar")) {
    some_formula(cb_chart_find(g, "polar"), text, sizeof text);
    check_ok(cb_builder_wall_expression(b, "polar", -1, "polar", text, 1));
    w->kind[w->count++] = POLAR;
  }
  check_ok(cb_builder_event_distance(b, "near", 0, 1, 0.1, CB_EVENT_MARK, CB_EVENT_RISING));
  some_formula(g->chart ? g->chart : cb_chart_find(g, "embedding"), text, sizeof text);
  check_ok(cb_builder_event_expression(b, NULL, 1, NULL, text, CB_EVENT_STOP, CB_EVENT_BOTH));
  check_ok(cb_builder_event(b, &between_jets, &(double){0.4}, NULL, (const int[]){1, 0}, CB_EVENT_MARK, CB_EVENT_BOTH));
}

/* Makes a scene of two moving particles with walls and events of every kind. m[2] gives the centre of walls that are
 * balls, and the foot and the normal of the plane. */
static scene every_kind(const cb_space *g, uint64_t *seed, mover *m, walls *w) {
  random_movers(g, seed, 3, 1, 0.25, m);
  const double u = unit_of(g);
  *w = (walls){.g = g, .centre = m[2], .radius = 0.1 * u, .room = 2 * u};
  memcpy(w->normal, m[2].v, sizeof w->normal);
  /* in a product of spaces, the normal of the plane is in one factor */
  for (int f = 1; !g->intrinsic && f < g->n_factors; f++)
    memset(w->normal + g->factor[*seed % 2 ? 0 : f].offset, 0,
           (size_t)g->factor[*seed % 2 ? 0 : f].count * sizeof *w->normal);
  return scene_of(g, 2, m, (const double[]){0.03 * u, 0.05 * u}, add_walls, w);
}

/* Lists all gaps of the scene, and returns their number. */
static int gaps_of(const scene *c, cb_gap *out) {
  int n = 0;
  out[n++] = (cb_gap){CB_GAP_SPHERES, 2, {0, 1}, -1, 1};
  for (int w = 0; w < cb_system_walls(c->s); w++)
    for (int i = 0; i < 2; i++)
      if (cb_gaps_wall_on(c->gaps, w, i)) out[n++] = (cb_gap){CB_GAP_WALL, 1, {i}, w, 1};
  for (int e = 0; e < cb_system_events(c->s); e++) cb_gaps_event(c->gaps, e, &out[n++]);
  return n;
}

static const char *shown(const cb_space *g, const cb_gap *gap, const walls *w) {
  static const char *const wall[WALLS] = {
      "ball", "room", "plane", "formula", "formula on jets", "formula in polar coordinates"};
  static char text[160];
  snprintf(text, sizeof text, "%s, curvature %g, %s: %s", g->class_->name, g->factor[0].curvature,
           g->chart ? g->chart->name : "embedding",
           gap->kind == CB_GAP_SPHERES ? "spheres"
           : gap->kind == CB_GAP_EVENT ? "event"
                                       : wall[w->kind[gap->index]]);
  return text;
}

/* --- derivatives --- */

/* The step h and the tolerance of difference quotients of fourth order. For a gap s their errors are h^4 s^(5)/30 with
 * the fifth derivative s^(5) and, where distances are found by integration, 1e-13/h. */
static const double h = 1e-3, quotient = 3e-8;
static void gradients_in(const cb_space *g, uint64_t *seed) {
  mover m[3];
  walls w;
  cb_gap gap[20];
  scene c = every_kind(g, seed, m, &w);
  const int n = gaps_of(&c, gap);
  assert_true(n >= 8);
  for (int i = 0; i < n; i++) check_gradient(g, c.gaps, &gap[i], m, 0.4, h, quotient, shown(g, &gap[i], &w));
  scene_free(&c);
}

static void gradients_of(const cb_space *g, uint64_t *seed) {
  if (g->dim < 2) return;
  for (int trial = 0; trial < 3; trial++) check_every_chart_of(g, seed, gradients_in);
}

static void gradients_are_those_of_differences_in_every_space_and_chart(void **state) {
  check_every_space_of_both_kinds(gradients_of);
}

/* --- values --- */

typedef struct plane_search {
  const cb_space *g;
  const double *foot, *x;
  double basis[CB_DIM_MAX][COORDS];
} plane_search;

static double distance_to_plane_point(const gsl_vector *at, void *user) {
  const plane_search *s = user;
  double v[COORDS] = {0}, y[COORDS];
  for (size_t i = 0; i < at->size; i++)
    for (int a = 0; a < s->g->embedding; a++) v[a] += gsl_vector_get(at, i) * s->basis[i][a];
  cb_exp(s->g, s->foot, v, y, NULL);
  return cb_distance(s->g, s->x, y);
}

/* Writes orthonormal vectors at `foot` perpendicular to `normal`, whose geodesics form the plane, and returns their
 * number. */
static int across(const cb_space *g, const double *foot, const double *normal, double basis[CB_DIM_MAX][COORDS]) {
  double frame[CB_DIM_MAX * CB_COORD_MAX], n[COORDS];
  const double size = sqrt(cb_inner(g, normal, normal));
  int count = 0;
  for (int a = 0; a < g->embedding; a++) n[a] = normal[a] / size;
  cb_space_frame(g, foot, frame);
  for (int i = 0; i < g->dim && count < g->dim - 1; i++) {
    double *v = basis[count];
    memcpy(v, frame + i * g->embedding, (size_t)g->embedding * sizeof *v);
    for (int j = -1; j < count; j++) {
      const double *e = j < 0 ? n : basis[j], along = cb_inner(g, v, e);
      for (int a = 0; a < g->embedding; a++) v[a] -= along * e[a];
    }
    const double left = sqrt(cb_inner(g, v, v));
    if (!(left >= 0.3)) continue; /* v is nearly a linear combination of the other vectors, or nan */
    for (int a = 0; a < g->embedding; a++) v[a] /= left;
    count++;
  }
  return count;
}

static void values_in(const cb_space *g, uint64_t *seed) {
  mover m[3];
  walls w;
  cb_gap gap[20];
  scene c = every_kind(g, seed, m, &w);
  const double u = unit_of(g), r[2] = {0.03 * u, 0.05 * u};
  const int n = gaps_of(&c, gap);
  for (int i = 0; i < n; i++) {
    const int p = gap[i].particle[0];
    cb_gap_value value;
    double expected;
    assert_true(gap_at(g, c.gaps, &gap[i], m, 0, 0, &value));
    assert_true(value.active);
    if (gap[i].kind == CB_GAP_SPHERES)
      expected = cb_distance(g, m[0].y, m[1].y) - r[0] - r[1];
    else if (gap[i].kind == CB_GAP_EVENT && gap[i].index == NEAR)
      expected = cb_distance(g, m[0].y, m[1].y) - 0.1;
    else if (gap[i].kind != CB_GAP_WALL)
      continue;
    else if (w.kind[gap[i].index] == JETS) {
      cb_gap_value formula;
      const cb_gap same = {CB_GAP_WALL, 1, {p}, gap[i].index - 1, 1};
      assert_true(gap_at(g, c.gaps, &same, m, 0, 0, &formula));
      /* in a chart with the coordinate r, the name r in the formula means this coordinate and not the radius */
      if (g->chart && !strcmp(g->chart->coordinates[0], "r")) continue;
      expected = formula.gap;
    } else if (w.kind[gap[i].index] == BALL)
      expected = cb_distance(g, m[p].y, m[2].y) - r[p] - w.radius;
    else if (w.kind[gap[i].index] == ROOM)
      expected = w.room - cb_distance(g, m[p].y, m[2].y) - r[p];
    else if (w.kind[gap[i].index] == PLANE) {
      plane_search search = {.g = g, .foot = m[2].y, .x = m[p].y};
      double at[CB_DIM_MAX] = {0}, towards[COORDS];
      const int count = across(g, m[2].y, w.normal, search.basis);
      if (count < g->dim - 1) continue;
      check_ok(cb_log(g, m[2].y, m[p].y, towards));
      const double least = least_of(count, distance_to_plane_point, &search, at, 0.3 * u, NULL);
      expected = (cb_inner(g, towards, w.normal) < 0 ? -least : least) - r[p];
      check_near(value.gap, expected, 1e-9); /* the search for the minimum has this accuracy */
      continue;
    } else
      continue;
    /* the tolerance is for the integration of geodesics in intrinsic spaces, and for round-off in others */
    check_near(value.gap, expected, g->intrinsic ? 1e-11 : 1e-13);
  }
  scene_free(&c);
}

static void values_of(const cb_space *g, uint64_t *seed) {
  if (g->dim < 2) return;
  for (int trial = 0; trial < 3; trial++) check_every_chart_of(g, seed, values_in);
}

static void values_are_distances_and_those_of_nearest_points(void **state) {
  check_every_space_of_both_kinds(values_of);
}

/* --- frames --- */

static void frames_of(const cb_space *g, uint64_t *seed) {
  if (!cb_origin_moves(g) || g->dim < 2) return;
  for (int trial = 0; trial < 6; trial++) {
    mover m[3];
    walls w;
    cb_gap gap[20];
    scene c = every_kind(g, seed, m, &w);
    const int n = gaps_of(&c, gap);
    for (int i = 0; i < n; i++)
      check_frames(g, c.gaps, &gap[i], m, 0.4, seed, trial < 3 ? 0.3 : 1.3, shown(g, &gap[i], &w));
    scene_free(&c);
  }
}

static void gaps_do_not_depend_on_the_frames_of_particles(void **state) { check_every_space_of_both_kinds(frames_of); }

static double far_gap(const cb_space *g, cb_gaps *gaps, const cb_gap *gap, double length, const double *direction,
                      const double *x) {
  cb_origin o;
  cb_gap_value value;
  cb_origin_identity(g, &o);
  o.length = length;
  memcpy(o.direction, direction, sizeof o.direction);
  cb_gaps_set_origins(gaps, &o);
  check_ok(cb_gap_eval(gaps, gap, 0, &x, 1, &value));
  for (int a = 0; a < g->k; a++) assert_true(isfinite(value.gradient[a]));
  return value.gap;
}

static void add_vertical_plane(cb_builder *b, void *user) {
  check_ok(cb_builder_wall_plane(b, NULL, -1, user, (const double[]){1, 0, 0, 0}, 1));
}

/* A particle is at the distance `length` from the foot of a plane, in a direction with a given angle to the normal. Its
 * distance d from the plane has sinh d = sinh(length) cos(angle). */
static void a_plane_is_met_at_any_distance_from_its_point(void **state) {
  cb_space *g;
  check_ok(cb_space_create("h3", NULL, &g));
  mover m = {.y = {0, 0, 0, 1}};
  scene c = scene_of(g, 1, &m, (const double[]){0}, add_vertical_plane, m.y);
  const cb_gap gap = {CB_GAP_WALL, 1, {0}, 0, 1};
  check_near(far_gap(g, c.gaps, &gap, 5, (const double[]){0.6, 0.8, 0}, m.y), asinh(0.6 * sinh(5)), 1e-13);
  /* For large lengths asinh(0.6 sinh(length)) is length + log(0.6). The round-off is that of numbers of this size. */
  check_near(far_gap(g, c.gaps, &gap, 200, (const double[]){0.6, 0.8, 0}, m.y), 200 + log(0.6), 1e-12);
  check_near(far_gap(g, c.gaps, &gap, 4000, (const double[]){-0.6, 0.8, 0}, m.y), -4000 - log(0.6), 1e-11);
  /* the distance does not change along the plane */
  const double aside[] = {sinh(0.3), 0, 0, cosh(0.3)};
  check_near(far_gap(g, c.gaps, &gap, 5000, (const double[]){0, 1, 0}, aside), 0.3, 1e-15);
  scene_free(&c);
  cb_space_free(g);
}

/* --- bounds on second derivatives --- */

static int bounded, unbounded;

/* Returns whether the coordinates of a gap that is an expression are regular at five times of the motion: the diagonal
 * entries of the metric are above 0.05. Near singular points of a chart, samples do not determine the second
 * derivatives of an expression. */
static bool regular(const cb_space *g, const walls *w, const cb_gap *gap, const mover *m, double span) {
  const bool polar = gap->kind == CB_GAP_WALL && w->kind[gap->index] == POLAR;
  const bool formula = polar || (gap->kind == CB_GAP_EVENT && gap->index != NEAR) ||
                       (gap->kind == CB_GAP_WALL && (w->kind[gap->index] == FORMULA || w->kind[gap->index] == JETS));
  const cb_chart *chart = polar ? cb_chart_find(g, "polar") : g->chart;
  if (!formula || !chart) return true;
  for (int k = 0; k < 5 * gap->n; k++) {
    double v[COORDS], y[COORDS], q[COORDS], metric[CB_DIM_MAX * CB_DIM_MAX];
    const mover *of = &m[gap->particle[k / 5]];
    for (int a = 0; a < g->embedding; a++) v[a] = k % 5 * span / 4 * of->v[a];
    cb_exp(g, of->y, v, y, NULL);
    if (chart->from_point(g, y, q) || chart->metric(g, q, metric, NULL, NULL)) return false;
    for (int i = 0; i < g->dim; i++)
      if (!(metric[i * (g->dim + 1)] > 0.05)) return false;
  }
  return true;
}

/* Checks that the second derivative of each gap is at least -A, where A is its bound. Along geodesics this is checked
 * for the time `span`, and with accelerations only at the start. */
static void bends_in(const cb_space *g, uint64_t *seed) {
  mover m[3], still[3];
  walls w;
  cb_gap gap[20];
  scene c = every_kind(g, seed, m, &w);
  const double dt = 4e-3, span = 0.3;
  memcpy(still, m, sizeof still);
  for (int i = 0; i < 3; i++) memset(still[i].w, 0, sizeof still[i].w);
  const int n = gaps_of(&c, gap);
  for (int i = 0; i < n; i++)
    for (int accelerated = 0; accelerated < 2; accelerated++) {
      const mover *of = accelerated ? m : still;
      double x[POINTS][COORDS], speed[POINTS], acceleration[POINTS], rest = 0;
      const double *at[POINTS];
      for (int p = 0; p < gap[i].n; p++) {
        const mover *who = &of[gap[i].particle[p]];
        at[p] = x[p];
        assert_true(mover_at(g, who, 0, x[p], NULL));
        speed[p] = check_length(g, who->y, who->v);
        acceleration[p] = check_length(g, who->y, who->w);
        rest += speed[p];
      }
      const double A =
          cb_gap_second_derivative_bound(c.gaps, &gap[i], 0.4, at, speed, acceleration, accelerated ? 0 : span);
      cb_gap_value begin;
      assert_true(gap_at(g, c.gaps, &gap[i], of, 0.4, 0, &begin));
      if (gap[i].kind == CB_GAP_SPHERES && !g->intrinsic) {
        const double quarter = g->factor[0].curvature > 0 ? pi / 2 / sqrt(g->factor[0].curvature) : INFINITY;
        if (begin.gap + rest * span < quarter) assert_true(isfinite(A));
      }
      assert_true(A >= 0);
      if (!isfinite(A)) {
        unbounded++;
        continue;
      }
      bounded++;
      const bool both = gap[i].kind == CB_GAP_EVENT;
      if (!regular(g, &w, &gap[i], still, span)) continue;
      for (double tau = accelerated ? 0 : dt; tau < (accelerated ? dt / 2 : span - dt); tau += span / 11) {
        cb_gap_value s[3];
        bool whole = true;
        for (int k = 0; k < 3; k++) whole = whole && gap_at(g, c.gaps, &gap[i], of, 0.4, tau + (k - 1) * dt, &s[k]);
        if (!whole) continue;
        const double second = (s[0].gap - 2 * s[1].gap + s[2].gap) / (dt * dt);
        /* The difference quotient `second` of a gap s with the time step dt has the errors dt^2 s''''/12, and
         * 1e-13/dt^2 where distances are found by integration. If the speeds cannot close the gap in the time `span`, A
         * may be 0 without being a bound of s''. */
        if (begin.gap > 0 && A == 0 && s[1].gap > 0 && fabs(begin.gap) > rest * span) continue;
        const double least = both ? -fabs(second) : second;
        if (!(least >= -A - 1e-3 * (1 + A))) print_error("%s, at %g, gap %g\n", shown(g, &gap[i], &w), tau, s[1].gap);
        check_at_least(least, -A - 1e-3 * (1 + A));
      }
    }
  scene_free(&c);
}

static void bends_of(const cb_space *g, uint64_t *seed) {
  if (g->dim < 2) return;
  const int trials = CHECK_SANITIZED ? 2 : g->intrinsic ? 6 : 20;
  for (int trial = 0; trial < trials; trial++) check_every_chart_of(g, seed, bends_in);
}

static void no_gap_bends_more_than_its_bound(void **state) {
  bounded = unbounded = 0;
  check_every_space_of_both_kinds(bends_of);
  print_message("%d bounds, %d times none\n", bounded, unbounded);
  check_at_most(unbounded, 0.05 * bounded);
}

static void add_one_formula(cb_builder *b, void *text) {
  check_ok(cb_builder_wall_expression(b, NULL, -1, NULL, text, 1));
}

/* Two expressions have second derivatives 0 along geodesics: the sum of squares that is constant on S3 or H3, and a
 * Cartesian coordinate of E2 as a function of polar coordinates. Their bound is 0. */
static void expressions_without_second_derivatives_do_not_bend(void **state) {
  static const char *const space[] = {"s3", "h3", "e2"};
  for (int i = 0; i < 3; i++) {
    uint64_t seed = check_seed();
    cb_space *g;
    char text[160];
    mover m[1];
    check_ok(cb_space_create(space[i], NULL, &g));
    if (i == 2) {
      g->chart = cb_chart_find(g, "polar");
      g->k = g->dim;
    }
    const char *const *q = (g->chart ? g->chart : cb_chart_find(g, "embedding"))->coordinates;
    if (i == 2)
      snprintf(text, sizeof text, "2 + %s*cos(%s)", q[0], q[1]);
    else
      snprintf(text, sizeof text, "2 + %s^2 + %s^2 + %s^2 %c %s^2", q[0], q[1], q[2], i ? '-' : '+', q[3]);
    random_movers(g, &seed, 1, 1, 0, m);
    scene c = scene_of(g, 1, m, (const double[]){0}, add_one_formula, text);
    const cb_gap gap = {CB_GAP_WALL, 1, {0}, 0, 1};
    double x[COORDS];
    const double *at = x, speed = 1, acceleration = 0;
    assert_true(mover_at(g, m, 0, x, NULL));
    check_near(cb_gap_second_derivative_bound(c.gaps, &gap, 0, &at, &speed, &acceleration, 0.1), 0,
               1e-13); /* round-off */
    scene_free(&c);
    g->chart = NULL;
    g->k = g->embedding;
    cb_space_free(g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradients_are_those_of_differences_in_every_space_and_chart),
      cmocka_unit_test(values_are_distances_and_those_of_nearest_points),
      cmocka_unit_test(gaps_do_not_depend_on_the_frames_of_particles),
      cmocka_unit_test(a_plane_is_met_at_any_distance_from_its_point),
      cmocka_unit_test(no_gap_bends_more_than_its_bound),
      cmocka_unit_test(expressions_without_second_derivatives_do_not_bend),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
