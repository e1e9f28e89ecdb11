/* LU factors of the hierarchical matrix I/2 - D (linear_solvers.h), made by the library hmat-oss. The library has one
 * state per process, its timers are not safe for threads, and it calls the BLAS. Therefore only one thread at a time
 * may call it.
 */
#include "potential/linear_solvers.h"

#include "core/arena.h"

#include <hmat/hmat.h>
#include <math.h>
#include <string.h>

struct cb_hlu {
  cb_arena *arena;
  int n;
  cb_panels *p; /* the panels in the order of the cluster tree */
  double *row;  /* work array for one row of a block */
  hmat_interface_t of;
  hmat_cluster_tree_t *tree;
  hmat_matrix_t *matrix;
  size_t bytes;
  bool lacking; /* there was no memory for a block */
};

enum { LEAF = 100 }; /* maximum number of panels in a cluster that is not divided */
/* a block has low rank if the smaller diameter of its two clusters is at most this factor times their distance */
static const double admissibility = 3;

/* A block of the matrix. The library requests parts of it. */
typedef struct block {
  const cb_hlu *h;
  int row, column;
} block;

static void release_block(void *b) { free(b); }

/* NOLINTNEXTLINE(readability-function-size): the library prescribes the parameters */
static void prepare_block(int row, int rows, int column, int columns, int *row_to, int *row_from, int *column_to,
                          int *column_from, void *context, hmat_block_info_t *info) {
  (void)rows;
  (void)columns;
  (void)row_to;
  (void)row_from;
  (void)column_to;
  (void)column_from;
  cb_hlu *h = context;
  block *b = malloc(sizeof *b);
  if (!b) {
    h->lacking = true;
    info->block_type = hmat_block_null;
    return;
  }
  *b = (block){h, row, column};
  info->block_type = hmat_block_full;
  info->user_data = b;
  info->release_user_data = release_block;
  info->number_of_strata = 1;
}

/* Computes a part of I/2 - D, which is stored column by column. */
static void compute_block(void *data, int row, int rows, int column, int columns, void *out) {
  const block *b = data;
  const cb_panels *p = b->h->p;
  double *entry = out, *D = b->h->row;
  const int first = b->column + column;
  for (int i = 0; i < rows; i++) {
    const int target = b->row + row + i, self = target - first;
    const bool own = self >= 0 && self < columns;
    cb_panels_range(p, p->centre[target], first, columns, own ? self : -1, NULL, D);
    for (int j = 0; j < columns; j++) entry[(size_t)j * (size_t)rows + (size_t)i] = -D[j];
    if (own) entry[(size_t)self * (size_t)rows + (size_t)i] += 0.5;
  }
}

/* Puts the panels into the order of the library's clusters. */
static cb_status cluster(cb_hlu *h, const cb_panels *p) {
  cb_arena *work = cb_arena_create();
  const size_t n = (size_t)p->n;
  double(*at)[3] = cb_arena_alloc(work, n, sizeof *at), (*x)[3][3] = cb_arena_alloc(work, n, sizeof *x);
  int(*face)[3] = cb_arena_alloc(work, n, sizeof *face);
  cb_status status = CB_OK;
  if (!at || !x || !face) {
    status = cb_fail(CB_ERROR_MEMORY, "no memory to order %d panels", p->n);
  } else {
    memcpy(at, p->centre, n * sizeof *at);
    hmat_clustering_algorithm_t *median = hmat_create_clustering_median(),
                                *leaves = hmat_create_clustering_max_dof(median, LEAF);
    h->tree = hmat_create_cluster_tree((double *)at, 3, p->n, leaves);
    hmat_delete_clustering(leaves);
    hmat_delete_clustering(median);
    if (!h->tree) status = cb_fail(CB_ERROR_MEMORY, "no memory to order %d panels", p->n);
  }
  const int *order = h->tree ? hmat_cluster_get_indices(h->tree) : NULL;
  for (int j = 0; !status && j < p->n; j++) {
    memcpy(x[j], p->corner[order[j]], sizeof *x);
    for (int k = 0; k < 3; k++) face[j][k] = 3 * j + k;
  }
  if (!status) status = cb_panels_create(p->n, (const double(*)[3])x, (const int(*)[3])face, &h->p);
  cb_arena_free(work);
  return status;
}

