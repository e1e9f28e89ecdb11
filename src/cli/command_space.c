/* curvebody space SPACE: prints properties of a space at a point.
 *
 * It prints the metric of a space at a point and the tensors that follow from it, in the coordinates of one chart:
 *
 *   Gamma^i_jk;   R^i_jkl = d_k Gamma^i_lj - d_l Gamma^i_kj + Gamma^i_km Gamma^m_lj - Gamma^i_lm Gamma^m_kj
 *   R_jl = R^i_jil;   R = g^jl R_jl;   K(i, j), the sectional curvature of the plane of coordinates i and j
 *
 * g is the metric, Gamma the Christoffel symbols, R the Riemann tensor, the Ricci tensor or the scalar curvature, d_k
 * the derivative by coordinate k, and repeated indices are summed over. Source: do Carmo, Riemannian Geometry (1992),
 * chapters 2 to 4. */
#include "cli/cli.h"

#include "geometry/numeric.h"
#include <math.h>
#include <string.h>

enum { N = CB_DIM_MAX };

/* The text has 0 in place of a number of a tensor that is at most `negligible` times the largest number of the tensor,
 * or at most `negligible` if the largest number is below 1. */
static const double negligible = 1e-14;

typedef struct facts {
  const cli_ambient *a;
  double q[N], metric[N * N], gamma[N][N][N], killing[CB_KILLING_MAX][N];
  bool lost[CB_KILLING_MAX]; /* the components of the field are unknown, since the chart is singular at the point */
  cb_curvature curvature;
  int killing_bound; /* upper bound of the number of Killing fields, from the curvature */
} facts;

static cb_status find(const cli_ambient *a, const double *q, facts *f) {
  const cb_space *g = a->space;
  double x[CB_COORD_MAX], v[CB_COORD_MAX], again[CB_COORD_MAX];
  *f = (facts){.a = a};
  memcpy(f->q, q, (size_t)g->dim * sizeof *q);
  cb_status status = a->chart->to_point(g, q, x, NULL);
  if (!status) status = a->chart->metric(g, q, f->metric, NULL, NULL);
  if (!status) status = cb_christoffel(g, q, f->gamma, NULL);
  if (!status) status = cb_curvature_at(g, q, &f->curvature);
  f->killing_bound = g->n_killing;
  const bool named = !g->intrinsic || g->intrinsic->killing_names; /* the class knows all Killing fields */
  if (!status && !named) status = cb_killing_bound(g, q, &f->killing_bound);
  for (int k = 0; k < g->n_killing && !status; k++) {
    cb_killing_at(g, k, x, v);
    f->lost[k] = cli_ambient_pull(a, x, v, again, f->killing[k]) != CB_OK;
  }
  return status;
}

static double largest(const double *values, size_t n) {
  double maximum = 1;
  for (size_t i = 0; i < n; i++) maximum = fmax(maximum, fabs(values[i]));
  return maximum;
}

static double cleaned(double value, double maximum) {
  return fabs(value) <= negligible * maximum ? 0 : cli_unsigned_nan(value);
}

/* --- as text --- */

static void print_matrix(const char *title, int n, const double *m, int stride) {
  double all[N * N] = {0};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) all[i * n + j] = m[i * stride + j];
  const double maximum = largest(all, (size_t)(n * n));
  printf("\n%s\n", title);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) printf("  %22.15g", cleaned(all[i * n + j], maximum));
    printf("\n");
  }
}

static void print_text(const facts *f) {
  const cb_space *g = f->a->space;
  const int n = g->dim;
  const char *const *name = f->a->chart->coordinates;
  printf("%s: %s, dimension %d\nchart %s: ", g->class_->name, g->class_->title, n, f->a->chart->name);
  for (int i = 0; i < n; i++) printf("%s%s", i ? ", " : "", name[i]);
  printf("\nat ");
  for (int i = 0; i < n; i++) printf("%s%s = %.15g", i ? ", " : "", name[i], f->q[i]);
  printf("\n");
  print_matrix("metric g_ij", n, f->metric, n);

  printf("\nChristoffel symbols Gamma^i_jk that are not 0\n");
  const double maximum = largest(&f->gamma[0][0][0], N * N * N);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = j; k < n; k++)
        if (cleaned(f->gamma[i][j][k], maximum) != 0)
          printf("  Gamma^%s_%s%s%s = %.15g\n", name[i], name[j], strlen(name[j]) > 1 ? " " : "", name[k],
                 cli_unsigned_nan(f->gamma[i][j][k]));

  printf("\nRiemann tensor R^i_jkl, k < l, that is not 0\n");
  const cb_curvature *c = &f->curvature;
  const double steepest = largest(&c->riemann[0][0][0][0], N * N * N * N);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        for (int l = k + 1; l < n; l++)
          if (cleaned(c->riemann[i][j][k][l], steepest) != 0)
            printf("  R^%s_%s,%s,%s = %.15g\n", name[i], name[j], name[k], name[l],
                   cli_unsigned_nan(c->riemann[i][j][k][l]));

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
        "\nThe curvature allows up to %d Killing fields; the known ones (%d) are those of coordinates on which the "
        "metric does not depend.\n",
        f->killing_bound, g->n_killing);
}

