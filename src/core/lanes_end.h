/* Ends the part of a file that is compiled for the instruction set of core/lanes4.h or core/lanes8.h. Include it once,
 * at the end of the file. GCC needs no such end. */
#if defined(__clang__)
#pragma clang attribute pop
#endif
