/* Tests of bodies that are thinner than their panels are wide. If panels on both sides do not face each other, the body
 * is rejected before it is solved. Otherwise the tensor K of added mass is close to that of the mirrored mesh, and the
 * estimate is not below the true error. The bodies are spheroids with a tensor in closed form (Lamb, Hydrodynamics
 * (1932), article 114). Their lower side is rotated, or their upper vertices are randomly displaced.
 */
#include "potential.h"
#include "potential/refine.h"
#include "potential/mesh_pieces.h"

/* Returns the spheroid of half-thickness c, with its lower side rotated by `steps` face widths along the rim. */
static solid_mesh turned(int n, double c, int steps) {
  solid_mesh m = ellipsoid_mesh(n, 1, 1, 1);
  const double angle = M_PI / 2 * steps / n, cosine = cos(angle), sine = sin(angle);
  int *rim = malloc((size_t)m.vertices * sizeof *rim);
  double(*x)[3] = malloc((size_t)m.vertices * sizeof *x);
  assert_true(rim && x);
  for (int i = 0; i < m.vertices; i++) {
    const double *p = m.x[i];
    x[i][0] = cosine * p[0] - sine * p[1];
    x[i][1] = sine * p[0] + cosine * p[1];
    rim[i] = i;
    for (int j = 0; j < m.vertices && p[2] == 0; j++)
      if (m.x[j][2] == 0 && hypot(m.x[j][0] - x[i][0], m.x[j][1] - x[i][1]) < 1e-9) rim[i] = j;
  }
  for (int f = 0; f < m.faces; f++) {
    int *v = m.face[f];
    if (m.x[v[0]][2] + m.x[v[1]][2] + m.x[v[2]][2] < 0)
      for (int k = 0; k < 3; k++) v[k] = rim[v[k]];
  }
  for (int i = 0; i < m.vertices; i++) {
    if (m.x[i][2] < 0) memcpy(m.x[i], x[i], 2 * sizeof(double));
    m.x[i][2] *= c;
  }
  free(rim);
  free(x);
  return m;
}

/* Returns the spheroid with its upper vertices displaced on it at random, by up to `by` times the size of the faces. */
static solid_mesh moved(int n, double c, double by) {
  solid_mesh m = ellipsoid_mesh(n, 1, 1, 1);
  uint64_t state = 5;
  for (int i = 0; i < m.vertices; i++) {
    double *x = m.x[i];
    if (x[2] > 0) {
      const double most = by * 1.5 / n * x[2];
      for (int k = 0; k < 2; k++) x[k] += check_uniform(&state, -most, most);
      x[2] = sqrt(1 - x[0] * x[0] - x[1] * x[1]);
    }
    x[2] *= c;
  }
  return m;
}

static cb_status create(const solid_mesh *m, cb_kirchhoff **k) {
  return cb_kirchhoff_create(m->vertices, (const double(*)[3])m->x, m->faces, (const int(*)[3])m->face, NULL, k);
}

/* --- thickness --- */

/* Returns the t > 0 at which x + t d is in the panel with the corners c, by Cramer's rule for the weights of the
 * corners. Returns t < 0 if there is no intersection. */
static double crossing(double const (*c)[3], const double x[3], const double d[3]) {
  double a[3][3], b[3];
  for (int i = 0; i < 3; i++) {
    a[i][0] = c[1][i] - c[0][i];
    a[i][1] = c[2][i] - c[0][i];
    a[i][2] = -d[i];
    b[i] = x[i] - c[0][i];
  }
  double y[4];
  for (int column = -1; column < 3; column++) {
    double m[3][3];
    memcpy(m, a, sizeof m);
    for (int i = 0; i < 3 && column >= 0; i++) m[i][column] = b[i];
    y[column + 1] = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                    m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                    m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
  }
  const double u = y[1] / y[0], v = y[2] / y[0];
  return u >= 0 && v >= 0 && u + v <= 1 ? y[3] / y[0] : -1;
}

