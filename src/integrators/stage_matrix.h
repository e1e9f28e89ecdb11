/* The matrix of Newton's method for the stages of particles: one B x B block a pair of particles that a force couples.
 *
 * Particle i has the unknowns i*B .. i*B+B-1, B = stages x coordinates as a rule. Blocks follow the pattern of the
 * forces (cb_forces_pattern); those off the diagonal may be sparse themselves, all with one mask.
 */
#pragma once

#include <curvebody/system.h>
#include <stdbool.h>

typedef struct cb_stage_matrix cb_stage_matrix;

/* mask[B*B]: the entries of a block off the diagonal (NULL: all). pivots[B*B]: a block on the diagonal as it is for a
 * free particle and a short step, which decides the order of the pivots. The pattern is copied. */
cb_status cb_stage_matrix_create(const cb_pattern *pattern, int block, const bool *mask, const double *pivots,
                                 cb_stage_matrix **out);
void cb_stage_matrix_free(cb_stage_matrix *m);

/* Sets the block that is entry e of the pattern, in the row of `particle`, from block[B*B], row-major. */
void cb_stage_matrix_set(cb_stage_matrix *m, int particle, int e, const double *block);

/* CB_STEP_SINGULAR. All blocks have to be set before. */
cb_status cb_stage_matrix_factor(cb_stage_matrix *m);
/* x[n*B]: the right side, then the solution. */
void cb_stage_matrix_solve(cb_stage_matrix *m, double *x);
