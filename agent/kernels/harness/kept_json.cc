#include "agent/kernels/harness/kept_json.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

namespace muster::kernels {

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets one
  return value == nullptr ? "" : value;
}

std::string CacheFile(const std::string& cache_home, const std::string& home,
                      const std::string& name, const std::string& host) {
  // The base directory specification: a relative path is to be ignored.
  std::string folder = cache_home.starts_with("/") ? cache_home : "";
  if (folder.empty() && home.starts_with("/")) {
    folder = home + "/.cache";
  }
  return folder.empty() ? "" : folder + "/muster/" + name + "-" + host + ".json";
}

nlohmann::ordered_json LoadKept(const std::string& file) {
  using Json = nlohmann::ordered_json;
  std::ifstream in(file);
  Json kept = in ? Json::parse(in, nullptr, /*allow_exceptions=*/false) : Json::object();
  return kept.is_object() ? kept : Json::object();
}

void StoreKept(const std::string& file, const nlohmann::ordered_json& kept) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
  const std::string fresh = file + "." + std::to_string(getpid());
  std::ofstream out(fresh);
  out << kept.dump(2) << "\n";
  out.close();
  if (out) {
    std::filesystem::rename(fresh, file, ignored);
  }
  std::filesystem::remove(fresh, ignored);
}

}  // namespace muster::kernels
