/* Tests elastic triangles that fly towards each other and rotate, from random starts. Many of them collide, and none
 * intersect in any row.
 *
 * Points are represented by rays from 0 in R^4, in which S3 and H3 are embedded; E3 is the set of points whose last
 * coordinate is 1. A segment pq intersects a triangle abc if p and q are on opposite sides of abc, and a, b, c have one
 * orientation around pq. The check uses no gap functions.
 */
#include "simulate.h"

typedef double ray[4];

static double minor(const double *a, const double *b, const double *c, int i, int j, int k) {
  return a[i] * (b[j] * c[k] - b[k] * c[j]) - a[j] * (b[i] * c[k] - b[k] * c[i]) + a[k] * (b[i] * c[j] - b[j] * c[i]);
}

static double det(const double *a, const double *b, const double *c, const double *d) {
  return -d[0] * minor(a, b, c, 1, 2, 3) + d[1] * minor(a, b, c, 0, 2, 3) - d[2] * minor(a, b, c, 0, 1, 3) +
         d[3] * minor(a, b, c, 0, 1, 2);
}

static bool cuts(ray *face, const double *p, const double *q) {
  const double *a = face[0], *b = face[1], *c = face[2];
  const double over = det(a, b, c, p), under = det(a, b, c, q);
  if (!(over * under < 0)) return false;
  const double turn[3] = {det(p, q, a, b), det(p, q, b, c), det(p, q, c, a)};
  double front = 0; /* if this is negative, the intersection is on the opposite side of the sphere */
  for (int i = 0; i < 4; i++) front += (fabs(under) * p[i] + fabs(over) * q[i]) * (a[i] + b[i] + c[i]);
  return front > 0 && ((turn[0] > 0 && turn[1] > 0 && turn[2] > 0) || (turn[0] < 0 && turn[1] < 0 && turn[2] < 0));
}

static bool overlap(ray *a, ray *b) {
  for (int i = 0; i < 3; i++)
    if (cuts(a, b[i], b[(i + 1) % 3]) || cuts(b, a[i], a[(i + 1) % 3])) return true;
  return false;
}

/* Computes the ray y of a point x of the plot. K is the curvature of the space: 0, 1 or -1. */
static void ray_of(int K, const double *x, double *y) {
  double square = 0;
  for (int i = 0; i < 3; i++) square += x[i] * x[i];
  for (int i = 0; i < 3; i++) y[i] = K ? 2 * x[i] / (1 + K * square) : x[i];
  y[3] = K ? (1 - K * square) / (1 + K * square) : 1;
}

static uint64_t seed = 20;

static double random_in(double low, double high) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * ((double)(seed >> 11) * 0x1p-53);
}

/* Writes three random tangent vectors with first components around x. */
static void corners(char *text, double x) {
  for (int i = 0, n = 0; i < 3; i++) {
    const double a = x + random_in(-0.3, 0.3), b = random_in(-0.5, 0.5), c = random_in(-0.5, 0.5);
    n += sprintf(text + n, "%s[%.4f, %.4f, %.4f]", i ? ", " : "", a, b, c);
  }
}

/* Runs from one random start, checks every row, and returns the number of contacts. */
static size_t throw_in(const char *space, const char *shift, const char *turn, const char *base, int K) {
  char text[4096], a[256], b[256];
  corners(a, -0.7);
  corners(b, 0.5);
  const double speed = random_in(0.3, 0.9), spin = random_in(-0.5, 0.5);
  snprintf(text, sizeof text,
           "curvebody: 1\nspace: %s\nbodies:\n"
           "  - {kind: triangle, name: a, link: {spring: {stiffness: 5, rest: 0.7}}, masses: [1, 1.3, 0.8],\n"
           "     place: {at: {point: %s}, tangent: [%s]},\n"
           "     motion: [{killing: %s, speed: %.3f}, {killing: %s, speed: %.3f}]}\n"
           "  - {kind: triangle, name: b, link: {spring: {stiffness: 5, rest: 0.7}}, masses: [0.7, 1.1, 1.6],\n"
           "     place: {at: {point: %s}, tangent: [%s]}, motion: {killing: %s, speed: -0.3}}\n"
           "contacts: {}\nintegrator: {name: lobatto, stages: 3, step: 0.01}\ntime: {end: 2.5}\nrecord: {every: 1}\n",
           space, base, a, shift, speed, turn, spin, base, b, shift);
  static const char *const fields[] = {"plot_position", NULL};
  simulation *s = simulate(text, NULL, 0, fields);
  for (size_t r = 0; r < s->rows; r++) {
    ray corner[6];
    for (int i = 0; i < 6; i++) ray_of(K, s->value[0] + r * s->width[0] + 3 * i, corner[i]);
    if (overlap(corner, corner + 3)) print_error("row %zu of\n%s\n", r, text);
    assert_false(overlap(corner, corner + 3));
  }
  const size_t events = s->events;
  simulation_free(s);
  return events;
}

static void throw_all(const char *space, const char *shift, const char *base, int K) {
  size_t contacts = 0;
  for (int i = 0; i < 150; i++) contacts += throw_in(space, shift, "rotation_z", base, K);
  print_message("%s: %zu contacts\n", space, contacts);
  assert_true(contacts >= 60);
}

static void triangles_do_not_pass_through_each_other_in_e3(void **state) {
  throw_all("e3", "translation_x", "[0, 0, 0]", 0);
}

static void triangles_do_not_pass_through_each_other_in_h3(void **state) {
  throw_all("h3", "boost_x", "[0, 0, 0, 1]", -1);
}

static void triangles_do_not_pass_through_each_other_in_s3(void **state) {
  throw_all("s3", "rotation_wx", "[0, 0, 0, 1]", 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(triangles_do_not_pass_through_each_other_in_e3),
      cmocka_unit_test(triangles_do_not_pass_through_each_other_in_h3),
      cmocka_unit_test(triangles_do_not_pass_through_each_other_in_s3),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
