#include "agent/kernels/harness/command_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

namespace muster::kernels {
namespace {

// The factor of a size suffix, 0 when it is none.
int64_t SuffixFactor(char suffix) {
  switch (suffix) {
    case 'K':
      return int64_t{1} << 10;
    case 'M':
      return int64_t{1} << 20;
    case 'G':
      return int64_t{1} << 30;
    case 'T':
      return int64_t{1} << 40;
    default:
      return 0;
  }
}

std::string Quoted(std::string_view text) {
  std::ostringstream quoted;
  quoted << '\'' << Printable(text) << '\'';
  return quoted.str();
}

// "a, b, c".
std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() ? "" : ", ";
    text += word;
  }
  return text;
}

template <class T>
std::string OutsideText(std::string_view text, T min, T max) {
  std::ostringstream problem;
  problem << Quoted(text) << " is outside " << min << ".." << max;
  return problem.str();
}

template <class T>
std::string DefaultText(T value) {
  std::ostringstream text;
  text << " (default " << value << ")";
  return text.str();
}

}  // namespace

std::optional<int64_t> ParseCount(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc()) {
    return std::nullopt;
  }
  if (parsed.ptr == end) {
    return value;
  }
  const int64_t factor = SuffixFactor(*parsed.ptr);
  if (factor == 0 || parsed.ptr + 1 != end) {
    return std::nullopt;
  }
  const int64_t limit = std::numeric_limits<int64_t>::max() / factor;
  if (value > limit || value < -limit) {
    return std::nullopt;
  }
  return value * factor;
}

std::optional<double> ParseReal(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::string Printable(std::string_view text) {
  constexpr size_t kKeep = 60;
  std::string line(text.substr(0, kKeep));
  for (char& c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      c = '?';
    }
  }
  return text.size() > kKeep ? line + "..." : line;
}

CommandLine::CommandLine(std::string program, std::string purpose, std::string example)
    : program_(std::move(program)), purpose_(std::move(purpose)), example_(std::move(example)) {}

void CommandLine::AddCount(std::string name, std::string meaning, int64_t* value, int64_t min,
                           int64_t max) {
  Option option;
  option.name = std::move(name);
  option.meaning = std::move(meaning);
  option.count = value;
  option.count_min = min;
  option.count_max = max;
  options_.push_back(std::move(option));
}

void CommandLine::AddReal(std::string name, std::string meaning, double* value, double min,
                          double max) {
  Option option;
  option.name = std::move(name);
  option.meaning = std::move(meaning);
  option.real = value;
  option.real_min = min;
  option.real_max = max;
  options_.push_back(std::move(option));
}

void CommandLine::AddText(std::string name, std::string meaning, std::string* value,
                          std::vector<std::string> choices) {
  Option option;
  option.name = std::move(name);
  option.meaning = std::move(meaning);
  option.text = value;
  option.choices = std::move(choices);
  options_.push_back(std::move(option));
}

void CommandLine::AddSwitch(std::string name, std::string meaning, bool* value) {
  Option option;
  option.name = std::move(name);
  option.meaning = std::move(meaning);
  option.on = value;
  options_.push_back(std::move(option));
}

std::optional<int> CommandLine::Parse(const std::vector<std::string>& arguments, std::ostream& out,
                                      std::ostream& err) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      PrintHelp(out);
      return kExitOk;
    }
    const size_t equals = argument.find('=');
    const Option* option = Find(argument.substr(0, equals));
    if (option == nullptr) {
      return Refuse("unknown option " + Quoted(argument), err);
    }
    if (option->on != nullptr) {
      if (equals != std::string::npos) {
        return Refuse(Named(*option, "takes no value"), err);
      }
      *option->on = true;
      continue;
    }
    if (equals == std::string::npos && i + 1 == arguments.size()) {
      return Refuse(Named(*option, "needs a value"), err);
    }
    const std::string value =
        equals == std::string::npos ? arguments[++i] : argument.substr(equals + 1);
    const std::string problem = Store(*option, value);
    if (!problem.empty()) {
      return Refuse(Named(*option, problem), err);
    }
  }
  return std::nullopt;
}

int CommandLine::Refuse(const std::string& problem, std::ostream& err) const {
  err << program_ << ": " << problem << "; see " << program_ << " --help\n";
  return kExitUsage;
}

std::string CommandLine::Named(const Option& option, const std::string& problem) {
  std::ostringstream text;
  text << "--" << option.name << ": " << problem;
  return text.str();
}

const CommandLine::Option* CommandLine::Find(std::string_view name) const {
  if (!name.starts_with("--")) {
    return nullptr;
  }
  name.remove_prefix(2);
  for (const Option& option : options_) {
    if (option.name == name) {
      return &option;
    }
  }
  return nullptr;
}

void CommandLine::PrintHelp(std::ostream& out) const {
  out << program_ << ": " << purpose_ << "\n\nusage: " << program_ << " [options]\n";
  for (const Option& option : options_) {
    std::string flag = "--";
    flag += option.name;
    std::string standard;
    if (option.count != nullptr) {
      flag += " N";
      // A value outside the range stands for "not given"; the meaning says what happens then.
      const bool usable = *option.count >= option.count_min && *option.count <= option.count_max;
      standard = usable ? DefaultText(*option.count) : "";
    } else if (option.real != nullptr) {
      flag += " X";
      standard = DefaultText(*option.real);
    } else if (option.text != nullptr) {
      flag += option.choices.empty() ? " FILE" : " WHICH";
      standard = option.choices.empty() ? "" : ": " + Joined(option.choices);
      standard += option.text->empty() ? "" : DefaultText(*option.text);
    }
    flag.resize(std::max<size_t>(flag.size(), 14), ' ');
    out << "  " << flag << "  " << option.meaning << standard << "\n";
  }
  out << "  --help          this text\nCounts take the suffixes K, M, G and T, powers of 1024.\n"
      << "Exit: 0 success, 1 wrong result, 2 bad usage.\n\nexample:\n  " << example_ << "\n";
}

std::string CommandLine::Store(const Option& option, const std::string& text) {
  if (option.text != nullptr) {
    return StoreText(option, text);
  }
  return option.count != nullptr ? StoreCount(option, text) : StoreReal(option, text);
}

std::string CommandLine::StoreCount(const Option& option, const std::string& text) {
  const std::optional<int64_t> value = ParseCount(text);
  if (!value.has_value()) {
    return Quoted(text) + " is not a whole number (such as 4096 or 16M)";
  }
  if (*value < option.count_min || *value > option.count_max) {
    return OutsideText(text, option.count_min, option.count_max);
  }
  *option.count = *value;
  return "";
}

std::string CommandLine::StoreText(const Option& option, const std::string& text) {
  const std::vector<std::string>& choices = option.choices;
  if (text.empty()) {
    return "needs a value";
  }
  if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) {
    return Quoted(text) + " is none of " + Joined(choices);
  }
  *option.text = text;
  return "";
}

std::string CommandLine::StoreReal(const Option& option, const std::string& text) {
  const std::optional<double> value = ParseReal(text);
  if (!value.has_value()) {
    return Quoted(text) + " is not a number";
  }
  if (*value < option.real_min || *value > option.real_max) {
    return OutsideText(text, option.real_min, option.real_max);
  }
  *option.real = *value;
  return "";
}

}  // namespace muster::kernels
