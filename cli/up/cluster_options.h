#pragma once

// The options that describe a cluster of captured machines: --topology, --features and --gres, of
// up and place alike.
//
// Thread promise: looks whether files exist, reads none. Errors are InvalidArgument or NotFound in
// one line.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::cli {

// "a.xml,b.txt,numa:2(memory=4GB,…)": the pieces between commas outside parentheses, files among
// them as absolute paths, because daemons have their own working directory.
absl::StatusOr<std::vector<std::string>> ReadTopologyList(const std::string& list);

// "a,b" for every one of `nodes`, or a list for each: "a,b;c".
absl::StatusOr<std::vector<std::string>> ReadFeatureLists(const std::string& text,
                                                          std::uint32_t nodes);

// "scratch:4,fpga:1" in the same way; errors name the option.
absl::StatusOr<std::vector<std::string>> ReadGresLists(const std::string& option,
                                                       const std::string& text,
                                                       std::uint32_t nodes);

}  // namespace muster::cli
