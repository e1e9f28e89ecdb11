/* The headers of this folder are public. The library exports what is declared between CB_API_BEGIN and CB_API_END, with
 * C linkage, and hides everything else. The headers are valid C17 and C++17.
 * Some headers are for users of the library, some for authors of classes, and some for both. The first comment of a
 * header says for whom it is.
 */
#ifndef CURVEBODY_API_H
#define CURVEBODY_API_H

/* The version of the library and its headers, which the build reads from this line. While the first number is 0, a
 * change of the second number may break programs that were compiled with earlier headers. The name of the shared
 * library (its soname) has both numbers. */
#define CB_VERSION "0.1.0"

#define CB_VISIBLE_BEGIN _Pragma("GCC visibility push(default)")
#define CB_VISIBLE_END _Pragma("GCC visibility pop")

#ifdef __cplusplus
#define CB_API_BEGIN CB_VISIBLE_BEGIN extern "C" {
#define CB_API_END \
  }                \
  CB_VISIBLE_END
#else
#define CB_API_BEGIN CB_VISIBLE_BEGIN
#define CB_API_END CB_VISIBLE_END
#endif

CB_API_BEGIN

/* Sets the number of threads of the process. 0: the number in the environment variable OMP_NUM_THREADS, or the number
 * of cores. Results do not depend on it. */
void cb_threads_set(int threads);

CB_API_END
#endif
