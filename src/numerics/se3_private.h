/* What the two files of SE(3) share. */
#ifndef CB_NUMERICS_SE3_PRIVATE_H
#define CB_NUMERICS_SE3_PRIVATE_H

/* e(n) = (1 - (w/2) cot(w/2))/w^2 and its first two derivatives in n = w^2 < 4 pi^2. */
void cb_se3_even(double n, double e[3]);

#endif
