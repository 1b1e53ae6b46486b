#pragma once

// Which of a submitter's variables the programs that fetch images need: whose they are, where the
// credentials are, and the way to the network.
//
// Pure. Invariant: none of them is a secret itself.

#include <string>
#include <vector>

namespace muster {

// Those of "NAME=value", in order; names of proxies count in either case.
std::vector<std::string> FetchVariables(const std::vector<std::string>& environment);

// What those programs are started with.
std::vector<std::string> FetchEnvironment(const std::vector<std::string>& environment);

}  // namespace muster
