/* Ends the code section that core/lanes4.h or core/lanes8.h has begun. It is included once, at the end of a file. */
#if defined(__clang__)
#pragma clang attribute pop
#endif
