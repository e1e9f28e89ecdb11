/* A piece whose iteration was slow at one pose holds factors for good (potential/operator.h): it is not used again. */
#include "potential/moving.h"

#include "core/arena.h"
#include "core/spare.h"
#include "potential/panels.h"

#include <string.h>

struct cb_moving {
  cb_arena *arena;
  int vertices, faces;
  const double (*x)[3];
  const int (*face)[3];
  cb_kirchhoff_options options;
  cb_kirchhoff_mass mass; /* at x, at rest */
  cb_kirchhoff_report report;
  double *start; /* [6][panels]; NULL: 0 */
  bool unsolved; /* at x */
  cb_spare piece;
};

static cb_status create_piece(const cb_moving *m, cb_kirchhoff **out) {
  return cb_kirchhoff_create(m->vertices, m->x, m->faces, m->face, &m->options, out);
}

static cb_status borrow(cb_moving *m, const double (*x)[3], cb_kirchhoff **out) {
  *out = cb_spare_take(&m->piece);
  cb_status status = *out ? CB_OK : create_piece(m, out);
  if (!status) status = cb_kirchhoff_renew(*out, x, m->start);
  if (status) {
    cb_kirchhoff_free(*out);
    *out = NULL;
  }
  return status;
}

static void give_back(cb_moving *m, cb_kirchhoff *piece) {
  const bool same = cb_kirchhoff_report_of(piece).method == m->report.method;
  if (!same || !cb_spare_leave(&m->piece, piece)) cb_kirchhoff_free(piece);
}

cb_status cb_moving_added_mass(cb_moving *m, const double (*x)[3], const double (*v)[3], cb_kirchhoff_mass *out) {
  cb_kirchhoff *k;
  if (!v && !m->unsolved && !memcmp(x, m->x, (size_t)m->vertices * sizeof *x)) return *out = m->mass, CB_OK;
  cb_status status = borrow(m, x, &k);
  if (status) return status;
  status = cb_kirchhoff_added_mass(k, v, out);
  give_back(m, k);
  return status;
}

cb_status cb_moving_form(cb_moving *m, const double (*x)[3], int n, const double (*v)[3], double *G) {
  cb_kirchhoff *k;
  cb_status status = borrow(m, x, &k);
  if (status) return status;
  status = cb_kirchhoff_form(k, n, v, G);
  give_back(m, k);
  return status;
}

cb_kirchhoff_report cb_moving_report(const cb_moving *m) { return m->report; }

/* Where the iteration is slow in the first place, factors from the beginning. */
static cb_status solve_first(cb_moving *m) {
  cb_kirchhoff *k = NULL;
  cb_status status = create_piece(m, &k);
  if (!status) status = cb_kirchhoff_added_mass(k, NULL, &m->mass);
  if (!status) {
    const size_t count = 6 * (size_t)cb_kirchhoff_panels(k)->n;
    m->report = cb_kirchhoff_report_of(k);
    m->start = cb_arena_alloc(m->arena, count, sizeof *m->start);
    if (m->start)
      memcpy(m->start, cb_kirchhoff_potentials(k), count * sizeof *m->start);
    else
      status = cb_fail(CB_ERROR_MEMORY, "no memory for the potentials of %d faces", m->faces);
    if (m->report.method == CB_POTENTIAL_DENSE) m->options.method = CB_POTENTIAL_DENSE;
  }
  cb_kirchhoff_free(k);
  return status;
}

cb_status cb_moving_create(int vertices, const double (*x)[3], int faces, const int (*face)[3],
                           const cb_kirchhoff_options *options, cb_moving **out) {
  cb_moving *m = cb_arena_object(sizeof *m, "the potential flow about a body that moves");
  if (!m) return CB_ERROR_MEMORY;
  m->vertices = vertices, m->faces = faces, m->x = x, m->face = face;
  if (options) m->options = *options;
  const cb_status status = solve_first(m);
  if (status && status != CB_ERROR_MEMORY && m->options.curvature != 0) {
    /* Parts that motions shift may lie in each other as they are given: at other poses there may be a flow. */
    m->start = NULL;
    m->report.method = CB_POTENTIAL_ITERATIVE;
    m->unsolved = true;
  } else if (status) {
    cb_moving_free(m);
    return status;
  }
  *out = m;
  return CB_OK;
}

void cb_moving_free(cb_moving *m) {
  if (!m) return;
  for (cb_kirchhoff *k; (k = cb_spare_take(&m->piece));) cb_kirchhoff_free(k);
  cb_arena_free(m->arena);
}
