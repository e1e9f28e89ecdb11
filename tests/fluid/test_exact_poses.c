/* Tests of the exact added mass of poses with a given tolerance. The reported error is compared with results for finer
 * faces. The added mass of a moving shape is consistent with that of a rigid body. Results depend only on the pose, not
 * on the order of calls or the thread. */
#include "core/threads.h"
#include "fluid/surface_mesh.h"
#include "numerics/vec3.h"
#include "potential.h"
#include <curvebody/fluid_model.h>

typedef struct posed {
  cb_fluid_model *model;
  cb_tree *tree;
  cb_surface *surface;
  void *body;
  double (*x)[3], (*v)[3];
} posed;

static posed posed_of(const solid_mesh *m, const char *parameters) {
  posed p = {.tree = NULL};
  check_ok(
      cb_surface_make(m->vertices, (const double(*)[3])m->x, m->faces, (const int(*)[3])m->face, NULL, &p.surface));
  check_ok(cb_yaml_read_text("model", parameters, strlen(parameters), &p.tree));
  check_ok(cb_fluid_model_create("exact", cb_tree_root(p.tree), &p.model));
  check_ok(p.model->class_->prepare(p.model, p.surface, NULL, &p.body));
  p.x = calloc((size_t)m->vertices, sizeof *p.x);
  p.v = calloc((size_t)m->vertices, sizeof *p.v);
  return p;
}

static void free_posed(posed *p) {
  p->model->class_->release(p->model, p->body);
  cb_fluid_model_free(p->model);
  cb_tree_free(p->tree);
  cb_surface_free(p->surface);
  free(p->x);
  free(p->v);
}

/* Computes the added mass of a body whose points (x, y, z) are moved to (x, y, z + bend x^2), and all have the
 * velocity u. */
static cb_status added_mass(posed *p, double bend, const double u[3], cb_added_mass *out) {
  for (int i = 0; i < p->surface->vertices; i++) {
    memcpy(p->x[i], p->surface->x[i], sizeof *p->x);
    p->x[i][2] += bend * p->x[i][0] * p->x[i][0];
    memcpy(p->v[i], u, sizeof *p->v);
  }
  *out = (cb_added_mass){.kinetic = 0};
  return p->model->class_->added_mass(p->model, p->body, p->surface, (const double(*)[3])p->x, (const double(*)[3])p->v,
                                      out);
}

/* Returns the added mass from finer faces: each face of the pose is divided into four, three times. Its error is about
 * a tenth of the reported error. */
static cb_kirchhoff_mass finer(const posed *p, bool sheets) {
  cb_surface *pose = NULL, *fine = NULL;
  check_ok(cb_surface_make(p->surface->vertices, (const double(*)[3])p->x, p->surface->faces,
                           (const int(*)[3])p->surface->face, NULL, &pose));
  check_ok(cb_surface_at_level(pose, 3, &fine));
  const solid_mesh m = {fine->vertices, fine->faces, fine->x, fine->face};
  const cb_kirchhoff_options options = {.sheets = sheets};
  const cb_kirchhoff_mass mass = mass_of(&m, &options, NULL);
  cb_surface_free(pose);
  cb_surface_free(fine);
  return mass;
}

static void what_is_told_holds(void **unused) {
  static const double u[3] = {0.3, -0.2, 0.9};
  for (int sheet = 0; sheet < 2; sheet++) {
    solid_mesh m = sheet ? disc_mesh(4, 0.6) : ellipsoid_mesh(4, 2, 1, 0.8);
    posed p = posed_of(&m, "{error: 0.04}");
    for (int i = 0; i < 2; i++) {
      cb_added_mass told;
      check_ok(added_mass(&p, 0.1 * i, u, &told));
      const cb_kirchhoff_mass fine = finer(&p, sheet);
      double most = 0, worst = 0, along = 0;
      for (int k = 3; k < 6; k++) most = fmax(most, fine.K[k][k]);
      for (int k = 3; k < 6; k++) worst = fmax(worst, fabs(told.K[k][k] - fine.K[k][k]) / most);
      print_message("%s, bent by %g: %.1e, told %.1e, %d faces\n", sheet ? "disc" : "ellipsoid", 0.1 * i, worst,
                    told.error, told.faces);
      check_at_most(worst, told.error);
      check_at_most(told.error, 0.04);
      assert_true(told.faces > 4 * m.faces);
      /* A shape that moves rigidly has the momentum and energy of a rigid body. The computed K is not exactly
       * symmetric, so the tolerance for the momentum is larger than that for the energy. */
      for (int k = 0; k < 6; k++) {
        double sum = 0;
        for (int l = 0; l < 3; l++) sum += told.K[k][3 + l] * u[l];
        check_near(told.mu0[k], sum, 0.01 * most);
        if (k >= 3) along += u[k - 3] * sum;
      }
      check_near(2 * told.kinetic, along, 1e-6 * most); /* residual of the solved equations */
    }
    free_posed(&p);
    free_mesh(&m);
  }
}

