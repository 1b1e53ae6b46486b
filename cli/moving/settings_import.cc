#include "cli/moving/settings_import.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/model/value/gres.h"

namespace muster::cli {
namespace {

// Why a key of slurm.conf has no counterpart; keys in lower case, a * at the end for all that begin
// so. The first row that fits counts.
struct KeyReason {
  const char* key;
  const char* why;
};

constexpr const char* kPlaces = "Muster's packages have places and ports of their own";
constexpr const char* kAlways = "it always does";
constexpr const char* kNoPlugins = "there are no plugins";
constexpr const char* kPower =
    "nodes are switched off and on by class: `[power.NAME]`, with the same programs";
constexpr const char* kByItself = "the daemons settle it by themselves";

constexpr KeyReason kKeyReasons[] = {
    {"slurmctldhost", "musterd runs where it is started; say `listen` and `keys`"},
    {"controlmachine", "musterd runs where it is started; say `listen` and `keys`"},
    {"backupcontroller", "musterd runs where it is started"},
    {"slurmctld*", kPlaces},
    {"slurmd*", kPlaces},
    {"slurmuser", "musterd is the user who starts it; in the package muster"},
    {"statesavelocation", kPlaces},
    {"authtype", "users are known by MUNGE or by their socket, daemons by certificates"},
    {"authinfo", "users are known by MUNGE: `munge_socket`"},
    {"authalt*", "tokens of this kind are not taken"},
    {"credtype", "daemons are known by certificates: muster-keys(1)"},
    {"selecttype*", "cores, memory and GPUs are always given one by one, as with CR_Core_Memory"},
    {"proctracktype", "jobs are always held by control groups, where there are any"},
    {"taskplugin*", "tasks are always bound, and read back"},
    {"mpidefault", "a step of several ranks has PMIx"},
    {"mpiparams", "MPI needs no reserved ports"},
    {"jobacctgather*", "usage is always measured: `sample_interval` in agent.toml"},
    {"acctgather*", "usage and energy are always measured"},
    {"accountingstorageenforce", "limits always hold; users need accounts once anybody has one"},
    {"accountingstorage*", "musterd keeps the accounting itself"},
    {"jobcomp*", "musterd keeps the accounting itself"},
    {"schedulerparameters", "the planner has no such knobs: `[policy]` backfill, reservations"},
    {"schedulertimeslice", "jobs are not time-sliced"},
    {"preempttype", "preemption follows the QOS: Preempt"},
    {"preemptparameters", "what is preempted is chosen by what it loses"},
    {"topologyparam", "placements always keep to few switches"},
    {"routeplugin", "orders go straight to each agent"},
    {"treewidth", "orders go straight to each agent"},
    {"returntoservice", "a node that was away comes back by itself"},
    {"taskprolog", "say --task-prolog to srun"},
    {"taskepilog", "say --task-epilog to srun"},
    {"srunprolog", "it runs at no place of its own"},
    {"srunepilog", "it runs at no place of its own"},
    {"prologslurmctld", "nothing runs on the controller for a job"},
    {"epilogslurmctld", "nothing runs on the controller for a job"},
    {"prologflags", "a prolog runs before the job's first process on the node"},
    {"healthcheck*", "agents check nodes themselves: `[health]`"},
    {"jobsubmitplugins", kNoPlugins},
    {"clifilterplugins", kNoPlugins},
    {"plugin*", kNoPlugins},
    {"spank*", kNoPlugins},
    {"lua*", kNoPlugins},
    {"burstbuffer*", "there are no burst buffers"},
    {"federation*", "there are no federations"},
    {"mailprog", "mail is not sent by a program of the site's"},
    {"maildomain", "mail is not sent by a program of the site's"},
    {"suspend*", kPower},
    {"resume*", kPower},
    {"reboot*", "an agent says how its node reboots: its key `reboot`"},
    {"grestypes", "agents find GPUs; give them other resources with their key gres"},
    {"maxjobcount", "only jobs of each user are bounded: `policy.submit_jobs_max`"},
    {"maxstepcount", "steps are not counted"},
    {"maxtaskspernode", "a node runs as many ranks as it has room for"},
    {"minjobage", "ended jobs are in the accounting at once"},
    {"defmem*", "a job that says nothing gets the share of the memory that its CPUs are"},
    {"maxmem*", "memory is bounded by TRES limits of a QOS: MaxTRESPerJob=mem=…"},
    {"prioritytype", "priorities have weights, or none: `[priority]`"},
    {"priorityflags", "`[priority]` has `fairshare`, `order` and `favor_small` instead"},
    {"prioritycalcperiod", kByItself},
    {"priorityusageresetperiod", "usage decays by `half_life`, and is not reset"},
    {"prioritysitefactor*", kNoPlugins},
    {"priorityweightassoc", "an account's priority is its Fairshare"},
    {"enforcepartlimits", "DenyOnLimit of a QOS refuses at once"},
    {"propagate*", "say --propagate"},
    {"usepam", "sessions of PAM are opened: `pam` in agent.toml"},
    {"inactivelimit", kByItself},
    {"messagetimeout", kByItself},
    {"batchstarttimeout", kByItself},
    {"completewait", kByItself},
    {"epilogmsgtime", kByItself},
    {"unkillable*", kByItself},
    {"waittime", "say --wait to srun"},
    {"overtimelimit", "a time limit is kept"},
    {"launch*", kByItself},
    {"debugflags", "how much is logged: $MUSTER_LOG"},
    {"logtimeformat", "how much is logged: $MUSTER_LOG"},
    {"cryptotype", "daemons are known by certificates: muster-keys(1)"},
    {"switchtype", "switches need no plugin"},
    {"kill*", kAlways},
};

std::string Lower(const std::string& text) {
  return absl::AsciiStrToLower(text);
}

const char* WhyNot(const std::string& key) {
  const auto* found =
      std::find_if(std::begin(kKeyReasons), std::end(kKeyReasons), [&key](const KeyReason& row) {
        const std::string name = row.key;
        return name.back() == '*' ? absl::StartsWith(key, name.substr(0, name.size() - 1))
                                  : key == name;
      });
  return found == std::end(kKeyReasons) ? "Muster has no such setting" : found->why;
}

// Slurm's ways to write no limit.
std::string LimitText(const std::string& value) {
  const std::string lower = Lower(value);
  return lower == "infinite" || lower == "unlimited" || value == "-1" ? "UNLIMITED" : value;
}

class SettingsImport {
 public:
  explicit SettingsImport(MovedSettings* settings) : settings_(*settings) {}

