/* The frames that components share if they may collide (bases.h). */
#include "dynamics/bases.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Lengths in radii of curvature. A base follows its components when all of them are farther than `follow` from it. A
 * component farther than `leave` gets a base of its own, together with the components within `company` of it. The
 * position of a component relative to its base therefore has an error of at most about exp(leave) units of round-off,
 * 2e-11. */
static const double follow = 2, leave = 12, company = 4;

cb_status cb_bases_create(cb_arena *arena, int n, cb_bases *out) {
  const size_t count = (size_t)n;
  *out = (cb_bases){.n = n};
  out->family = cb_arena_alloc(arena, count, sizeof *out->family);
  out->leader = cb_arena_alloc(arena, 3 * count, sizeof *out->leader);
  out->base = cb_arena_alloc(arena, count, sizeof *out->base);
  out->own = cb_arena_alloc(arena, count, sizeof *out->own);
  if (!out->family || !out->leader || !out->base || !out->own)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the frames of %d components", n);
  out->count = out->leader + n;
  out->parent = out->count + n;
  return CB_OK;
}

void cb_bases_copy(cb_bases *to, const cb_bases *from) {
  const size_t n = (size_t)from->n;
  memcpy(to->family, from->family, n * sizeof *to->family);
  memcpy(to->leader, from->leader, 3 * n * sizeof *to->leader);
  memcpy(to->base, from->base, n * sizeof *to->base);
  memcpy(to->own, from->own, n * sizeof *to->own);
  cb_bases_loaded(to);
}

void cb_bases_loaded(cb_bases *b) {
  b->children = 0;
  for (int c = 0; c < b->n; c++) b->children += b->count[c] && b->parent[c] >= 0;
  b->changes++;
}

/* --- common bases --- */

/* Replaces `out` by the composition of `a` after `out`. If a is the identity, `out` stays unchanged bit for bit. */
static void lift(const cb_space *g, const cb_origin *a, cb_origin *out) {
  cb_origin identity;
  cb_origin_identity(g, &identity);
  if (!cb_origin_same(g, a, &identity)) cb_origin_compose(g, a, out, out);
}

/* Converts a frame that is relative to the base of leader l. Afterwards it is relative to the base of `up`, a leader on
 * the way from l to the world, or to the world if `up` is -1. */
static void lift_to(const cb_space *g, const cb_bases *b, int l, int up, cb_origin *frame) {
  for (; l != up; l = b->parent[l]) lift(g, &b->base[l], frame);
}

/* Returns the first leader on the way from l to the world that is also on the way from m to the world; -1: there is
 * none. l and m themselves are on these ways. */
static int common(const cb_bases *b, int l, int m) {
  for (; l >= 0; l = b->parent[l])
    for (int up = m; up >= 0; up = b->parent[up])
      if (up == l) return l;
  return -1;
}

void cb_bases_pair(const cb_space *g, const cb_bases *b, int c, int d, cb_origin pair[2]) {
  const int l = b->leader[c], m = b->leader[d], up = common(b, l, m);
  pair[0] = b->own[c];
  pair[1] = b->own[d];
  lift_to(g, b, l, up, &pair[0]);
  lift_to(g, b, m, up, &pair[1]);
}

void cb_bases_pair_of(const cb_space *g, const cb_bases *b, int l, int m, cb_origin pair[2]) {
  const int up = common(b, l, m);
  cb_origin_identity(g, &pair[0]);
  pair[1] = pair[0];
  lift_to(g, b, l, up, &pair[0]);
  lift_to(g, b, m, up, &pair[1]);
}

/* Returns 0 if both bases are in exactly the same direction from their common base: their distance is then a difference
 * of lengths, and the round-off of lengths is not counted. */
double cb_bases_doubt(const cb_space *g, const cb_bases *b, int c, int d) {
  if (b->leader[c] == b->leader[d] || !cb_origin_grows(g)) return 0;
  cb_origin pair[2];
  cb_bases_pair_of(g, b, b->leader[c], b->leader[d], pair);
  const double L = cb_origin_radii(g, &pair[0]), l = cb_origin_radii(g, &pair[1]), maximum = fmax(L, l);
  if (!(L > 0 && l > 0) || !memcmp(pair[0].direction, pair[1].direction, sizeof pair->direction)) return 0;
  return DBL_EPSILON * (sinh(fmin(L, 700)) + sinh(fmin(l, 700))) *
         (L == maximum ? pair[0].length / L : pair[1].length / l);
}

/* --- changes --- */

/* Moves the base of leader l to the frame `to`, which is relative to the old base, and rewrites everything that is
 * stored relative to this base. */
