/* Which instruction set the vector kernels use, chosen once at run time.
 *
 * Kernels exist for x86-64 (SSE2), AVX2 with FMA and AVX-512 (F, DQ, VL); elsewhere there is only the portable one,
 * which has the name of the architecture.
 * The choice is the best that the processor has, unless cb_isa_set was called before. Objects take it when they are
 * created, so a later cb_isa_set does not change them. Results are the same bytes for the same choice on any processor.
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

/* Fixes the choice for the process: one of CB_ISA_NAMES. CB_ERROR_ARGUMENT for another name,
 * CB_ERROR_UNSUPPORTED if this processor lacks it. */
cb_status cb_isa_set(const char *name);

cb_isa cb_isa_get(void);

/* CB_ISA_BASE, "avx2" or "avx512"; static memory. */
const char *cb_isa_name(void);
