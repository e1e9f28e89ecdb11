/* What the files of SE(3) and the general functions of groups share. */
#pragma once

/* (1 - (w/2) cot(w/2))/w^2 in powers of w^2. */
extern const double cb_even_series[22];

/* e(n) = (1 - (w/2) cot(w/2))/w^2 and its first two derivatives in n = w^2 < 4 pi^2. */
void cb_se3_even(double n, double e[3]);
/* dtau^-1_Y Z of the exponential */
void cb_se3_dexp_inverse(const double Y[6], const double Z[6], double out[6]);
