/* What is public: the headers of this folder. What they declare between CB_API_BEGIN and CB_API_END the library
 * exports, with C linkage; everything else in it is hidden. They are C17 and C++17.
 * For both users of the library and authors of classes: every header says in its head which of them it is for.
 */
#ifndef CURVEBODY_API_H
#define CURVEBODY_API_H

/* Of the library and its headers, from which the build takes it. While the first number is 0, a change of the second
 * may break what was compiled before; the soname has both. */
#define CB_VERSION "0.1.0"

#define CB_VISIBLE_BEGIN _Pragma("GCC visibility push(default)")
#define CB_VISIBLE_END _Pragma("GCC visibility pop")

#ifdef __cplusplus
#define CB_API_BEGIN CB_VISIBLE_BEGIN extern "C" {
#define CB_API_END } CB_VISIBLE_END
#else
#define CB_API_BEGIN CB_VISIBLE_BEGIN
#define CB_API_END CB_VISIBLE_END
#endif

#endif
