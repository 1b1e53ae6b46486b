// The records of licences, associations and QOS.
#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/slurm/control/record_text.h"
#include "cli/slurm/control/records.h"
#include "cli/slurm/frame/people.h"
#include "cli/slurm/nodes/node_words.h"
#include "scheduler/base/contains.h"

namespace muster::cli::slurm {
namespace {

constexpr const char* kCounted[] = {"cpu", "mem", "node", "gres/gpu"};

// "cpu=8,mem=4G" by name.
std::map<std::string, std::string> AmountsIn(const std::string& text) {
  std::map<std::string, std::string> amounts;
  for (const auto piece : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> amount =
        absl::StrSplit(piece, absl::MaxSplits('=', 1));
    amounts.insert(amount);
  }
  return amounts;
}

// "N(3)" of what has no limit, "8(3)" of what has one.
std::string Limit(const std::string& limit, const std::string& used) {
  return absl::StrCat(limit.empty() ? "N" : limit, "(", used.empty() ? "0" : used, ")");
}

std::string Limits(const std::string& limits, const std::string& used) {
  std::map<std::string, std::string> of = AmountsIn(limits);
  std::map<std::string, std::string> now = AmountsIn(used);
  std::vector<std::string> words;
  for (const char* name : kCounted) {
    words.push_back(absl::StrCat(name, "=", Limit(of[name], now[name])));
  }
  return absl::StrJoin(words, ",");
}

// The words of all limits of a group, and what of each is used.
std::vector<std::string> GroupLimits(const PolicyView& object) {
  const auto limit = [&object](const char* name) { return Property(object, name, ""); };
  return {absl::StrCat(
              "GrpJobs=", Limit(limit("GrpJobs"), absl::StrCat(object.jobs_running)),
              " GrpSubmitJobs=", Limit(limit("GrpSubmitJobs"), absl::StrCat(object.jobs_submitted)),
              " GrpWall=", Limit(limit("GrpWall"), AmountsIn(object.spent)["wall"])),
          absl::StrCat("GrpTRES=", Limits(limit("GrpTRES"), object.held)),
          absl::StrCat("GrpTRESMins=", Limits(limit("GrpTRESMins"), object.spent)),
          absl::StrCat("GrpTRESRunMins=", limit("GrpTRESRunMins"))};
}

// "NAME=value NAME=value" of limits that nothing is counted against; a limit that is not set has no
// value.
std::string LimitWords(const PolicyView& object, std::initializer_list<const char*> names) {
  std::vector<std::string> words;
  for (const char* name : names) {
    words.push_back(absl::StrCat(name, "=", Property(object, name, "")));
  }
  return absl::StrJoin(words, " ");
}

std::string WithNumber(const std::string& user) {
  const std::optional<std::uint32_t> number = UserNumber(user);
  return absl::StrCat(user, "(", number.has_value() ? absl::StrCat(*number) : "", ")");
}

std::pair<std::string, std::string> AccountAndUser(const PolicyView& object) {
  return object.kind == "account" ? std::pair(object.name, std::string())
                                  : absl::StrSplit(object.name, absl::MaxSplits('/', 1));
}

std::string Users(const std::vector<PolicyView>& objects, const AssociationFilter& filter) {
  std::map<std::string, std::string> accounts;
  for (const PolicyView& object : objects) {
    const auto [account, user] = AccountAndUser(object);
    if (object.kind != "association" || !Admits(filter.users, user)) {
      continue;
    }
    std::string& first = accounts[user];
    if (first.empty() || absl::EqualsIgnoreCase(Property(object, "DefaultAccount", ""), "yes")) {
      first = account;
    }
  }
  std::string text = "\nUser Records\n\n";
  for (const auto& [user, account] : accounts) {
    absl::StrAppend(&text, "UserName=", WithNumber(user), " DefAccount=", account,
                    " DefWckey= AdminLevel=None\n");
  }
  return accounts.empty() ? "\nNo users currently cached in Slurm.\n" : text;
}

std::string Associations(const std::vector<PolicyView>& objects, const std::string& cluster,
                         const AssociationFilter& filter, const RecordScene& scene) {
  std::string text;
  for (const PolicyView& object : objects) {
    const auto [account, user] = AccountAndUser(object);
    if ((object.kind != "account" && object.kind != "association") ||
        !Admits(filter.accounts, account) || !Admits(filter.users, user)) {
      continue;
    }
    std::vector<std::string> lines = {
        absl::StrCat("ClusterName=", cluster, " Account=", account,
                     " UserName=", user.empty() ? "" : WithNumber(user), " Partition= Priority=0"),
        absl::StrCat(
            "SharesRaw=", Property(object, "Fairshare", "1"), " ParentAccount=",
            user.empty() ? Property(object, "Parent", account == "root" ? "" : "root") : account)};
    for (std::string& line : GroupLimits(object)) {
      lines.push_back(std::move(line));
    }
    lines.push_back(LimitWords(object, {"MaxJobs", "MaxSubmitJobs", "MaxWall"}));
    lines.push_back(LimitWords(object, {"MaxTRESPerJob", "MaxTRESPerNode", "MaxTRESMins"}));
    lines.push_back(LimitWords(object, {"QOS", "DefaultQOS"}));
    text += JoinRecord(lines, scene.one_line);
  }
  return text.empty() ? "\nNo associations currently cached in Slurm.\n"
                      : absl::StrCat("\nAssociation Records\n\n", text);
}

std::string QualityRecords(const std::vector<PolicyView>& objects, const AssociationFilter& filter,
                           const RecordScene& scene) {
  std::string text;
  for (const PolicyView& object : objects) {
    if (object.kind != "qos" || !Admits(filter.qos, object.name)) {
      continue;
    }
    std::vector<std::string> lines = {absl::StrCat("QOS=", object.name)};
    for (std::string& line : GroupLimits(object)) {
      lines.push_back(std::move(line));
    }
    lines.push_back(
        LimitWords(object, {"MaxWall", "MaxTRESPerJob", "MaxTRESPerNode", "MaxTRESMins"}));
    lines.push_back(
        LimitWords(object, {"MaxJobsPerUser", "MaxSubmitJobsPerUser", "MaxTRESPerUser"}));
    lines.push_back(
        LimitWords(object, {"MaxJobsPerAccount", "MaxSubmitJobsPerAccount", "MaxTRESPerAccount"}));
    text += JoinRecord(lines, scene.one_line);
  }
  return text.empty() ? "\nNo QOS currently cached in Slurm.\n"
                      : absl::StrCat("\nQOS Records\n\n", text);
}

}  // namespace

std::string LicenseRecord(const LicenseState& license, const RecordScene& scene) {
  const std::uint64_t free = license.total - std::min(license.total, license.used);
  return absl::StrCat("LicenseName=", license.name, scene.one_line ? " " : "\n    ",
                      "Total=", license.total, " Used=", license.used, " Free=", free,
                      " Reserved=0 Remote=no\n");
}

std::string AssociationPage(const std::vector<PolicyView>& objects, const std::string& cluster,
                            const AssociationFilter& filter, const RecordScene& scene) {
  std::string page = "Current Association Manager state\n";
  if (Admits(filter.parts, "users")) {
    page += Users(objects, filter);
  }
  if (Admits(filter.parts, "assoc")) {
    page += Associations(objects, cluster, filter, scene);
  }
  if (Admits(filter.parts, "qos")) {
    page += QualityRecords(objects, filter, scene);
  }
  return page;
}

}  // namespace muster::cli::slurm
