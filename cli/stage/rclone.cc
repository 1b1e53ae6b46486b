#include "cli/stage/rclone.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/page/text.h"
#include "cli/request/program_path.h"
#include "cli/stage/bulk_traffic.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/value/fingerprint.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/child_end.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;

std::uint64_t NumberIn(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() && *found > 0 ? found->get<std::uint64_t>()
                                                                   : 0;
}

// Of what it writes each line, until it ends.
void ReadLines(const UniqueFd& from, const std::function<void(const std::string&)>& take) {
  std::string rest;
  std::array<char, 65536> buffer = {};
  for (;;) {
    const ssize_t got = read(from.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    rest.append(buffer.data(), static_cast<std::size_t>(got));
    for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
      take(rest.substr(0, end));
      rest.erase(0, end + 1);
    }
  }
  if (!rest.empty()) {
    take(rest);
  }
}

std::uint64_t FollowLog(const UniqueFd& log, const TellBytes& tell) {
  std::uint64_t done = 0;
  ReadLines(log, [&](const std::string& text) {
    const RcloneLine line = ReadRcloneLine(text);
    if (line.says.has_value()) {
      std::cerr << "rclone: " << Printable(*line.says) << std::endl;
    } else {
      done = line.done;
      tell(line.done, line.total);
    }
  });
  return done;
}

// `is_needed`: "WHAT is copied by rclone, which", before what is said where there is none.
absl::StatusOr<pid_t> StartRclone(const std::string& is_needed, std::vector<std::string> words,
                                  const Environment& environment, std::vector<FdMapping> fds) {
  const absl::StatusOr<std::string> program = FindProgram("rclone", ".", environment);
  if (!program.ok()) {
    return absl::NotFoundError(absl::StrCat(is_needed,
                                            " is not installed on this machine: have it installed "
                                            "(apt-get install rclone)"));
  }
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  SpawnRequest request;
  request.program = *program;
  request.arguments = std::move(words);
  request.arguments.insert(request.arguments.begin(), "rclone");
  request.environment = environment.entries();
  request.fds = std::move(fds);
  request.fds.push_back({nothing.get(), STDIN_FILENO});
  return Spawn(request);
}

std::string IsCopied(const std::string& what) {
  return absl::StrCat(what, ": is copied by rclone, which");
}

absl::Status AwaitRclone(pid_t rclone, const std::string& what) {
  const int status = AwaitEnd(rclone);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0
             ? absl::OkStatus()
             : absl::FailedPreconditionError(
                   absl::StrCat(what, ": rclone ",
                                WIFEXITED(status)
                                    ? absl::StrCat("ended with the exit code ", WEXITSTATUS(status))
                                    : absl::StrCat("was ended by signal ", WTERMSIG(status)),
                                "; its lines above say why"));
}

// Of a file in memory, from its begin; the part that is there.
std::string BytesIn(const UniqueFd& file) {
  std::string bytes;
  std::array<char, 65536> buffer = {};
  off_t at = 0;
  for (ssize_t got = pread(file.get(), buffer.data(), buffer.size(), at); got > 0;
       got = pread(file.get(), buffer.data(), buffer.size(), at)) {
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
    at += got;
  }
  return bytes;
}

}  // namespace

absl::StatusOr<SourceState> StateOfList(const std::string& from, std::vector<std::string> files) {
  if (files.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(Quote(from), ": holds no files: nothing is there to be copied"));
  }
  std::sort(files.begin(), files.end());
  SourceState state;
  Fingerprint print;
  for (const std::string& file : files) {
    print.Add(file);
    const std::size_t size = file.find('\t') + 1;
    std::uint64_t bytes = 0;
    if (absl::SimpleAtoi(file.substr(size, file.find('\t', size) - size), &bytes)) {
      state.bytes += bytes;
    }
  }
  state.fingerprint = print.value();
  return state;
}

RcloneLine ReadRcloneLine(const std::string& line) {
  const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  RcloneLine read;
  if (!object.is_object()) {
    read.says = line;
    return read;
  }
  const auto stats = object.find("stats");
  if (stats != object.end() && stats->is_object()) {
    read.done = NumberIn(*stats, "bytes");
    read.total = std::max(read.done, NumberIn(*stats, "totalBytes"));
    return read;
  }
  const auto text = object.find("msg");
  read.says = text != object.end() && text->is_string() ? text->get<std::string>() : line;
  const auto what = object.find("object");
  if (what != object.end() && what->is_string()) {
    read.says = absl::StrCat(what->get<std::string>(), ": ", *read.says);
  }
  return read;
}

absl::StatusOr<RcloneAnswer> RunRclone(std::vector<std::string> words,
                                       const Environment& environment) {
  const UniqueFd out(memfd_create("rclone-out", MFD_CLOEXEC));
  const UniqueFd said(memfd_create("rclone-said", MFD_CLOEXEC));
  if (!out.valid() || !said.valid()) {
    return absl::ErrnoToStatus(errno, "a file in memory for rclone");
  }
  ASSIGN_OR_RETURN(
      const pid_t rclone,
      StartRclone("rclone, which copies to object stores,", std::move(words), environment,
                  {{out.get(), STDOUT_FILENO}, {said.get(), STDERR_FILENO}}));
  RcloneAnswer answer;
  answer.code = ShellCode(AwaitEnd(rclone));
  answer.out = BytesIn(out);
  const std::string all = BytesIn(said);
  const std::size_t end = all.find_last_not_of('\n');
  if (end != std::string::npos) {
    const std::size_t before = all.rfind('\n', end);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    answer.said = Printable(all.substr(begin, end - begin + 1));
  }
  return answer;
}

absl::StatusOr<std::uint64_t> CopyByRclone(const std::string& from, const std::string& to,
                                           const Environment& environment, const TellBytes& tell) {
  const std::string what = absl::StrCat(Quote(from), " to ", Quote(to));
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "a pipe to rclone");
  }
  const UniqueFd log(ends[0]);
  UniqueFd said(ends[1]);
  std::vector<std::string> words = {"copyto", "--use-json-log", "--stats-log-level=NOTICE",
                                    "--stats=1s"};
  for (std::string& word : BulkWords(kStagingCopies, environment)) {
    words.push_back(std::move(word));
  }
  words.insert(words.end(), {"--", from, to});
  ASSIGN_OR_RETURN(const pid_t rclone, StartRclone(IsCopied(what), std::move(words), environment,
                                                   {{said.get(), STDERR_FILENO}}));
  said.reset();
  const std::uint64_t done = FollowLog(log, tell);
  RETURN_IF_ERROR(AwaitRclone(rclone, what));
  return done;
}

absl::StatusOr<SourceState> StateByRclone(const std::string& from, const Environment& environment) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "a pipe to rclone");
  }
  const UniqueFd list(ends[0]);
  UniqueFd listed(ends[1]);
  ASSIGN_OR_RETURN(
      const pid_t rclone,
      StartRclone(IsCopied(Quote(from)),
                  {"lsf", "--recursive", "--files-only", "--format=tsp", "--separator=\t",
                   "--use-server-modtime", "--", from},
                  environment, {{listed.get(), STDOUT_FILENO}, {STDERR_FILENO, STDERR_FILENO}}));
  listed.reset();
  std::vector<std::string> files;
  ReadLines(list, [&files](const std::string& line) { files.push_back(line); });
  RETURN_IF_ERROR(AwaitRclone(rclone, Quote(from)));
  return StateOfList(from, std::move(files));
}

}  // namespace muster::cli