static void a_pose_alone_decides(void **unused) {
  static const double u[3] = {0, 0, 1};
  solid_mesh m = ellipsoid_mesh(3, 2, 1, 0.8);
  cb_added_mass first, later, other;
  posed a = posed_of(&m, "{error: 0.1}"), b = posed_of(&m, "{error: 0.1}");
  check_ok(added_mass(&a, 0.1, u, &first));
  check_ok(added_mass(&a, 0.02, u, &other));
  check_ok(added_mass(&a, 0.1, u, &later));
  assert_memory_equal(&first, &later, sizeof first);
  cb_threads_set(1);
  check_ok(added_mass(&b, 0.02, u, &later));
  cb_threads_set(0);
  assert_memory_equal(&other, &later, sizeof other);
  free_posed(&a);
  free_posed(&b);
  free_mesh(&m);
}

/* A pose that differs so much from the shape at rest that it would need more faces is rejected. The form of a moving
 * shape is computed on refined faces, too. */
static void what_is_not_met_is_refused(void **unused) {
  static const double u[3] = {0, 0, 1};
  solid_mesh m = disc_mesh(2, 0.6);
  posed p = posed_of(&m, "{error: 0.1}");
  cb_added_mass out;
  double G[49];
  check_error_begins(added_mass(&p, 3, u, &out), CB_ERROR_STEP, "the error of the added mass of a pose is ");
  assert_non_null(strstr(cb_error_text(), "the tolerance is"));
  const double(*x)[3] = (const double(*)[3])p.surface->x;
  check_ok(p.model->class_->form(p.model, p.body, p.surface, x, 0, NULL, G));
  check_ok(p.model->class_->form(p.model, p.body, p.surface, x, 1, (const double(*)[3])p.v, G));
  posed rigid = posed_of(&m, "{error: 0.02}");
  check_ok(added_mass(&rigid, 0, u, &out));
  check_near(G[5 * 7 + 5], out.K[5][5], 0.1 * out.K[5][5]);
  free_posed(&rigid);
  free_posed(&p);
  free_mesh(&m);
}

/* --- near a wall --- */

enum { C = 7 };

static cb_pose pose_along(const cb_pose *g, const double xi[6]) {
  cb_pose move, out;
  cb_se3_tau(CB_SE3_EXPONENTIAL, xi, &move);
  cb_pose_multiply(g, &move, &out);
  return out;
}

static const double wall_normal[3] = {0.36, -0.48, 0.8}, wall_height = -0.3;

/* Returns the faces of p with the vertices x after their edges were divided in half `level` times. The new vertices are
 * midpoints, so they are linear functions of x. *fine owns the result. */
static solid_mesh divided(const posed *p, const double (*x)[3], int level, cb_surface **fine) {
  cb_surface *pose = NULL;
  check_ok(cb_surface_make(p->surface->vertices, x, p->surface->faces, (const int(*)[3])p->surface->face, NULL, &pose));
  check_ok(cb_surface_at_level(pose, level, fine));
  cb_surface_free(pose);
  return (solid_mesh){(*fine)->vertices, (*fine)->faces, (*fine)->x, (*fine)->face};
}

/* Computes for each panel its normal, whose length is its area, and the mean of the vectors `of` at its three
 * vertices. */