/* Compares the thickness of cb_thickness_find with that from all pairs of panels. */
static void thickness_is_that_of_all_pairs(void **unused) {
  for (int kind = 0; kind < 3; kind++) {
    solid_mesh m = kind == 0   ? turned(6, 0.05, 2)
                   : kind == 1 ? moved(7, 0.03, 0.4)
                               : shape_mesh("fish", "{resolution: 8}");
    cb_panels *p = NULL;
    cb_thickness found;
    double mean = 0, mismatch = 0, area = 0;
    check_ok(cb_panels_create(m.faces, (const double(*)[3])m.x, (const int(*)[3])m.face, &p));
    check_ok(cb_thickness_find(p, p->n, NULL, &found));
    for (int i = 0; i < p->n; i++) {
      const double h = sqrt(p->area[i]), d[3] = {-p->normal[i][0], -p->normal[i][1], -p->normal[i][2]};
      double t = h, square = 0;
      for (int j = 0; j < p->n; j++) {
        const double at = j == i ? -1 : crossing((const double(*)[3])p->corner[j], p->centre[i], d);
        if (at < 0 || at >= t) continue;
        double along = 0;
        t = at;
        square = 0;
        for (int k = 0; k < 3; k++) {
          const double b = p->centre[j][k] - p->centre[i][k];
          along += b * d[k];
          square += b * b;
        }
        square -= along * along;
      }
      area += p->area[i];
      mean += p->area[i] * t / h;
      mismatch += p->area[i] * fmin(32, square / (t * h));
    }
    check_relative(found.mean, mean / area, 1e-12);
    check_near(found.mismatch, mismatch / area, 1e-9);
    cb_panels_free(p);
    free_mesh(&m);
  }
}

/* --- errors --- */

static void what_is_solved_is_near_the_mirrored_mesh(void **unused) {
  static const double half[] = {0.1, 0.05, 0.02, 0.01, 3e-3, 1e-3, 1e-4};
  for (int n = 6; n <= 12; n += 6)
    for (size_t i = 0; i < sizeof half / sizeof *half; i++) {
      const double c = half[i];
      solid_mesh mirrored = turned(n, c, 0);
      cb_kirchhoff_report report;
      const cb_kirchhoff_mass right = mass_of(&mirrored, NULL, &report); /* accurate for any thickness */
      if (c < 0.04) check_at_most(report.thickness, 0.5);
      free_mesh(&mirrored);
      for (int kind = 0; kind < 5; kind++) {
        solid_mesh m = kind < 2 ? turned(n, c, kind ? n / 2 : 1) : moved(n, c, 0.03 * pow(3, kind - 2));
        cb_kirchhoff *k = NULL;
        const cb_status status = create(&m, &k);
        if (status) assert_int_equal(status, CB_ERROR_STEP);
        if (c <= 3e-3 && kind < 2) assert_int_equal(status, CB_ERROR_STEP);
        if (c >= 0.05 || kind == 2) check_ok(status);
        cb_kirchhoff_mass mass;
        if (!status) {
          check_ok(cb_kirchhoff_added_mass(k, NULL, &mass));
          /* The tolerance is 0.05, as stated in potential/mesh_pieces.h. For small elements of K it is relative to a
           * tenth of the largest one. */
          for (int a = 0; a < 6; a++)
            check_near(mass.K[a][a], right.K[a][a], 0.05 * fmax(right.K[a][a], 0.1 * right.K[5][5]));
        }
        cb_kirchhoff_free(k);
        free_mesh(&m);
      }
    }
}

/* The error names the number and the centre of a face, with the thickness and the face size there. A body that becomes
 * thin is also rejected. */
