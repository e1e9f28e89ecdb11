/* Tests of the repair of meshes. Holes are closed, vertices within a tolerance are joined, faces without area are
 * removed by edge flips, and pieces whose faces point inwards become cavities. The expected volumes are those of the
 * mesh before it was damaged. */
#include "fluid_mesh.h"
#include "hdf5_file.h"

#include <curvebody/mass.h>

static const double half[3] = {1, 0.7, 0.5};

/* Writes a file of the faces of m, except those in `without` (NULL: all faces), followed by the text `more`. If `soup`
 * is set, each face has its own vertices, whose coordinates are changed at random by up to `shaken`. */
static void write_mesh(const mesh *m, const bool *without, bool soup, double shaken, const char *more) {
  FILE *file = fopen(path, "wb");
  uint64_t seed = 7;
  for (int v = 0; !soup && v < m->vertices; v++)
    fprintf(file, "v %.17g %.17g %.17g\n", m->x[v][0], m->x[v][1], m->x[v][2]);
  for (int f = 0, corners = 0; f < m->faces; f++) {
    if (without && without[f]) continue;
    for (int k = 0; soup && k < 3; k++, corners++) {
      const double *x = m->x[m->face[f][k]];
      fprintf(file, "v %.17g %.17g %.17g\n", x[0] + check_uniform(&seed, -shaken, shaken),
              x[1] + check_uniform(&seed, -shaken, shaken), x[2] + check_uniform(&seed, -shaken, shaken));
    }
    if (soup)
      fprintf(file, "f %d %d %d\n", corners - 2, corners - 1, corners);
    else
      fprintf(file, "f %d %d %d\n", m->face[f][0] + 1, m->face[f][1] + 1, m->face[f][2] + 1);
  }
  fputs(more, file);
  fclose(file);
}

static cb_surface *read_with(const cb_mending *how) {
  cb_surface *s = NULL;
  check_ok(cb_surface_read_mended(path, how, &s));
  return s;
}

static double volume(const cb_surface *s) {
  static const cb_material material[8];
  cb_mass mass;
  assert_in_range(s->parts, 1, 8);
  check_ok(cb_mass_of(s, NULL, material, &mass));
  return mass.volume;
}

static double volume_of(mesh m) {
  cb_surface *s = mesh_surface(m);
  const double V = volume(s);
  cb_surface_free(s);
  return V;
}

static void free_mesh(mesh m) {
  free(m.x);
  free(m.face);
  free(m.part);
}

/* ---- holes ---- */

static void missing_faces_are_closed_where_they_are_small(void **state) {
  enum { N = 6 };
  const cb_mending how = {.close = 0.1};
  const double V = volume_of(mesh_box(N, half, true));
  mesh m = mesh_box(N, half, true);
  bool *without = calloc((size_t)m.faces, sizeof *without);
  /* two faces that share only a vertex are missing, and a third one elsewhere */
  int other = 1;
  while (m.face[other][0] != m.face[0][1] || m.face[other][1] == m.face[0][0] || m.face[other][2] == m.face[0][0] ||
         m.face[other][1] == m.face[0][2] || m.face[other][2] == m.face[0][2])
    other++;
  without[0] = without[other] = without[m.faces - 1] = true;
  write_mesh(&m, without, false, 0, "");
  cb_surface *s = read_with(NULL);
  assert_true(s->open[0]);
  check_near(volume(s), 0, 0); /* only closed parts have a volume */
  cb_surface_free(s);
  s = read_with(&how);
  assert_false(s->open[0]);
  check_ok(cb_surface_check(s, false));
  check_near(volume(s), V, 1e-14); /* round-off: the faces are the original ones */
  assert_int_equal(cb_surface_how_mended(s)->holes, 3);
  assert_int_equal(cb_surface_how_mended(s)->faces, 3);
  cb_surface_free(s);
  free(without);
  free_mesh(m);
}

/* A missing side of a cube, a sixth of its area, is closed only if the tolerance `close` is large enough. */
static void a_lid_is_closed_on_request_only(void **state) {
  const double cube[3] = {1, 1, 1};
  mesh m = mesh_box(3, cube, false);
  bool *without = calloc((size_t)m.faces, sizeof *without);
  for (int f = 0; f < m.faces; f++)
    without[f] = m.x[m.face[f][0]][2] > 0.99 && m.x[m.face[f][1]][2] > 0.99 && m.x[m.face[f][2]][2] > 0.99;
  write_mesh(&m, without, false, 0, "");
  char said[200];
  cb_surface *s = read_with(&(cb_mending){.close = 0.1});
  assert_true(s->open[0]);
  assert_true(cb_surface_mended_text(s, said, sizeof said));
  assert_string_equal(said, "1 hole is left open, the smallest is 17 % of its surface");
  cb_surface_free(s);
  s = read_with(&(cb_mending){.close = 0.17});
  assert_false(s->open[0]);
  check_near(volume(s), 8, 1e-14);
  assert_true(cb_surface_mended_text(s, said, sizeof said));
  assert_string_equal(said, "1 hole of 12 edges is closed by 10 faces, the largest is 17 % of its surface");
  cb_surface_free(s);
  free(without);
  free_mesh(m);
}

