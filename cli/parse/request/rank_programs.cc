#include "cli/parse/request/rank_programs.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

absl::StatusOr<std::vector<std::string>> ProgramWords(std::string_view line) {
  std::vector<std::string> words;
  bool inside = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && IsSpace(c)) {
      inside = false;
      continue;
    }
    if (quote == 0 && !inside && c == '#') {
      return words;
    }
    if (!std::exchange(inside, true)) {
      words.emplace_back();
    }
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += c;
    }
  }
  return quote == 0 ? absl::StatusOr<std::vector<std::string>>(words)
                    : absl::InvalidArgumentError("a quote is not closed: close it on the line");
}

absl::StatusOr<std::vector<RankRange>> Ranks(const std::string& text) {
  std::vector<RankRange> ranges;
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  for (const std::string& part : parts) {
    const std::size_t dash = part.find('-');
    const absl::StatusOr<std::uint64_t> first = ParseDigits(part.substr(0, dash), kCountMax);
    const absl::StatusOr<std::uint64_t> last =
        dash == std::string::npos ? first : ParseDigits(part.substr(dash + 1), kCountMax);
    if (!first.ok() || !last.ok() || *last < *first) {
      return absl::InvalidArgumentError(
          absl::StrCat(Quote(text), " is not a list of ranks: write one like 0, 1-3,5 or *"));
    }
    ranges.push_back({static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last)});
  }
  return ranges;
}

bool Overlap(const RankRange& a, const RankRange& b) {
  return a.first <= b.last && b.first <= a.last;
}

// The line before `program` that has one of its ranks, or nothing.
const RankProgram* NamedBefore(const std::vector<RankProgram>& before, const RankProgram& program) {
  const auto found = std::find_if(before.begin(), before.end(), [&](const RankProgram& other) {
    return (other.ranks.empty() && program.ranks.empty()) ||
           std::any_of(other.ranks.begin(), other.ranks.end(), [&](const RankRange& a) {
             return std::any_of(program.ranks.begin(), program.ranks.end(),
                                [&](const RankRange& b) { return Overlap(a, b); });
           });
  });
  return found == before.end() ? nullptr : &*found;
}

absl::Status ReadLine(std::string_view text, int number, std::vector<RankProgram>* programs) {
  ASSIGN_OR_RETURN(std::vector<std::string> words, ProgramWords(text));
  if (words.empty()) {
    return absl::OkStatus();
  }
  RankProgram program{.line = number, .ranks = {}, .argv = {}};
  if (words.front() != "*") {
    ASSIGN_OR_RETURN(program.ranks, Ranks(words.front()));
  }
  program.argv.assign(words.begin() + 1, words.end());
  if (program.argv.empty() || program.argv.front().empty()) {
    return absl::InvalidArgumentError("there is no program: write RANKS PROGRAM [ARG…]");
  }
  if (const RankProgram* before = NamedBefore(*programs, program)) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ranks of line ", before->line, ": name each rank once, and * once"));
  }
  programs->push_back(std::move(program));
  return absl::OkStatus();
}

// Single-quoted for a shell, with %t and %o as its variables.
std::string ShellWord(const std::string& word) {
  std::string quoted = "'";
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char next = word[i] == '%' && i + 1 < word.size() ? word[i + 1] : '\0';
    if (next == 't' || next == 'o' || next == '%') {
      quoted += next == '%' ? "%" : next == 't' ? "'\"$t\"'" : "'\"$o\"'";
      ++i;
    } else {
      quoted += word[i] == '\'' ? std::string("'\\''") : std::string(1, word[i]);
    }
  }
  return quoted + "'";
}

std::string ExecOf(const RankProgram& program) {
  std::string line = "exec";
  for (const std::string& word : program.argv) {
    absl::StrAppend(&line, " ", ShellWord(word));
  }
  return line;
}

}  // namespace

absl::StatusOr<std::vector<RankProgram>> ParseRankPrograms(std::string_view text,
                                                           const std::string& name) {
  std::vector<RankProgram> programs;
  int number = 0;
  const std::vector<std::string> lines = absl::StrSplit(std::string(text), '\n');
  for (const std::string& line : lines) {
    const absl::Status status = ReadLine(line, ++number, &programs);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ":", number, ": ", std::string(status.message())));
    }
  }
  if (programs.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": names no program: write lines like 0-3 PROGRAM [ARG…]"));
  }
  return programs;
}

std::uint32_t RanksNamed(const std::vector<RankProgram>& programs) {
  std::uint32_t named = 0;
  for (const RankProgram& program : programs) {
    if (program.ranks.empty()) {
      return 0;
    }
    for (const RankRange& range : program.ranks) {
      named = std::max(named, range.last + 1);
    }
  }
  return named;
}

absl::Status CheckRanks(const std::vector<RankProgram>& programs, std::uint32_t tasks,
                        const std::string& name) {
  std::vector<bool> covered(tasks, false);
  bool others = false;
  for (const RankProgram& program : programs) {
    others = others || program.ranks.empty();
    for (const RankRange& range : program.ranks) {
      if (range.last >= tasks) {
        return absl::InvalidArgumentError(absl::StrCat(
            name, ":", program.line, ": rank ", range.last, " is not there: there are ", tasks,
            " tasks: use --ntasks=", range.last + 1));
      }
      std::fill(covered.begin() + range.first, covered.begin() + range.last + 1, true);
    }
  }
  const auto missing = std::find(covered.begin(), covered.end(), false);
  if (!others && missing != covered.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": no line has rank ", missing - covered.begin(), ": add one, or a line for *"));
  }
  return absl::OkStatus();
}

std::vector<std::string> RankProgramsCommand(const std::vector<RankProgram>& programs,
                                             const std::string& name) {
  std::string script = "t=$MUSTER_PROCID; o=$t\n";
  std::string others =
      absl::StrCat("echo ", ShellWord(absl::StrReplaceAll(name, {{"%", "%%"}})),
                   "\": no line has rank $t: add one, or a line for *\" >&2; exit 1");
  for (const RankProgram& program : programs) {
    std::uint32_t before = 0;
    for (const RankRange& range : program.ranks) {
      absl::StrAppend(&script, "if [ $t -ge ", range.first, " ] && [ $t -le ", range.last,
                      " ]; then o=$((t - ", range.first, " + ", before, ")); ", ExecOf(program),
                      "; fi\n");
      before += range.last - range.first + 1;
    }
    others = program.ranks.empty() ? ExecOf(program) : others;
  }
  return {"/bin/sh", "-c", script + others + "\n"};
}

}  // namespace muster::cli
