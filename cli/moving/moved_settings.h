#pragma once

// A musterd.toml as it grows out of another scheduler's files, and what they say that Muster has
// not.
//
// Thread promise: one owner. Invariants: what is written is TOML; a remark is one line.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/model/policy/policy.h"

namespace muster::cli {

class MovedSettings {
 public:
  // KEY = "text" or KEY = number of a section; "" is the head of the file.
  void SetText(const std::string& section, const std::string& key, const std::string& text);
  void SetNumber(const std::string& section, const std::string& key, std::int64_t number);
  // One more name in the list KEY of a section, where it is not in it.
  void AddName(const std::string& section, const std::string& key, const std::string& name);
  // True when there is one already.
  [[nodiscard]] bool Has(const std::string& section, const std::string& key) const;

  // A table of policy that needs to be there, even if it says nothing.
  void AddTable(const std::string& section);
  // A key of a policy object as Slurm calls it. What the table of policy does not know, or does not
  // take, is a remark at `place`.
  void SetPolicy(PolicyKind kind, const std::string& name, const std::string& key,
                 const std::string& value, const std::string& place);
  // Sets QOS that policy names, so that they are there.
  void NameQos(const std::string& list);

  // For the file of the nodes' agents.
  void TellAgents(const std::string& nodes, const std::string& line);
  // "PLACE: WHAT: why".
  void Remark(const std::string& place, const std::string& what, const std::string& why);

  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }
  // The whole file; remarks, and what agents need, are comments at its end.
  [[nodiscard]] std::string Write() const;

 private:
  std::map<std::string, std::string>& Section(const std::string& name);

  std::vector<std::string> order_;  // of sections, as they came
  std::map<std::string, std::map<std::string, std::string>> sections_;
  std::map<std::string, PolicyObject> objects_;  // by section
  std::set<std::string> known_keys_;             // "SECTION KEY" of policy
  std::vector<std::pair<std::string, std::string>> agents_;
  std::vector<std::string> remarks_;
};

// `text` as a basic string of TOML, in quotes.
std::string TomlText(const std::string& text);

}  // namespace muster::cli
