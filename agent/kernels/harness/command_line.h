#pragma once

// The command line of a kernel: `--flag VALUE` or `--flag=VALUE`, `--help`, and nothing else.
// A bad value costs one line on the error stream and exit 2, before the kernel has done anything.
// CLI11 parses; the words are ours.
//
// Thread promise: one thread. Invariant: the variables given to Add* outlive Parse; on an error
// they may be partly set and must not be used.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}  // namespace CLI

namespace muster::kernels {

constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

// Whole number with an optional suffix K, M, G or T (powers of 1024). nullopt: not one, or beyond
// 63 bits.
std::optional<int64_t> ParseCount(std::string_view text);

// Finite decimal number, nothing after it. nullopt: not one.
std::optional<double> ParseReal(std::string_view text);

// `text` fit for a one-line message: control characters become '?', and at most 60 bytes are kept.
std::string Printable(std::string_view text);

class CommandLine {
 public:
  CommandLine(std::string program, std::string purpose, std::string example);
  CommandLine(CommandLine&&) noexcept;
  CommandLine& operator=(CommandLine&&) noexcept;
  ~CommandLine();

  // Each adds `--name`; `meaning` is its help. Values outside [min, max] are refused.
  void AddCount(const std::string& name, const std::string& meaning, int64_t* value, int64_t min,
                int64_t max);
  void AddReal(const std::string& name, const std::string& meaning, double* value, double min,
               double max);
  // A text of at least one character; one of `choices` unless there are none.
  void AddText(const std::string& name, const std::string& meaning, std::string* value,
               const std::vector<std::string>& choices = {});
  void AddSwitch(const std::string& name, const std::string& meaning, bool* value);

  // nullopt: run the kernel. Otherwise exit with this code: help went to `out` (0) or one line to
  // `err` (2).
  std::optional<int> Parse(const std::vector<std::string>& arguments, std::ostream& out,
                           std::ostream& err) const;

  // Writes "program: problem; see program --help" to `err` and returns kExitUsage.
  int Refuse(const std::string& problem, std::ostream& err) const;

 private:
  // Adds `--name VALUE`; `store` keeps a value and says what is wrong with it, "" when nothing is.
  void Add(const std::string& name, const std::string& meaning, const std::string& value,
           std::function<std::string(const std::string&)> store);
  // `--name=` as two arguments, which the parser takes for a value that is empty. `problem`: a
  // switch was given one.
  std::vector<std::string> Split(const std::vector<std::string>& arguments,
                                 std::string* problem) const;
  void PrintHelp(std::ostream& out) const;

  std::string program_;
  std::string purpose_;
  std::string example_;
  std::unique_ptr<CLI::App> app_;
};

}  // namespace muster::kernels
