#include "scheduler/model/policy/policy_text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <span>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/base/text/words.h"

namespace muster {
namespace {

constexpr std::size_t kListMax = 10'000;
constexpr std::size_t kDescriptionBytesMax = 400;
constexpr std::uint32_t kNumberMax = 1'000'000'000;
constexpr std::uint32_t kNodesMax = 65536;

std::vector<std::string> CommaParts(const std::string& text) {
  return absl::StrSplit(text, ',');
}

bool IsNothing(const std::string& value) {
  return value.empty() || value == "-1" || absl::EqualsIgnoreCase(value, "unlimited");
}

// How a property of each type is read and written; "" is its default.
absl::Status Read(const std::string& value, std::uint32_t* number) {
  std::uint32_t read = 0;
  const bool digits = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
  if (!digits || !absl::SimpleAtoi(value, &read) || read > kNumberMax) {
    return BadText(value, absl::StrCat("is not a whole number from 0 to ", kNumberMax));
  }
  *number = read;
  return absl::OkStatus();
}
absl::Status Read(const std::string& value, std::optional<std::uint32_t>* number) {
  if (IsNothing(value)) {
    number->reset();
    return absl::OkStatus();
  }
  std::uint32_t read = 0;
  RETURN_IF_ERROR(Read(value, &read));
  *number = read;
  return absl::OkStatus();
}
absl::Status Read(const std::string& value, std::optional<Duration>* period) {
  if (IsNothing(value)) {
    period->reset();
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(*period, ParsePeriod(value));
  return absl::OkStatus();
}
absl::Status Read(const std::string& value, Duration* period) {
  if (IsNothing(value)) {
    *period = Duration(0);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(*period, ParsePeriod(value));
  return absl::OkStatus();
}
absl::Status Read(const std::string& value, bool* flag) {
  for (const char* yes : {"yes", "true", "1"}) {
    if (absl::EqualsIgnoreCase(value, yes)) {
      *flag = true;
      return absl::OkStatus();
    }
  }
  for (const char* no : {"no", "false", "0", ""}) {
    if (absl::EqualsIgnoreCase(value, no)) {
      *flag = false;
      return absl::OkStatus();
    }
  }
  return BadText(value, "is neither YES nor NO");
}
absl::Status Read(const std::string& value, std::vector<std::string>* names) {
  const char sign = value.empty() ? '\0' : value.front();
  const bool edit = sign == '+' || sign == '-';
  std::vector<std::string> read = edit ? *names : std::vector<std::string>();
  const std::string text = edit ? value.substr(1) : value;
  if (!text.empty() && !absl::EqualsIgnoreCase(text, "all")) {
    for (const std::string& name : CommaParts(text)) {
      RETURN_IF_ERROR(CheckPolicyName(name));
      const auto found = std::find(read.begin(), read.end(), name);
      if (sign == '-' && found != read.end()) {
        read.erase(found);
      } else if (sign != '-' && found == read.end()) {
        read.push_back(name);
      }
    }
  }
  if (read.size() > kListMax) {
    return BadText(value, "names too many");
  }
  std::sort(read.begin(), read.end());
  *names = std::move(read);
  return absl::OkStatus();
}
absl::Status Read(const std::string& value, TresList* list) {
  return MergeTres(value == "-1" ? "" : value, list);
}
absl::Status Read(const std::string& value, std::string* name) {
  if (!value.empty()) {
    RETURN_IF_ERROR(CheckPolicyName(value));
  }
  *name = value;
  return absl::OkStatus();
}
absl::Status Read(const std::string& value, Time* time) {
  ASSIGN_OR_RETURN(*time, ParseMoment(value));
  return absl::OkStatus();
}

std::string Text(std::uint32_t number) {
  return absl::StrCat(number);
}
std::string Text(const std::optional<std::uint32_t>& number) {
  return number.has_value() ? absl::StrCat(*number) : "";
}
std::string Text(const std::optional<Duration>& period) {
  return period.has_value() ? PeriodText(*period) : "";
}
std::string Text(Duration period) {
  return period.count() == 0 ? "" : PeriodText(period);
}
std::string Text(bool flag) {
  return flag ? "YES" : "";
}
std::string Text(const std::vector<std::string>& names) {
  return absl::StrJoin(names, ",");
}
std::string Text(const TresList& list) {
  return TresText(list);
}
std::string Text(const std::string& name) {
  return name;
}
std::string Text(Time time) {
  return time == kNoTime ? "" : MomentText(time);
}

// Words that stand for numbers.
struct Word {
  const char* name;
  std::uint32_t value;
};
constexpr std::array kStates = {Word{"UP", 0}, Word{"DOWN", 1}, Word{"DRAIN", 2},
                                Word{"INACTIVE", 3}};
constexpr std::array kModes = {Word{"OFF", 0}, Word{"CANCEL", 1}, Word{"REQUEUE", 2},
                               Word{"SUSPEND", 3}, Word{"CHECKPOINT", 4}};
constexpr std::array kQosFlags = {
    Word{"DenyOnLimit", kDenyOnLimit}, Word{"PartitionTimeLimit", kPartitionTimeLimit},
    Word{"PartitionMaxNodes", kPartitionMaxNodes}, Word{"PartitionMinNodes", kPartitionMinNodes}};
constexpr std::array kReservationFlags = {
    Word{"MAINT", kMaint}, Word{"FLEX", kFlex}, Word{"IGNORE_JOBS", kIgnoreJobs},
    Word{"DAILY", kDailyRepeat}, Word{"WEEKLY", kWeeklyRepeat}};

std::string Choices(std::span<const Word> words) {
  return absl::StrJoin(words, ", ", [](std::string* out, const Word& word) { *out += word.name; });
}

absl::StatusOr<std::uint32_t> ReadWord(const std::string& value, std::span<const Word> words) {
  for (const Word& word : words) {
    if (absl::EqualsIgnoreCase(value, word.name)) {
      return word.value;
    }
  }
  return BadText(value, absl::StrCat("is not one of ", Choices(words)));
}

absl::Status ReadFlags(const std::string& value, std::span<const Word> words,
                       std::uint32_t* flags) {
  const char sign = value.empty() ? '\0' : value.front();
  const bool edit = sign == '+' || sign == '-';
  const std::string text = edit ? value.substr(1) : value;
  std::uint32_t read = edit ? *flags : 0;
  if (!text.empty()) {
    for (const std::string& name : CommaParts(text)) {
      ASSIGN_OR_RETURN(const std::uint32_t flag, ReadWord(name, words));
      read = sign == '-' ? read & ~flag : read | flag;
    }
  }
  *flags = read;
  return absl::OkStatus();
}

std::string FlagsText(std::uint32_t flags, std::span<const Word> words) {
  std::vector<std::string> names;
  for (const Word& word : words) {
    if ((flags & word.value) != 0) {
      names.emplace_back(word.name);
    }
  }
  return absl::StrJoin(names, ",");
}

absl::Status ReadNodes(const std::string& value, const char* all, std::string* nodes) {
  if (absl::EqualsIgnoreCase(value, "all") || value.empty()) {
    *nodes = value.empty() ? "" : all;
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(NodeNames(value).status());
  *nodes = value;
  return absl::OkStatus();
}

absl::Status ReadShares(const std::string& value, std::uint32_t* shares) {
  if (absl::EqualsIgnoreCase(value, "parent")) {
    *shares = kSharesOfParent;
    return absl::OkStatus();
  }
  return Read(value, shares);
}

// Thousandths: "1", "0.5", "2.25".
absl::Status ReadFactor(const std::string& value, std::uint32_t* thousandths) {
  const std::vector<std::string> parts = absl::StrSplit(value, absl::MaxSplits('.', 1));
  std::string fraction = parts.size() > 1 ? parts[1] : "";
  std::uint32_t whole = 0;
  std::uint32_t rest = 0;
  if (fraction.size() > 3 || (parts.size() > 1 && fraction.empty()) ||
      !Read(parts[0], &whole).ok() || whole > 1000) {
    return BadText(value, "is not a factor: use a number from 0 to 1000, like 0.5");
  }
  fraction.resize(3, '0');
  if (!Read(fraction, &rest).ok()) {
    return BadText(value, "is not a factor: use a number from 0 to 1000, like 0.5");
  }
  *thousandths = whole * 1000 + rest;
  return absl::OkStatus();
}

std::string FactorText(std::uint32_t thousandths) {
  std::string text = absl::StrCat(thousandths / 1000);
  const std::uint32_t rest = thousandths % 1000;
  if (rest > 0) {
    std::string digits = absl::StrCat(1000 + rest).substr(1);
    digits.erase(digits.find_last_not_of('0') + 1);
    absl::StrAppend(&text, ".", digits);
  }
  return text;
}

template <class T>
struct Key {
  const char* name;
  absl::Status (*read)(const std::string& value, T& object);
  std::string (*text)(const T& object);
};

// A key of a member that its type alone says how to read.
#define MUSTER_KEY(TYPE, NAME, MEMBER)                                                        \
  Key<TYPE> {                                                                                 \
    NAME, [](const std::string& value, auto& object) { return Read(value, &object.MEMBER); }, \
        [](const auto& object) { return Text(object.MEMBER); }                                \
  }
// A key with a reader and a writer of its own.
#define MUSTER_SPECIAL(TYPE, NAME, READ, TEXT)                                         \
  Key<TYPE> {                                                                          \
    NAME, [](const std::string& value, auto& object) -> absl::Status { return READ; }, \
        []([[maybe_unused]] const auto& object) -> std::string { return TEXT; }        \
  }
#define MUSTER_LIMIT_KEYS(TYPE)                                     \
  MUSTER_KEY(TYPE, "GrpTRES", limits.grp_tres),                     \
      MUSTER_KEY(TYPE, "MaxTRESPerJob", limits.max_tres_per_job),   \
      MUSTER_KEY(TYPE, "MaxTRESPerNode", limits.max_tres_per_node), \
      MUSTER_KEY(TYPE, "GrpTRESMins", limits.grp_tres_mins),        \
      MUSTER_KEY(TYPE, "GrpJobs", limits.grp_jobs),                 \
      MUSTER_KEY(TYPE, "GrpSubmitJobs", limits.grp_submit_jobs),    \
      MUSTER_KEY(TYPE, "MaxWall", limits.max_wall), MUSTER_KEY(TYPE, "GrpWall", limits.grp_wall)

absl::Status ReadState(const std::string& value, Partition& partition) {
  ASSIGN_OR_RETURN(const std::uint32_t state, ReadWord(value.empty() ? "UP" : value, kStates));
  partition.state = static_cast<PartitionState>(state);
  return absl::OkStatus();
}
absl::Status ReadMode(const std::string& value, PreemptMode* mode) {
  ASSIGN_OR_RETURN(const std::uint32_t read, ReadWord(value.empty() ? "OFF" : value, kModes));
  *mode = static_cast<PreemptMode>(read);
  return absl::OkStatus();
}
std::string ModeText(PreemptMode mode) {
  return mode == PreemptMode::kOff ? "" : kModes[static_cast<std::size_t>(mode)].name;
}

std::span<const Key<Partition>> Keys(const Partition*) {
  static constexpr std::array kKeys = {
      MUSTER_SPECIAL(Partition, "Nodes", ReadNodes(value, "", &object.nodes), object.nodes),
      MUSTER_KEY(Partition, "Default", is_default),
      MUSTER_KEY(Partition, "DefaultTime", default_time),
      MUSTER_KEY(Partition, "MaxTime", max_time),
      MUSTER_SPECIAL(Partition, "MinNodes", Read(value.empty() ? "0" : value, &object.min_nodes),
                     object.min_nodes == 0 ? "" : Text(object.min_nodes)),
      MUSTER_KEY(Partition, "MaxNodes", max_nodes),
      MUSTER_KEY(Partition, "AllowAccounts", allow_accounts),
      MUSTER_KEY(Partition, "DenyAccounts", deny_accounts),
      MUSTER_KEY(Partition, "AllowQos", allow_qos),
      MUSTER_KEY(Partition, "DenyQos", deny_qos),
      MUSTER_SPECIAL(Partition, "PriorityJobFactor", Read(value, &object.priority_job_factor),
                     object.priority_job_factor == 1 ? "" : Text(object.priority_job_factor)),
      MUSTER_SPECIAL(Partition, "PriorityTier", Read(value, &object.priority_tier),
                     object.priority_tier == 1 ? "" : Text(object.priority_tier)),
      MUSTER_SPECIAL(Partition, "State", ReadState(value, object),
                     object.state == PartitionState::kUp
                         ? ""
                         : kStates[static_cast<std::size_t>(object.state)].name),
      MUSTER_SPECIAL(Partition, "PreemptMode", ReadMode(value, &object.preempt_mode),
                     ModeText(object.preempt_mode)),
      MUSTER_KEY(Partition, "QoS", qos),
      MUSTER_KEY(Partition, "Exclusive", exclusive)};
  return kKeys;
}

std::span<const Key<Qos>> Keys(const Qos*) {
  static constexpr std::array kKeys = {
      MUSTER_SPECIAL(Qos, "Priority", Read(value, &object.priority),
                     object.priority == 0 ? "" : Text(object.priority)),
      MUSTER_SPECIAL(Qos, "Flags", ReadFlags(value, kQosFlags, &object.flags),
                     FlagsText(object.flags, kQosFlags)),
      MUSTER_LIMIT_KEYS(Qos),
      MUSTER_KEY(Qos, "MaxTRESPerUser", limits.max_tres_per_user),
      MUSTER_KEY(Qos, "MaxTRESPerAccount", limits.max_tres_per_account),
      MUSTER_KEY(Qos, "MaxJobsPerUser", limits.max_jobs),
      MUSTER_KEY(Qos, "MaxJobsPerAccount", limits.max_jobs_per_account),
      MUSTER_KEY(Qos, "MaxSubmitJobsPerUser", limits.max_submit_jobs),
      MUSTER_KEY(Qos, "MaxSubmitJobsPerAccount", limits.max_submit_jobs_per_account),
      MUSTER_KEY(Qos, "Preempt", preempt),
      MUSTER_SPECIAL(Qos, "PreemptMode", ReadMode(value, &object.preempt_mode),
                     ModeText(object.preempt_mode)),
      MUSTER_KEY(Qos, "GraceTime", grace_time),
      MUSTER_KEY(Qos, "PreemptExemptTime", preempt_exempt_time),
      MUSTER_SPECIAL(Qos, "UsageFactor", ReadFactor(value, &object.usage_factor),
                     object.usage_factor == 1000 ? "" : FactorText(object.usage_factor))};
  return kKeys;
}

absl::Status ReadDescription(const std::string& value, std::string* text) {
  const bool control = std::any_of(value.begin(), value.end(), [](char c) {
    return absl::ascii_iscntrl(static_cast<unsigned char>(c));
  });
  if (value.size() > kDescriptionBytesMax || control) {
    return BadText(value, "is not a description: one line of at most 400 bytes");
  }
  *text = value;
  return absl::OkStatus();
}

std::string SharesText(std::uint32_t shares) {
  return shares == 1 ? "" : shares == kSharesOfParent ? "parent" : Text(shares);
}

std::span<const Key<AccountRules>> Keys(const AccountRules*) {
  static constexpr std::array kKeys = {
      MUSTER_SPECIAL(AccountRules, "Parent",
                     Read(value.empty() ? kRootAccountName : value, &object.parent),
                     object.parent == kRootAccountName ? "" : object.parent),
      MUSTER_SPECIAL(AccountRules, "Fairshare", ReadShares(value, &object.shares),
                     SharesText(object.shares)),
      MUSTER_SPECIAL(AccountRules, "Description", ReadDescription(value, &object.description),
                     object.description),
      MUSTER_KEY(AccountRules, "QOS", qos),
      MUSTER_KEY(AccountRules, "DefaultQOS", default_qos),
      MUSTER_LIMIT_KEYS(AccountRules),
      MUSTER_KEY(AccountRules, "MaxJobs", limits.max_jobs),
      MUSTER_KEY(AccountRules, "MaxSubmitJobs", limits.max_submit_jobs)};
  return kKeys;
}

std::span<const Key<AssociationRules>> Keys(const AssociationRules*) {
  static constexpr std::array kKeys = {
      MUSTER_SPECIAL(AssociationRules, "Fairshare", ReadShares(value, &object.shares),
                     SharesText(object.shares)),
      MUSTER_KEY(AssociationRules, "DefaultAccount", is_default),
      MUSTER_KEY(AssociationRules, "QOS", qos),
      MUSTER_KEY(AssociationRules, "DefaultQOS", default_qos),
      MUSTER_LIMIT_KEYS(AssociationRules),
      MUSTER_KEY(AssociationRules, "MaxJobs", limits.max_jobs),
      MUSTER_KEY(AssociationRules, "MaxSubmitJobs", limits.max_submit_jobs)};
  return kKeys;
}

// An end by its distance from the start, which must be said before it.
absl::Status ReadReservationLength(const std::string& value, Reservation& reservation) {
  ASSIGN_OR_RETURN(const Duration length, ParsePeriod(value));
  if (reservation.start == kNoTime) {
    return BadText(value, "has no start: say StartTime before Duration");
  }
  reservation.end = reservation.start + length;
  return absl::OkStatus();
}

absl::Status ReadNodeCount(const std::string& value, Reservation& reservation) {
  RETURN_IF_ERROR(Read(value, &reservation.node_count));
  if (reservation.node_count == 0 || reservation.node_count > kNodesMax) {
    return BadText(value, "is not a number of nodes");
  }
  reservation.nodes.clear();
  return absl::OkStatus();
}

std::span<const Key<Reservation>> Keys(const Reservation*) {
  static constexpr std::array kKeys = {
      MUSTER_KEY(Reservation, "StartTime", start),
      MUSTER_KEY(Reservation, "EndTime", end),
      MUSTER_SPECIAL(Reservation, "Duration", ReadReservationLength(value, object), ""),
      MUSTER_SPECIAL(Reservation, "NodeCnt", ReadNodeCount(value, object),
                     object.node_count == 0 ? "" : Text(object.node_count)),
      MUSTER_SPECIAL(Reservation, "Nodes", ReadNodes(value, "ALL", &object.nodes), object.nodes),
      MUSTER_KEY(Reservation, "Users", users),
      MUSTER_KEY(Reservation, "Accounts", accounts),
      MUSTER_SPECIAL(Reservation, "Flags", ReadFlags(value, kReservationFlags, &object.flags),
                     FlagsText(object.flags, kReservationFlags))};
  return kKeys;
}

#undef MUSTER_LIMIT_KEYS
#undef MUSTER_SPECIAL
#undef MUSTER_KEY

// Slurm's other names of some keys.
constexpr std::array<std::pair<const char*, const char*>, 12> kAliases = {
    {{"maxtres", "maxtresperjob"},
     {"grpsubmit", "grpsubmitjobs"},
     {"maxsubmit", "maxsubmitjobs"},
     {"maxwalldurationperjob", "maxwall"},
     {"shares", "fairshare"},
     {"maxjobspu", "maxjobsperuser"},
     {"maxjobspa", "maxjobsperaccount"},
     {"maxtrespu", "maxtresperuser"},
     {"maxtrespa", "maxtresperaccount"},
     {"maxsubmitjobspu", "maxsubmitjobsperuser"},
     {"user", "users"},
     {"account", "accounts"}}};

std::string Folded(const std::string& key) {
  std::string folded;
  for (const char c : key) {
    if (c != '_') {
      folded += absl::ascii_tolower(static_cast<unsigned char>(c));
    }
  }
  return folded;
}

template <class T>
const Key<T>* FindKey(std::span<const Key<T>> keys, const std::string& written) {
  std::string wanted = Folded(written);
  for (const auto& [alias, name] : kAliases) {
    if (wanted == alias) {
      wanted = name;
      break;
    }
  }
  // MaxJobs of a QOS is a user's.
  for (const std::string& name : {wanted, wanted + "peruser"}) {
    for (const Key<T>& key : keys) {
      if (Folded(key.name) == name) {
        return &key;
      }
    }
  }
  return nullptr;
}

}  // namespace

absl::Status CheckPolicyName(const std::string& name) {
  const bool good = std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-' ||
           c == '@';
  });
  if (name.empty() || name.size() > kPolicyNameBytesMax || !good || name.front() == '-') {
    return BadText(name, "is not a name: use 1 to 64 letters, digits, and . _ - @");
  }
  return absl::OkStatus();
}

absl::Status Assign(PolicyObject& object, const Assignment& assignment) {
  return std::visit(
      [&](auto& held) -> absl::Status {
        const auto* key = FindKey(Keys(&held), assignment.key);
        if (key == nullptr) {
          return absl::InvalidArgumentError(
              absl::StrCat(absl::CHexEscape(assignment.key.substr(0, 80)), ": no such key of ",
                           muster::Name(KindOf(object)), "; there are ",
                           absl::StrJoin(PolicyKeys(KindOf(object)), ", ")));
        }
        auto changed = held;
        const absl::Status status = key->read(assignment.value, changed);
        if (!status.ok()) {
          return absl::InvalidArgumentError(
              absl::StrCat(key->name, ": ", std::string(status.message())));
        }
        held = std::move(changed);
        return absl::OkStatus();
      },
      object);
}

std::vector<Assignment> Describe(const PolicyObject& object) {
  std::vector<Assignment> said;
  std::visit(
      [&](const auto& held) {
        for (const auto& key : Keys(&held)) {
          std::string text = key.text(held);
          if (!text.empty()) {
            said.push_back(Assignment{key.name, std::move(text)});
          }
        }
      },
      object);
  return said;
}

std::string DescribeChange(const PolicyObject& before, const PolicyObject& after) {
  const std::vector<Assignment> old_lines = Describe(before);
  const std::vector<Assignment> new_lines = Describe(after);
  const auto value_in = [](const std::vector<Assignment>& lines, const std::string& key) {
    const auto found = std::find_if(lines.begin(), lines.end(),
                                    [&](const Assignment& line) { return line.key == key; });
    return found == lines.end() ? std::string() : found->value;
  };
  std::string text;
  for (const std::string& key : PolicyKeys(KindOf(after))) {
    const std::string was = value_in(old_lines, key);
    const std::string is = value_in(new_lines, key);
    if (was != is) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", key, "=", is);
      if (!was.empty()) {
        absl::StrAppend(&text, " (was ", was, ")");
      }
    }
  }
  return text;
}

std::string PolicyKey(PolicyKind kind, const std::string& written) {
  return std::visit(
      [&](const auto& held) -> std::string {
        const auto* key = FindKey(Keys(&held), written);
        return key == nullptr ? "" : key->name;
      },
      MakePolicyObject(kind, "x"));
}

std::vector<Assignment> InTableOrder(PolicyKind kind, std::vector<Assignment> assignments) {
  const std::vector<std::string> keys = PolicyKeys(kind);
  const auto place = [&](const Assignment& said) {
    return std::find(keys.begin(), keys.end(), PolicyKey(kind, said.key)) - keys.begin();
  };
  std::stable_sort(assignments.begin(), assignments.end(),
                   [&](const Assignment& a, const Assignment& b) { return place(a) < place(b); });
  return assignments;
}

std::vector<std::string> PolicyKeys(PolicyKind kind) {
  std::vector<std::string> names;
  std::visit(
      [&](const auto& held) {
        for (const auto& key : Keys(&held)) {
          names.emplace_back(key.name);
        }
      },
      MakePolicyObject(kind, "x"));
  return names;
}

}  // namespace muster