  void Take(const ConfLine& line) {
    const std::string first = Lower(line.words.front().key);
    if (first == "nodename") {
      TakeNodes(line);
    } else if (first == "partitionname") {
      TakePartition(line);
    } else if (first == "nodeset") {
      TakeNodeSet(line);
    } else if (first == "downnodes" || first == "frontendname") {
      settings_.Remark(line.place,
                       absl::StrCat(line.words.front().key, "=", line.words.front().value),
                       first == "downnodes" ? "drain them: muster drain NODE --reason TEXT"
                                            : "there are no front-end nodes");
    } else {
      for (const ConfWord& word : line.words) {
        TakeKey(line.place, word);
      }
    }
  }

 private:
  void Number(const char* section, const char* key, const std::string& place,
              const ConfWord& word) {
    std::int64_t number = 0;
    if (absl::SimpleAtoi(word.value, &number) && number >= 0) {
      settings_.SetNumber(section, key, number);
    } else {
      settings_.Remark(place, absl::StrCat(word.key, "=", word.value), "is not a whole number");
    }
  }

  // D-HH:MM, minutes and the like as seconds.
  void Period(const char* section, const char* key, const std::string& place,
              const ConfWord& word) {
    const absl::StatusOr<Duration> period = ParseTimeLimit(word.value);
    if (!period.ok()) {
      return settings_.Remark(place, absl::StrCat(word.key, "=", word.value),
                              std::string(period.status().message()));
    }
    settings_.SetText(
        section, key,
        absl::StrCat(std::chrono::duration_cast<std::chrono::seconds>(*period).count(), "s"));
  }

