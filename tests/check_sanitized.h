/* CHECK_SANITIZED: whether the library is built with sanitizers, which make a test some thirty times slower, so that
 * fewer trials do. */
#ifndef CB_TESTS_CHECK_SANITIZED_H
#define CB_TESTS_CHECK_SANITIZED_H

#if defined __SANITIZE_ADDRESS__ || defined CURVEBODY_SANITIZED
#define CHECK_SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define CHECK_SANITIZED 1
#endif
#endif
#ifndef CHECK_SANITIZED
#define CHECK_SANITIZED 0
#endif

/* Begins a case that is of numbers alone, of many steps by code that shorter ones of the suite run: not a second time under
 * sanitizers. */
#define check_numbers_alone()    \
  do {                           \
    if (CHECK_SANITIZED) skip(); \
  } while (0)

#endif
