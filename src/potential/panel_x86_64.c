/* This file compiles the kernels of panels for any processor. They evaluate two panels at once, because every x86-64
 * processor has vectors of two numbers. */
#include "core/lanes2.h"

#define KERNELS cb_panel_kernels_x86_64
#define WIDTH 2

#include "potential/panel_kernel.h"