static void rebase(const cb_space *g, cb_bases *b, int l, const cb_origin *to) {
  const cb_origin place = *to;
  for (int c = 0; c < b->n; c++) {
    if (b->leader[c] == l) cb_origin_relative(g, &place, &b->own[c], &b->own[c]);
    if (b->count[c] && b->parent[c] == l) cb_origin_relative(g, &place, &b->base[c], &b->base[c]);
  }
  cb_origin above = b->base[l];
  b->base[l] = place;
  lift(g, &above, &b->base[l]);
  b->changes++;
}

void cb_bases_join(const cb_space *g, cb_bases *b, int c, int d) {
  int to = b->leader[c], from = b->leader[d];
  if (to == from) return;
  if (common(b, to, from) == from) {
    from = to;
    to = b->leader[d];
  }
  cb_origin pair[2], relative;
  cb_bases_pair_of(g, b, to, from, pair);
  cb_origin_relative(g, &pair[0], &pair[1], &relative);
  for (int e = 0; e < b->n; e++) {
    if (b->count[e] && b->parent[e] == from) {
      lift(g, &relative, &b->base[e]);
      b->parent[e] = to;
    }
    if (b->leader[e] != from) continue;
    lift(g, &relative, &b->own[e]);
    b->leader[e] = to;
  }
  b->children -= b->parent[from] >= 0;
  b->count[to] += b->count[from];
  b->count[from] = 0;
  b->changes++;
}

cb_status cb_bases_recentre(const cb_space *g, cb_bases *b, cb_origin *origin, int c, const double *y,
                            const cb_local_points *points, cb_isometry *isometry) {
  const int l = b->leader[c];
  const cb_status status = cb_origin_recentre(g, &b->own[c], y, points, isometry);
  if (status) return status;
  origin[c] = b->own[c];
  if (b->count[l] == 1 && b->children) {
    rebase(g, b, l, &b->own[c]);
  } else if (b->count[l] == 1) {
    lift(g, &b->base[l], &b->own[c]);
    b->base[l] = b->own[c];
    cb_origin_identity(g, &b->own[c]);
    origin[c] = b->own[c];
  }
  lift_to(g, b, l, -1, &origin[c]);
  b->changes++;
  return CB_OK;
}

bool cb_bases_reaches(double radii) { return radii <= leave; }

static double radii(const cb_space *g, const cb_bases *b, int c) { return cb_origin_radii(g, &b->own[c]); }

/* Makes another component the leader of the base of l. */
static void rename_leader(cb_bases *b, int l, int to) {
  b->base[to] = b->base[l];
  b->count[to] = b->count[l];
  b->parent[to] = b->parent[l];
  b->count[l] = 0;
  for (int c = 0; c < b->n; c++) {
    if (b->leader[c] == l) b->leader[c] = to;
    if (b->count[c] && b->parent[c] == l) b->parent[c] = to;
  }
}

/* Creates a new base at the place of c, for component c and the components of its old base that are near it. If all
 * components of the old base are near, the old base moves to the place of c instead. */
static void part(const cb_space *g, cb_bases *b, int c) {
  const cb_origin place = b->own[c];
  int old = b->leader[c], stays = -1;
  cb_origin relative;
  for (int d = 0; d < b->n; d++) {
    if (b->leader[d] != old || d == c) continue;
    cb_origin_relative(g, &place, &b->own[d], &relative);
    if (cb_origin_radii(g, &relative) > company) stays = d;
  }
  if (stays < 0) {
    rebase(g, b, old, &place);
    return;
  }
  rename_leader(b, old, stays);
  old = stays;
  b->base[c] = place;
  b->parent[c] = old;
  b->count[c] = 0;
  for (int d = 0; d < b->n; d++) {
    if (b->leader[d] != old) continue;
    cb_origin_relative(g, &place, &b->own[d], &relative);
    if (cb_origin_radii(g, &relative) > company) continue;
    b->own[d] = relative;
    b->leader[d] = c;
    b->count[c]++;
    b->count[old]--;
  }
  b->children++;
  b->partings++;
  b->changes++;
}

void cb_bases_follow(const cb_space *g, cb_bases *b, int *nearest) {
  if (!cb_origin_grows(g)) return;
  for (int c = 0; c < b->n; c++) nearest[c] = -1;
  for (int c = 0; c < b->n; c++) {
    int *at = &nearest[b->leader[c]];
    if (*at < 0 || radii(g, b, c) < radii(g, b, *at)) *at = c;
  }
  for (int l = 0; l < b->n; l++)
    if (nearest[l] >= 0 && radii(g, b, nearest[l]) > follow) rebase(g, b, l, &b->own[nearest[l]]);
  for (int c = 0; c < b->n; c++)
    if (b->count[b->leader[c]] > 1 && radii(g, b, c) > leave) part(g, b, c);
}
