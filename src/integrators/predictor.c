/* Lagrange extrapolation with weights kept for as long as the step lengths stay the same; see predictor.h. */
#include "integrators/predictor.h"

#include "core/arena.h"
#include "numerics/tableau.h"

#include <stdbool.h>
#include <string.h>

enum { DEPTH = 2 };

struct cb_predictor {
  cb_arena *arena;
  int s, depth, known;
  size_t count;
  double c[CB_STAGES_MAX];
  double *past[DEPTH]; /* the last step first */
  double h[DEPTH];
  /* weight[i][j]: of past value j in stage i, for the step lengths below */
  double weight[CB_STAGES_MAX][DEPTH * CB_STAGES_MAX];
  double weight_h, weight_past[DEPTH];
  int weight_depth;
};

cb_status cb_predictor_create(int s, const double *c, int depth, size_t count, cb_predictor **out) {
  cb_predictor *p = cb_arena_object(sizeof *p, "past stages");
  if (!p) return CB_ERROR_MEMORY;
  for (int d = 0; d < depth; d++) cb_arena_doubles(p->arena, (size_t)s * count, &p->past[d]);
  if (cb_arena_lost(p->arena))
    return cb_arena_free(p->arena), cb_fail(CB_ERROR_MEMORY, "no memory for the past stages of %zu numbers", count);
  p->s = s;
  p->depth = depth;
  p->count = count;
  memcpy(p->c, c, (size_t)s * sizeof *c);
  *out = p;
  return CB_OK;
}

void cb_predictor_free(cb_predictor *p) {
  if (p) cb_arena_free(p->arena);
}

void cb_predictor_reset(cb_predictor *p) { p->known = 0; }

void cb_predictor_push(cb_predictor *p, double h, const double *stage) {
  if (p->depth == 2) {
    double *oldest = p->past[1];
    p->past[1] = p->past[0];
    p->past[0] = oldest;
    p->h[1] = p->h[0];
  }
  memcpy(p->past[0], stage, (size_t)p->s * p->count * sizeof *stage);
  p->h[0] = h;
  if (p->known < p->depth) p->known++;
}

double *cb_predictor_past(cb_predictor *p, int age) { return age < p->known ? p->past[age] : NULL; }

/* The older of two steps helps only if it runs the same way and is of similar length. */
static int useful_depth(const cb_predictor *p) {
  if (p->known < 2) return p->known;
  const double ratio = p->h[1] / p->h[0];
  return ratio >= 0.25 && ratio <= 4 ? 2 : 1;
}

static void make_weights(cb_predictor *p, double h, int depth) {
  const int s = p->s;
  double node[DEPTH * CB_STAGES_MAX]; /* times in units of the last step, which ends at 0 */
  bool used[DEPTH * CB_STAGES_MAX];
  for (int j = 0; j < s; j++) {
    node[j] = p->c[j] - 1;
    used[j] = true;
    if (depth < 2) continue;
    node[s + j] = -1 + (p->c[j] - 1) * (p->h[1] / p->h[0]);
    used[s + j] = node[s + j] < node[0]; /* methods with c_1 = 0 and c_s = 1 share a time */
  }
  for (int i = 0; i < s; i++)
    for (int j = 0; j < depth * s; j++) {
      const double t = p->c[i] * h / p->h[0];
      double w = used[j];
      for (int k = 0; k < depth * s; k++)
        if (k != j && used[k] && used[j]) w *= (t - node[k]) / (node[j] - node[k]);
      p->weight[i][j] = w;
    }
  p->weight_h = h;
  p->weight_past[0] = p->h[0];
  p->weight_past[1] = p->h[1];
  p->weight_depth = depth;
}

int cb_predictor_next(cb_predictor *p, double h, double *stage) {
  const int s = p->s, depth = useful_depth(p);
  const size_t count = p->count;
  if (!depth) return 0;
  if (p->weight_depth != depth || p->weight_h != h || p->weight_past[0] != p->h[0] || p->weight_past[1] != p->h[1])
    make_weights(p, h, depth);
  for (int i = 0; i < s; i++) {
    double *to = stage + (size_t)i * count;
    for (int d = 0; d < depth; d++)
      for (int j = 0; j < s; j++) {
        const double w = p->weight[i][d * s + j], *from = p->past[d] + (size_t)j * count;
        if (d == 0 && j == 0)
          for (size_t e = 0; e < count; e++) to[e] = w * from[e];
        else
          for (size_t e = 0; e < count; e++) to[e] += w * from[e];
      }
  }
  return depth;
}
