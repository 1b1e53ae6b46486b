#pragma once

// What a user's cache on a node holds, told and taken away on request.
//
// Works as the user. Thread promise: the caller's thread. Invariants: (1) nothing is made, and what
// a container uses stays; (2) a named container's files, which nothing brings back, go by its name
// alone; (3) what was taken away is out of sight at once, and off the disk then or later.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/value/time.h"

namespace muster::agent {

struct KeptImage {
  std::string name;       // by which it was fetched; "": it is not known
  std::string digest;     // of a named container that of its image, or a file's mark
  std::string container;  // the name of a named container; "": it is an image
  std::string architecture;
  std::uint64_t bytes = 0;
  Time used = kNoTime;
  bool in_use = false;
};

// Of images all, or those that were named, so that they have the age; of containers those that were
// named.
struct KeptChoice {
  bool all = false;
  std::vector<std::string> images = {};
  std::vector<std::string> containers = {};
  Duration unused_for{0};  // with `images` or `all`, or alone
};

inline constexpr std::size_t kKeptMax = 2000;

// Images by name, then containers; `directory`: the user's cache. At most kKeptMax of each.
std::vector<KeptImage> ListKept(const std::string& directory);

// Takes the chosen ones away, for at most `limit`; those that are in use stay and say so.
std::vector<KeptImage> RemoveKept(const std::string& directory, const KeptChoice& choice, Time now,
                                  Duration limit);

// Whether that is how the image is called: its name, with or without its digest; its digest, or
// its first twelve digits or more, with or without "sha256:". A copy of data: its source or its
// whole digest.
bool IsCalled(const KeptImage& image, const std::string& word);

}  // namespace muster::agent
