/* What a metric given as text is made of: shared by its reading and its evaluation. */
#pragma once

#include <curvebody/intrinsic.h>
#include <curvebody/expression.h>

enum { CB_TEXT_ENTRIES = CB_Q_MAX * (CB_Q_MAX + 1) / 2, CB_TEXT_DOMAINS = 8, CB_TEXT_NAME = CB_EXPRESSION_NAME + 1 };

/* Expressions are in the coordinates, then the parameters. */
typedef struct cb_text_metric {
  cb_intrinsic hooks;
  int dim, n_values;                     /* n_values: coordinates and parameters */
  double value[CB_EXPRESSION_VARIABLES]; /* of the parameters, from value[dim] on */
  char name[CB_EXPRESSION_VARIABLES][CB_TEXT_NAME];
  int n_entries; /* different expressions that depend on the coordinates */
  cb_expression *entry[CB_TEXT_ENTRIES];
  int index[CB_Q_MAX][CB_Q_MAX]; /* which entry g_ij is; -1: constant[i][j] */
  double constant[CB_Q_MAX][CB_Q_MAX];
  int n_domains;
  cb_expression *domain[CB_TEXT_DOMAINS];
  char *domain_text[CB_TEXT_DOMAINS];
  double domain_at_base[CB_TEXT_DOMAINS]; /* 0 until the base is known */
  cb_expression *picture[3]; /* NULL: the coordinates */
  int cyclic[CB_KILLING_MAX]; /* coordinates that the metric does not depend on: Killing fields */
  char killing[CB_KILLING_MAX][CB_TEXT_NAME + sizeof "translation_"];
} cb_text_metric;

/* As in cb_chart.metric: CB_ERROR_DOMAIN outside the domain and where it is not positive definite. */
cb_status cb_text_metric_at(const cb_geometry *g, const double *q, double *gij, double *dg, double *ddg);
/* The hooks of cb_intrinsic. */
cb_status cb_text_metric_inside(const cb_geometry *g, const double *q);
bool cb_text_metric_margin(const cb_geometry *g, int i, const double *q, double *margin);
void cb_text_metric_killing(const cb_geometry *g, int index, const double *q, double *x);
void cb_text_metric_picture(const cb_geometry *g, const double *q, double *x, double *jacobian);
void cb_text_metric_free(cb_geometry *g);
