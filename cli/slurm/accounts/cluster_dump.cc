#include "cli/slurm/accounts/cluster_dump.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cli/slurm/accounts/policy_rows.h"
#include "scheduler/model/policy/account_rules.h"

namespace muster::cli::slurm {
namespace {

constexpr std::size_t kDepthMax = 64;  // as deep as a tree may be

// "'a,b'": nothing that ends the quotes.
std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "_"}}), "'");
}

bool IsWord(const std::string& key) {
  return key == "QOS" || key == "DefaultQOS" || key == "Description";
}

// ":KEY=VALUE" of everything that is said, shares always.
std::string Settings(const PolicyView& object) {
  const std::string& shares = PolicyProperty(object, "Fairshare");
  std::string text = absl::StrCat(":Fairshare=", shares.empty() ? "1" : shares);
  for (const Assignment& said : object.properties) {
    if (said.key != "Parent" && said.key != "Fairshare" && said.key != "DefaultAccount" &&
        said.key != "Description") {
      absl::StrAppend(&text, ":", said.key, "=",
                      IsWord(said.key) ? Quoted(said.value) : said.value);
    }
  }
  return text;
}

class Dump {
 public:
  explicit Dump(const std::vector<PolicyView>& objects) : objects_(objects) {}

  std::string Below(const std::string& account, std::size_t depth) {
    std::string text = Children(account);
    if (!text.empty()) {
      text = absl::StrCat("Parent - ", Quoted(account), "\n", text);
    }
    for (const PolicyView& object : objects_) {
      if (depth < kDepthMax && IsChild(object, account)) {
        text += Below(object.name, depth + 1);
      }
    }
    return text;
  }

 private:
  static bool IsChild(const PolicyView& object, const std::string& account) {
    const std::string& parent = PolicyProperty(object, "Parent");
    return object.kind == "account" && object.name != kRootAccountName &&
           (parent.empty() ? kRootAccountName : parent) == account;
  }

  [[nodiscard]] std::string DefaultOf(const std::string& user) const {
    for (const PolicyView& object : objects_) {
      if (object.kind == "association" && PartsOf(object).user == user &&
          PolicyProperty(object, "DefaultAccount") == "YES") {
        return PartsOf(object).account;
      }
    }
    return "(null)";
  }

  [[nodiscard]] std::string Children(const std::string& account) const {
    std::string text;
    for (const PolicyView& object : objects_) {
      const AssociationParts parts = PartsOf(object);
      if (object.kind == "association" && parts.account == account) {
        absl::StrAppend(&text, "User - ", Quoted(parts.user),
                        ":DefaultAccount=", Quoted(DefaultOf(parts.user)), Settings(object), "\n");
      }
    }
    for (const PolicyView& object : objects_) {
      if (IsChild(object, account)) {
        absl::StrAppend(&text, "Account - ", Quoted(object.name),
                        ":Description=", Quoted(PolicyProperty(object, "Description")),
                        Settings(object), "\n");
      }
    }
    return text;
  }

  const std::vector<PolicyView>& objects_;
};

}  // namespace

std::string ClusterDump(const std::vector<PolicyView>& objects, const std::string& cluster) {
  const auto root = std::find_if(objects.begin(), objects.end(), [](const PolicyView& object) {
    return object.kind == "account" && object.name == kRootAccountName;
  });
  return absl::StrCat("# The accounts of this cluster, as Slurm's dumps are written.\nCluster - ",
                      Quoted(cluster), root == objects.end() ? ":Fairshare=1" : Settings(*root),
                      "\n", Dump(objects).Below(kRootAccountName, 0));
}

}  // namespace muster::cli::slurm
