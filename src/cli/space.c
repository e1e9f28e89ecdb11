/* curvebody space SPACE [--at POINT] [--chart NAME] [--set KEY=VALUE]... [--json]
 *
 * The metric of a space at a point and what follows from it, in the coordinates of one chart:
 *
 *   Gamma^i_jk;   R^i_jkl = d_k Gamma^i_lj - d_l Gamma^i_kj + Gamma^i_km Gamma^m_lj - Gamma^i_lm Gamma^m_kj
 *   R_jl = R^i_jil;   R = g^jl R_jl;   K(i, j) of the plane of two coordinates
 *
 * Source: do Carmo, Riemannian Geometry (1992), chapters 2 to 4. */
#include "cli/ambient.h"

#include "geometry/numeric.h"
#include <math.h>
#include <string.h>

enum { N = CB_DIM_MAX };

/* What is smaller than this, relative to the largest of its kind or to 1, is printed as the 0 that it stands for. */
static const double negligible = 1e-14;

typedef struct facts {
  const cb_ambient *a;
  double q[N], metric[N * N], gamma[N][N][N], killing[CB_KILLING_MAX][N];
  bool lost[CB_KILLING_MAX]; /* the chart is singular there */
  cb_curvature curvature;
  int killing_bound; /* of their number, by the curvature */
} facts;

static cb_status find(const cb_ambient *a, const double *q, facts *f) {
  const cb_geometry *g = a->space;
  double x[CB_COORD_MAX], v[CB_COORD_MAX], again[CB_COORD_MAX];
  *f = (facts){.a = a};
  memcpy(f->q, q, (size_t)g->dim * sizeof *q);
  cb_status status = a->chart->to_point(g, q, x, NULL);
  if (!status) status = a->chart->metric(g, q, f->metric, NULL, NULL);
  if (!status) status = cb_christoffel(g, q, f->gamma, NULL);
  if (!status) status = cb_curvature_at(g, q, &f->curvature);
  f->killing_bound = g->n_killing;
  const bool named = !g->intrinsic || g->intrinsic->killing_names; /* the class knows all of them */
  if (!status && !named) status = cb_killing_bound(g, q, &f->killing_bound);
  for (int k = 0; k < g->n_killing && !status; k++) {
    cb_killing_at(g, k, x, v);
    f->lost[k] = cb_ambient_pull(a, x, v, again, f->killing[k]) != CB_OK;
  }
  return status;
}

static double largest(const double *values, size_t n) {
  double most = 1;
  for (size_t i = 0; i < n; i++) most = fmax(most, fabs(values[i]));
  return most;
}

static double cleaned(double value, double most) { return fabs(value) <= negligible * most ? 0 : cb_shown(value); }

/* --- as text --- */

static void print_matrix(const char *title, int n, const double *m, int stride) {
  double all[N * N] = {0};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) all[i * n + j] = m[i * stride + j];
  const double most = largest(all, (size_t)(n * n));
  printf("\n%s\n", title);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) printf("  %22.15g", cleaned(all[i * n + j], most));
    printf("\n");
  }
}

static void print_text(const facts *f) {
  const cb_geometry *g = f->a->space;
  const int n = g->dim;
  const char *const *name = f->a->chart->coordinates;
  printf("%s: %s, dimension %d\nchart %s: ", g->kind->name, g->kind->title, n, f->a->chart->name);
  for (int i = 0; i < n; i++) printf("%s%s", i ? ", " : "", name[i]);
  printf("\nat ");
  for (int i = 0; i < n; i++) printf("%s%s = %.15g", i ? ", " : "", name[i], f->q[i]);
  printf("\n");
  print_matrix("metric g_ij", n, f->metric, n);

  printf("\nChristoffel symbols Gamma^i_jk that are not 0\n");
  const double most = largest(&f->gamma[0][0][0], N * N * N);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = j; k < n; k++)
        if (cleaned(f->gamma[i][j][k], most) != 0)
          printf("  Gamma^%s_%s%s%s = %.15g\n", name[i], name[j], strlen(name[j]) > 1 ? " " : "", name[k],
                 cb_shown(f->gamma[i][j][k]));

  printf("\nRiemann tensor R^i_jkl, k < l, that is not 0\n");
  const cb_curvature *c = &f->curvature;
  const double steepest = largest(&c->riemann[0][0][0][0], N * N * N * N);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        for (int l = k + 1; l < n; l++)
          if (cleaned(c->riemann[i][j][k][l], steepest) != 0)
            printf("  R^%s_%s,%s,%s = %.15g\n", name[i], name[j], name[k], name[l], cb_shown(c->riemann[i][j][k][l]));

  print_matrix("Ricci tensor R_ij", n, &c->ricci[0][0], N);
  printf("\nscalar curvature  %.15g\n", cleaned(c->scalar, steepest));
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++)
      printf("sectional curvature K(%s, %s)  %.15g\n", name[i], name[j], cleaned(c->sectional[i][j], steepest));

  if (g->n_killing) printf("\nKilling fields, components d/dt of the coordinates\n");
  for (int k = 0; k < g->n_killing; k++) {
    printf("  %-14s", g->killing[k].name);
    const double fastest = largest(f->killing[k], N);
    for (int i = 0; i < n && !f->lost[k]; i++) printf("  %22.15g", cleaned(f->killing[k][i], fastest));
    printf("%s\n", f->lost[k] ? "  the chart is singular here" : "");
  }
  if (f->killing_bound > g->n_killing)
    printf(
        "\nThe curvature allows up to %d Killing fields; only those of coordinates that the metric does not contain "
        "are "
        "known (%d).\n",
        f->killing_bound, g->n_killing);
}

