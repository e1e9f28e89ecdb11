/* curvebody gait SCENARIO holonomy, connection: the holonomy of a cycle, and the connection at one shape. */
#include "cli/gait_job.h"

#include "scenario/bundle_scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- a cycle --- */

static void holonomy_text(const cli_gait_job *job, const cb_gait_cycle *c) {
  const cb_bundle *b = job->bundle;
  const cb_group *G = b->group;
  printf("%s: %d shape variable%s, fibre %s\n", cb_bundle_scenario_name(job->motion), b->n, b->n == 1 ? "" : "s",
         G->name);
  cli_gait_row("holonomy", G->size, G->number, c->g);
  if (c->has_log)
    cli_gait_row("its log", G->dim, G->axis, c->log);
  else
    printf("its log     is not unique\n");
  if (c->has_table) cli_gait_row("within", G->dim, G->axis, c->table);
  if (c->has_integral) cli_gait_row("integral", G->dim, G->axis, c->cbvi); /* see curvebody/holonomy.h */
  printf("length      %.15g\ncost        %.15g\nefficiency  %.15g\n", c->length, c->cost, c->efficiency);
  if (job->motion->repeat > 1) {
    char title[24];
    snprintf(title, sizeof title, "%d cycles", job->motion->repeat);
    cli_gait_row(title, G->size, G->number, c->repeated);
  }
}

static void holonomy_json(const cli_gait_job *job, const cb_gait_cycle *c) {
  const cb_bundle *b = job->bundle;
  const cb_group *G = b->group;
  cli_gait_begin_json(job);
  cli_gait_json_texts("numbers", G->size, G->number);
  printf(",\n ");
  cli_gait_json_texts("axes", G->dim, G->axis);
  printf(",\n ");
  cli_gait_json("g", 1, &G->size, c->g, false);
  cli_gait_json("log", 1, &G->dim, c->log, false);
  if (c->has_table) cli_gait_json("table_error", 1, &G->dim, c->table, false);
  cli_gait_json("length", 0, NULL, &c->length, false);
  cli_gait_json("cost", 0, NULL, &c->cost, false);
  cli_gait_json("efficiency", 0, NULL, &c->efficiency, false);
  cli_gait_json("cbvi", 1, &G->dim, c->cbvi, false);
  cli_gait_json("period", 0, NULL, &job->motion->period, false);
  printf("\"repeat\": %d,\n ", job->motion->repeat);
  cli_gait_json("g_repeated", 1, &G->size, c->repeated, true);
}

cb_status cli_gait_holonomy(const cli_gait_job *job) {
  cb_gait_cycle c;
  double error = 0;
  cb_status status = job->error ? cli_ambient_numbers("--error", job->error, 1, &error) : CB_OK;
  if (!status && !(error >= 0)) status = cb_fail(CB_ERROR_INPUT, "--error: error: expected a number >= 0");
  if (!status) status = cb_gait_cycle_find(job->motion, job->bundle, error, true, &c);
  if (!status) (job->json ? holonomy_json : holonomy_text)(job, &c);
  return status;
}

/* --- at a shape --- */

typedef struct local {
  double r[CB_SHAPE_MAX], A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX], *B,
      P[CB_GROUP_DIM * CB_GROUP_DIM];
  int pairs;
  bool has_P;
} local;

static cb_status find_local(const cli_gait_job *job, local *at) {
  const cb_bundle *b = job->bundle;
  cb_status status = CB_OK;
  if (job->at)
    status = cli_ambient_numbers("--at", job->at, b->n, at->r);
  else if (job->motion->gait)
    cb_gait_at(job->motion->gait, 0, at->r, NULL);
  else
    status = cb_fail(CB_ERROR_INPUT, "--at: error: expected a shape, since the scenario has no gait");
  at->pairs = b->n * (b->n - 1) / 2;
  at->B = calloc((size_t)(at->pairs * b->group->dim) + 1, sizeof *at->B);
  if (!status && !at->B) status = cb_fail(CB_ERROR_MEMORY, "no memory for a curvature");
  if (!status) status = cb_bundle_connection(b, at->r, at->A, NULL, at->M, NULL);
  if (!status && at->pairs) status = cb_bundle_curvatures(b, at->r, at->B);
  if (status) return status;
  status = cb_bundle_locked(b, at->r, at->P);
  at->has_P = !status;
  return status == CB_ERROR_UNSUPPORTED ? CB_OK : status;
}

static void matrix(const char *title, int rows, int columns, const char *const *names, const char *const *heads,
                   const double *m) {
  printf("\n%s\n%10s", title, "");
  for (int j = 0; j < columns; j++) printf(" %22s", heads[j]);
  printf("\n");
  for (int i = 0; i < rows; i++) {
    printf("%10s", names[i]);
    for (int j = 0; j < columns; j++) printf(" %22.15g", cli_unsigned_nan(m[i * columns + j]));
    printf("\n");
  }
}

static void local_text(const cli_gait_job *job, const local *at) {
  const cb_bundle *b = job->bundle;
  const cb_group *G = b->group;
  printf("%s: fibre %s, at ", cb_bundle_scenario_name(job->motion), G->name);
  for (int i = 0; i < b->n; i++) printf("%s%s = %.15g", i ? ", " : "", b->shape[i], at->r[i]);
  printf("\n");
  matrix("connection A: xi = -A r'", G->dim, b->n, G->axis, b->shape, at->A);
  printf("\ncurvature B_ij\n%10s", "");
  for (int k = 0; k < G->dim; k++) printf(" %22s", G->axis[k]);
  printf("\n");
  for (int i = 0, p = 0; i < b->n; i++)
    for (int j = i + 1; j < b->n; j++, p++) {
      printf("%s, %s", b->shape[i], b->shape[j]);
      for (int k = 0; k < G->dim; k++) printf(" %22.15g", cli_unsigned_nan(at->B[p * G->dim + k]));
      printf("\n");
    }
  matrix("cost metric M", b->n, b->n, b->shape, b->shape, at->M);
  if (at->has_P) matrix("locked form P", G->dim, G->dim, G->axis, G->axis, at->P);
}

static void local_json(const cli_gait_job *job, const local *at) {
  const cb_bundle *b = job->bundle;
  const cb_group *G = b->group;
  const int A[] = {G->dim, b->n}, B[] = {at->pairs, G->dim}, M[] = {b->n, b->n}, P[] = {G->dim, G->dim};
  cli_gait_begin_json(job);
  cli_gait_json_texts("axes", G->dim, G->axis);
  printf(",\n \"pairs\": [");
  for (int i = 0, p = 0; i < b->n; i++)
    for (int j = i + 1; j < b->n; j++, p++) {
      printf("%s[", p ? ", " : "");
      cli_json_text(stdout, b->shape[i]);
      printf(", ");
      cli_json_text(stdout, b->shape[j]);
      printf("]");
    }
  printf("],\n ");
  cli_gait_json("at", 1, &b->n, at->r, false);
  cli_gait_json("A", 2, A, at->A, false);
  cli_gait_json("B", 2, B, at->B, false);
  cli_gait_json("M", 2, M, at->M, !at->has_P);
  if (at->has_P) cli_gait_json("P", 2, P, at->P, true);
}

cb_status cli_gait_connection(const cli_gait_job *job) {
  local at = {.pairs = 0};
  const cb_status status = find_local(job, &at);
  if (!status) (job->json ? local_json : local_text)(job, &at);
  free(at.B);
  return status;
}
