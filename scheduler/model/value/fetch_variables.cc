#include "scheduler/model/value/fetch_variables.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace muster {
namespace {

constexpr std::array<std::string_view, 12> kNames = {
    "HOME",         "HTTPS_PROXY",   "HTTP_PROXY",      "NO_PROXY",
    "LOGNAME",      "USER",          "DOCKER_CONFIG",   "REGISTRY_AUTH_FILE",
    "SSL_CERT_DIR", "SSL_CERT_FILE", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"};

bool IsFetchVariable(const std::string& assignment) {
  std::string name = assignment.substr(0, assignment.find('='));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace

std::vector<std::string> FetchVariables(const std::vector<std::string>& environment) {
  std::vector<std::string> found;
  std::copy_if(environment.begin(), environment.end(), std::back_inserter(found), IsFetchVariable);
  return found;
}

std::vector<std::string> FetchEnvironment(const std::vector<std::string>& environment) {
  std::vector<std::string> all = {
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
  const std::vector<std::string> needed = FetchVariables(environment);
  all.insert(all.end(), needed.begin(), needed.end());
  return all;
}

}  // namespace muster
