#pragma once

// A described value into a message and back, through the message's bytes.
//
// Protobuf's own parser and writer of a message are made code; its reflection, which builds tables
// of every message of the program at first use, is not used.

#include <string>

#include "absl/status/status.h"
#include "proto/convert/codec.h"
#include "scheduler/base/status.h"

namespace muster::convert {

// Adds the value's fields to the message.
template <class T, class M>
void WriteThroughBytes(const T& value, M* message) {
  std::string bytes;
  WriteMessage<M>(value, &bytes);
  MUSTER_CHECK(message->MergeFromString(bytes));
}

template <class T, class M>
absl::Status ReadThroughBytes(const M& message, T* value) {
  return ReadMessage<M>(message.SerializePartialAsString(), value);
}

}  // namespace muster::convert