/* --- as JSON --- */

static void json_number(double value) {
  if (isfinite(value))
    printf("%.17g", value);
  else
    printf("null");
}

/* Prints a tensor of this rank over n dimensions, stored with N entries per dimension. */
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
  const cb_space *g = f->a->space;
  const int n = g->dim;
  double metric[N][N] = {{0}};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) metric[i][j] = f->metric[i * n + j];
  printf("{\"space\": ");
  cli_json_text(stdout, g->class_->name);
  printf(", \"dimension\": %d, \"chart\": ", n);
  cli_json_text(stdout, f->a->chart->name);
  printf(", \"coordinates\": [");
  for (int i = 0; i < n; i++) {
    printf("%s", i ? ", " : "");
    cli_json_text(stdout, f->a->chart->coordinates[i]);
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
    cli_json_text(stdout, g->killing[k].name);
    printf(": ");
    if (f->lost[k])
      printf("null");
    else
      json_tensor(1, n, f->killing[k]);
  }
  printf("},\n \"killing_bound\": %d}\n", f->killing_bound);
}

typedef struct arguments {
  const char *at, *chart;
  cli_list sets;
  bool json;
} arguments;

static int run(void *taken, char **operand) {
  const arguments *a = taken;
  cli_ambient ambient;
  facts f;
  double q[CB_COORD_MAX];
  cb_status status = cli_ambient_open(operand[0], &a->sets, a->chart, &ambient);
  if (status) return cli_report(status);
  cli_ambient_default_point(&ambient, q);
  if (a->at) status = cli_ambient_numbers("--at", a->at, ambient.space->dim, q);
  if (!status) status = find(&ambient, q, &f);
  if (!status) (a->json ? print_json : print_text)(&f);
  cli_ambient_close(&ambient);
  return status ? cli_report(status) : CLI_EXIT_DONE;
}

static const cli_option options[] = {
    CLI_OPTION("at", 0, CLI_VALUE, at, "POINT", "a regular point near the origin", NULL,
               "coordinates of the point, separated by commas, such as 1,pi/3,0"),
    CLI_OPTION(
        "chart", 0, CLI_VALUE, chart, "NAME",
        "`space.chart` if the scenario sets it; otherwise polar, or the only chart of a space that has one chart", NULL,
        "the chart of the coordinates; `curvebody list spaces` prints the names of charts"),
    CLI_OPTION("set", 0, CLI_LIST, sets, "KEY=VALUE", NULL, "space.", "changes a value, such as space.curvature=-2"),
    CLI_OPTION("json", 0, CLI_FLAG, json, NULL, NULL, NULL, "prints JSON"), CLI_END};
static const cli_operand operands[] = {
    {"SPACE", "@spaces @files", "a name, NAME:KEY=VALUE,..., or a scenario file with a space", NULL}, {.name = NULL}};
static const cli_example examples[] = {
    {"curvebody space h3 --at 1,pi/3,0", "Prints metric and curvature of H3 at a point of the chart polar."},
    {"curvebody space h3:curvature=-2 --json", "Prints JSON for H3 with another curvature."},
    {NULL, NULL}};

const cli_command cli_command_space = {
    .name = "space",
    .usage = "SPACE [OPTION]...",
    .summary = "Prints metric, Christoffel symbols, curvature and Killing fields of a space at a point.",
    .options = options,
    .operands = operands,
    .required = 1,
    .examples = examples,
    .size = sizeof(arguments),
    .run = run,
};
