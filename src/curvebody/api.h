/* The headers of this folder are public. The library exports the declarations between CB_API_BEGIN and CB_API_END, with
 * C linkage; everything else in it is hidden. The headers are C17 and C++17.
 * Some headers are for users of the library, others for authors of classes, and some for both: the first comment of
 * each header says for whom it is.
 */
#ifndef CURVEBODY_API_H
#define CURVEBODY_API_H

/* Version of the library and its headers; the build reads it from here. While the first number is 0, a change of the
 * second one may break code that was compiled earlier; both numbers are in the soname. */
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

#endif
