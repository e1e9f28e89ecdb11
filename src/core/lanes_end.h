/* Ends what core/lanes4.h or core/lanes8.h began: once in a file, at its end. */
#if defined(__clang__)
#pragma clang attribute pop
#endif
