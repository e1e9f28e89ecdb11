/* For functions whose loops are products and sums by element: clones for wider registers, with the same bits. (clang 14
 * gives a function that has clones a name that other files do not find.) */
#ifndef CB_OPTIMUM_LANES_H
#define CB_OPTIMUM_LANES_H

#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__
#define CB_LANES __attribute__((target_clones("avx2", "default")))
#else
#define CB_LANES
#endif

#endif
