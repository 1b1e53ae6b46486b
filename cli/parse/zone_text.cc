#include "cli/parse/zone_text.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/base/text/zone_rule.h"

namespace muster::cli {
namespace {

// The last line of a file of the database; empty: it has none.
std::string RuleIn(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string table{std::istreambuf_iterator<char>(file), {}};
  const std::size_t end = table.size() < 2 ? 0 : table.size() - 1;
  const std::size_t begin =
      end == 0 || table[end] != '\n' ? table.npos : table.rfind('\n', end - 1);
  return !absl::StartsWith(table, "TZif") || begin == table.npos
             ? ""
             : table.substr(begin + 1, end - begin - 1);
}

std::string FileOf(const std::string& zone) {
  const char* const directory = std::getenv("TZDIR");  // NOLINT(concurrency-mt-unsafe): only read
  return zone == "localtime"
             ? "/etc/localtime"
             : absl::StrCat(directory == nullptr ? "/usr/share/zoneinfo" : directory, "/", zone);
}

}  // namespace

std::string ZoneText(absl::TimeZone zone, Time now) {
  std::string rule = RuleIn(FileOf(zone.name()));
  if (ZoneRule::Parse(rule).ok()) {
    return rule;
  }
  const int east = zone.At(absl::FromChrono(now)).offset;
  const int size = std::abs(east);
  return absl::StrFormat("<%c%02d%02d>%s%d:%02d:%02d", east < 0 ? '-' : '+', size / 3600,
                         size / 60 % 60, east > 0 ? "-" : "", size / 3600, size / 60 % 60,
                         size % 60);
}

}  // namespace muster::cli
