#include "cli/moving/moved_settings.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "scheduler/model/policy/policy_text.h"

namespace muster::cli {
namespace {

bool IsBareKey(const std::string& key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-';
  });
}

std::string TomlKey(const std::string& key) {
  return IsBareKey(key) ? key : TomlText(key);
}

// "partition.gpu" as the head of a table; the name may need quotes.
std::string TomlHead(const std::string& section) {
  const std::size_t dot = section.find('.');
  return dot == std::string::npos ? absl::StrCat("[", section, "]")
                                  : absl::StrCat("[", section.substr(0, dot), ".",
                                                 TomlKey(section.substr(dot + 1)), "]");
}

// A user is a table of his own, with what holds in each of his accounts.
std::string SectionOf(PolicyKind kind, const std::string& name) {
  return absl::StrCat(kind == PolicyKind::kAssociation ? "user" : muster::Name(kind), ".", name);
}

}  // namespace

std::string TomlText(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(&quoted, "\\", std::string(1, c));
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      absl::StrAppendFormat(&quoted, "\\u%04x",
                            static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::map<std::string, std::string>& MovedSettings::Section(const std::string& name) {
  const auto [section, is_new] = sections_.try_emplace(name);
  if (is_new) {
    order_.push_back(name);
  }
  return section->second;
}

void MovedSettings::SetText(const std::string& section, const std::string& key,
                            const std::string& text) {
  Section(section)[key] = TomlText(text);
}

void MovedSettings::SetNumber(const std::string& section, const std::string& key,
                              std::int64_t number) {
  Section(section)[key] = absl::StrCat(number);
}

void MovedSettings::AddName(const std::string& section, const std::string& key,
                            const std::string& name) {
  std::string& list = Section(section)[key];
  const std::string text = TomlText(name);
  if (list.empty()) {
    list = absl::StrCat("[", text, "]");
  } else if (list.find(text) == std::string::npos) {
    list.insert(list.size() - 1, absl::StrCat(", ", text));
  }
}

bool MovedSettings::Has(const std::string& section, const std::string& key) const {
  const auto found = sections_.find(section);
  return found != sections_.end() && found->second.count(key) != 0;
}

void MovedSettings::AddTable(const std::string& section) {
  Section(section);
}

void MovedSettings::SetPolicy(PolicyKind kind, const std::string& name, const std::string& key,
                              const std::string& value, const std::string& place) {
  const std::string what = absl::StrCat(key, "=", value);
  if (const absl::Status good = CheckPolicyName(name); !good.ok()) {
    return Remark(place, name, std::string(good.message()));
  }
  const std::string known = PolicyKey(kind, key);
  if (known.empty()) {
    return Remark(place, what,
                  absl::StrCat("Muster has no such property of ",
                               kind == PolicyKind::kQos ? "a " : "", muster::Name(kind)));
  }
  const std::string section = SectionOf(kind, name);
  const auto object = objects_.try_emplace(section, MakePolicyObject(kind, name)).first;
  if (const absl::Status taken = Assign(object->second, {known, value}); !taken.ok()) {
    return Remark(place, what, std::string(taken.message()));
  }
  Section(section)[known] = TomlText(value);
}

void MovedSettings::NameQos(const std::string& list) {
  for (std::string name : std::vector<std::string>(absl::StrSplit(list, ',', absl::SkipEmpty()))) {
    name = name.substr(
        name.find_first_not_of("+-") == std::string::npos ? 0 : name.find_first_not_of("+-"));
    if (name != "normal" && name != "ALL" && CheckPolicyName(name).ok()) {
      AddTable("qos." + name);
    }
  }
}

void MovedSettings::TellAgents(const std::string& nodes, const std::string& line) {
  agents_.emplace_back(nodes, line);
}

void MovedSettings::Remark(const std::string& place, const std::string& what,
                           const std::string& why) {
  std::string line = absl::StrCat(place, ": ", what, ": ", why);
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  remarks_.push_back(std::move(line));
}

std::string MovedSettings::Write() const {
  std::string text = "# Made by muster import from Slurm's configuration. All keys: musterd(8).\n";
  const auto add = [&text](const std::map<std::string, std::string>& keys) {
    for (const auto& [key, value] : keys) {
      absl::StrAppend(&text, TomlKey(key), " = ", value, "\n");
    }
  };
  if (const auto head = sections_.find(""); head != sections_.end()) {
    add(head->second);
  }
  for (const std::string& name : order_) {
    if (!name.empty()) {
      absl::StrAppend(&text, "\n", TomlHead(name), "\n");
      add(sections_.at(name));
    }
  }
  if (!agents_.empty()) {
    absl::StrAppend(&text, "\n# For /etc/muster/agent.toml of the nodes:\n");
  }
  for (const auto& [nodes, line] : agents_) {
    absl::StrAppend(&text, "#   ", nodes, ": ", line, "\n");
  }
  if (!remarks_.empty()) {
    absl::StrAppend(&text, "\n# Without a counterpart here:\n");
  }
  for (const std::string& remark : remarks_) {
    absl::StrAppend(&text, "#   ", remark, "\n");
  }
  return text;
}

}  // namespace muster::cli
