#include "cli/run/rank_files.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "absl/strings/str_cat.h"
#include "cli/request/request.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/value/output_pattern.h"

namespace muster::cli {
namespace {

std::string WithoutSlashes(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

// What `letter` stands for; nothing for a letter that means nothing.
std::optional<std::string> Expand(char letter, std::size_t width, const StepNames& names,
                                  const RankSource& rank) {
  switch (letter) {
    case 't':
      return PaddedNumber(rank.rank, width);
    case 'n':
      return PaddedNumber(absl::StrCat(rank.node_index), width);
    case 'N':
      return WithoutSlashes(rank.node);
    case 'j':
      return PaddedNumber(absl::StrCat(names.job.value()), width);
    case 's':
      return PaddedNumber(absl::StrCat(names.step.value()), width);
    case 'J':
      return absl::StrCat(PaddedNumber(absl::StrCat(names.job.value()), width), ".",
                          names.step.value());
    case 'A':
      return names.array_job.empty() ? PaddedNumber(absl::StrCat(names.job.value()), width)
                                     : PaddedNumber(names.array_job, width);
    case 'a':
      return PaddedNumber(names.array_index.empty() ? "0" : names.array_index, width);
    case 'u':
      return WithoutSlashes(names.user);
    case 'x':
      return WithoutSlashes(names.job_name);
    case '%':
      return "%";
    default:
      return std::nullopt;
  }
}

bool IsRank(const std::string& choice) {
  constexpr std::uint64_t kRankMax = 1U << 31;
  return ParseDigits(choice, kRankMax).ok();
}

}  // namespace

bool NamesFile(const std::string& choice) {
  return !choice.empty() && choice != "all" && choice != "none" && !IsRank(choice);
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd wait = {.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::string ExpandRankPattern(const std::string& pattern, const StepNames& names,
                              const RankSource& rank) {
  std::string path;
  for (std::size_t at = 0; at < pattern.size();) {
    std::size_t letter = at + 1;
    std::size_t width = 0;
    while (pattern[at] == '%' && letter < pattern.size() && pattern[letter] >= '0' &&
           pattern[letter] <= '9') {
      width =
          std::min(width * 10 + static_cast<std::size_t>(pattern[letter] - '0'), kPatternWidthMax);
      ++letter;
    }
    const std::optional<std::string> meaning = pattern[at] == '%' && letter < pattern.size()
                                                   ? Expand(pattern[letter], width, names, rank)
                                                   : std::nullopt;
    path += meaning.has_value() ? *meaning : std::string(1, pattern[at]);
    at = meaning.has_value() ? letter + 1 : at + 1;
  }
  return path;
}

const std::string& RankFiles::ChoiceOf(bool error) const {
  return error && !choice_.error.empty() ? choice_.error : choice_.output;
}

absl::Status RankFiles::Check() const {
  if (NamesFile(choice_.output)) {
    RETURN_IF_ERROR(CheckOutput("--output", choice_.output, choice_.work_dir));
  }
  return NamesFile(choice_.error) ? CheckOutput("--error", choice_.error, choice_.work_dir)
                                  : absl::OkStatus();
}

absl::StatusOr<RankFiles::Place> RankFiles::Write(const RankSource& rank, bool error,
                                                  std::string_view bytes) {
  const std::string& choice = ChoiceOf(error);
  if (!NamesFile(choice)) {
    return choice == "none" || (IsRank(choice) && choice != rank.rank) ? Place::kElsewhere
                                                                       : Place::kTerminal;
  }
  const std::string path =
      (std::filesystem::path(choice_.work_dir) / ExpandRankPattern(choice, names_, rank)).string();
  ASSIGN_OR_RETURN(const int fd, Open(path));
  if (!WriteAll(fd, bytes)) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be written"));
  }
  return Place::kElsewhere;
}

absl::StatusOr<int> RankFiles::Open(const std::string& path) {
  UniqueFd& file = open_[path];
  if (file.valid()) {
    return file.get();
  }
  const bool cut = begun_.count(path) == 0 && !choice_.append;
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | (cut ? O_TRUNC : 0);
  UniqueFd made(open(path.c_str(), flags, 0666));
  if (!made.valid() && errno == EMFILE) {
    for (auto& [name, other] : open_) {
      other.reset();
    }
    made.reset(open(path.c_str(), flags, 0666));
  }
  if (!made.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be written"));
  }
  begun_.insert(path);
  file = std::move(made);
  return file.get();
}

}  // namespace muster::cli
