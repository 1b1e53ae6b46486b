#include "tests/tidy/purity.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace muster::tidy {
namespace {

struct Rule {
  std::string_view what;
  std::string_view instead;
};

constexpr std::string_view kClock = "the time comes in as an argument (snapshot.now)";
constexpr std::string_view kThread = "the core has one owner thread; concurrency lives in daemon";
constexpr std::string_view kFile = "bytes come in as values; files are read by the edges";
constexpr std::string_view kSocket = "messages come in as events; sockets live in daemon and agent";
constexpr std::string_view kChance =
    "ties have a written rule; a simulation's seed comes in as an argument";
constexpr std::string_view kWire = "model types are ours; proto/convert is the only translator";
constexpr std::string_view kStore = "events are persisted by daemon/store";
constexpr std::string_view kProcess = "processes belong to the agent; the core returns effects";

// What an include may not start with.
constexpr std::array<Rule, 32> kHeaders = {{
    {"thread", kThread},
    {"mutex", kThread},
    {"shared_mutex", kThread},
    {"condition_variable", kThread},
    {"future", kThread},
    {"semaphore", kThread},
    {"latch", kThread},
    {"barrier", kThread},
    {"stop_token", kThread},
    {"pthread.h", kThread},
    {"absl/synchronization/", kThread},
    {"absl/time/", kClock},
    {"ctime", kClock},
    {"time.h", kClock},
    {"sys/time.h", kClock},
    {"fstream", kFile},
    {"filesystem", kFile},
    {"fcntl.h", kFile},
    {"sys/stat.h", kFile},
    {"sys/mman.h", kFile},
    {"unistd.h", kFile},
    {"sys/socket.h", kSocket},
    {"sys/un.h", kSocket},
    {"netinet/", kSocket},
    {"arpa/", kSocket},
    {"netdb.h", kSocket},
    {"random", kChance},
    {"absl/random/", kChance},
    {"grpc", kWire},
    {"google/protobuf/", kWire},
    {"proto/", kWire},
    {"sqlite3", kStore},
}};

// Names that may not be called; a member function of the same name is another matter.
constexpr std::array<Rule, 19> kCalls = {{
    {"clock_gettime", kClock}, {"gettimeofday", kClock}, {"localtime", kClock},
    {"gmtime", kClock},        {"rand", kChance},        {"srand", kChance},
    {"random", kChance},       {"drand48", kChance},     {"getrandom", kChance},
    {"fopen", kFile},          {"open", kFile},          {"getenv", kFile},
    {"socket", kSocket},       {"fork", kProcess},       {"kill", kProcess},
    {"system", kProcess},      {"sleep", kClock},        {"usleep", kClock},
    {"nanosleep", kClock},
}};

// Names that may not occur at all.
constexpr std::array<Rule, 15> kNames = {{
    {"system_clock::now", kClock},
    {"steady_clock::now", kClock},
    {"high_resolution_clock", kClock},
    {"sleep_for", kClock},
    {"std::thread", kThread},
    {"std::jthread", kThread},
    {"std::mutex", kThread},
    {"std::async", kThread},
    {"std::ifstream", kFile},
    {"std::ofstream", kFile},
    {"std::fstream", kFile},
    {"std::filesystem", kFile},
    {"random_device", kChance},
    {"mt19937", kChance},
    {"mt19937_64", kChance},
}};

constexpr std::array<std::string_view, 8> kUnorderedTypes = {
    "unordered_map", "unordered_set", "unordered_multimap", "unordered_multiset",
    "flat_hash_map", "flat_hash_set", "node_hash_map",      "node_hash_set"};

size_t SkipSpaces(std::string_view code, size_t at) {
  while (at < code.size() && std::isspace(static_cast<unsigned char>(code[at])) != 0) {
    ++at;
  }
  return at;
}

std::string_view WordAt(std::string_view code, size_t at) {
  size_t end = at;
  while (end < code.size() && IsWordCharacter(code[end])) {
    ++end;
  }
  return code.substr(at, end - at);
}

// The offset after the bracket that closes the one at `open`; the end when none does.
size_t AfterClosing(std::string_view code, size_t open, char opening, char closing) {
  int depth = 0;
  for (size_t at = open; at < code.size(); ++at) {
    depth += code[at] == opening ? 1 : 0;
    depth -= code[at] == closing ? 1 : 0;
    if (depth == 0) {
      return at + 1;
    }
  }
  return code.size();
}

// True for `f(`, `::f(` and `std::f(`; not for `x.f(`, `x->f(` or `Type::f(`.
bool IsFreeCall(std::string_view code, size_t at, size_t size) {
  if (code.substr(std::min(SkipSpaces(code, at + size), code.size())).substr(0, 1) != "(") {
    return false;
  }
  const std::string_view before = code.substr(0, at);
  if (before.ends_with("std::")) {
    return true;
  }
  if (before.ends_with("::")) {
    return before.size() == 2 || !IsWordCharacter(before[before.size() - 3]);
  }
  // `Type f(` declares; `return f(` and `= f(` call.
  size_t end = at;
  while (end > 0 && code[end - 1] == ' ') {
    --end;
  }
  size_t start = end;
  while (start > 0 && IsWordCharacter(code[start - 1])) {
    --start;
  }
  const std::string_view word = code.substr(start, end - start);
  return !before.ends_with(".") && !before.ends_with("->") && (word.empty() || word == "return");
}

// `time(nullptr)` and its spellings; a member function time() has no argument.
bool IsTimeCall(std::string_view code, size_t at) {
  const size_t open = SkipSpaces(code, at + 4);
  if (open >= code.size() || code[open] != '(') {
    return false;
  }
  const size_t argument = SkipSpaces(code, open + 1);
  const std::string_view word = WordAt(code, argument);
  return word == "nullptr" || word == "NULL" || word == "0" || code.substr(argument, 1) == "&";
}

Finding Impure(const Source& source, size_t line, std::string_view what, std::string_view instead) {
  return {source.path, line,
          std::string(what) + " in a pure floor: " + std::string(instead) +
              ". The same input must give the same decision everywhere, or replay fails"};
}

bool Matches(const Rule& rule, const std::string& header) {
  const bool is_prefix = rule.what.ends_with("/") || rule.what == "grpc" || rule.what == "sqlite3";
  return is_prefix ? header.starts_with(rule.what) : header == rule.what;
}

void AddIncludes(const Source& source, std::vector<Finding>* findings) {
  for (const Include& include : IncludesOf(source)) {
    for (const Rule& rule : kHeaders) {
      if (Matches(rule, include.target)) {
        findings->push_back(Impure(source, include.line, "<" + include.target + ">", rule.instead));
      }
    }
  }
}

void AddNames(const Source& source, std::vector<Finding>* findings) {
  for (const Rule& rule : kNames) {
    for (const size_t at : FindWord(source.code, rule.what)) {
      findings->push_back(Impure(source, LineAt(source.code, at), rule.what, rule.instead));
    }
  }
}

void AddCalls(const Source& source, std::vector<Finding>* findings) {
  for (const Rule& rule : kCalls) {
    for (const size_t at : FindWord(source.code, rule.what)) {
      if (IsFreeCall(source.code, at, rule.what.size())) {
        findings->push_back(Impure(source, LineAt(source.code, at), rule.what, rule.instead));
      }
    }
  }
  for (const size_t at : FindWord(source.code, "time")) {
    if (IsTimeCall(source.code, at)) {
      findings->push_back(Impure(source, LineAt(source.code, at), "time()", kClock));
    }
  }
}

// The names declared with a type that ends at `at`: `Type name`, `const Type& name()`.
void AddDeclaredName(std::string_view code, size_t at, std::set<std::string>* names) {
  at = SkipSpaces(code, at);
  while (at < code.size() && (code[at] == '&' || code[at] == '*')) {
    at = SkipSpaces(code, at + 1);
  }
  const std::string_view name = WordAt(code, at);
  if (!name.empty() && name != "const") {
    names->insert(std::string(name));
  }
}

// `Name` of `using Name = std::unordered_map<…>` whose type starts at `at`; nothing otherwise.
std::string AliasBefore(std::string_view code, size_t at) {
  const size_t statement = code.substr(0, at).find_last_of(";{}");
  const std::string_view before =
      code.substr(statement == std::string_view::npos ? 0 : statement + 1,
                  at - (statement == std::string_view::npos ? 0 : statement + 1));
  const std::vector<size_t> found = FindWord(before, "using");
  if (found.empty() || before.find('=') == std::string_view::npos) {
    return {};
  }
  return std::string(WordAt(before, SkipSpaces(before, found.back() + 5)));
}

// The last name in `state.jobs_` or `state.jobs()`: what a range-for runs over.
std::string LastName(std::string_view expression) {
  size_t end = expression.size();
  while (end > 0 && !IsWordCharacter(expression[end - 1])) {
    --end;
  }
  size_t start = end;
  while (start > 0 && IsWordCharacter(expression[start - 1])) {
    --start;
  }
  return std::string(expression.substr(start, end - start));
}

// What stands right of the ':' in `for (declaration : range)`; empty for a classic for.
std::string_view RangeOf(std::string_view head) {
  for (size_t at = 0; at < head.size(); ++at) {
    if (head[at] == ';') {
      return {};
    }
    if (head[at] == ':') {
      if (at + 1 < head.size() && head[at + 1] == ':') {
        ++at;
        continue;
      }
      return head.substr(at + 1);
    }
  }
  return {};
}

Finding Unordered(const Source& source, size_t offset, const std::string& name) {
  return {source.path, LineAt(source.code, offset),
          "iterates the unordered container '" + name +
              "' in a pure floor: keep a vector sorted by id, or a std::map. Its order is the "
              "allocator's, and it would leak into plans"};
}

}  // namespace

