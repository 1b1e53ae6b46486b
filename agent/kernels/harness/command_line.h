#pragma once

// The command line of a kernel: `--flag VALUE` or `--flag=VALUE`, `--help`, and nothing else.
// A bad value costs one line on the error stream and exit 2, before the kernel has done anything.
//
// Thread promise: one thread. Invariant: the variables given to Add* outlive Parse; on an error
// they may be partly set and must not be used.

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

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

  // Each adds `--name`; `meaning` is its help. Values outside [min, max] are refused.
  void AddCount(std::string name, std::string meaning, int64_t* value, int64_t min, int64_t max);
  void AddReal(std::string name, std::string meaning, double* value, double min, double max);
  // A text of at least one character; one of `choices` unless there are none.
  void AddText(std::string name, std::string meaning, std::string* value,
               std::vector<std::string> choices = {});
  void AddSwitch(std::string name, std::string meaning, bool* value);

  // nullopt: run the kernel. Otherwise exit with this code: help went to `out` (0) or one line to
  // `err` (2).
  std::optional<int> Parse(const std::vector<std::string>& arguments, std::ostream& out,
                           std::ostream& err) const;

  // Writes "program: problem; see program --help" to `err` and returns kExitUsage.
  int Refuse(const std::string& problem, std::ostream& err) const;

 private:
  struct Option {
    std::string name;
    std::string meaning;
    int64_t* count = nullptr;
    double* real = nullptr;
    bool* on = nullptr;
    std::string* text = nullptr;
    std::vector<std::string> choices = {};
    int64_t count_min = 0;
    int64_t count_max = 0;
    double real_min = 0;
    double real_max = 0;
  };

  const Option* Find(std::string_view name) const;
  // "--name: problem".
  static std::string Named(const Option& option, const std::string& problem);
  void PrintHelp(std::ostream& out) const;
  // Stores `text`; returns what is wrong with it, empty when nothing is.
  static std::string Store(const Option& option, const std::string& text);
  static std::string StoreCount(const Option& option, const std::string& text);
  static std::string StoreText(const Option& option, const std::string& text);
  static std::string StoreReal(const Option& option, const std::string& text);

  std::string program_;
  std::string purpose_;
  std::string example_;
  std::vector<Option> options_;
};

}  // namespace muster::kernels
