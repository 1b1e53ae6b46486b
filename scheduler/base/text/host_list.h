#pragma once

// Lists of nodes and of numbers in short text: "n1,n[3-5,7],rack[01-02]n[1-8]", "3-99,120",
// "2(x3),1".
//
// Pure. Zeros in front are kept: 08-10 is 08, 09, 10. Invariants: an accepted list has 1 to
// kHostsMax names; expanding what CompressHostlist wrote gives the same names.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster {

inline constexpr std::size_t kHostsMax = 65'536;

// Every name in the order in which it is written; a name that is written twice is there twice.
// ResourceExhausted when the list stands for more than kHostsMax names, InvalidArgument when it is
// no list; both without words, because only the caller can quote the text as its reader expects.
absl::StatusOr<std::vector<std::string>> ExpandHostlist(std::string_view text);

// The same, each name once. InvalidArgument is one line that quotes the text.
absl::StatusOr<std::vector<std::string>> NodeNames(std::string_view text);

// The order of the numbers behind one prefix. A list that people read is sorted and has each name
// once; a list that stands beside another one, such as a count for each node, keeps its order.
enum class HostOrder { kSorted, kAsGiven };

// Names that differ only in their last number share a bracket, in the order in which each prefix
// appeared first: {"n01", "n02", "gpu"} is "n[01-02],gpu".
std::string CompressHostlist(const std::vector<std::string>& names,
                             HostOrder order = HostOrder::kSorted);

// Numbers as runs, ascending and each once: "1,3-5". `digits` pads each with zeros.
std::string NumberList(std::vector<std::uint64_t> numbers, int digits = 0);

// Runs of equal numbers: {2, 2, 1} is "2(x2),1".
std::string CompressCounts(const std::vector<std::uint32_t>& counts);

}  // namespace muster
