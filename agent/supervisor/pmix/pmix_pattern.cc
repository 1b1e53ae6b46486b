#include "agent/supervisor/pmix/pmix_pattern.h"

#include <sys/stat.h>

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace muster::agent {
namespace {

// Nothing that libpmix says has these in it.
constexpr const char* kNspaceWord = "%{nspace}";
constexpr const char* kDirectoryWord = "%{directory}";
constexpr const char* kServerWord = "%{server}";
constexpr const char* kRankWord = "%{rank}";
constexpr std::string_view kServerName = "PMIX_SERVER_URI";
constexpr const char* kRankName = "PMIX_RANK=";
// A variable like the others, that no rank gets.
constexpr const char* kLibrary = "PMIX_LIBRARY_FILE=";

}  // namespace

std::string PmixServerAt(const std::string& nspace, int port) {
  return absl::StrCat(nspace, ".0;tcp4://127.0.0.1:", port);
}

std::string ServerIn(const std::vector<std::string>& variables) {
  std::string server;
  for (const std::string& variable : variables) {
    const std::size_t equals = variable.find('=');
    if (!variable.starts_with(kServerName) || equals == std::string::npos) {
      continue;
    }
    const std::string value = variable.substr(equals + 1);
    if (!server.empty() && server != value) {
      return "";
    }
    server = value;
  }
  return server;
}

std::vector<std::string> LearnPmixPattern(const std::string& library,
                                          const std::vector<std::string>& variables,
                                          const PmixRankFacts& facts) {
  if (library.empty() || facts.server.empty() || facts.directory.empty()) {
    return {};
  }
  std::vector<std::string> pattern = {absl::StrCat(kLibrary, library)};
  for (const std::string& variable : variables) {
    if (variable.find('\n') != std::string::npos || variable.find("%{") != std::string::npos) {
      return {};
    }
    pattern.push_back(variable.starts_with(kRankName)
                          ? absl::StrCat(kRankName, kRankWord)
                          : absl::StrReplaceAll(variable, {{facts.server, kServerWord},
                                                           {facts.directory, kDirectoryWord},
                                                           {facts.nspace, kNspaceWord}}));
  }
  return FillPmixPattern(pattern, facts) == variables ? pattern : std::vector<std::string>();
}

std::vector<std::string> FillPmixPattern(const std::vector<std::string>& pattern,
                                         const PmixRankFacts& facts) {
  std::vector<std::string> variables;
  for (const std::string& each : pattern) {
    if (!each.starts_with(kLibrary)) {
      variables.push_back(absl::StrReplaceAll(each, {{kServerWord, facts.server},
                                                     {kDirectoryWord, facts.directory},
                                                     {kNspaceWord, facts.nspace},
                                                     {kRankWord, absl::StrCat(facts.rank)}}));
    }
  }
  return variables;
}

std::string PmixLibraryAt(const std::string& path) {
  struct stat found = {};
  if (path.empty() || stat(path.c_str(), &found) != 0) {
    return "";
  }
  return absl::StrCat(path, ":", found.st_size, ":", found.st_mtim.tv_sec, ":",
                      found.st_mtim.tv_nsec, ":", found.st_ino);
}

std::string PmixInstallation(const std::string& module) {
  return absl::StrCat(PmixLibraryAt(module), " ", PmixLibraryAt("/etc/ld.so.cache"));
}

bool IsCurrentPmixPattern(const std::vector<std::string>& pattern) {
  if (pattern.empty() || !pattern.front().starts_with(kLibrary)) {
    return false;
  }
  const std::string library = pattern.front().substr(std::string_view(kLibrary).size());
  return PmixLibraryAt(library.substr(0, library.find(':'))) == library;
}

}  // namespace muster::agent
