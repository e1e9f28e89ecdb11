/* Measures the flow around a moving sphere (potential/field.h): seconds for its preparation, for 100 streamlines past
 * the sphere, and for velocity and potential on a grid around it.
 */
#include "bench.h"
#include "potential.h"
#include "potential/field.h"

enum { LINES = 100, LINE = 81, SIDE = 24, GRID = SIDE * SIDE * SIDE };

typedef struct flow {
  solid_mesh mesh;
  double (*v)[3];
  cb_flow_about *field;
  double seed[LINES][3], line[LINES * LINE][3], line_u[LINES * LINE][3];
  double x[GRID][3], u[GRID][3], phi[GRID];
  int calls, points;
} flow;

static void prepare(void *self) {
  flow *f = self;
  cb_field_free(f->field);
  const cb_field_bodies bodies = {.vertices = f->mesh.vertices,
                                  .faces = f->mesh.faces,
                                  .x = (const double(*)[3])f->mesh.x,
                                  .v = (const double(*)[3])f->v,
                                  .face = (const int(*)[3])f->mesh.face};
  check_ok(cb_field_create(&bodies, 1e-6, &f->field));
}

static cb_status seen(void *self, int points, const double (*x)[3], double (*u)[3]) {
  flow *f = self;
  f->calls++;
  f->points += points;
  const cb_status status = cb_field_at(f->field, points, x, u, NULL, NULL);
  for (int i = 0; i < points; i++) u[i][2] -= 1;
  return status;
}

static void follow(void *self) {
  flow *f = self;
  f->calls = f->points = 0;
  check_ok(cb_streamlines(seen, f, (cb_stream_lines){LINES, LINE, 6.25 / (LINE - 1), 2e-4}, (const double(*)[3])f->seed,
                          f->line, f->line_u));
}

static void velocities(void *self) {
  flow *f = self;
  check_ok(cb_field_at(f->field, GRID, (const double(*)[3])f->x, f->u, NULL, NULL));
}

static void potentials(void *self) {
  flow *f = self;
  check_ok(cb_field_at(f->field, GRID, (const double(*)[3])f->x, NULL, f->phi, NULL));
}

static flow *open_flow(int n) {
  flow *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->mesh = ellipsoid_mesh(n, 1, 1, 1);
  f->v = calloc((size_t)f->mesh.vertices, sizeof *f->v);
  assert_non_null(f->v);
  for (int i = 0; i < f->mesh.vertices; i++) f->v[i][2] = 1;
  /* The streamlines begin on Vogel's spiral in a plane perpendicular to the stream. */
  for (int i = 0; i < LINES; i++) {
    const double r = 1.4 * sqrt((i + 0.5) / LINES), angle = i * M_PI * (3 - sqrt(5));
    f->seed[i][0] = r * cos(angle);
    f->seed[i][1] = r * sin(angle);
    f->seed[i][2] = 2.5;
  }
  for (int i = 0; i < GRID; i++) {
    const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
    for (int k = 0; k < 3; k++) f->x[i][k] = 2.5 * (2 * (at[k] + 0.5) / SIDE - 1);
  }
  prepare(f);
  return f;
}

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "the flow about a sphere");
  flow *f = open_flow(b.quick ? 6 : 25); /* 5000 faces */
  bench_add(&b, "prepared", prepare, f, 1);
  bench_add(&b, "100 streamlines", follow, f, 1);
  bench_add(&b, "13 824 velocities", velocities, f, 1);
  bench_add(&b, "13 824 potentials", potentials, f, 1);
  bench_go(&b, 2);
  printf("  %d faces; streamlines: %d calls, %d points\n", f->mesh.faces, f->calls, f->points);
  printf("  %-20s %10s %10s\n", "", "s, wall", "s, thread");
  for (int i = 0; i < b.n; i++)
    printf("  %-20s %10.4f %10.4f\n", b.subject[i].name, b.subject[i].wall, b.subject[i].cpu);
  cb_field_free(f->field);
  free_mesh(&f->mesh);
  free(f->v);
  free(f);
  return 0;
}
