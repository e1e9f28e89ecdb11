/* Points of a design: numbers in [0, 1) that fill the unit cube of the axes.
 *
 * latin_hypercube: each of n equal parts of every axis has one point; McKay, Beckman & Conover, Technometrics 21 (1979)
 * 239, doi:10.1080/00401706.1979.10489755. sobol and halton: sequences of GSL, moved by one random shift modulo 1 where
 * the seed is not 0; Cranley & Patterson, SIAM J. Numer. Anal. 13 (1976) 904, doi:10.1137/0713071. random: independent.
 */
#pragma once

#include <curvebody/status.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cb_design { CB_DESIGN_RANDOM, CB_DESIGN_LATIN_HYPERCUBE, CB_DESIGN_SOBOL, CB_DESIGN_HALTON } cb_design;

/* How many axes it is made for; 0: any number. */
size_t cb_design_most(cb_design design);

/* point[count][axes]; `stream` tells designs of one seed apart. CB_ERROR_MEMORY, CB_ERROR_ARGUMENT: too many axes. */
cb_status cb_design_points(cb_design design, size_t count, size_t axes, uint64_t seed, uint64_t stream, double *point);