bool IsPure(const Source& source) {
  return IsCode(source) && (source.path.starts_with("scheduler/base/") ||
                            source.path.starts_with("scheduler/model/") ||
                            source.path.starts_with("scheduler/core/"));
}

std::vector<Finding> CheckPurity(const Source& source) {
  std::vector<Finding> findings;
  AddIncludes(source, &findings);
  AddNames(source, &findings);
  AddCalls(source, &findings);
  return findings;
}

std::set<std::string> UnorderedNames(const Source& source) {
  const std::string_view code = source.code;
  std::set<std::string> names;
  std::set<std::string> aliases;
  for (const std::string_view type : kUnorderedTypes) {
    for (const size_t at : FindWord(code, type)) {
      const size_t open = SkipSpaces(code, at + type.size());
      if (open >= code.size() || code[open] != '<') {
        continue;
      }
      const std::string alias = AliasBefore(code, at);
      if (alias.empty()) {
        AddDeclaredName(code, AfterClosing(code, open, '<', '>'), &names);
      } else {
        aliases.insert(alias);
      }
    }
  }
  for (const std::string& alias : aliases) {
    for (const size_t at : FindWord(code, alias)) {
      AddDeclaredName(code, at + alias.size(), &names);
    }
  }
  return names;
}

std::vector<Finding> CheckUnorderedIteration(const Source& source,
                                             const std::set<std::string>& names) {
  const std::string_view code = source.code;
  std::vector<Finding> findings;
  for (const size_t at : FindWord(code, "for")) {
    const size_t open = SkipSpaces(code, at + 3);
    if (open >= code.size() || code[open] != '(') {
      continue;
    }
    const size_t close = AfterClosing(code, open, '(', ')') - 1;
    const std::string name = LastName(RangeOf(code.substr(open + 1, close - open - 1)));
    if (names.count(name) != 0) {
      findings.push_back(Unordered(source, at, name));
    }
  }
  for (const std::string& name : names) {
    for (const size_t at : FindWord(code, name)) {
      std::string_view after = code.substr(at + name.size());
      after.remove_prefix(after.starts_with("()") ? 2 : 0);
      const std::string_view before = code.substr(0, at);
      if (after.starts_with(".begin(") || after.starts_with(".cbegin(") ||
          before.ends_with("std::begin(")) {
        findings.push_back(Unordered(source, at, name));
      }
    }
  }
  return findings;
}

}  // namespace muster::tidy
