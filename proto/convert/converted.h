#pragma once

// How the headers of this room declare, and their sources define, a value's way into its message
// and back.
//
// ToWire never fails; FromWire says which field holds what it should not. Both walk the value's
// Fields(), so a member added to it needs a field of the same name in its message and nothing here.

// clang-format off
#define MUSTER_CONVERTED(TYPE)                         \
  void ToWire(const TYPE& value, wire::TYPE* message); \
  absl::Status FromWire(const wire::TYPE& message, muster::TYPE* value);

#define MUSTER_CONVERTED_THROUGH_BYTES(TYPE)                              \
  void ToWire(const TYPE& value, wire::TYPE* message) {                   \
    convert::WriteThroughBytes(value, message);                           \
  }                                                                       \
  absl::Status FromWire(const wire::TYPE& message, muster::TYPE* value) { \
    return convert::ReadThroughBytes(message, value);                     \
  }
// clang-format on