static void panels_of(const solid_mesh *m, const cb_kirchhoff *k, const double (*of)[3], double (*normal)[3],
                      double (*mean)[3]) {
  for (int f = 0; f < m->faces; f++) {
    const int *face = m->face[cb_kirchhoff_faces(k)[f]];
    double e[2][3];
    for (int c = 0; c < 3; c++) {
      e[0][c] = m->x[face[1]][c] - m->x[face[0]][c];
      e[1][c] = m->x[face[2]][c] - m->x[face[0]][c];
      mean[f][c] = (of[face[0]][c] + of[face[1]][c] + of[face[2]][c]) / 3;
    }
    cb_cross3(e[0], e[1], normal[f]);
    for (int c = 0; c < 3; c++) normal[f][c] /= 2;
  }
}

/* Computes the form G of the kinetic energy T of a fluid of density 1 around a body at the pose g. With the twist Y of
 * the body and the velocities v of its shape, 2 T = (Y, 1)^T G (Y, 1). G_ab = -int phi_a w_b dA, symmetrised, where w_b
 * is the normal velocity of motion b and phi_a the potential of motion a. The potentials use images in the wall, which
 * is given in the body frame. */
static void static_form(const solid_mesh *m, const double (*v)[3], const cb_pose *g, double G[C][C]) {
  cb_kirchhoff_options options = {.method = CB_POTENTIAL_DENSE, .wall = {CB_MIRROR_RIGID, {0}, wall_height}};
  double R[3][3];
  cb_pose_rotation(g, R);
  for (int i = 0; i < 3; i++) {
    options.wall.height -= wall_normal[i] * g->x[i];
    for (int j = 0; j < 3; j++) options.wall.normal[i] += R[j][i] * wall_normal[j];
  }
  cb_kirchhoff *k = kirchhoff_of(m, &options);
  const size_t n = (size_t)m->faces;
  double(*normal)[3] = calloc(3 * n, sizeof *normal), (*x)[3] = normal + n, (*u)[3] = x + n;
  double *w = calloc(2 * C * n, sizeof *w), *phi = w + C * n;
  panels_of(m, k, v, normal, u);
  panels_of(m, k, (const double(*)[3])m->x, normal, x);
  for (size_t f = 0; f < n; f++) {
    const double area = sqrt(cb_dot3(normal[f], normal[f]));
    double turn[3];
    cb_cross3(x[f], normal[f], turn);
    for (size_t c = 0; c < 3; c++) {
      w[c * n + f] = turn[c] / area;
      w[(3 + c) * n + f] = normal[f][c] / area;
    }
    w[6 * n + f] = cb_dot3(u[f], normal[f]) / area;
  }
  check_ok(cb_kirchhoff_solve(k, C, w, phi));
  memset(G, 0, C * sizeof *G);
  for (size_t a = 0; a < C; a++)
    for (size_t b = 0; b < C; b++)
      for (size_t f = 0; f < n; f++)
        G[a][b] -=
            sqrt(cb_dot3(normal[f], normal[f])) / 2 * (phi[a * n + f] * w[b * n + f] + phi[b * n + f] * w[a * n + f]);
  cb_kirchhoff_free(k);
  free(normal);
  free(w);
}

static double departure(double A[C][C], double B[C][C]) {
  double most = 0;
  for (int i = 0; i < C * C; i++) most = fmax(most, fabs(A[i / C][i % C] - B[i / C][i % C]));
  return most;
}

/* The added mass, the momentum and the energy of a pose in front of a wall equal those of a mesh with the faces of this
 * pose. The undeformed body determines how the mesh is refined, and the finer faces move with the pose. The slopes
 * along the pose equal central differences with the step 1e-3. */
