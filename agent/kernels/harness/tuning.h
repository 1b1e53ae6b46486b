#pragma once

// Block sizes that a search found: kept per node, and handed on by the cluster.
//
// A tuning belongs to a kernel, a shape, a type of number, an architecture and the kernels'
// version; one of another version is not used, and goes when the next one is kept. Thread promise:
// as kept_json. Invariant: what is found is a wish: the kernel checks whether it can be meant, and
// its results as always.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace muster::kernels {

struct TuningKey {
  std::string kernel;
  std::string shape;         // "1024x1024x1024"
  std::string type;          // "float32"
  std::string architecture;  // "AMD EPYC 7763 64-Core Processor, AVX2, 8 threads"
};

// The environment variable with the cluster's tunings: a list of objects, each a key's members,
// `version` and `choice`.
inline constexpr const char* kTuningVariable = "MUSTER_KERNEL_TUNINGS";

// The choice for this key that was kept in `file`, else the one among the `given` of the cluster.
std::optional<nlohmann::ordered_json> FindTuning(const TuningKey& key, const std::string& file,
                                                 const std::string& given);

// Where this node keeps what it found; empty where there is no place for it.
std::string TuningsFile();

// What the cluster gave this process: the variable's value.
std::string GivenTunings();

// Keeps it, and drops those of other versions.
void KeepTuning(const TuningKey& key, const std::string& file,
                const nlohmann::ordered_json& choice);

// A key's members, `version` and `choice`, as the cluster shares them.
nlohmann::ordered_json TuningJson(const TuningKey& key, const nlohmann::ordered_json& choice);

}  // namespace muster::kernels
