/* Functions that several groups have: of numbers that add, of unit quaternions, of matrices. */
#include "numerics/lie_private.h"

/* --- numbers --- */

void cb_lie_vector_identity(const cb_group *G, double *g) {
  for (int i = 0; i < G->dim; i++) g[i] = 0;
}

void cb_lie_vector_multiply(const cb_group *G, const double *a, const double *b, double *out) {
  for (int i = 0; i < G->dim; i++) out[i] = a[i] + b[i];
}

void cb_lie_vector_inverse(const cb_group *G, const double *g, double *out) {
  for (int i = 0; i < G->dim; i++) out[i] = -g[i];
}

void cb_lie_vector_exp(const cb_group *G, const double *a, double *out) {
  for (int i = 0; i < G->dim; i++) out[i] = a[i];
}

cb_status cb_lie_vector_log(const cb_group *G, const double *g, double *out) {
  cb_lie_vector_exp(G, g, out);
  return CB_OK;
}

void cb_lie_vector_adjoint(const cb_group *G, const double *g, double *out) {
  (void)g;
  for (int i = 0; i < G->dim; i++)
    for (int j = 0; j < G->dim; j++) out[i * G->dim + j] = i == j;
}

void cb_lie_vector_bracket(const cb_group *G, const double *a, const double *b, double *out) {
  (void)a, (void)b;
  for (int i = 0; i < G->dim; i++) out[i] = 0;
}

void cb_lie_vector_project(const cb_group *G, double *g) { (void)G, (void)g; }

/* --- unit quaternions, and a place after them --- */

void cb_lie_unit_identity(const cb_group *G, double *g) {
  memset(g, 0, (size_t)G->size * sizeof *g);
  for (int k = 0; k + 4 <= G->size; k += 4) g[k] = 1;
}

void cb_lie_unit_multiply(const cb_group *G, const double *a, const double *b, double *out) {
  for (int k = 0; k + 4 <= G->size; k += 4) cb_quaternion_multiply(a + k, b + k, out + k);
}

void cb_lie_unit_inverse(const cb_group *G, const double *g, double *out) {
  for (int k = 0; k + 4 <= G->size; k += 4) cb_quaternion_inverse(g + k, out + k);
}

void cb_lie_unit_project(const cb_group *G, double *g) {
  for (int k = 0; k + 4 <= G->size; k += 4) cb_quaternion_project(g + k);
}

/* --- isometries of the form +...+-, as matrices, and a height after them --- */

static int rows(const cb_group *G) { return G->size < 16 ? 3 : 4; }

void cb_lie_form_identity(const cb_group *G, double *g) {
  memset(g, 0, (size_t)G->size * sizeof *g);
  for (int i = 0; i < rows(G); i++) g[i * rows(G) + i] = 1;
}

void cb_lie_form_multiply(const cb_group *G, const double *a, const double *b, double *out) {
  const int n = rows(G);
  double c[16];
  cb_lie_product(n, a, b, c);
  for (int i = n * n; i < G->size; i++) c[i] = a[i] + b[i];
  memcpy(out, c, (size_t)G->size * sizeof *c);
}

/* The transpose with the signs of its last row and column. */
void cb_lie_form_inverse(const cb_group *G, const double *g, double *out) {
  const int n = rows(G);
  double t[16];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) t[i * n + j] = (i == n - 1) != (j == n - 1) ? -g[j * n + i] : g[j * n + i];
  for (int i = n * n; i < G->size; i++) t[i] = -g[i];
  memcpy(out, t, (size_t)G->size * sizeof *t);
}

/* --- the algebras of three dimensions --- */

void cb_lie_plane_bracket(const cb_group *G, const double *a, const double *b, double *out) {
  const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = G->K * (a[0] * b[1] - a[1] * b[0]);
  out[0] = x, out[1] = y, out[2] = z;
  for (int i = 3; i < G->dim; i++) out[i] = 0;
}
