#pragma once

// What an image says of itself, and what it was asked for as.
//
// Invariant: the digest of an image that a registry or a layout described is "sha256:" and 64
// lower-case hex digits; of any other, a mark of the file that it was.

#include <string>
#include <vector>

namespace muster::agent {

struct ImageFacts {
  std::string digest;        // of the manifest
  std::string architecture;  // as the layout calls it: "amd64"
  std::vector<std::string> environment;
  std::string work_dir;
  std::vector<std::string> entrypoint;
  std::string name = {};  // by which it was fetched
};

// What images call this machine's architecture: "amd64", "arm64".
std::string OwnArchitecture();

}  // namespace muster::agent
