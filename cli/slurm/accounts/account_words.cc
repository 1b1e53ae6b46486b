#include "cli/slurm/accounts/account_words.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/base/status.h"
#include "scheduler/model/policy/policy_text.h"

namespace muster::cli::slurm {
namespace {

struct CommandWord {
  const char* name;
  std::size_t least;  // letters that are enough
  ManagerVerb verb;
};
constexpr std::array kVerbs = {
    CommandWord{"add", 1, ManagerVerb::kAdd},       CommandWord{"create", 2, ManagerVerb::kAdd},
    CommandWord{"modify", 1, ManagerVerb::kModify}, CommandWord{"update", 1, ManagerVerb::kModify},
    CommandWord{"delete", 3, ManagerVerb::kDelete}, CommandWord{"remove", 3, ManagerVerb::kDelete}};

struct KindWord {
  const char* name;
  ManagedKind kind;
};
constexpr std::array kKinds = {KindWord{"accounts", ManagedKind::kAccount},
                               KindWord{"users", ManagedKind::kUser},
                               KindWord{"qos", ManagedKind::kQos}};

// Slurm's keys that Muster's policy knows by another name, or as one amount of a list.
struct Renamed {
  const char* name;    // in lower case
  std::size_t least;   // letters that are enough
  const char* key;     // "": nothing here depends on it
  const char* amount;  // what stands before the value: "cpu="
};
constexpr std::array kRenamed = {
    Renamed{"description", 3, "Description", ""},
    Renamed{"organization", 1, "", ""},
    Renamed{"email", 2, "", ""},
    Renamed{"parents", 2, "Parent", ""},
    Renamed{"fairshare", 1, "Fairshare", ""},
    Renamed{"shares", 1, "Fairshare", ""},
    Renamed{"qoslevel", 1, "QOS", ""},
    Renamed{"defaultqos", 8, "DefaultQOS", ""},
    Renamed{"rawusage", 4, "RawUsage", ""},
    Renamed{"grpcpus", 7, "GrpTRES", "cpu="},
    Renamed{"grpnodes", 4, "GrpTRES", "node="},
    Renamed{"grpmemory", 4, "GrpTRES", "mem="},
    Renamed{"grpcpumins", 8, "GrpTRESMins", "cpu="},
    Renamed{"maxcpusperjob", 7, "MaxTRESPerJob", "cpu="},
    Renamed{"maxnodesperjob", 4, "MaxTRESPerJob", "node="},
    Renamed{"maxcpusperuser", 11, "MaxTRESPerUser", "cpu="},
    Renamed{"maxnodesperuser", 12, "MaxTRESPerUser", "node="},
    Renamed{"maxwalldurationperjob", 4, "MaxWall", ""},
    Renamed{"maxtresperjob", 7, "MaxTRESPerJob", ""},
    Renamed{"maxtrespernode", 11, "MaxTRESPerNode", ""},
    Renamed{"maxtresperuser", 11, "MaxTRESPerUser", ""},
    Renamed{"maxtrespu", 9, "MaxTRESPerUser", ""},
    Renamed{"maxtresperaccount", 11, "MaxTRESPerAccount", ""},
    Renamed{"maxtrespa", 9, "MaxTRESPerAccount", ""},
    Renamed{"maxsubmitjobs", 4, "MaxSubmitJobs", ""},
    Renamed{"grpsubmitjobs", 4, "GrpSubmitJobs", ""},
};

// A word "KEY=VALUE", "KEY+=VALUE" or NAME.
struct KeyWord {
  std::string key;    // in lower case; empty of a name
  std::string value;  // with the sign in front
};

KeyWord Split(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) {
    return {"", word};
  }
  const char sign = equals > 0 ? word[equals - 1] : '\0';
  const bool edits = sign == '+' || sign == '-';
  return {absl::AsciiStrToLower(word.substr(0, equals - (edits ? 1 : 0))),
          absl::StrCat(edits ? std::string(1, sign) : "", word.substr(equals + 1))};
}

bool IsBeginning(const std::string& key, const char* name, std::size_t least) {
  return key.size() >= least && absl::StartsWith(name, key);
}

PolicyKind PolicyOf(ManagedKind kind) {
  return kind == ManagedKind::kAccount ? PolicyKind::kAccount
         : kind == ManagedKind::kUser  ? PolicyKind::kAssociation
                                       : PolicyKind::kQos;
}

void AddNames(const std::string& value, std::vector<std::string>* names) {
  for (const std::string& name : SplitCommas(value)) {
    if (std::find(names->begin(), names->end(), name) == names->end()) {
      names->push_back(name);
    }
  }
}

class RequestReader {
 public:
  explicit RequestReader(ManagerVerb verb) { request_.verb = verb; }

  absl::StatusOr<ManagerRequest> Read(const std::vector<std::string>& words) {
    RETURN_IF_ERROR(ReadKind(words));
    sets_ = request_.verb == ManagerVerb::kAdd;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string lower = absl::AsciiStrToLower(words[i]);
      if (lower == "where" || lower == "set") {
        sets_ = request_.verb == ManagerVerb::kAdd || lower == "set";
        said_set_ = said_set_ || lower == "set";
      } else {
        RETURN_IF_ERROR(Take(Split(words[i]), words[i]));
      }
    }
    RETURN_IF_ERROR(CheckWhole());
    return std::move(request_);
  }

