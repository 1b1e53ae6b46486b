#include "tests/tidy/functions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <sstream>
#include <utility>

namespace muster::tidy {
namespace {

enum class BraceKind {
  kScope,      // A namespace, a class or a linkage block: functions may follow inside.
  kFunction,   // A body; what is inside belongs to it.
  kValue,      // An initialiser outside any function.
  kMemberInit  // Within a head that goes on: `: member_{value}`, `list_({1, 2})`, a default
               // argument.
};

struct Brace {
  BraceKind kind = BraceKind::kScope;
  std::string head;
  size_t head_offset = 0;
  Class type;  // without a name: it opens no class
};

bool IsSpace(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && IsSpace(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

// `code` with preprocessor lines, and what continues them, as spaces.
std::string WithoutDirectives(std::string code) {
  bool directive = false;
  bool line_start = true;
  char previous = '\n';
  for (char& c : code) {
    const char original = c;
    if (c == '\n') {
      directive = directive && previous == '\\';
      line_start = true;
    } else {
      directive = directive || (line_start && c == '#');
      line_start = line_start && IsSpace(c);
      c = directive ? ' ' : c;
    }
    previous = original;
  }
  return code;
}

bool HasWord(std::string_view head, std::string_view word) {
  return !FindWord(head, word).empty();
}

// The offset of the first '=' that assigns, outside parentheses; npos when there is none.
size_t AssignmentIn(std::string_view head) {
  int depth = 0;
  for (size_t i = 0; i < head.size(); ++i) {
    depth += head[i] == '(' || head[i] == '<' ? 1 : 0;
    depth -= head[i] == ')' || head[i] == '>' ? 1 : 0;
    if (head[i] == '=' && depth <= 0) {
      return HasWord(head.substr(0, i), "operator") ? std::string_view::npos : i;
    }
  }
  return std::string_view::npos;
}

// True in `Type::Type(int a) : first_(a), second_` just before a brace: a member's name and not a
// body.
bool EndsInMemberInit(std::string_view head) {
  constexpr std::array<std::string_view, 5> kAfterParameters = {"const", "override", "noexcept",
                                                                "final", "mutable"};
  const size_t parameters_end = head.find(')');
  if (parameters_end == std::string_view::npos || !IsWordCharacter(head.back())) {
    return false;
  }
  size_t colon = head.find(':', parameters_end);
  while (colon != std::string_view::npos && colon + 1 < head.size() && head[colon + 1] == ':') {
    colon = head.find(':', colon + 2);
  }
  return colon != std::string_view::npos &&
         std::none_of(kAfterParameters.begin(), kAfterParameters.end(),
                      [head](std::string_view word) { return head.ends_with(word); });
}

// What the brace after `head` opens, when no function is open around it.
BraceKind Classify(std::string_view head) {
  const size_t assignment = AssignmentIn(head);
  if (assignment != std::string_view::npos) {
    const bool is_lambda = head.find('[', assignment) != std::string_view::npos;
    return is_lambda ? BraceKind::kFunction : BraceKind::kValue;
  }
  if (std::count(head.begin(), head.end(), '(') > std::count(head.begin(), head.end(), ')')) {
    return BraceKind::kMemberInit;
  }
  if (head.empty() || HasWord(head, "namespace") || head.starts_with("extern")) {
    return BraceKind::kScope;
  }
  if (head.find('(') == std::string_view::npos) {
    const bool is_type = HasWord(head, "class") || HasWord(head, "struct") ||
                         HasWord(head, "union") || HasWord(head, "enum");
    return is_type ? BraceKind::kScope : BraceKind::kValue;
  }
  if (HasWord(head, "alignas") && (HasWord(head, "class") || HasWord(head, "struct"))) {
    return BraceKind::kScope;
  }
  return EndsInMemberInit(head) ? BraceKind::kMemberInit : BraceKind::kFunction;
}

// The name that ends `text`: `Loop::Run` of `Status Loop::Run `.
std::string_view LastName(std::string_view text) {
  text = Trim(text);
  size_t start = text.size();
  while (start > 0 &&
         (IsWordCharacter(text[start - 1]) || text[start - 1] == ':' || text[start - 1] == '~')) {
    --start;
  }
  return text.substr(start);
}

// What to call the function with this head.
std::string NameIn(std::string_view head) {
  const std::string_view name = LastName(head.substr(0, head.find('(')));
  if (name.empty()) {
    return std::string(LastName(head.substr(0, head.find('='))));  // A lambda or an operator.
  }
  // A test macro's name says nothing; its arguments do.
  const bool is_test = name.starts_with("TEST") || name.starts_with("BENCHMARK");
  return std::string(is_test ? head : name);
}

bool IsAccessLabel(std::string_view head) {
  return head == "public" || head == "private" || head == "protected";
}

// `head` without what stands in angle brackets, and without the annotations of threads.
std::string WithoutArguments(std::string_view head) {
  std::string bare;
  int depth = 0;
  for (const char c : head) {
    depth += c == '<' ? 1 : 0;
    if (depth == 0) {
      bare += c;
    }
    depth -= c == '>' && depth > 0 ? 1 : 0;
  }
  for (size_t at = bare.find(" ABSL_"); at != std::string::npos; at = bare.find(" ABSL_", at)) {
    const size_t end = bare.find(')', at);
    bare.erase(at, end == std::string::npos ? end : end + 1 - at);
  }
  return bare;
}

// Counts what a class declares by `head`: nothing, a function or a member.
void Count(std::string_view head, Class& in) {
  constexpr std::array<std::string_view, 7> kNeither = {
      "using", "typedef", "friend", "static_assert", "enum", "class", "struct"};
  const std::string bare = WithoutArguments(head);
  const size_t word = bare.find_first_of(" (");
  const std::string_view first = std::string_view(bare).substr(0, word);
  if (bare.empty() || std::find(kNeither.begin(), kNeither.end(), first) != kNeither.end()) {
    return;
  }
  const bool is_function =
      HasWord(head, "operator") || bare.substr(0, bare.find('=')).find('(') != std::string::npos;
  if (is_function) {
    in.functions += head.ends_with("delete") ? 0 : 1;
  } else if (!HasWord(head, "static")) {
    ++in.members;
  }
}

// "Name" of a class that `head` begins, as of `class Name final : public Base`; empty for others.
std::string ClassNameIn(std::string_view head) {
  const std::vector<size_t> at = FindWord(head, "class");
  if (at.empty() || HasWord(head, "enum") || head.find('(') != std::string_view::npos) {
    return "";
  }
  std::string_view rest = Trim(head.substr(at.back() + 5));
  size_t end = 0;
  while (end < rest.size() && (IsWordCharacter(rest[end]) || rest[end] == ':')) {
    ++end;
  }
  rest = rest.substr(0, end);
  while (rest.ends_with(':')) {
    rest.remove_suffix(1);
  }
  return std::string(rest);
}

// Walks the code once with a stack of open braces.
class Scanner {
 public:
  explicit Scanner(const std::string& code) : code_(code) {}

  Scanner&& Run() && {
    for (at_ = 0; at_ < code_.size(); ++at_) {
      switch (code_[at_]) {
        case '{':
          Open();
          break;
        case '}':
          Close();
          break;
        case ';':
          CountHead();
          StartHead(at_ + 1);
          break;
        case ':':
          if (IsAccessLabel(Head())) {
            StartHead(at_ + 1);
          }
          break;
        default:
          break;
      }
    }
    return std::move(*this);
  }
  std::vector<Function>& functions() { return functions_; }
  std::vector<Class>& classes() { return classes_; }

 private:
  std::string_view Head() const { return Trim(std::string_view(code_).substr(head_, at_ - head_)); }
  void StartHead(size_t offset) { head_ = offset; }
  bool InFunctionOrValue() const {
    return !stack_.empty() && stack_.back().kind != BraceKind::kScope;
  }

  // What stands before a ';', an initialiser or a body, of the class around it.
  void CountHead() {
    if (!stack_.empty() && !stack_.back().type.name.empty()) {
      Count(Head(), stack_.back().type);
    }
  }

  void OpenClass(Brace& brace) {
    brace.type.name = ClassNameIn(brace.head);
    brace.type.line = LineAt(code_, brace.head_offset);
    for (auto outer = stack_.rbegin(); outer != stack_.rend() && !brace.type.name.empty();
         ++outer) {
      if (!outer->type.name.empty()) {
        brace.type.name = outer->type.name + "::" + brace.type.name;
        return;
      }
    }
  }

  void Open() {
    const std::string_view head = Head();
    Brace brace;
    brace.kind = InFunctionOrValue() ? stack_.back().kind : Classify(head);
    brace.head = std::string(head);
    brace.head_offset = head_;
    while (brace.head_offset < at_ && IsSpace(code_[brace.head_offset])) {
      ++brace.head_offset;
    }
    if (brace.kind == BraceKind::kScope) {
      OpenClass(brace);
    } else if (brace.kind != BraceKind::kMemberInit) {
      CountHead();
    }
    stack_.push_back(std::move(brace));
    if (stack_.back().kind != BraceKind::kMemberInit) {
      StartHead(at_ + 1);
    }
  }

  void Close() {
    if (stack_.empty()) {
      StartHead(at_ + 1);
      return;
    }
    const Brace brace = std::move(stack_.back());
    stack_.pop_back();
    if (brace.kind == BraceKind::kFunction && !InFunctionOrValue()) {
      functions_.push_back(
          {NameIn(brace.head), LineAt(code_, brace.head_offset), LineAt(code_, at_)});
    }
    if (!brace.type.name.empty()) {
      classes_.push_back(brace.type);
    }
    // After `member_{value}` the constructor's head goes on.
    if (brace.kind != BraceKind::kMemberInit) {
      StartHead(at_ + 1);
    }
  }

  const std::string& code_;
  size_t at_ = 0;
  size_t head_ = 0;
  std::vector<Brace> stack_;
  std::vector<Function> functions_;
  std::vector<Class> classes_;
};

bool HasLengthLimit(const Source& source) {
  const std::string_view ending = Ending(source.path);
  return IsCode(source) || ending == ".proto" || ending == ".py" || ending == ".sh" ||
         (ending.empty() && source.text.starts_with("#!"));
}

}  // namespace

std::vector<Function> FunctionsOf(const Source& source) {
  const std::string code = WithoutDirectives(source.code);
  return std::move(Scanner(code).Run().functions());
}

std::vector<Class> ClassesOf(const Source& source) {
  const std::string code = WithoutDirectives(source.code);
  return std::move(Scanner(code).Run().classes());
}

namespace {

// The lines of the list by class, "PATH CLASS", with their numbers.
std::map<std::string, std::pair<size_t, size_t>> ReadLarger(const Source& larger) {
  std::map<std::string, std::pair<size_t, size_t>> known;
  std::istringstream lines(larger.text);
  std::string path;
  std::string name;
  std::pair<size_t, size_t> most;
  while (lines >> path >> name >> most.first >> most.second) {
    known[path + " " + name] = most;
  }
  return known;
}

}  // namespace

std::vector<Finding> CheckClassSizes(const std::vector<Source>& tree, const Source& larger) {
  std::vector<Finding> findings;
  std::map<std::string, std::pair<size_t, size_t>> known = ReadLarger(larger);
  for (const Source& source : tree) {
    if (!IsCode(source) || source.path.starts_with("tests/")) {
      continue;
    }
    for (const Class& each : ClassesOf(source)) {
      const auto line = known.extract(source.path + " " + each.name);
      const size_t functions_max = line.empty() ? kClassFunctionsMax : line.mapped().first;
      const size_t members_max = line.empty() ? kClassMembersMax : line.mapped().second;
      const std::string size = std::to_string(each.functions) + " functions and " +
                               std::to_string(each.members) + " members";
      if (each.functions > functions_max || each.members > members_max) {
        findings.push_back(
            {source.path, each.line,
             each.name + " has " + size + ", over " + std::to_string(functions_max) + " and " +
                 std::to_string(members_max) +
                 ". Give a part of it a class of its own, with a header and a test"});
      } else if (!line.empty() && (each.functions < functions_max || each.members < members_max)) {
        findings.push_back({larger.path, 0,
                            source.path + " " + each.name + " has only " + size +
                                " now. Write that in the list, or leave the line out"});
      }
    }
  }
  for (const auto& [name, most] : known) {
    findings.push_back({larger.path, 0, name + " is no class any more. Leave the line out"});
  }
  return findings;
}

std::vector<Finding> CheckFunctionLengths(const Source& source) {
  std::vector<Finding> findings;
  if (!IsCode(source)) {
    return findings;
  }
  for (const Function& function : FunctionsOf(source)) {
    const size_t lines = function.last_line - function.first_line + 1;
    if (lines > kFunctionLinesMax) {
      findings.push_back({source.path, function.first_line,
                          function.name + " has " + std::to_string(lines) + " lines, over " +
                              std::to_string(kFunctionLinesMax) +
                              ". Name its steps and make each a function: a reader holds one "
                              "screen at a time"});
    }
  }
  return findings;
}

std::vector<Finding> CheckFileLength(const Source& source) {
  std::vector<Finding> findings;
  const size_t lines = CountLines(source.text);
  if (HasLengthLimit(source) && lines > kFileLinesMax) {
    findings.push_back({source.path, 0,
                        std::to_string(lines) + " lines, over " + std::to_string(kFileLinesMax) +
                            ". Split it along its nouns: a file is one idea"});
  }
  if (FileName(source.path) == "main.cc" && lines > kMainLinesMax) {
    findings.push_back({source.path, 0,
                        std::to_string(lines) + " lines, over " + std::to_string(kMainLinesMax) +
                            " for a main.cc. Move what decides into the folder's own files: "
                            "main only wires, because nothing can test it"});
  }
  return findings;
}

}  // namespace muster::tidy
