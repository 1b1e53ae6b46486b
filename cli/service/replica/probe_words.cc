#include "cli/service/replica/probe_words.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr const char* kHttp = "http:";
constexpr std::size_t kPathBytesMax = 1'024;
constexpr std::size_t kPortNameBytesMax = 32;
constexpr std::size_t kPortsMost = 16;
constexpr Duration kIntervalLeast = std::chrono::milliseconds(100);

bool IsPath(const std::string& path) {
  return !path.empty() && path.front() == '/' && path.size() <= kPathBytesMax &&
         std::all_of(path.begin(), path.end(), [](char c) { return absl::ascii_isgraph(c); });
}

bool IsPortName(const std::string& name) {
  return IsPlainName(name, kPortNameBytesMax) && absl::ascii_isalpha(name.front()) &&
         name.find('.') == std::string::npos;
}

}  // namespace

absl::StatusOr<ServiceProbe> ParseProbe(const std::string& text) {
  ServiceProbe probe;
  const std::size_t comma = text.rfind(',');
  const std::string what = text.substr(0, comma);
  if (comma != std::string::npos) {
    const auto interval = ParseDuration(text.substr(comma + 1));
    if (!interval.ok() || *interval < kIntervalLeast) {
      return absl::InvalidArgumentError(absl::StrCat("--probe: ", Quote(text.substr(comma + 1)),
                                                     " is no interval: use one like 30s"));
    }
    probe.interval = *interval;
  }
  if (what == "tcp") {
    return probe;
  }
  const bool http = absl::StartsWith(what, kHttp);
  probe.kind = ProbeKind::kHttp;
  probe.path = http ? what.substr(std::string(kHttp).size()) : "";
  if (!IsPath(probe.path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--probe: ", Quote(text), " is no probe: use one like http:/health,30s or tcp,10s"));
  }
  return probe;
}

absl::StatusOr<std::vector<std::string>> ParsePortNames(const std::string& text) {
  std::vector<std::string> names = absl::StrSplit(text, ',');
  std::set<std::string> variables;
  for (const std::string& name : names) {
    if (!IsPortName(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--port: ", Quote(name), " is no name of a port: use words like http,metrics"));
    }
    if (!variables.insert(PortVariable(name)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("--port: ", Quote(name), " is there twice: ", PortVariable(name)));
    }
  }
  if (names.size() > kPortsMost) {
    return absl::InvalidArgumentError(
        absl::StrCat("--port: ", names.size(), " ports; a service has at most ", kPortsMost));
  }
  return names;
}

std::string PortVariable(const std::string& port) {
  return absl::StrCat("MUSTER_PORT_",
                      absl::AsciiStrToUpper(absl::StrReplaceAll(port, {{"-", "_"}})));
}

}  // namespace muster::cli