  void Weights(const std::string& place, const ConfWord& word) {
    const std::map<std::string, const char*> keys = {
        {"cpu", "weight_cpu"}, {"mem", "weight_mem"}, {"gres/gpu", "weight_gpu"}};
    for (const std::string& each : std::vector<std::string>(absl::StrSplit(word.value, ','))) {
      const std::vector<std::string> pair = absl::StrSplit(each, '=');
      const auto key = keys.find(Lower(pair[0]));
      if (pair.size() == 2 && key != keys.end()) {
        Number("priority", key->second, place, {word.key, pair[1]});
      } else {
        settings_.Remark(place, absl::StrCat(word.key, "=", each),
                         "priorities weigh cpu, mem and gres/gpu");
      }
    }
  }

  // NAME:COUNT or NAME=COUNT, by commas; NAME alone is one.
  void Licenses(const std::string& place, const ConfWord& word) {
    for (const std::string& each :
         std::vector<std::string>(absl::StrSplit(word.value, ',', absl::SkipEmpty()))) {
      const std::size_t mark = each.find_first_of(":=");
      std::int64_t count = 1;
      if (mark != std::string::npos && !absl::SimpleAtoi(each.substr(mark + 1), &count)) {
        settings_.Remark(place, each, "is not NAME:COUNT");
        continue;
      }
      settings_.SetNumber("licenses", each.substr(0, mark), count);
    }
  }

  // What users are not shown of one another.
  void Private(const std::string& place, const ConfWord& word) {
    const std::map<std::string, std::vector<const char*>> words = {
        {"jobs", {"jobs", "history"}},
        {"usage", {"usage"}},
        {"nodes", {"nodes"}},
        {"all", {"jobs", "history", "usage", "nodes"}}};
    for (const std::string& each :
         std::vector<std::string>(absl::StrSplit(word.value, ',', absl::SkipEmpty()))) {
      const auto known = words.find(Lower(each));
      if (known == words.end()) {
        settings_.Remark(place, absl::StrCat(word.key, "=", each),
                         "only jobs, usage and nodes can be private: `[access]`");
        continue;
      }
      for (const char* name : known->second) {
        settings_.AddName("access", "private", name);
      }
    }
  }

  // A script of the agents'.
  void Script(const char* section, const std::string& place, const ConfWord& word) {
    if (word.value.find_first_of("*?[") != std::string::npos) {
      return settings_.Remark(place, absl::StrCat(word.key, "=", word.value),
                              "an agent runs one program: name one that runs the others");
    }
    settings_.TellAgents("all", absl::StrCat("[", section, "] program = ", TomlText(word.value)));
  }

