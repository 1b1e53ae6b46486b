#include <stdbool.h>

const bool opal_built_with_cuda_support = GPU_AWARE;