static void the_rim_of_a_sheet_is_no_hole(void **state) {
  mesh m = mesh_plate(4, 1, 2, false);
  write_mesh(&m, NULL, false, 0, "");
  cb_surface *s = read_with(&(cb_mending){.close = 0.1});
  assert_true(s->open[0]);
  assert_int_equal(s->faces, m.faces);
  cb_surface_border border;
  check_ok(cb_surface_border_of(s, 0, &border));
  assert_int_equal(border.edges, 16);
  assert_false(border.bulges);
  cb_surface_free(s);
  free_mesh(m);
}

/* ---- near vertices ---- */

static void the_tolerance_that_is_named_closes_a_soup(void **state) {
  const double V = volume_of(mesh_box(5, half, true));
  static const double shaken[] = {0, 1e-13, 1e-9, 3e-6, 1e-4};
  for (size_t i = 0; i < sizeof shaken / sizeof *shaken; i++) {
    mesh m = mesh_box(5, half, true);
    write_mesh(&m, NULL, true, shaken[i], "");
    cb_surface *s = read_with(NULL);
    cb_surface_seam seam;
    check_ok(cb_surface_seams(s, &seam));
    assert_int_equal(seam.vertices, 3 * m.faces - m.vertices);
    assert_int_equal(seam.left, 0);
    /* Copies of the same corner are up to 2 sqrt(3) shaken[i] apart. The next tolerance of the sequence 1, 2, 5, 10,
     * ... is at most 2.5 times as large. */
    assert_true(seam.tolerance <= 2.5 * 3.5 * shaken[i]);
    cb_surface_free(s);
    s = read_with(&(cb_mending){.weld = true, .tolerance = seam.tolerance});
    assert_int_equal(s->parts, 1);
    assert_int_equal(s->vertices, m.vertices);
    check_ok(cb_surface_check(s, false));
    check_near(volume(s), V, V * (1e-14 + 3 * 2 * shaken[i] / half[2])); /* vertices move by at most 2 shaken[i] */
    cb_surface_free(s);
    free_mesh(m);
  }
}

static void a_border_is_told_with_its_place(void **state) {
  static const char expected[] =
      "3 edges have one face, the first from vertex 2 to 3 at (1, 0, 0); 3 border vertices "
      "are within 0.0002 m of another vertex: `weld: 0.0002` joins them and leaves no border";
  FILE *file = fopen(path, "wb");
  fprintf(file,
          "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1.00015 0 0\nv 0 1.00015 0\nv 0 0 1.00015\n"
          "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 5 6 7\n");
  fclose(file);
  char said[CB_SURFACE_BORDER_TEXT];
  cb_surface *s = read_with(NULL);
  check_ok(cb_surface_border_text(s, 0, "weld", said));
  assert_string_equal(said, expected);
  cb_surface_free(s);
}

/* ---- faces without area ---- */

/* Adds two vertices on one edge of a face, and divides this face into three. The neighbour of the face stays as it is,
 * and two triangles without area fill the gap at the edge. */
static void faces_of_collinear_corners_do_not_open_a_body(void **state) {
  const double V = volume_of(mesh_box(3, half, true));
  mesh m = mesh_box(3, half, true);
  bool *without = calloc((size_t)m.faces, sizeof *without);
  char more[4096] = "";
  int vertices = m.vertices;
  size_t n = 0;
  for (int f = 0; f < m.faces; f += 5) {
    const int a = m.face[f][0] + 1, b = m.face[f][1] + 1, c = m.face[f][2] + 1;
    const double *p = m.x[a - 1], *q = m.x[b - 1], t[2] = {0.3, 0.9};
    for (int k = 0; k < 2; k++)
      n += (size_t)snprintf(more + n, sizeof more - n, "v %.17g %.17g %.17g\n", p[0] + t[k] * (q[0] - p[0]),
                            p[1] + t[k] * (q[1] - p[1]), p[2] + t[k] * (q[2] - p[2]));
    const int u = ++vertices, v = ++vertices;
    n += (size_t)snprintf(more + n, sizeof more - n, "f %d %d %d\nf %d %d %d\nf %d %d %d\nf %d %d %d\nf %d %d %d\n", a,
                          u, c, u, v, c, v, b, c, a, b, v, a, v, u);
    assert_true(n < sizeof more);
    without[f] = true;
  }
  write_mesh(&m, without, false, 0, more);
  cb_surface *s = read_with(NULL);
  check_ok(cb_surface_check(s, false));
  assert_int_equal(s->faces, m.faces + (m.faces + 4) / 5 * 4);
  check_near(volume(s), V, 1e-14);
  cb_surface_free(s);
  free(without);
  free_mesh(m);
}

