/* Measures the computation of Kirchhoff's tensor of an ellipsoid from its panels, for seven right-hand sides at once,
 * on all threads. The table contains the complete computation, its parts (creating the tree, and multiplying it with
 * seven columns), and the computation by LU of the dense matrix. If the library hmat-oss is present, it also contains
 * LU of the hierarchical matrix to 1e-6 and seven solutions. Further rows are for discs without thickness; they include
 * the relative error of the last diagonal entry of the tensor K. Each row has the wall-clock time and the CPU time of
 * the main thread; the CPU time hardly depends on other programs that run on the machine. */
#include "bench.h"
#include "potential.h"
#include "potential/far.h"
#include "potential/linear_solvers.h"

enum { SIZES = 4, DISCS = 3, COLUMNS = 7 };

typedef struct body {
  solid_mesh mesh;
  double (*v)[3];
  cb_kirchhoff_options options;
  cb_kirchhoff_report report;
  cb_kirchhoff_mass mass;
  cb_panels *panels;
  cb_far *far;
  double *columns, *out;
  size_t factors;
} body;

static void whole(void *self) {
  body *b = self;
  cb_kirchhoff *k = kirchhoff_of(&b->mesh, &b->options);
  check_ok(cb_kirchhoff_added_mass(k, (const double(*)[3])b->v, &b->mass));
  b->report = cb_kirchhoff_report_of(k);
  cb_kirchhoff_free(k);
}

static void plant(void *self) {
  body *b = self;
  cb_far_free(b->far);
  check_ok(cb_far_create(b->panels, 1e-6, &b->far));
}

static void multiply(void *self) {
  body *b = self;
  memset(b->out, 0, COLUMNS * (size_t)b->mesh.faces * sizeof *b->out);
  check_ok(cb_far_apply(b->far, COLUMNS, NULL, b->columns, b->out));
}

static void factor(void *self) {
  body *b = self;
  cb_hlu *h = NULL;
  memcpy(b->out, b->columns, COLUMNS * (size_t)b->mesh.faces * sizeof *b->out);
  check_ok(cb_hlu_create(b->panels, 1e-6, &h));
  check_ok(cb_hlu_solve(h, COLUMNS, b->out));
  b->factors = cb_hlu_bytes(h);
  cb_hlu_free(h);
}

static body open_body(int n, cb_potential_method method) {
  body b = {.mesh = ellipsoid_mesh(n, 1, 0.8, 0.5), .options = {.method = method}};
  const size_t all = COLUMNS * (size_t)b.mesh.faces;
  b.v = malloc((size_t)b.mesh.vertices * sizeof *b.v);
  b.columns = malloc(all * sizeof *b.columns);
  b.out = malloc(all * sizeof *b.out);
  assert_true(b.v && b.columns && b.out);
  for (int i = 0; i < b.mesh.vertices; i++)
    for (int k = 0; k < 3; k++) b.v[i][k] = sin(3 * b.mesh.x[i][(k + 1) % 3]);
  for (size_t i = 0; i < all; i++) b.columns[i] = sin((double)i);
  check_ok(cb_panels_create(b.mesh.faces, (const double(*)[3])b.mesh.x, (const int(*)[3])b.mesh.face, &b.panels));
  check_ok(cb_far_create(b.panels, 1e-6, &b.far));
  return b;
}

/* Makes a disc of radius 1 without thickness. */
static body open_disc(int n) { return (body){.mesh = disc_mesh(n, 1), .options = {.sheets = true}}; }

static void close_body(body *b) {
  cb_far_free(b->far);
  cb_panels_free(b->panels);
  free(b->v);
  free(b->columns);
  free(b->out);
  free_mesh(&b->mesh);
}

int main(int argc, char **argv) {
  static const int full[SIZES] = {13, 25, 50, 101}; /* 1352, 5000, 20 000 and 81 608 faces */
  bench b = bench_begin(argc, argv, "Kirchhoff's tensor of closed bodies");
  const int sizes = b.quick ? 1 : SIZES;
  static const int discs[DISCS] = {21, 41, 82}; /* 2646, 10 086 and 40 344 faces */
  body of[SIZES], dense[2], disc[DISCS];
  for (int i = 0; i < sizes; i++) {
    of[i] = open_body(b.quick ? 6 : full[i], CB_POTENTIAL_BEST);
    bench_add(&b, "whole", whole, of + i, 1);
    bench_add(&b, "tree", plant, of + i, 1);
    bench_add(&b, "product of 7 columns", multiply, of + i, 1);
    if (i < 3 && !cb_hlu_check()) bench_add(&b, "hmat-oss", factor, of + i, 1);
    if (i >= 2) continue;
    dense[i] = open_body(b.quick ? 6 : full[i], CB_POTENTIAL_DENSE);
    bench_add(&b, "dense LU", whole, dense + i, 1);
  }
  for (int i = 0; i < (b.quick ? 1 : DISCS); i++) {
    disc[i] = open_disc(b.quick ? 6 : discs[i]);
    bench_add(&b, "sheet", whole, disc + i, 1);
  }
  bench_go(&b, 4);
  printf("  %8s %-22s %10s %10s %6s %9s %8s\n", "faces", "", "s, wall", "s, thread", "steps", "MB", "exponent");
  double wall[SIZES] = {0}, last = 0, faces = 0, exponent = 0;
  for (int i = 0; i < b.n; i++) {
    const bench_subject *s = b.subject + i;
    const body *own = s->self;
    const bool all = s->run == whole;
    printf("  %8d %-22s %10.4f %10.4f", own->mesh.faces, s->name, s->wall, s->cpu);
    if (all) printf(" %6d %9.1f", own->report.iterations, 1e-6 * (double)own->report.bytes);
    if (s->run == factor) printf(" %6s %9.1f", "", 1e-6 * (double)own->factors);
    if (all && own->options.sheets) printf("  K %.2e", own->mass.K[5][5] / (8.0 / 3) - 1);
    if (all && own->options.method == CB_POTENTIAL_BEST && !own->options.sheets) {
      wall[own - of] = s->wall;
      if (last > 0) printf(" %8.2f", exponent = log(s->wall / last) / log(own->mesh.faces / faces));
      last = s->wall;
      faces = own->mesh.faces;
    }
    printf("\n");
  }
  bench_judge(&b, "5000 faces", wall[1], "<", 0.2, "s");
  bench_judge(&b, "81 608 faces", wall[3], "<", 15, "s");
  bench_judge(&b, "growth from 20 000 to 81 608 faces", exponent, "<", 1.2, "power");
  for (int i = 0; i < sizes; i++) close_body(of + i);
  for (int i = 0; i < sizes && i < 2; i++) close_body(dense + i);
  for (int i = 0; i < (b.quick ? 1 : DISCS); i++) close_body(disc + i);
  return b.missed > 0;
}