static cb_status assemble(cb_hlu *h, double tolerance) {
  hmat_admissibility_t *apart = hmat_create_admissibility_standard(admissibility);
  h->matrix = h->of.create_empty_hmatrix_admissibility(h->tree, h->tree, 0, apart);
  hmat_delete_admissibility(apart);
  if (!h->matrix) return cb_fail(CB_ERROR_MEMORY, "no memory for the hierarchical matrix of %d panels", h->n);
  h->of.set_low_rank_epsilon(h->matrix, tolerance);
  hmat_assemble_context_t assembly;
  hmat_assemble_context_init(&assembly);
  assembly.prepare = prepare_block;
  assembly.block_compute = compute_block;
  assembly.user_context = h;
  assembly.compression = hmat_create_compression_aca_plus(tolerance);
  assembly.progress = NULL;
  int failed = h->of.assemble_generic(h->matrix, &assembly);
  hmat_delete_compression(assembly.compression);
  if (h->lacking) return cb_fail(CB_ERROR_MEMORY, "no memory for the hierarchical matrix of %d panels", h->n);
  hmat_factorization_context_t factors;
  hmat_factorization_context_init(&factors);
  factors.factorization = hmat_factorization_lu;
  factors.progress = NULL;
  failed = failed || h->of.factorize_generic(h->matrix, &factors);
  if (failed) /* the library does not report which block failed */
    return cb_fail(CB_ERROR_DOMAIN,
                   "the hierarchical matrix of %d panels has no LU factors, or no memory for them: try the method "
                   "dense or iterative",
                   h->n);
  hmat_info_t info;
  h->of.get_info(h->matrix, &info);
  h->bytes = info.compressed_size * sizeof(double);
  return CB_OK;
}

static cb_status build(cb_hlu *h, const cb_panels *p, double tolerance) {
  hmat_init_default_interface(&h->of, HMAT_DOUBLE_PRECISION);
  if (h->of.init()) return cb_fail(CB_ERROR_MEMORY, "no memory for a hierarchical matrix");
  const cb_status status = cluster(h, p);
  return status ? status : assemble(h, tolerance);
}

cb_status cb_hlu_check(void) { return CB_OK; }

cb_status cb_hlu_create(const cb_panels *p, double tolerance, cb_hlu **out) {
  if (!(tolerance >= 1e-12 && tolerance <= 0.5))
    return cb_fail(CB_ERROR_ARGUMENT, "a tolerance of %g of a hierarchical matrix: expected 1e-12 to 0.5", tolerance);
  if (p->n < 1) return cb_fail(CB_ERROR_ARGUMENT, "a hierarchical matrix: expected at least one panel");
  cb_hlu *h = cb_arena_object(sizeof *h, "a hierarchical matrix");
  if (!h) return CB_ERROR_MEMORY;
  h->n = p->n;
  h->row = cb_arena_alloc(h->arena, (size_t)p->n + 8, sizeof *h->row);
  cb_status status = h->row ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a hierarchical matrix");
  if (!status) {
    cb_potential_blas_begin();
    status = build(h, p, tolerance);
    cb_potential_blas_end();
  }
  if (status) {
    cb_hlu_free(h);
    return status;
  }
  *out = h;
  return CB_OK;
}

void cb_hlu_free(cb_hlu *h) {
  if (!h) return;
  cb_potential_blas_begin();
  if (h->matrix) h->of.destroy(h->matrix);
  if (h->tree) hmat_delete_cluster_tree(h->tree);
  cb_potential_blas_end();
  cb_panels_free(h->p);
  cb_arena_free(h->arena);
}

cb_status cb_hlu_solve(cb_hlu *h, int columns, double *b) {
  cb_potential_blas_begin();
  const int failed = h->of.solve_systems(h->matrix, b, columns);
  cb_potential_blas_end();
  bool finite = !failed;
  for (size_t i = 0; finite && i < (size_t)h->n * (size_t)columns; i++) finite = isfinite(b[i]);
  return finite ? CB_OK
                : cb_fail(CB_ERROR_DOMAIN,
                          "the hierarchical matrix of %d panels is singular, or had no memory: try the method dense or "
                          "iterative",
                          h->n);
}

size_t cb_hlu_bytes(const cb_hlu *h) { return h->bytes; }

size_t cb_hlu_estimate(int n) { return (size_t)(800. * n * log2(n + 2.)); }