 private:
  absl::Status ReadKind(const std::vector<std::string>& words) {
    const std::string word = words.empty() ? "" : absl::AsciiStrToLower(words.front());
    for (const KindWord& kind : kKinds) {
      if (!word.empty() &&
          (IsBeginning(word, kind.name, 2) || (word == "u" && *kind.name == 'u'))) {
        request_.kind = kind.kind;
        return absl::OkStatus();
      }
    }
    const char* const verb = request_.verb == ManagerVerb::kAdd      ? "add"
                             : request_.verb == ManagerVerb::kModify ? "modify"
                                                                     : "delete";
    return absl::InvalidArgumentError(
        absl::StrCat("No valid entity in ", verb,
                     " command\nInput line must include \"Account\", \"QOS\" or \"User\""));
  }

  // What a name or a condition is about; false when `said` is none.
  bool TakeChoice(const KeyWord& said) {
    const bool of_user = request_.kind == ManagedKind::kUser;
    const bool of_account = request_.kind == ManagedKind::kAccount;
    if (said.key.empty() || IsBeginning(said.key, "names", 1) ||
        (of_user && IsBeginning(said.key, "users", 1)) ||
        (of_account && IsBeginning(said.key, "accounts", 2)) ||
        (request_.kind == ManagedKind::kQos && said.key == "qos")) {
      AddNames(said.value, &request_.names);
    } else if (of_user && IsBeginning(said.key, "accounts", 2)) {
      AddNames(said.value, &request_.accounts);
    } else if (IsBeginning(said.key, "clusters", 2)) {
      AddNames(said.value, &request_.clusters);
    } else {
      return false;
    }
    return true;
  }

  absl::Status Take(const KeyWord& said, const std::string& word) {
    const bool adds = request_.verb == ManagerVerb::kAdd;
    if ((!sets_ || adds) && TakeChoice(said)) {
      return absl::OkStatus();
    }
    if (!sets_ || said.key.empty()) {
      return Unknown(word);
    }
    if (request_.kind == ManagedKind::kUser && IsBeginning(said.key, "defaultaccount", 8)) {
      request_.default_account = said.value;
      return absl::OkStatus();
    }
    if (IsBeginning(said.key, "adminlevel", 2)) {
      return TakeAdminLevel(said.value);
    }
    return TakeSetting(said, word);
  }

  absl::Status TakeAdminLevel(const std::string& level) {
    if (absl::EqualsIgnoreCase(level, "none") || level.empty()) {
      request_.recorded_only = true;
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat(" AdminLevel=", level,
                     ": operators and administrators are named in Muster's configuration"));
  }

  absl::Status TakeSetting(const KeyWord& said, const std::string& word) {
    const auto* const renamed = std::find_if(
        kRenamed.begin(), kRenamed.end(),
        [&said](const Renamed& each) { return IsBeginning(said.key, each.name, each.least); });
    const PolicyKind kind = PolicyOf(request_.kind);
    std::string key = PolicyKey(kind, said.key);
    std::string value = said.value;
    if (key.empty() && renamed != kRenamed.end()) {
      if (*renamed->key == '\0') {
        request_.recorded_only = true;
        return absl::OkStatus();
      }
      key = std::string(renamed->key) == "RawUsage" ? renamed->key : PolicyKey(kind, renamed->key);
      value = absl::StrCat(renamed->amount, said.value);
    }
    if (key.empty()) {
      return Unknown(word);
    }
    PolicyObject probe = MakePolicyObject(kind, "name");
    if (key != "RawUsage" && !Assign(probe, {key, value}).ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("sacctmgr: error: Invalid value for ", key, " (", said.value, ")"));
    }
    request_.settings.push_back({key, value});
    return absl::OkStatus();
  }

  [[nodiscard]] absl::Status Unknown(const std::string& word) const {
    return absl::InvalidArgumentError(
        sets_
            ? absl::StrCat(" Unknown option: ", word, "\n Use keyword 'where' to modify condition")
            : absl::StrCat(" Unknown condition: ", word, "\n Use keyword 'set' to modify value"));
  }

  [[nodiscard]] absl::Status CheckWhole() const {
    const bool modifies = request_.verb == ManagerVerb::kModify;
    const bool says_nothing =
        request_.settings.empty() && request_.default_account.empty() && !request_.recorded_only;
    if (modifies && (!said_set_ || says_nothing)) {
      return absl::InvalidArgumentError(" You didn't give me anything to set");
    }
    if (request_.names.empty() && !modifies) {
      const char* const what = request_.kind == ManagedKind::kAccount ? "account"
                               : request_.kind == ManagedKind::kUser  ? "user"
                                                                      : "qos";
      return absl::InvalidArgumentError(request_.verb == ManagerVerb::kAdd
                                            ? absl::StrCat(" Need name of ", what, " to add.")
                                            : " No conditions given to remove, not executing.");
    }
    return absl::OkStatus();
  }

  ManagerRequest request_;
  bool sets_ = false;  // what comes is a setting
  bool said_set_ = false;
};

}  // namespace

bool ReadManagerVerb(std::string_view word, ManagerVerb* verb) {
  const std::string lower = absl::AsciiStrToLower(std::string(word));
  const auto* const found = std::find_if(
      kVerbs.begin(), kVerbs.end(),
      [&lower](const CommandWord& each) { return IsBeginning(lower, each.name, each.least); });
  if (found == kVerbs.end()) {
    return false;
  }
  *verb = found->verb;
  return true;
}

absl::StatusOr<ManagerRequest> ReadManagerRequest(ManagerVerb verb,
                                                  const std::vector<std::string>& words) {
  return RequestReader(verb).Read(words);
}

}  // namespace muster::cli::slurm
