#pragma once

// Node lists: "n1,n[3-5,7],rack[01-02]n[1-8]", as Slurm writes them, as the names they stand for.
//
// Zeros in front are kept: 08-10 is 08, 09, 10. Thread promise: pure function. Invariants: an
// accepted list has 1 to kHostsMax names, in the order in which they are written; a name that is
// written twice is there twice.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster {

inline constexpr std::size_t kHostsMax = 65'536;

// ResourceExhausted when it stands for more than kHostsMax names, InvalidArgument when it is no
// list; both without words, because only the caller can quote the text as its reader expects.
absl::StatusOr<std::vector<std::string>> ExpandHostlist(std::string_view text);

// The same, each name once. InvalidArgument is one line that quotes the text.
absl::StatusOr<std::vector<std::string>> NodeNames(const std::string& text);

}  // namespace muster
