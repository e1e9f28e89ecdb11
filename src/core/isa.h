/* The instruction set that the vector kernels use; it is chosen at run time.
 *
 * Kernels exist for x86-64 (SSE2), AVX2 with FMA, and AVX-512 (F, DQ, VL). Other architectures have only the portable
 * kernel, which is called "aarch64" on that architecture and "portable" elsewhere.
 * The choice is the best instruction set of the processor unless cb_isa_set has set another. An object reads the choice
 * when it is created; a later cb_isa_set does not affect the object. The same choice gives results that are identical
 * bit for bit on any processor.
 */
#pragma once

#include <curvebody/status.h>

#if defined(__x86_64__)
#define CB_ISA_BASE "x86-64"
#define CB_ISA_NAMES "auto x86-64 avx2 avx512"
#elif defined(__aarch64__)
#define CB_ISA_BASE "aarch64"
#define CB_ISA_NAMES "auto aarch64"
#else
#define CB_ISA_BASE "portable"
#define CB_ISA_NAMES "auto portable"
#endif

typedef enum cb_isa { CB_ISA_X86_64, CB_ISA_AVX2, CB_ISA_AVX512, CB_ISA_COUNT } cb_isa;

/* Sets the choice for the process: one of CB_ISA_NAMES. CB_ERROR_UNSUPPORTED for an instruction set that this processor
 * does not support, also for one of another architecture; CB_ERROR_ARGUMENT for other names. */
cb_status cb_isa_set(const char *name);

cb_isa cb_isa_get(void);

/* Returns CB_ISA_BASE, "avx2" or "avx512", in static memory. */
const char *cb_isa_name(void);