static void a_face_of_two_corners_at_one_place_joins_them(void **state) {
  FILE *file = fopen(path, "wb");
  /* Vertex 5 coincides with vertex 1 up to 1e-13. The last two faces, which have both vertices, have nearly no area. */
  fprintf(file,
          "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1e-13 0 0\nf 5 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nf 2 1 5\nf 1 3 5\n");
  fclose(file);
  cb_surface *s = read_with(NULL);
  assert_int_equal(s->faces, 4);
  assert_int_equal(s->vertex[4], s->vertex[0]);
  check_ok(cb_surface_check(s, false));
  check_near(volume(s), 1. / 6, 1e-12); /* the tolerance covers the difference 1e-13 of the vertices */
  cb_surface_free(s);
}

/* ---- cavities ---- */

static void write_boxes(int n, const double (*box)[4]) {
  FILE *file = fopen(path, "wb");
  for (int i = 0; i < n; i++) {
    const double size[3] = {fabs(box[i][3]), fabs(box[i][3]), fabs(box[i][3])};
    mesh m = mesh_box(1, size, false);
    mesh_move(&m, box[i]);
    for (int v = 0; v < m.vertices; v++) fprintf(file, "v %.17g %.17g %.17g\n", m.x[v][0], m.x[v][1], m.x[v][2]);
    for (int f = 0; f < m.faces; f++) {
      const int *c = m.face[f], in = box[i][3] < 0;
      fprintf(file, "f %d %d %d\n", c[0] + 1 + i * m.vertices, c[1 + in] + 1 + i * m.vertices,
              c[2 - in] + 1 + i * m.vertices);
    }
    free_mesh(m);
  }
  fclose(file);
}

/* A piece whose faces point inwards is a cavity of the smallest piece around it. The rows are the centres of cubes and
 * half their sides; a negative number means that the faces point inwards. */
static void what_is_turned_inwards_within_a_part_is_its_cavity(void **state) {
  static const double hollow[][4] = {{0, 0, 0, -0.5}, {0, 0, 0, 1}},
                      nested[][4] = {{0.1, 0, 0, -0.1}, {0.1, 0, 0, 0.25}, {0, 0, 0, 1}, {0, 0, 0, -0.5}},
                      apart[][4] = {{0, 0, 0, 1}, {4, 0, 0, 1}, {4, 0, 0, -0.5}};
  write_boxes(2, hollow);
  cb_surface *s = read_with(NULL);
  assert_int_equal(s->parts, 1);
  check_ok(cb_surface_check(s, false));
  check_near(volume(s), 8 - 1, 1e-14);
  cb_surface_free(s);
  write_boxes(4, nested);
  s = read_with(NULL);
  assert_int_equal(s->parts, 2);
  check_ok(cb_surface_check(s, false));
  check_near(volume(s), 8 - 1 + 0.125 - 0.008, 1e-14);
  assert_int_equal(s->part[0], s->part[12]); /* the cavity is in the smallest cube around it */
  assert_int_not_equal(s->part[0], s->part[24]);
  cb_surface_free(s);
  write_boxes(3, apart);
  s = read_with(NULL);
  assert_int_equal(s->parts, 2);
  check_near(volume(s), 15, 1e-13);
  cb_surface_free(s);
}

static void what_is_turned_inwards_outside_is_an_error(void **state) {
  static const double outside[][4] = {{0, 0, 0, 1}, {4, 0, 0, -0.5}};
  write_boxes(2, outside);
  cb_surface *s = read_with(NULL);
  check_error_begins(cb_surface_check(s, false), CB_ERROR_DOMAIN, "part 'part2': faces point inward (volume -1)");
  cb_surface_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(missing_faces_are_closed_where_they_are_small),
      cmocka_unit_test(a_lid_is_closed_on_request_only),
      cmocka_unit_test(the_rim_of_a_sheet_is_no_hole),
      cmocka_unit_test(the_tolerance_that_is_named_closes_a_soup),
      cmocka_unit_test(a_border_is_told_with_its_place),
      cmocka_unit_test(faces_of_collinear_corners_do_not_open_a_body),
      cmocka_unit_test(a_face_of_two_corners_at_one_place_joins_them),
      cmocka_unit_test(what_is_turned_inwards_within_a_part_is_its_cavity),
      cmocka_unit_test(what_is_turned_inwards_outside_is_an_error),
  };
  return cmocka_run_group_tests(tests, make_path, remove_path);
}
