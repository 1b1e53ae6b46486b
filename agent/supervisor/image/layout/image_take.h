#pragma once

// An image's layout, taken from another node that has it.
//
// We listen and say where; the controller has a node that has the image call us, or our own node
// say that there is none. Works as the user. Thread promise: the one thread of the program, which
// waits. Invariants: (1) what is taken is the image of the digest (shared_layout.h); (2) of what
// was not taken nothing is believed: the caller has the image from its registry.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/container_order.h"
#include "scheduler/model/value/time.h"

namespace muster::agent {

struct ImageTaking {
  std::string image;   // as it was asked for
  std::string digest;  // "sha256:…"
  std::string layout;  // the directory to be made
  std::uint64_t bytes_max = 0;
  Duration patience{0};  // for which the giver may send nothing
};

struct TakenImage {
  bool taken = false;  // the layout is there
  bool kept = false;   // others may want it: the layout is to stay
};

// How an image is taken.
struct ImageSharing {
  bool one_machine = false;  // all nodes are this machine
  // Passes on who wants what, and says whether it could.
  std::function<bool(const ImageWanted& wanted)> announce = nullptr;
};

// An error: it did not come, or not whole. A caller that gets one asks the registry, and keeps what
// comes from there for others.
absl::StatusOr<TakenImage> TakeImage(const ImageTaking& wanted, const ImageSharing& sharing);

}  // namespace muster::agent
