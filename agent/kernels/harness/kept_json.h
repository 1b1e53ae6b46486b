#pragma once

// Small JSON objects that kernels keep between two runs, in the user's cache: peaks, tunings.
//
// Thread promise: a file is read whole and replaced whole, so that two processes at once leave one
// of two good files. Invariant: a file that cannot be read is an empty object, and one that cannot
// be written stays as it is: neither is a failure of a kernel.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace muster::kernels {

// The variable's value; "" when it is not set.
std::string FromEnvironment(const char* name);

// $XDG_CACHE_HOME/muster/NAME-HOST.json, else ~/.cache/muster/…; "" without either. The first
// arguments are the two variables' values.
std::string CacheFile(const std::string& cache_home, const std::string& home,
                      const std::string& name, const std::string& host);

// The object in `file`; an empty one when there is none to be read.
nlohmann::ordered_json LoadKept(const std::string& file);

void StoreKept(const std::string& file, const nlohmann::ordered_json& kept);

}  // namespace muster::kernels
