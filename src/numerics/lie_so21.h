/* SO(2,1) for the groups that contain it: elements 3x3, algebra (v_x, v_y, omega). Equations: lie_so21.c. */
#ifndef CB_NUMERICS_LIE_SO21_H
#define CB_NUMERICS_LIE_SO21_H

#include "numerics/lie_private.h"

void cb_lie_so21_exp(const double a[3], double g[9]);
cb_status cb_lie_so21_log(const double g[9], double a[3]);
void cb_lie_so21_adjoint(const double g[9], int width, double *out); /* rows of `width` numbers */
void cb_lie_so21_bracket(const double a[3], const double b[3], double out[3]);
void cb_lie_so21_project(double g[9]);

#endif
