/* Measures panels of a ball of 5120 faces in flat space and in spaces of curvature -1 and 1. The first time is that of
 * a pair of panels, for its entries of the single layer S and the double layer D. It is given in nanoseconds on one
 * thread, and as a ratio to flat space. Pairs are computed in tiles, as when matrices are filled. The second time is
 * that of Kirchhoff's tensor, in seconds on all threads, starting from the vertices. In flat space, the tensor of so
 * many panels is computed without storing a matrix. */
#include "bench.h"
#include "curved_bodies.h"
#include "potential/curved_flow.h"
#include "potential/kirchhoff.h"

enum { SPACES = 3, TILE = 256, ROWS = 64 };

typedef struct body {
  double K;
  cb_surface *surface;
  cb_panels *flat;
  cb_arena *arena;
  cb_curved_panels curved;
  cb_kirchhoff_mass mass;
} body;

typedef struct owner {
  cb_arena *arena;
} owner;

static volatile double kept; /* prevents a compiler from removing the computation */

static void rows(void *self) {
  body *b = self;
  const int n = b->surface->faces;
  double S[TILE], D[TILE], sum = 0;
  for (int j = 0; j < n; j += TILE) {
    const int count = n - j < TILE ? n - j : TILE;
    for (int k = 0; k < ROWS; k++) {
      const int i = (int)((long long)k * n / ROWS), own = i >= j && i < j + count ? i - j : -1;
      if (b->K == 0)
        cb_panels_range(b->flat, b->flat->centre[i], j, count, own, S, D);
      else
        cb_curved_panels_range(&b->curved, b->curved.centre[i], j, count, own, S, D);
      sum += S[0] + D[count - 1];
    }
  }
  kept = sum;
}

static void whole(void *self) {
  body *b = self;
  const cb_surface *s = b->surface;
  const cb_kirchhoff_options options = {.curvature = b->K};
  cb_kirchhoff *k;
  check_ok(
      cb_kirchhoff_create(s->vertices, (const double(*)[3])s->x, s->faces, (const int(*)[3])s->face, &options, &k));
  check_ok(cb_kirchhoff_added_mass(k, NULL, &b->mass));
  cb_kirchhoff_free(k);
}

static void open_body(body *b, double K, int resolution) {
  *b = (body){.K = K, .surface = curved_ball(1, resolution, K, CB_CHART_EXPONENTIAL)};
  const cb_surface *s = b->surface;
  const double(*x)[3] = (const double(*)[3])s->x;
  const int(*face)[3] = (const int(*)[3])s->face;
  if (K == 0) {
    check_ok(cb_panels_create(s->faces, x, face, &b->flat));
    return;
  }
  owner *o = cb_arena_object(sizeof *o, "panels");
  assert_non_null(o);
  b->arena = o->arena;
  check_ok(cb_curved_panels_take(&b->curved, b->arena, s->faces, K));
  check_ok(cb_curved_panels_place(&b->curved, x, face));
}

static void close_body(body *b) {
  cb_panels_free(b->flat);
  cb_arena_free(b->arena);
  cb_surface_free(b->surface);
}

int main(int argc, char **argv) {
  static const double curvature[SPACES] = {0, -1, 1};
  static const char *const name[SPACES] = {"E3", "H3", "S3"};
  bench b = bench_begin(argc, argv, "Kirchhoff's tensor in curved spaces");
  body of[SPACES];
  for (int i = 0; i < SPACES; i++) {
    open_body(of + i, curvature[i], b.quick ? 16 : 64);
    bench_add(&b, "pair", rows, of + i, (double)ROWS * of[i].surface->faces);
    bench_add(&b, "tensor", whole, of + i, 1);
  }
  bench_go(&b, 10);
  const bench_subject *s = b.subject;
  printf("  %d faces %12s %10s %12s\n", of[0].surface->faces, "ns a pair", "of E3's", "s, tensor");
  for (int i = 0; i < SPACES; i++)
    printf("  %-10s %12.2f %10.2f %12.3f\n", name[i], 1e9 * s[2 * i].cpu, s[2 * i].cpu / s[0].cpu, s[2 * i + 1].wall);
  bench_judge(&b, "a pair of panels in H3", s[2].cpu / s[0].cpu, "<", 1.5, "of E3's");
  bench_judge(&b, "a pair of panels in S3", s[4].cpu / s[0].cpu, "<", 2, "of E3's");
  bench_judge(&b, "5120 faces in H3", s[3].wall, "<", 0.5, "s");
  bench_judge(&b, "5120 faces in S3", s[5].wall, "<", 0.5, "s");
  for (int i = 0; i < SPACES; i++) close_body(of + i);
  return b.missed > 0;
}
