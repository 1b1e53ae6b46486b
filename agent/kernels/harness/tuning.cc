#include "agent/kernels/harness/tuning.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "agent/kernels/harness/kept_json.h"
#include "agent/kernels/harness/node_facts.h"

namespace muster::kernels {
namespace {

using Json = nlohmann::ordered_json;

std::string Version() {
  return ", kernels " + std::to_string(kKernelsVersion);
}

std::string TextOf(const TuningKey& key) {
  return key.kernel + " " + key.shape + " " + key.type + " on " + key.architecture + Version();
}

bool IsOf(const Json& tuning, const TuningKey& key) {
  return tuning.is_object() && tuning.value("kernel", Json()) == key.kernel &&
         tuning.value("shape", Json()) == key.shape && tuning.value("type", Json()) == key.type &&
         tuning.value("architecture", Json()) == key.architecture &&
         tuning.value("version", Json()) == kKernelsVersion && tuning.contains("choice");
}

}  // namespace

std::optional<Json> FindTuning(const TuningKey& key, const std::string& file,
                               const std::string& given) {
  const Json kept = file.empty() ? Json::object() : LoadKept(file);
  const auto found = kept.find(TextOf(key));
  if (found != kept.end()) {
    return *found;
  }
  const Json shared = Json::parse(given, nullptr, /*allow_exceptions=*/false);
  if (shared.is_array()) {
    for (const Json& tuning : shared) {
      if (IsOf(tuning, key)) {
        return tuning.at("choice");
      }
    }
  }
  return std::nullopt;
}

std::string TuningsFile() {
  return CacheFile(FromEnvironment("XDG_CACHE_HOME"), FromEnvironment("HOME"), "tuning",
                   HostName());
}

std::string GivenTunings() {
  return FromEnvironment(kTuningVariable);
}

void KeepTuning(const TuningKey& key, const std::string& file, const Json& choice) {
  if (file.empty()) {
    return;
  }
  const std::string version = Version();
  Json fresh = Json::object();
  const Json kept = LoadKept(file);
  for (const auto& [name, value] : kept.items()) {
    if (name.ends_with(version)) {
      fresh[name] = value;
    }
  }
  fresh[TextOf(key)] = choice;
  StoreKept(file, fresh);
}

Json TuningJson(const TuningKey& key, const Json& choice) {
  return {{"kernel", key.kernel},       {"shape", key.shape},
          {"type", key.type},           {"architecture", key.architecture},
          {"version", kKernelsVersion}, {"choice", choice}};
}

}  // namespace muster::kernels
