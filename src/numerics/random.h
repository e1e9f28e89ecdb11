/* Pseudo-random numbers that are the same on every processor: Vigna's splitmix64.
 * Source: Steele, Lea & Flood, Proc. OOPSLA 2014, 453, doi:10.1145/2660193.2660195. */
#pragma once

#include <stdint.h>

/* Returns a number that is uniform in [0, 1), and advances the state, which may be any number. */
static inline double cb_uniform(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}
