// For programs that are linked without shared libraries (MUSTER_STATIC): what the archives ask of newer or other
// machines than ours have.
//
// hwloc asks udev for the names of disks, which Muster does not show; it goes on without udev where udev_new() gives
// nothing, and then calls none of the others. arc4random(3) came with glibc 2.36; the kernel gives the same since 3.17.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

__attribute__((visibility("hidden"))) void arc4random_buf(void* buffer, size_t size);
__attribute__((visibility("hidden"))) uint32_t arc4random(void);

void arc4random_buf(void* buffer, size_t size) {
  unsigned char* next = buffer;
  while (size > 0) {
    const ssize_t got = getrandom(next, size, 0);
    if (got > 0) {
      next += got;
      size -= (size_t)got;
    } else if (got < 0 && errno != EINTR) {
      abort();  // no caller can go on with numbers that are not random
    }
  }
}

uint32_t arc4random(void) {
  uint32_t number = 0;
  arc4random_buf(&number, sizeof number);
  return number;
}

struct udev;
struct udev_device;
struct udev* udev_new(void);
struct udev* udev_unref(struct udev* udev);
struct udev_device* udev_device_new_from_subsystem_sysname(struct udev* udev, const char* subsystem, const char* name);
struct udev_device* udev_device_unref(struct udev_device* device);
const char* udev_device_get_property_value(struct udev_device* device, const char* key);

struct udev* udev_new(void) {
  return NULL;
}

struct udev* udev_unref(struct udev* udev) {
  (void)udev;
  return NULL;
}

struct udev_device* udev_device_new_from_subsystem_sysname(struct udev* udev, const char* subsystem, const char* name) {
  (void)udev;
  (void)subsystem;
  (void)name;
  return NULL;
}

struct udev_device* udev_device_unref(struct udev_device* device) {
  (void)device;
  return NULL;
}

const char* udev_device_get_property_value(struct udev_device* device, const char* key) {
  (void)device;
  (void)key;
  return NULL;
}