static void a_refusal_names_the_place(void **unused) {
  solid_mesh thin = turned(6, 1e-3, 3), thick = turned(6, 0.5, 3);
  cb_kirchhoff *k = NULL;
  int face;
  double at[3], t, h;
  assert_int_equal(create(&thin, &k), CB_ERROR_STEP);
  assert_int_equal(sscanf(cb_error_text(),
                          "the body is too thin for its 288 panels: at face %d, (%lf, %lf, %lf), it is %lf thick, the "
                          "face is %lf wide",
                          &face, at, at + 1, at + 2, &t, &h),
                   6);
  assert_in_range(face, 1, 288);
  for (int i = 0; i < 3; i++) {
    double centre = 0;
    for (int c = 0; c < 3; c++) centre += thin.x[thin.face[face - 1][c]][i] / 3;
    check_near(at[i], centre, 1e-5); /* the text has six digits */
  }
  check_at_most(t, 2e-3);
  check_at_least(h, 50 * t);
  assert_non_null(strstr(cb_error_text(), "or a sheet"));
  check_ok(create(&thick, &k));
  check_error_begins(cb_kirchhoff_renew(k, (const double(*)[3])thin.x, NULL), CB_ERROR_STEP, "the body is too thin");
  cb_kirchhoff_free(k);
  free_mesh(&thin);
  free_mesh(&thick);
}

/* --- estimates --- */

typedef struct spheroid {
  double c, by; /* half-thickness; displacement of upper vertices per face size, or 0 for none */
  int steps, coarsest;
  solid_mesh level;
} spheroid;

static cb_status mesh(void *context, int level, int *vertices, const double (**x)[3], int *faces,
                      const int (**face)[3]) {
  spheroid *s = context;
  const int n = s->coarsest << level;
  free_mesh(&s->level);
  s->level = s->by > 0 ? moved(n, s->c, s->by) : turned(n, s->c, s->steps ? n / 2 : 0);
  *vertices = s->level.vertices;
  *faces = s->level.faces;
  *x = (const double(*)[3])s->level.x;
  *face = (const int(*)[3])s->level.face;
  return CB_OK;
}

static void estimates_are_not_below_the_error(void **unused) {
  static const spheroid all[] = {{.c = 0.03, .coarsest = 5},
                                 {.c = 0.02, .coarsest = 6},
                                 {.c = 0.005, .coarsest = 5},
                                 {.c = 0.03, .coarsest = 5, .by = 0.4},
                                 {.c = 0.02, .coarsest = 5, .by = 0.4},
                                 {.c = 0.05, .coarsest = 4, .steps = 1},
                                 {.c = 0.03, .coarsest = 5, .steps = 1}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (int levels = 2; levels <= 3; levels++) {
      spheroid s = all[i];
      const double c = s.c, d = 1 - c * c, across = 2 / d * (1 - c * acos(c) / sqrt(d)), along = (2 - across) / 2,
                   V = 4 * M_PI / 3 * c,
                   K[6] = {V / 5 * d * d * (across - along) / (2 * d - (1 + c * c) * (across - along)),
                           0,
                           0,
                           V * along / (2 - along),
                           0,
                           V * across / (2 - across)};
      const cb_potential_body body = {.context = &s, .mesh = mesh, .least = levels};
      cb_kirchhoff_report report;
      cb_potential_estimate e;
      int faces;
      check_ok(cb_kirchhoff_refined(&body, 1e9, &(cb_kirchhoff_options){.memory = 0}, &e, &report, &faces));
      assert_int_equal(faces, 8 * (s.coarsest << (levels - 1)) * (s.coarsest << (levels - 1)));
      for (int a = 0; a < 6; a++)
        if (K[a] > 0) /* errors of rotations are relative to K[5] times the mean square radius, 0.5 */
          check_near(e.mass.K[a][a], K[a], e.error * K[5] * (a < 3 ? 0.5 : 1));
      free_mesh(&s.level);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thickness_is_that_of_all_pairs),
      cmocka_unit_test(what_is_solved_is_near_the_mirrored_mesh),
      cmocka_unit_test(a_refusal_names_the_place),
      cmocka_unit_test(estimates_are_not_below_the_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
