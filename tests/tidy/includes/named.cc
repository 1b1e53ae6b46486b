#include "tests/tidy/includes/named.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace muster::tidy {
namespace {

// Headers, each of which gives the names: "algorithm" or one of several, "string_view string".
struct StandardNames {
  std::string_view headers;
  std::string_view names;
};

constexpr std::array kStandard = {
    StandardNames{"algorithm",
                  "sort stable_sort find_if any_of all_of none_of count_if max_element min_element "
                  "transform lower_bound upper_bound remove_if copy fill min max clamp"},
    StandardNames{"array", "array"},
    StandardNames{"atomic", "atomic"},
    StandardNames{"bit", "bit_cast popcount has_single_bit"},
    StandardNames{"bitset", "bitset"},
    StandardNames{"charconv", "from_chars to_chars"},
    StandardNames{"chrono", "chrono"},
    StandardNames{"cmath math.h", "isnan isfinite sqrt pow floor ceil llround lround exp log"},
    StandardNames{"condition_variable", "condition_variable"},
    StandardNames{"csignal signal.h", "signal"},
    StandardNames{"cstdio stdio.h", "snprintf fprintf printf FILE fputs"},
    StandardNames{"cstdlib stdlib.h", "abort free getenv malloc"},
    StandardNames{"cstring string.h", "memcpy memcmp memset strlen strerror strcmp"},
    StandardNames{"deque", "deque"},
    StandardNames{"filesystem", "filesystem"},
    StandardNames{"fstream", "ifstream ofstream"},
    StandardNames{"functional", "function greater"},
    StandardNames{"future", "future promise"},
    StandardNames{"iomanip", "setw setprecision"},
    StandardNames{"iostream", "cout cerr cin"},
    StandardNames{"iterator", "back_inserter make_move_iterator"},
    StandardNames{"limits", "numeric_limits"},
    StandardNames{"list", "list"},
    StandardNames{"map", "map multimap"},
    StandardNames{"memory", "unique_ptr make_unique shared_ptr make_shared weak_ptr"},
    StandardNames{"mutex", "mutex lock_guard unique_lock scoped_lock"},
    StandardNames{"numeric", "accumulate iota gcd"},
    StandardNames{"optional", "optional nullopt"},
    StandardNames{"queue", "queue priority_queue"},
    StandardNames{"random", "random_device mt19937 mt19937_64"},
    StandardNames{"regex", "regex"},
    StandardNames{"set", "set multiset"},
    StandardNames{"span", "span"},
    StandardNames{"sstream", "ostringstream istringstream stringstream"},
    StandardNames{"stdexcept", "runtime_error"},
    StandardNames{"string", "string to_string stoi"},
    StandardNames{"string_view string", "string_view"},
    StandardNames{"system_error filesystem", "error_code"},
    StandardNames{"thread", "thread"},
    StandardNames{"tuple", "tuple tie make_tuple"},
    StandardNames{"type_traits", "is_same_v decay_t is_base_of_v"},
    StandardNames{"unordered_map", "unordered_map"},
    StandardNames{"unordered_set", "unordered_set"},
    StandardNames{"utility", "move forward exchange"},
    StandardNames{"utility map", "pair"},
    StandardNames{"variant", "variant visit holds_alternative monostate get_if"},
    StandardNames{"vector", "vector"},
};

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string_view WordAt(std::string_view code, size_t at) {
  size_t end = at;
  while (end < code.size() && IsWordCharacter(code[end])) {
    ++end;
  }
  return code.substr(at, end - at);
}

size_t SkipSpaces(std::string_view code, size_t at) {
  while (at < code.size() && std::isspace(static_cast<unsigned char>(code[at])) != 0) {
    ++at;
  }
  return at;
}

bool IsCapital(char c) {
  return c >= 'A' && c <= 'Z';
}

// What each C++ file of the tree reaches through its includes, itself among it.
class Reach {
 public:
  explicit Reach(const std::vector<Source>& tree) {
    for (const Source& source : tree) {
      const std::string_view ending = Ending(source.path);
      if (ending == ".cc" || ending == ".h") {
        files_[source.path] = &source;
      }
    }
    for (const auto& [path, source] : files_) {
      for (Include& include : IncludesOf(*source)) {
        includes_[path].push_back(std::move(include.target));
      }
    }
  }

  [[nodiscard]] const std::map<std::string, const Source*>& files() const { return files_; }

  // Paths of ours, and names of others' headers.
  [[nodiscard]] std::set<std::string> From(const std::string& path) const {
    std::set<std::string> reached;
    std::vector<std::string> left = {path};
    while (!left.empty()) {
      const std::string next = std::move(left.back());
      left.pop_back();
      const auto more = includes_.find(next);
      if (reached.insert(next).second && more != includes_.end()) {
        left.insert(left.end(), more->second.begin(), more->second.end());
      }
    }
    return reached;
  }

