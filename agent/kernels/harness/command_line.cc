#include "agent/kernels/harness/command_line.h"

#include <CLI/CLI.hpp>
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
    : program_(std::move(program)),
      purpose_(std::move(purpose)),
      example_(std::move(example)),
      app_(std::make_unique<CLI::App>()) {
  app_->set_help_flag("-h,--help");
  app_->allow_extras();
}

CommandLine::CommandLine(CommandLine&&) noexcept = default;
CommandLine& CommandLine::operator=(CommandLine&&) noexcept = default;
CommandLine::~CommandLine() = default;

void CommandLine::Add(const std::string& name, const std::string& meaning, const std::string& value,
                      std::function<std::string(const std::string&)> store) {
  app_->add_option(
          "--" + name, [](const CLI::results_t&) { return true; }, meaning)
      ->type_name(value)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->check(std::move(store));
}

void CommandLine::AddCount(const std::string& name, const std::string& meaning, int64_t* value,
                           int64_t min, int64_t max) {
  // A value outside the range stands for "not given"; the meaning says what happens then.
  const bool usable = *value >= min && *value <= max;
  Add(name, meaning + (usable ? DefaultText(*value) : ""), "N", [=](const std::string& text) {
    const std::optional<int64_t> read = ParseCount(text);
    if (!read.has_value()) {
      return Quoted(text) + " is not a whole number (such as 4096 or 16M)";
    }
    if (*read < min || *read > max) {
      return OutsideText(text, min, max);
    }
    *value = *read;
    return std::string();
  });
}

void CommandLine::AddReal(const std::string& name, const std::string& meaning, double* value,
                          double min, double max) {
  Add(name, meaning + DefaultText(*value), "X", [=](const std::string& text) {
    const std::optional<double> read = ParseReal(text);
    if (!read.has_value()) {
      return Quoted(text) + " is not a number";
    }
    if (*read < min || *read > max) {
      return OutsideText(text, min, max);
    }
    *value = *read;
    return std::string();
  });
}

void CommandLine::AddText(const std::string& name, const std::string& meaning, std::string* value,
                          const std::vector<std::string>& choices) {
  const std::string all = choices.empty() ? "" : ": " + Joined(choices);
  const std::string standard = value->empty() ? "" : DefaultText(*value);
  Add(name, meaning + all + standard, choices.empty() ? "FILE" : "WHICH",
      [=](const std::string& text) {
        if (text.empty()) {
          return std::string("needs a value");
        }
        if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) {
          return Quoted(text) + " is none of " + Joined(choices);
        }
        *value = text;
        return std::string();
      });
}

void CommandLine::AddSwitch(const std::string& name, const std::string& meaning, bool* value) {
  app_->add_flag_callback(
      "--" + name, [value] { *value = true; }, meaning);
}

std::vector<std::string> CommandLine::Split(const std::vector<std::string>& arguments,
                                            std::string* problem) const {
  std::vector<std::string> split;
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const CLI::Option* option =
        equals == std::string::npos ? nullptr : app_->get_option_no_throw(name);
    if (option != nullptr && option->get_expected_max() == 0) {
      *problem = problem->empty() ? name + ": takes no value" : *problem;
    } else if (option != nullptr && equals + 1 == argument.size()) {
      split.push_back(name);
      split.emplace_back();
      continue;
    }
    split.push_back(argument);
  }
  return split;
}

std::optional<int> CommandLine::Parse(const std::vector<std::string>& arguments, std::ostream& out,
                                      std::ostream& err) const {
  std::string problem;
  std::vector<std::string> reversed = Split(arguments, &problem);
  if (!problem.empty()) {
    return Refuse(problem, err);
  }
  std::reverse(reversed.begin(), reversed.end());
  try {
    app_->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    PrintHelp(out);
    return kExitOk;
  } catch (const CLI::ArgumentMismatch& missing) {  // "--n: 1 required N missing"
    const std::string text = missing.what();
    return Refuse(text.substr(0, text.find(':')) + ": needs a value", err);
  } catch (const CLI::ParseError& error) {
    return Refuse(error.what(), err);
  }
  const std::vector<std::string> unknown = app_->remaining();
  return unknown.empty() ? std::nullopt
                         : std::optional(Refuse("unknown option " + Quoted(unknown.front()), err));
}

int CommandLine::Refuse(const std::string& problem, std::ostream& err) const {
  err << program_ << ": " << problem << "; see " << program_ << " --help\n";
  return kExitUsage;
}

void CommandLine::PrintHelp(std::ostream& out) const {
  out << program_ << ": " << purpose_ << "\n\nusage: " << program_ << " [options]\n";
  for (const CLI::Option* option : app_->get_options()) {
    if (option == app_->get_help_ptr()) {
      continue;
    }
    std::string flag = option->get_name();
    flag += option->get_expected_max() == 0 ? "" : " " + option->get_type_name();
    flag.resize(std::max<size_t>(flag.size(), 14), ' ');
    out << "  " << flag << "  " << option->get_description() << "\n";
  }
  out << "  --help          this text\nCounts take the suffixes K, M, G and T, powers of 1024.\n"
      << "Exit: 0 success, 1 wrong result, 2 bad usage.\n\nexample:\n  " << example_ << "\n";
}

}  // namespace muster::kernels
