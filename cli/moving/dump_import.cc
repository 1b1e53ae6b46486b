#include "cli/moving/dump_import.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

struct DumpWord {
  std::string key;
  std::string value;
};

struct DumpLine {
  std::string kind;
  std::string name;
  std::vector<DumpWord> words;
};

// The parts between colons that stand in no quotes, which are '.
std::vector<std::string> PartsOf(const std::string& line) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (const char c : line) {
    quoted = quoted != (c == '\'');
    if (c == ':' && !quoted) {
      parts.emplace_back();
    } else if (c != '\'') {
      parts.back() += c;
    }
  }
  return parts;
}

absl::StatusOr<DumpLine> ReadDumpLine(const std::string& line, const std::string& place) {
  const std::vector<std::string> parts = PartsOf(line);
  const std::size_t dash = parts[0].find(" - ");
  if (dash == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": ", Quote(line), " is not KIND - 'NAME':KEY=VALUE"));
  }
  DumpLine read{parts[0].substr(0, dash), parts[0].substr(dash + 3), {}};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, ": ", Quote(parts[i]), " is not KEY=VALUE"));
    }
    read.words.push_back({parts[i].substr(0, equals), parts[i].substr(equals + 1)});
  }
  return read;
}

// What is said of a user in his accounts.
struct DumpUser {
  std::vector<std::string> accounts;
  std::string chosen;
  std::vector<DumpWord> rules;  // of the first account
};

bool IsQos(const std::string& key) {
  return absl::EqualsIgnoreCase(key, "QOS") || absl::EqualsIgnoreCase(key, "DefaultQOS");
}

class DumpReader {
 public:
  explicit DumpReader(MovedSettings* settings) : settings_(*settings) {}

  void Take(const DumpLine& line, const std::string& place) {
    if (line.kind == "Parent") {
      parent_ = line.name;
    } else if (line.kind == "Account" && line.name != "root") {
      TakeAccount(line, place);
    } else if (line.kind == "User" && line.name != "root") {
      TakeUser(line, place);
    } else if (line.kind == "Cluster") {
      for (const DumpWord& word : line.words) {
        if (!absl::EqualsIgnoreCase(word.key, "Fairshare") && !IsQos(word.key)) {
          settings_.Remark(place, absl::StrCat(word.key, "=", word.value),
                           "a limit of the whole cluster: give it to the accounts below root");
        }
      }
    }
  }

  void Finish() {
    for (const auto& [name, user] : users_) {
      const std::string section = "user." + name;
      settings_.SetText(section, "accounts", absl::StrJoin(user.accounts, ","));
      if (!user.chosen.empty()) {
        settings_.SetText(section, "default_account", user.chosen);
      }
    }
  }

 private:
  void TakeAccount(const DumpLine& line, const std::string& place) {
    settings_.AddTable("account." + line.name);
    if (parent_ != "root" && !parent_.empty()) {
      settings_.SetPolicy(PolicyKind::kAccount, line.name, "Parent", parent_, place);
    }
    for (const DumpWord& word : line.words) {
      if (absl::EqualsIgnoreCase(word.key, "Organization")) {
        continue;  // the name once more, unless somebody wrote a novel
      }
      if (IsQos(word.key)) {
        settings_.NameQos(word.value);
      }
      settings_.SetPolicy(PolicyKind::kAccount, line.name, word.key, word.value, place);
    }
  }

  void TakeUser(const DumpLine& line, const std::string& place) {
    DumpUser& user = users_[line.name];
    const bool first = user.accounts.empty();
    user.accounts.push_back(parent_);
    for (const DumpWord& word : line.words) {
      if (absl::EqualsIgnoreCase(word.key, "DefaultAccount")) {
        user.chosen = word.value;
      } else if (absl::EqualsIgnoreCase(word.key, "AdminLevel")) {
        if (!absl::EqualsIgnoreCase(word.value, "None")) {
          settings_.AddName("access", "operators", line.name);
        }
      } else if (absl::EqualsIgnoreCase(word.key, "Coordinator")) {
        for (const std::string& account :
             std::vector<std::string>(absl::StrSplit(word.value, ',', absl::SkipEmpty()))) {
          settings_.AddName("access.coordinators", account, line.name);
        }
      } else {
        TakeRule(line.name, word, first, place, &user);
      }
    }
  }

  // A user's rules are the same in all of his accounts here.
  void TakeRule(const std::string& name, const DumpWord& word, bool first, const std::string& place,
                DumpUser* user) {
    if (IsQos(word.key)) {
      settings_.NameQos(word.value);
    }
    if (first) {
      user->rules.push_back(word);
      settings_.SetPolicy(PolicyKind::kAssociation, name, word.key, word.value, place);
      return;
    }
    const bool same = std::any_of(
        user->rules.begin(), user->rules.end(),
        [&](const DumpWord& rule) { return rule.key == word.key && rule.value == word.value; });
    if (!same) {
      settings_.Remark(place, absl::StrCat(name, " in ", parent_, ": ", word.key, "=", word.value),
                       "a configuration says a user's rules once for all accounts; `muster "
                       "accounts set` tells them apart");
    }
  }

  MovedSettings& settings_;
  std::string parent_;
  std::map<std::string, DumpUser> users_;
};

}  // namespace

absl::Status ImportDump(const std::string& text, const std::string& name, MovedSettings* settings) {
  DumpReader reader(settings);
  int number = 0;
  for (const std::string& raw : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    ++number;
    const std::string line(absl::StripAsciiWhitespace(raw));
    if (line.empty() || line.front() == '#') {
      continue;
    }
    const std::string place = absl::StrCat(name, ":", number);
    ASSIGN_OR_RETURN(const DumpLine read, ReadDumpLine(line, place));
    reader.Take(read, place);
  }
  reader.Finish();
  return absl::OkStatus();
}

}  // namespace muster::cli
