#include "cli/slurm/control/job_update_words.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cli/request/slurm_option_table.h"
#include "cli/request/slurm_values.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {
namespace {

constexpr const char* kRecorded = "recorded";

// A key, the option of sbatch that reads its value, and ours where sbatch has none.
struct UpdateKey {
  std::string_view key;
  const char* option;
};

constexpr UpdateKey kKeys[] = {
    {"account", "account"},
    {"admincomment", kRecorded},
    {"arraytaskthrottle", "array-throttle"},
    {"begintime", "begin"},
    {"clusterfeatures", kRecorded},
    {"comment", "comment"},
    {"contiguous", kRecorded},
    {"corespec", kRecorded},
    {"cpuspertask", "cpus-per-task"},
    {"deadline", "deadline"},
    {"delayboot", kRecorded},
    {"dependency", "dependency"},
    {"eligibletime", "begin"},
    {"excnodelist", "exclude"},
    {"extra", kRecorded},
    {"features", "constraint"},
    {"gres", "gres"},
    {"jobname", "job-name"},
    {"licenses", "licenses"},
    {"mailtype", kRecorded},
    {"mailuser", kRecorded},
    {"mincpusnode", "mincpus"},
    {"minmemorycpu", "mem-per-cpu"},
    {"minmemorynode", "mem"},
    {"mintmpdisknode", "tmp"},
    {"name", "job-name"},
    {"nice", "nice"},
    {"nodelist", "nodelist"},
    {"numnodes", "nodes"},
    {"numtasks", "ntasks"},
    {"partition", "partition"},
    {"prefer", "prefer"},
    {"qos", "qos"},
    {"reqnodelist", "nodelist"},
    {"reqnodes", "nodes"},
    {"reqsockets", "sockets-per-node"},
    {"reqtasks", "ntasks"},
    {"reservationname", "reservation"},
    {"sitefactor", kRecorded},
    {"starttime", "begin"},
    {"stderr", "error"},
    {"stdin", "input"},
    {"stdout", "output"},
    {"switches", "switches"},
    {"taskspernode", "ntasks-per-node"},
    {"threadspec", kRecorded},
    {"timelimit", "time"},
    {"timemin", "time-min"},
    {"trespernode", "gres"},
    {"wckey", kRecorded},
    {"workdir", "chdir"},
};

absl::Status Unsupported(const KeyValue& pair) {
  return absl::InvalidArgumentError(absl::StrCat("Update of this parameter is not supported: ",
                                                 pair.name, "=", pair.value, "\nRequest aborted"));
}

// As sbatch records the same.
std::string RecordedName(std::string_view key) {
  return key == "mailtype" ? "mail-type" : key == "mailuser" ? "mail-user" : std::string(key);
}

// The key, or what four letters and more of it can only mean; null: none.
const UpdateKey* FindKey(std::string_view key) {
  constexpr std::size_t kLeast = 4;
  const UpdateKey* found = nullptr;
  for (const UpdateKey& each : kKeys) {
    if (each.key == key) {
      return &each;
    }
    if (key.size() >= kLeast && each.key.starts_with(key)) {
      const bool same = found == nullptr || (std::string_view(found->option) == each.option &&
                                             std::string_view(each.option) != kRecorded);
      if (!same) {
        return nullptr;
      }
      found = &each;
    }
  }
  return found;
}

bool IsYes(const std::string& value) {
  const std::string lower = absl::AsciiStrToLower(value);
  return lower == "1" || lower == "yes" || lower == "true" || lower == "force";
}

// "+30" and the like: a limit that is moved from where it is.
bool TakeMovedLimit(const KeyValue& pair, JobUpdateWords& words) {
  const std::string& value = pair.value;
  const bool in_key = pair.key == "timelimit+" || pair.key == "timelimit-";
  const bool in_value =
      pair.key == "timelimit" && value.size() > 1 && (value[0] == '+' || value[0] == '-');
  if (in_key) {
    words.moved_limit = pair.key.back() + value;
  } else if (in_value) {
    words.moved_limit = value;
  }
  return in_key || in_value;
}

void TakePriority(const std::string& value, JobUpdateWords& words) {
  words.held = value == "0";
  if (!*words.held) {
    words.values["priority"] = absl::EqualsIgnoreCase(value, "top") ? "TOP" : value;
  }
}

// Keys whose values are no option's.
bool TakeSpecial(const KeyValue& pair, JobUpdateWords& words) {
  const std::string& key = pair.key;
  if (key == "jobid" || TakeMovedLimit(pair, words)) {
    return true;
  }
  if (key == "endtime") {
    words.end = pair.value;
  } else if (key == "resetaccruetime") {
    words.values["begin"] = "now";  // what it waited so far gives it no priority any more
  } else if (key == "numcpus" || key == "reqprocs") {
    words.cpus = pair.value;
  } else if (key == "requeue") {
    words.values[IsYes(pair.value) ? "requeue" : "no-requeue"] = "";
  } else if (key == "oversubscribe" || key == "shared") {
    // A job that shares nothing with others has whole nodes.
    words.values["exclusive"] =
        IsYes(pair.value) || absl::EqualsIgnoreCase(pair.value, "ok") ? "no" : "";
  } else if (key == "priority") {
    TakePriority(pair.value, words);
  } else {
    return false;
  }
  return true;
}

// What the value says in our words.
absl::StatusOr<std::string> ValueFor(const std::string& option, const KeyValue& pair) {
  if (pair.value.empty()) {
    return option == "nice" ? "100" : "";
  }
  const SlurmOption* slurms = FindSlurmOption(option, kSbatch);
  if (slurms == nullptr || option == "dependency") {
    return pair.value;
  }
  const std::string value = option == "gres"
                                ? absl::StrReplaceAll(pair.value, {{"gres:", ""}, {"gres/", ""}})
                                : pair.value;
  const absl::StatusOr<std::vector<OwnOption>> own = Translate(*slurms, true, value);
  if (!own.ok() || own->size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("scontrol: error: ", SlurmComplaint(*slurms, pair.value)));
  }
  return own->empty() ? "" : own->front().value;
}

}  // namespace

absl::StatusOr<JobUpdateWords> ReadJobUpdateWords(const KeyValues& pairs) {
  JobUpdateWords words;
  for (const KeyValue& pair : pairs) {
    if (TakeSpecial(pair, words)) {
      continue;
    }
    const UpdateKey* known = FindKey(pair.key);
    if (known == nullptr) {
      return Unsupported(pair);
    }
    if (known->option == kRecorded) {
      std::string& recorded = words.values[kRecorded];
      absl::StrAppend(&recorded, recorded.empty() ? "" : "\n", RecordedName(known->key), "=",
                      pair.value);
      continue;
    }
    ASSIGN_OR_RETURN(words.values[known->option], ValueFor(known->option, pair));
  }
  return words;
}

}  // namespace muster::cli::slurm
