#include "scheduler/settings/power_file.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/words.h"

namespace muster {
namespace {

constexpr std::int64_t kWattsMax = 1'000'000;
constexpr const char* kEveryNode = "ALL";

absl::Status ReadNumber(ConfigFile& file, const std::string& key, std::int64_t most,
                        std::uint32_t* number) {
  std::int64_t value = *number;
  RETURN_IF_ERROR(file.ReadInteger(key, {0, most}, &value));
  *number = static_cast<std::uint32_t>(value);
  return absl::OkStatus();
}

// The names of a host list; nothing for an empty one, and for all nodes.
absl::StatusOr<std::vector<std::string>> NamesAt(const ConfigFile& file, const std::string& key,
                                                 const std::string& list) {
  if (list.empty() || list == kEveryNode) {
    return std::vector<std::string>();
  }
  absl::StatusOr<std::vector<std::string>> names = NodeNames(list);
  return names.ok() ? std::move(names) : file.ErrorAt(key, std::string(names.status().message()));
}

absl::Status ReadNodes(ConfigFile& file, const std::string& table, PowerClass& kind) {
  RETURN_IF_ERROR(file.ReadString(table + ".nodes", &kind.nodes));
  RETURN_IF_ERROR(file.ReadString(table + ".except", &kind.except));
  if (kind.nodes.empty()) {
    return file.ErrorAt(table, "say which nodes it is about: nodes = \"n[1-8]\", or \"ALL\"");
  }
  if (kind.except == kEveryNode) {
    return file.ErrorAt(table + ".except", "is all of its nodes: leave the table out");
  }
  RETURN_IF_ERROR(NamesAt(file, table + ".nodes", kind.nodes).status());
  return NamesAt(file, table + ".except", kind.except).status();
}

absl::Status ReadProgram(ConfigFile& file, const std::string& key, std::string* program) {
  RETURN_IF_ERROR(file.ReadString(key, program));
  if (!program->empty() && program->front() != '/') {
    return file.ErrorAt(key, absl::StrCat(Quote(*program), " is no absolute path of a program"));
  }
  return absl::OkStatus();
}

absl::Status ReadTimes(ConfigFile& file, const std::string& table, PowerClass& kind) {
  RETURN_IF_ERROR(file.ReadDuration(table + ".idle", &kind.idle));
  RETURN_IF_ERROR(file.ReadDuration(table + ".suspend_timeout", &kind.suspend_time));
  RETURN_IF_ERROR(file.ReadDuration(table + ".resume_timeout", &kind.resume_timeout));
  RETURN_IF_ERROR(file.ReadDuration(table + ".boot_time", &kind.boot_time));
  if (kind.boot_time <= Duration(0)) {
    return file.ErrorAt(table + ".boot_time", "is zero: a node takes a while to boot");
  }
  if (kind.boot_time > kind.resume_timeout) {
    return file.ErrorAt(table + ".boot_time",
                        "is longer than resume_timeout, after which a node did not boot");
  }
  if (kind.suspend_time <= Duration(0)) {
    return file.ErrorAt(table + ".suspend_timeout", "is zero: a node takes a while to shut down");
  }
  return absl::OkStatus();
}

absl::Status ReadWatts(ConfigFile& file, const std::string& table, PowerClass& kind) {
  RETURN_IF_ERROR(ReadNumber(file, table + ".busy_watts", kWattsMax, &kind.busy_watts));
  RETURN_IF_ERROR(ReadNumber(file, table + ".idle_watts", kWattsMax, &kind.idle_watts));
  RETURN_IF_ERROR(ReadNumber(file, table + ".off_watts", kWattsMax, &kind.off_watts));
  const bool any = kind.busy_watts > 0 || kind.idle_watts > 0 || kind.off_watts > 0;
  if (any && (kind.busy_watts < kind.idle_watts || kind.idle_watts <= kind.off_watts)) {
    return file.ErrorAt(
        table + ".idle_watts",
        absl::StrCat("is ", kind.idle_watts, ", not above off_watts, ", kind.off_watts,
                     ", and at most busy_watts, ", kind.busy_watts, ": give all three, or none"));
  }
  return absl::OkStatus();
}

absl::Status ReadClass(ConfigFile& file, const std::string& table, PowerClass& kind) {
  RETURN_IF_ERROR(ReadNodes(file, table, kind));
  RETURN_IF_ERROR(ReadTimes(file, table, kind));
  RETURN_IF_ERROR(ReadProgram(file, table + ".suspend", &kind.suspend));
  RETURN_IF_ERROR(ReadProgram(file, table + ".resume", &kind.resume));
  RETURN_IF_ERROR(file.ReadString(table + ".user", &kind.user));
  if (kind.suspend.empty() || kind.resume.empty()) {
    return file.ErrorAt(table,
                        "give both programs: suspend, which switches its nodes off, and "
                        "resume, which switches them on");
  }
  RETURN_IF_ERROR(ReadNumber(file, table + ".keep_on", UINT32_MAX, &kind.keep_on));
  RETURN_IF_ERROR(ReadNumber(file, table + ".max_on", UINT32_MAX, &kind.most_on));
  RETURN_IF_ERROR(ReadNumber(file, table + ".rate", UINT32_MAX, &kind.rate));
  return ReadWatts(file, table, kind);
}

// A node is in one class at most.
absl::Status CheckApart(const ConfigFile& file, const std::vector<PowerClass>& classes) {
  std::map<std::string, std::string> owners;
  for (const PowerClass& kind : classes) {
    const std::string key = absl::StrCat("power.", kind.name, ".nodes");
    if (kind.nodes == kEveryNode && classes.size() > 1) {
      return file.ErrorAt(key, "\"ALL\" leaves no node for the other tables of [power]");
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesAt(file, key, kind.nodes));
    for (const std::string& name : names) {
      const auto [owner, is_new] = owners.emplace(name, kind.name);
      if (!is_new) {
        return file.ErrorAt(key, absl::StrCat(name, " is in power.", owner->second, ", too"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadPower(ConfigFile& file, SchedulerConfig& policy) {
  for (const std::string& name : file.KeysUnder("power")) {
    const std::string table = absl::StrCat("power.", name);
    if (file.KeysUnder(table).empty()) {
      return file.ErrorAt(table, "is no table: nodes that are alike have one, [power.NAME]");
    }
    PowerClass kind;
    kind.name = name;
    RETURN_IF_ERROR(ReadClass(file, table, kind));
    policy.power.push_back(std::move(kind));
  }
  return CheckApart(file, policy.power);
}

}  // namespace muster