  void TakeKey(const std::string& place, const ConfWord& word) {
    using Taker = std::function<void(SettingsImport&, const std::string&, const ConfWord&)>;
    const auto number = [](const char* section, const char* key) {
      return Taker([=](SettingsImport& to, const std::string& at, const ConfWord& said) {
        to.Number(section, key, at, said);
      });
    };
    const auto period = [](const char* section, const char* key) {
      return Taker([=](SettingsImport& to, const std::string& at, const ConfWord& said) {
        to.Period(section, key, at, said);
      });
    };
    const auto script = [](const char* section) {
      return Taker([=](SettingsImport& to, const std::string& at, const ConfWord& said) {
        to.Script(section, at, said);
      });
    };
    static const std::map<std::string, Taker> kTakers = {
        {"maxarraysize", number("policy", "array_elements_max")},
        {"priorityweightage", number("priority", "weight_age")},
        {"priorityweightfairshare", number("priority", "weight_fairshare")},
        {"priorityweightjobsize", number("priority", "weight_job_size")},
        {"priorityweightpartition", number("priority", "weight_partition")},
        {"priorityweightqos", number("priority", "weight_qos")},
        {"fairsharedampeningfactor", number("priority", "damping")},
        {"prioritydecayhalflife", period("priority", "half_life")},
        {"prioritymaxage", period("priority", "max_age")},
        {"priorityweighttres", &SettingsImport::Weights},
        {"licenses", &SettingsImport::Licenses},
        {"privatedata", &SettingsImport::Private},
        {"prolog", script("prolog")},
        {"epilog", script("epilog")},
    };
    const std::string key = Lower(word.key);
    if (const auto taker = kTakers.find(key); taker != kTakers.end()) {
      taker->second(*this, place, word);
    } else if (key == "clustername") {
      settings_.SetText("", "cluster", word.value);
    } else if (key == "killwait") {
      settings_.SetText("policy", "kill_grace", word.value + "s");
    } else if (key == "schedulertype") {
      settings_.SetText("policy", "order", "priority");
      settings_.SetText("policy", "backfill",
                        Lower(word.value) == "sched/builtin" ? "none" : "hybrid");
    } else if (key == "topologyplugin") {
      settings_.Remark(place, absl::StrCat(word.key, "=", word.value),
                       "name the file: muster import … --topology topology.conf");
    } else {
      settings_.Remark(place, absl::StrCat(word.key, "=", word.value), WhyNot(key));
    }
  }

  void TakeNodeSet(const ConfLine& line) {
    std::string nodes;
    for (const ConfWord& word : line.words) {
      if (absl::EqualsIgnoreCase(word.key, "Nodes")) {
        nodes = word.value;
      }
    }
    if (nodes.empty()) {
      settings_.Remark(line.place, "NodeSet=" + line.words.front().value,
                       "a set by features: say the nodes, or --constraint");
    }
    sets_[line.words.front().value] = nodes;
  }

  // What the machine is, its agent finds out; what it is called and for, the agent is told.
  void TakeNodes(const ConfLine& line) {
    constexpr std::array kFound = {"cpus",    "sockets",         "coresPerSocket", "corespersocket",
                                   "boards",  "socketsperboard", "threadspercore", "realmemory",
                                   "tmpdisk", "procs",           "nodeaddr",       "nodehostname",
                                   "port",    "bcastaddr",       "nodename"};
    const std::string& nodes = line.words.front().value;
    std::vector<std::string> words;
    for (const ConfWord& word : line.words) {
      const std::string key = Lower(word.key);
      if (key == "feature" || key == "features") {
        const std::vector<std::string> features = absl::StrSplit(word.value, ',');
        words.push_back(absl::StrCat(
            "features = [",
            absl::StrJoin(features, ", ",
                          [](std::string* out, const auto& each) { out->append(TomlText(each)); }),
            "]"));
      } else if (key == "weight") {
        words.push_back("weight = " + word.value);
      } else if (key == "gres") {
        TakeGres(line.place, nodes, word.value, words);
      } else if (key == "state") {
        if (!absl::EqualsIgnoreCase(word.value, "UNKNOWN")) {
          settings_.Remark(line.place, absl::StrCat(nodes, ": State=", word.value),
                           "an agent that registers is up; muster drain takes it out");
        }
      } else if (std::find(kFound.begin(), kFound.end(), key) == kFound.end()) {
        settings_.Remark(line.place, absl::StrCat(nodes, ": ", word.key, "=", word.value),
                         key == "corespeccount" || key == "cpuspeclist" || key == "memspeclimit"
                             ? "no cores and no memory are kept from jobs"
                             : "nodes have no such property");
      }
    }
    if (!words.empty()) {
      settings_.TellAgents(nodes, absl::StrJoin(words, ", "));
    }
  }