 private:
  std::map<std::string, const Source*> files_;
  std::map<std::string, std::vector<std::string>> includes_;
};

using Types = std::map<std::string, std::set<std::string>>;  // name, the files that define it

// Whether `code` goes on, after a type's name at `at`, to define it.
bool IsDefinition(std::string_view code, size_t at) {
  const size_t end = code.find_first_of(";{(=", at);
  return end != std::string_view::npos && code[end] == '{';
}

// Types defined at the begin of a line, so at the level of a namespace.
void AddTypes(const Source& source, Types* types) {
  const std::string_view code = source.code;
  for (const std::string_view keyword : {"class", "struct", "enum", "using"}) {
    for (const size_t offset : FindWord(code, keyword)) {
      size_t at = SkipSpaces(code, offset + keyword.size());
      if (keyword == "enum" && WordAt(code, at) == "class") {
        at = SkipSpaces(code, at + std::string_view("class").size());
      }
      const std::string_view name = WordAt(code, at);
      const size_t after = SkipSpaces(code, at + name.size());
      const bool defines =
          keyword == "using" ? code.substr(after, 1) == "=" : IsDefinition(code, at + name.size());
      if ((offset == 0 || code[offset - 1] == '\n') && !name.empty() && IsCapital(name[0]) &&
          defines) {
        (*types)[std::string(name)].insert(source.path);
      }
    }
  }
}

// Names that `source` declares in any way: as a type, a function or by using.
std::set<std::string> Declared(const Source& source) {
  const std::string_view code = source.code;
  std::set<std::string> names;
  for (const std::string_view keyword : {"class", "struct", "enum", "using", "typename"}) {
    for (const size_t offset : FindWord(code, keyword)) {
      size_t at = SkipSpaces(code, offset + keyword.size());
      std::string_view name = WordAt(code, at);
      while (code.substr(at + name.size(), 2) == "::" || name == "class") {
        at = SkipSpaces(code, at + name.size() + (name == "class" ? 0 : 2));
        name = WordAt(code, at);
      }
      names.emplace(name);
    }
  }
  for (size_t at = code.find('('); at != std::string_view::npos; at = code.find('(', at + 1)) {
    size_t begin = at;
    while (begin > 0 && IsWordCharacter(code[begin - 1])) {
      --begin;
    }
    if (begin > 0 && begin < at && (code[begin - 1] == ' ' || code[begin - 1] == '&')) {
      names.emplace(code.substr(begin, at - begin));
    }
  }
  return names;
}

// Whether what stands at `at` in `code` is a type's name, not a member, an enumerator or a
// function of another scope.
bool NamesType(std::string_view code, size_t at, size_t size) {
  const char before = at == 0 ? ' ' : code[at - 1];
  if (before == '.' || before == '>' || before == ':') {
    return false;
  }
  const size_t after = SkipSpaces(code, at + size);
  const char next = after < code.size() ? code[after] : ' ';
  return code.substr(after, 2) == "::" || next == '&' || next == '*' || next == '>' ||
         next == '{' || (after > at + size && IsWordCharacter(next));
}

// The first place of each capitalised name that `source` uses as a type.
std::map<std::string, size_t> UsedTypes(const Source& source) {
  const std::string_view code = source.code;
  std::map<std::string, size_t> used;
  for (size_t at = 0; at < code.size(); ++at) {
    if (!IsWordCharacter(code[at])) {
      continue;
    }
    const std::string_view word = WordAt(code, at);
    if (IsCapital(word[0]) && NamesType(code, at, word.size())) {
      used.emplace(word, at);
    }
    at += word.size();
  }
  return used;
}

// A header that is named by another way than from the root counts as included.
bool IncludesByName(const std::set<std::string>& reached, const std::string& header) {
  return std::any_of(reached.begin(), reached.end(),
                     [&](const std::string& path) { return FileName(path) == FileName(header); });
}

}  // namespace

std::vector<Finding> CheckStandardNames(const std::vector<Source>& tree) {
  std::map<std::string, std::vector<std::string>> headers_of;
  for (const StandardNames& entry : kStandard) {
    for (const std::string& name : WordsOf(entry.names)) {
      headers_of[name] = WordsOf(entry.headers);
    }
  }
  constexpr std::string_view kScope = "std::";
  const Reach reach(tree);
  std::vector<Finding> findings;
  for (const auto& [path, source] : reach.files()) {
    const std::set<std::string> reached = reach.From(path);
    std::set<std::string> seen;
    const std::string_view code = source->code;
    for (size_t at = code.find(kScope); at != std::string_view::npos;
         at = code.find(kScope, at + 1)) {
      const std::string name(WordAt(code, at + kScope.size()));
      const auto entry = headers_of.find(name);
      if (entry == headers_of.end() || !seen.insert(name).second) {
        continue;
      }
      const std::vector<std::string>& headers = entry->second;
      if (std::none_of(headers.begin(), headers.end(),
                       [&](const std::string& header) { return reached.count(header) != 0; })) {
        findings.push_back({path, LineAt(code, at),
                            "names std::" + name + ". Include <" + headers.front() +
                                ">: in the dev build no other file of the room does it for you"});
      }
    }
  }
  return findings;
}

std::vector<Finding> CheckTypesAreReached(const std::vector<Source>& tree) {
  const Reach reach(tree);
  Types types;
  std::map<std::string, std::set<std::string>> declared;
  for (const auto& [path, source] : reach.files()) {
    AddTypes(*source, &types);
    declared[path] = Declared(*source);
  }
  std::vector<Finding> findings;
  for (const auto& [path, source] : reach.files()) {
    const std::set<std::string> reached = reach.From(path);
    for (const auto& [name, offset] : UsedTypes(*source)) {
      const auto type = types.find(name);
      if (type == types.end() || type->second.size() != 1 ||
          Ending(*type->second.begin()) != ".h" || IncludesByName(reached, *type->second.begin())) {
        continue;
      }
      const auto declares = [&, &name = name](const std::string& file) {
        const auto names = declared.find(file);
        return names != declared.end() && names->second.count(name) != 0;
      };
      if (std::none_of(reached.begin(), reached.end(), declares)) {
        findings.push_back({path, LineAt(source->code, offset),
                            "names " + name + ". Include \"" + *type->second.begin() +
                                "\": in the dev build no other file of the room does it for you"});
      }
    }
  }
  return findings;
}

}  // namespace muster::tidy
