/* CUDA's driver as far as checkpoints know it. Its "device" keeps every byte inverted, so that only
 * what went through here reads right; $FAKE_CUDA_RESULT is what every copy answers instead. */
#include <stddef.h>
#include <stdlib.h>

static int copy(unsigned char* to, const unsigned char* from, size_t size) {
  const char* result = getenv("FAKE_CUDA_RESULT");
  if (result != NULL) {
    return atoi(result);
  }
  for (size_t i = 0; i < size; ++i) {
    to[i] = (unsigned char)~from[i];
  }
  return 0;
}

int cuMemcpyDtoH_v2(void* host, unsigned long long device, size_t size) {
  return copy(host, (const unsigned char*)(size_t)device, size);
}

int cuMemcpyHtoD_v2(unsigned long long device, const void* host, size_t size) {
  return copy((unsigned char*)(size_t)device, host, size);
}