static void a_pose_before_a_wall_is_that_mesh_at_rest(void **unused) {
  solid_mesh given[] = {ellipsoid_mesh(1, 1, 0.6, 0.4), ellipsoid_mesh(2, 1, 0.6, 0.4)};
  for (int i = 0; i < 2; i++) {
    static const char *const wall[] = {
        "{wall: rigid, wall_x: 0.36, wall_y: -0.48, wall_z: 0.8, wall_height: -0.3}",
        "{wall: rigid, wall_x: 0.36, wall_y: -0.48, wall_z: 0.8, wall_height: -0.3, error: 0.3}"};
    posed p = posed_of(&given[i], wall[i]);
    const cb_fluid_model_class *class = p.model->class_;
    const double(*rest)[3] = (const double(*)[3])p.surface->x;
    double slope[6][C][C], G[C][C] = {{0}}, known[C][C], low[C][C], high[C][C];
    cb_added_mass out;
    check_ok(class->added_mass_at(p.model, p.body, p.surface, rest, (const double(*)[3])p.v, NULL, &out, NULL));
    const int level = (int)lrint(log2((double)out.faces / given[i].faces) / 2);
    assert_true(level > 0 && out.faces == given[i].faces << (2 * level));
    const cb_pose g = pose_along(&(cb_pose){{1, 0, 0, 0}, {0.2, 0.1, 0.65}}, (double[6]){0.3, -0.2, 0.5, 0, 0, 0});
    for (int bend = i; bend <= i; bend++) {
      double(*next)[3] = calloc((size_t)given[i].vertices, sizeof *next);
      for (int k = 0; k < p.surface->vertices; k++) {
        const double *X = rest[k];
        const double x[] = {X[0], X[1] + 0.1 * bend * X[0], X[2] + 0.2 * bend * X[0] * X[0]};
        const double v[] = {0.1 * X[1], 0.3 * X[2] * X[0], 0.7 * X[0] * X[0] - 0.2};
        for (int c = 0; c < 3; c++) {
          p.x[k][c] = x[c];
          p.v[k][c] = v[c];
          next[k][c] = x[c] + v[c];
        }
      }
      const double(*x)[3] = (const double(*)[3])p.x, (*v)[3] = (const double(*)[3])p.v;
      check_ok(class->added_mass_at(p.model, p.body, p.surface, x, v, &g, &out, slope));
      for (int a = 0; a < 6; a++) {
        memcpy(G[a], out.K[a], sizeof out.K[a]);
        G[a][6] = G[6][a] = out.mu0[a];
      }
      G[6][6] = 2 * out.kinetic;
      cb_surface *fine = NULL, *later = NULL;
      const solid_mesh m = divided(&p, x, level, &fine);
      divided(&p, (const double(*)[3])next, level, &later);
      for (int k = 0; k < m.vertices; k++)
        for (int c = 0; c < 3; c++) later->x[k][c] -= m.x[k][c];
      const double(*w)[3] = (const double(*)[3])later->x;
      static_form(&m, w, &g, known);
      const double off = departure(G, known);
      double worst = 0;
      for (int axis = 0; axis < 6; axis++) {
        const double h = 1e-3;
        double difference[C][C], xi[6] = {0};
        xi[axis] = -h;
        const cb_pose before = pose_along(&g, xi);
        xi[axis] = h;
        const cb_pose after = pose_along(&g, xi);
        static_form(&m, w, &before, low);
        static_form(&m, w, &after, high);
        for (int k = 0; k < C * C; k++) difference[k / C][k % C] = (high[k / C][k % C] - low[k / C][k % C]) / (2 * h);
        worst = fmax(worst, departure(slope[axis], difference));
      }
      static_form(&m, w, &(cb_pose){{1, 0, 0, 0}, {0, 0, 1e3}}, low);
      print_message("%d faces from %d, bent by %d: %.1e, slopes %.1e; the wall is %.1e\n", m.faces, given[i].faces,
                    bend, off, worst, departure(known, low));
      check_at_most(off, 1e-13); /* round-off of dense matrices */
      check_at_most(worst, 1e-5);
      cb_surface_free(fine);
      cb_surface_free(later);
      free(next);
    }
    free_posed(&p);
    free_mesh(&given[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_told_holds),
      cmocka_unit_test(a_pose_alone_decides),
      cmocka_unit_test(what_is_not_met_is_refused),
      cmocka_unit_test(a_pose_before_a_wall_is_that_mesh_at_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
