/* Places in a space of curvature K as its picture has them (cb_picture): the ball of radius R = 1/sqrt|K| about the base
 * point in hyperbolic space, the stereographic projection from the base point's antipode of a sphere; E^3 as it is.
 *
 *   normal coordinates v  ->  tan_K(|v|/2) v/|v|,  tan_K = s_K/c_K;  lengths times 1/(1 + w), w = c_K(|v|)
 * Axes that a transvection carries from the base point keep their directions.
 */
#pragma once

void cb_picture_place(double K, const double v[3], double out[3]);
/* What lengths there become longer by; 1 in E^3. */
double cb_picture_factor(double K, const double v[3]);