  // GPUs are found; of other countable things the agent is told.
  void TakeGres(const std::string& place, const std::string& nodes, const std::string& list,
                std::vector<std::string>& words) {
    GresList counted;
    for (const std::string& each : std::vector<std::string>(absl::StrSplit(list, ','))) {
      const std::string name = each.substr(0, each.find(':'));
      const absl::StatusOr<GresList> one = ParseGresList(each);
      if (name == "mps" || name == "shard") {
        settings_.Remark(place, absl::StrCat(nodes, ": Gres=", each),
                         "parts of GPUs are asked for with --gpu-share");
      } else if (name != "gpu" && (!one.ok() || counted.size() == kGresKinds)) {
        settings_.Remark(place, absl::StrCat(nodes, ": Gres=", each),
                         one.ok() ? absl::StrCat("a node declares at most ", kGresKinds, " kinds")
                                  : "a countable thing is NAME:COUNT, without types");
      } else if (name != "gpu") {
        AddTo(counted, *one);
      }
    }
    if (!counted.empty()) {
      words.push_back(absl::StrCat("gres = ", TomlText(ToText(counted))));
    }
  }

  void TakePartition(const ConfLine& line) {
    const std::string& name = line.words.front().value;
    std::vector<ConfWord> words(line.words.begin() + 1, line.words.end());
    if (name == "DEFAULT") {
      defaults_.insert(defaults_.end(), words.begin(), words.end());
      return;
    }
    words.insert(words.begin(), defaults_.begin(), defaults_.end());
    settings_.AddTable("partition." + name);
    for (const ConfWord& word : words) {
      TakePartitionKey(line.place, name, word);
    }
  }

  void TakePartitionKey(const std::string& place, const std::string& name, const ConfWord& word) {
    const std::string key = Lower(word.key);
    std::string value = word.value;
    if (key == "nodes") {
      value = WithoutSets(value);
    } else if (key == "maxtime" || key == "defaulttime" || key == "maxnodes") {
      value = LimitText(value);
    } else if (key == "qos" || key == "allowqos" || key == "denyqos") {
      settings_.NameQos(value);
    } else if (key == "oversubscribe" || key == "shared") {
      if (Lower(value) == "exclusive") {
        return settings_.SetPolicy(PolicyKind::kPartition, name, "Exclusive", "YES", place);
      }
      if (Lower(value) != "no") {
        settings_.Remark(place, absl::StrCat(name, ": ", word.key, "=", value),
                         "no core is given to two jobs");
      }
      return;
    }
    const bool all = Lower(value) == "all" && key != "nodes";
    const bool plain = (key == "default" || key == "hidden" || key == "rootonly" ||
                        key == "disablerootjobs" || key == "lln" || key == "reqresv") &&
                       Lower(value) == "no";
    if (!all && !plain) {
      settings_.SetPolicy(PolicyKind::kPartition, name, word.key, value, place);
    }
  }

  // The list of nodes with the sets' members in place of the sets.
  [[nodiscard]] std::string WithoutSets(const std::string& nodes) const {
    std::vector<std::string> parts = absl::StrSplit(nodes, ',');
    for (std::string& part : parts) {
      const auto set = sets_.find(part);
      part = set == sets_.end() ? part : set->second;
    }
    return absl::StrJoin(parts, ",");
  }

  MovedSettings& settings_;
  std::vector<ConfWord> defaults_;           // PartitionName=DEFAULT
  std::map<std::string, std::string> sets_;  // of nodes
};

}  // namespace

void ImportSettings(const std::vector<ConfLine>& lines, MovedSettings* settings) {
  SettingsImport import(settings);
  for (const ConfLine& line : lines) {
    import.Take(line);
  }
}

}  // namespace muster::cli