/* --- as JSON --- */

static void json_number(double value) {
  if (isfinite(value))
    printf("%.17g", value);
  else
    printf("null");
}

/* A tensor of this rank over n dimensions, stored with N in each. */
static void json_tensor(int rank, int n, const double *values) {
  size_t stride = 1;
  for (int r = 1; r < rank; r++) stride *= N;
  if (rank == 0) {
    json_number(*values);
    return;
  }
  printf("[");
  for (int i = 0; i < n; i++) {
    if (i) printf(", ");
    json_tensor(rank - 1, n, values + (size_t)i * stride);
  }
  printf("]");
}

static void print_json(const facts *f) {
  const cb_geometry *g = f->a->space;
  const int n = g->dim;
  double metric[N][N] = {{0}};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) metric[i][j] = f->metric[i * n + j];
  printf("{\"space\": ");
  cb_json_text(stdout, g->kind->name);
  printf(", \"dimension\": %d, \"chart\": ", n);
  cb_json_text(stdout, f->a->chart->name);
  printf(", \"coordinates\": [");
  for (int i = 0; i < n; i++) {
    printf("%s", i ? ", " : "");
    cb_json_text(stdout, f->a->chart->coordinates[i]);
  }
  printf("],\n \"at\": ");
  json_tensor(1, n, f->q);
  printf(",\n \"metric\": ");
  json_tensor(2, n, &metric[0][0]);
  printf(",\n \"christoffel\": ");
  json_tensor(3, n, &f->gamma[0][0][0]);
  printf(",\n \"riemann\": ");
  json_tensor(4, n, &f->curvature.riemann[0][0][0][0]);
  printf(",\n \"ricci\": ");
  json_tensor(2, n, &f->curvature.ricci[0][0]);
  printf(",\n \"scalar\": ");
  json_number(f->curvature.scalar);
  printf(",\n \"sectional\": ");
  json_tensor(2, n, &f->curvature.sectional[0][0]);
  printf(",\n \"killing\": {");
  for (int k = 0; k < g->n_killing; k++) {
    printf("%s", k ? ", " : "");
    cb_json_text(stdout, g->killing[k].name);
    printf(": ");
    if (f->lost[k])
      printf("null");
    else
      json_tensor(1, n, f->killing[k]);
  }
  printf("},\n \"killing_bound\": %d}\n", f->killing_bound);
}

static int run(int argc, char **argv) {
  cb_words sets = {0};
  const char *at = NULL, *chart = NULL;
  bool json = false;
  const cb_option options[] = {{"--at", NULL, true, cb_take_text, &at},
                               {"--chart", NULL, true, cb_take_text, &chart},
                               {"--set", NULL, true, cb_take_word, &sets},
                               {"--json", NULL, false, cb_take_flag, &json},
                               {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_space, options, argc, argv, &words);
  if (usage) return usage;
  if (words != 1) return cb_usage(&cb_command_space);
  cb_ambient ambient;
  facts f;
  double q[CB_COORD_MAX];
  cb_status status = cb_ambient_open(argv[0], &sets, chart, &ambient);
  if (status) return cb_report(status);
  cb_ambient_default_point(&ambient, q);
  if (at) status = cb_ambient_numbers("--at", at, ambient.space->dim, q);
  if (!status) status = find(&ambient, q, &f);
  if (!status) (json ? print_json : print_text)(&f);
  cb_ambient_close(&ambient);
  return status ? cb_report(status) : CB_EXIT_DONE;
}

const cb_command cb_command_space = {
    "space", "SPACE [--at POINT] [--chart NAME] [--set KEY=VALUE]... [--json]",
    "Prints a space's metric, Christoffel symbols, curvature and Killing fields at a point. SPACE is a name, "
    "NAME:KEY=VALUE,... or a scenario; POINT numbers parted by commas.",
    run, NULL};
