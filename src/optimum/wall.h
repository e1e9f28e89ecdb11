/* What a shape may not pass: functions s_k(r) >= 0 with first and second derivatives.
 *
 *   bounds  r_i - lower_i, upper_i - r_i, where they are finite
 *   apart   of two lines of the picture:  s = max_c min_j f_cj(r),  f_cj = +-(b_j - a_e).u
 * u runs over the directions along and across both lines, b_j over the ends of the other line, a_e is the end of u's own
 * that faces it: two segments in the plane are apart where the shadows they throw on one of these four axes are (the
 * theorem of separating axes), so that s > 0 where they are apart, 0 where they touch, and < 0 where they cross. Each f_cj
 * is smooth, s is not: what is allowed may have corners that point into it, as where the tips of two links meet. With
 * soft > 0 max and min are smooth and s is lower, by at most log(16) soft:
 *   min_j -> -e log sum_j exp(-f_j/e),   max_c -> e log sum_c exp(m_c/e) - e log 8,   e = soft times the longest line
 * Lines that share a point, or touch at every shape (hinged links), are no wall. The picture's points are
 * differentiated by differences of order 8: errors of about 1e-12 of their distances.
 * Source: Ericson, Real-Time Collision Detection (2005), section 4.4.1.
 */
#pragma once

#include <curvebody/optimum.h>

enum { CB_WALL_TERMS = 16 };

typedef struct cb_gait_wall {
  int variable;    /* of a bound; -1: two lines */
  double sign, at; /* s = sign (r - at) */
  int line[2];
} cb_gait_wall;

typedef struct cb_walls {
  const cb_bundle *bundle;
  int n, count;
  cb_gait_wall *wall;
  double size; /* the longest line */
  struct cb_walls_work *work;
} cb_walls;

/* lower, upper and apart of the problem; *out is NULL where it has none. CB_ERROR_ARGUMENT for bounds that leave no
 * room, and for a picture in space, where lines pass one another. The caller frees. */
cb_status cb_walls_create(const cb_optimum_problem *o, cb_walls **out);
void cb_walls_free(cb_walls *w);

/* s[count], ds[count][n] and dds[count][n][n] (both NULL: values alone). One thread at a time. */
cb_status cb_walls_at(cb_walls *w, double soft, const double *r, double *s, double *ds, double *dds);

/* Of two lines: the terms f of the two greatest candidates c, the greater first, and a term with its derivatives. */
cb_status cb_walls_leading(cb_walls *w, int k, const double *r, int term[2]);
cb_status cb_walls_term(cb_walls *w, int k, int term, const double *r, double *f, double *df, double *ddf);
