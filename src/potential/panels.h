/* Flat triangles that carry constant sources or normal dipoles: their potentials and velocities at a point, exact
 * wherever it is.
 *
 *   S(x) = 1/(4 pi) int dA/|x - y| = 1/(4 pi) (sum_e t_e L_e - h W),   D(x) = W/(4 pi)
 *   W = -2 atan2([a b c], |a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|),   a, b, c the corners seen from x
 *   L_e = ln((R1 + R2 + l)/(R1 + R2 - l)),  t_e = (P_e - x).m_e,  m_e = edge × n,  h = (x - P).n
 * Sources: van Oosterom & Strackee (1983), IEEE Trans. Biomed. Eng. 30, 125, doi 10.1109/TBME.1983.325207, eq. 8;
 * Hess & Smith (1967), Prog. Aeronaut. Sci. 8, 1, doi 10.1016/0376-0421(67)90003-6.
 * D jumps by +1 across the panel along its normal; on the panel itself it is the mean, 0. The rows of a closed surface
 * that points outwards add up to -1 inside, 0 outside. Lengths in any unit L: S has L, D none.
 */
#pragma once

#include <curvebody/status.h>
#include <stddef.h>

struct cb_panel_kernels;

typedef struct cb_panels {
  int n;
  double (*corner)[3][3];
  double (*centre)[3], (*normal)[3]; /* of length 1 */
  double *area;
  /* The same for vectors (potential/panel_kernel.h): CB_PANEL_LANES rows of `stride` numbers. */
  double *lanes;
  size_t stride;
  const struct cb_panel_kernels *kernels;
} cb_panels;

/* Faces of vertices x. CB_ERROR_DOMAIN for one of no area, by its number from 1. The caller frees with
 * cb_panels_free. */
cb_status cb_panels_create(int n, const double (*x)[3], const int (*face)[3], cb_panels **out);
void cb_panels_free(cb_panels *p);
/* Other places of the vertices of the same faces. */
cb_status cb_panels_move(cb_panels *p, const double (*x)[3], const int (*face)[3]);

/* What n panels do at x: those which[0..n), or the first n (which = NULL), or n from number `first` on. self: the place
 * among these n of the one whose centre x is, -1: none; the S of others and their D are left to round-off where x is in
 * their planes. S or D may be NULL. */
void cb_panels_row(const cb_panels *p, const double x[3], int n, const int *which, int self, double *S, double *D);
void cb_panels_range(const cb_panels *p, const double x[3], int first, int n, int self, double *S, double *D);
/* The gradients in x of the potentials of n panels from number `first` on: components x, y, z in rows of `width`. Either
 * may be NULL. */
void cb_panels_gradients(const cb_panels *p, const double x[3], int first, int n, size_t width, double *S, double *D);
/* Their slopes along d, of n panels as in cb_panels_row; those of S of the panel itself are the mean along its normal,
 * 0. */
void cb_panels_slopes(const cb_panels *p, const double x[3], const double d[3], int first, int n, const int *which,
                      int self, double *S, double *D);
