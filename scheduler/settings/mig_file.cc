#include "scheduler/settings/mig_file.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/machine/machine_check.h"

namespace muster {
namespace {

constexpr const char* kAllNodes = "ALL";
constexpr const char* kLayoutForm = R"(is no list of profiles: "3g.40gb,3g.40gb", "7*1g.10gb")";

// "1g.10gb", "1g.10gb+me", "4g.40gb-me".
bool IsProfileName(const std::string& text) {
  const std::size_t g = text.find("g.");
  return text.size() <= 64 && g != std::string::npos && g > 0 &&
         text.find("gb") != std::string::npos && absl::ascii_isdigit(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char letter) { return IsNameCharacter(letter) || letter == '+'; });
}

absl::StatusOr<MigLayout> ParseLayout(const std::string& text) {
  const auto wrong = [&text] {
    return absl::InvalidArgumentError(absl::StrCat(Quote(text), " ", kLayoutForm));
  };
  MigLayout layout;
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  for (const std::string& part : parts) {
    std::string name(absl::StripAsciiWhitespace(part));
    std::uint64_t count = 1;
    if (const std::size_t star = name.find('*'); star != std::string::npos) {
      const absl::StatusOr<std::uint64_t> times = ParseDigits(name.substr(0, star), kMigSlicesMax);
      if (!times.ok()) {
        return wrong();
      }
      count = *times;
      name = name.substr(star + 1);
    }
    if (!IsProfileName(name) || count == 0 || layout.profiles.size() + count > kMigSlicesMax) {
      return wrong();
    }
    layout.profiles.insert(layout.profiles.end(), count, name);
  }
  std::sort(layout.profiles.begin(), layout.profiles.end());
  return layout;
}

absl::Status ReadClass(ConfigFile& file, const std::string& table, MigClass& kind) {
  RETURN_IF_ERROR(file.ReadString(table + ".nodes", &kind.nodes));
  if (kind.nodes.empty()) {
    return file.ErrorAt(table, "say which nodes it is about: nodes = \"n[1-8]\", or \"ALL\"");
  }
  std::vector<std::string> layouts;
  RETURN_IF_ERROR(file.ReadStrings(table + ".layouts", &layouts));
  if (file.Has(table + ".layouts") && layouts.empty()) {
    return file.ErrorAt(table + ".layouts", "is empty: leave it out, and any layout will do");
  }
  for (const std::string& text : layouts) {
    absl::StatusOr<MigLayout> layout = ParseLayout(text);
    if (!layout.ok()) {
      return file.ErrorAt(table + ".layouts", std::string(layout.status().message()));
    }
    kind.layouts.push_back(*std::move(layout));
  }
  return absl::OkStatus();
}

// A node is in one class at most.
absl::Status CheckApart(const ConfigFile& file, const std::vector<MigClass>& classes) {
  std::map<std::string, std::string> owners;
  for (const MigClass& kind : classes) {
    const std::string key = absl::StrCat("mig.", kind.name, ".nodes");
    if (kind.nodes == kAllNodes) {
      if (classes.size() > 1) {
        return file.ErrorAt(key, "\"ALL\" leaves no node for the other tables of [mig]");
      }
      continue;
    }
    const absl::StatusOr<std::vector<std::string>> names = NodeNames(kind.nodes);
    if (!names.ok()) {
      return file.ErrorAt(key, std::string(names.status().message()));
    }
    for (const std::string& name : *names) {
      const auto [owner, is_new] = owners.emplace(name, kind.name);
      if (!is_new) {
        return file.ErrorAt(key, absl::StrCat(name, " is in mig.", owner->second, ", too"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadMig(ConfigFile& file, SchedulerConfig& policy) {
  for (const std::string& name : file.KeysUnder("mig")) {
    const std::string table = absl::StrCat("mig.", name);
    if (file.KeysUnder(table).empty()) {
      return file.ErrorAt(table, "is no table: nodes whose GPUs are divided have one, [mig.NAME]");
    }
    MigClass kind;
    kind.name = name;
    RETURN_IF_ERROR(ReadClass(file, table, kind));
    policy.mig.push_back(std::move(kind));
  }
  return CheckApart(file, policy.mig);
}

}  // namespace muster
