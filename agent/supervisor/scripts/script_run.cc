#include "agent/supervisor/scripts/script_run.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/supervisor/launch/launch.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/utf8.h"

namespace muster::agent {
namespace {

constexpr std::size_t kTextBytesMax = 4096;
constexpr std::size_t kReasonBytesMax = 240;
constexpr std::size_t kReasonLines = 3;
// Between SIGTERM and SIGKILL for a script that took too long.
constexpr Duration kGrace{2000};

// A file in memory that is read from its start.
absl::StatusOr<UniqueFd> InputOf(const std::string& text) {
  UniqueFd fd(memfd_create("input", MFD_CLOEXEC));
  if (!fd.valid() ||
      write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      lseek(fd.get(), 0, SEEK_SET) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make its standard input");
  }
  return fd;
}

}  // namespace

std::string LastLines(const std::string& said) {
  std::vector<std::string> lines = absl::StrSplit(said, '\n', absl::SkipWhitespace());
  if (lines.size() > kReasonLines) {
    lines.erase(lines.begin(), lines.end() - kReasonLines);
  }
  std::string text = EscapeControl(absl::StrJoin(lines, " | "));
  if (text.size() > kReasonBytesMax) {
    std::size_t from = text.size() - kReasonBytesMax;
    while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xc0U) == 0x80U) {
      ++from;  // not in the middle of a character
    }
    text = absl::StrCat("…", text.substr(from));
  }
  return text;
}

ScriptRun::ScriptRun(EventLoop& loop, Request request, Done done)
    : loop_(loop), request_(std::move(request)), done_(std::move(done)) {
  const absl::Status started = Start();
  if (!started.ok()) {
    pid_ = -1;
    loop_.Post([this, alive = std::weak_ptr<const bool>(alive_), started] {
      if (!alive.expired()) {
        Finish(started);
      }
    });
  }
}

ScriptRun::~ScriptRun() {
  loop_.Cancel(timer_);
  if (output_.valid()) {
    loop_.Unwatch(output_.get());
  }
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
  }
}

absl::Status ScriptRun::Start() {
  const SiteScript& script = request_.script;
  RETURN_IF_ERROR(CheckSiteScript(script.program));
  ASSIGN_OR_RETURN(const UniqueFd input, InputOf(request_.input));
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  output_.reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  LaunchRequest launch;
  launch.programs = {script.program};
  launch.arguments = {script.program};
  launch.environment = request_.environment;
  launch.work_dir = "/";
  launch.standard_input = input.get();
  launch.standard_output = theirs.get();
  launch.standard_error = theirs.get();
  launch.user = script.as_user ? request_.user : nullptr;
  ASSIGN_OR_RETURN(LaunchedChild child, Launch(launch));
  pid_ = child.pid;
  said_ = std::move(child.said);
  RETURN_IF_ERROR(loop_.Watch(output_.get(), EPOLLIN, [this](std::uint32_t) { Read(); }));
  timer_ = loop_.RunAfter(script.time_limit, [this] { TimeOut(); });
  return absl::OkStatus();
}

void ScriptRun::TimeOut() {
  if (pid_ <= 0) {
    return;
  }
  const bool first = !std::exchange(timed_out_, true);
  kill(-pid_, first ? SIGTERM : SIGKILL);
  timer_ = loop_.RunAfter(kGrace, [this] { TimeOut(); });
}

void ScriptRun::Read() {
  std::array<char, kTextBytesMax> bytes{};
  while (true) {
    const ssize_t got = read(output_.get(), bytes.data(), bytes.size());
    if (got > 0) {
      text_.append(bytes.data(), static_cast<std::size_t>(got));
      text_.erase(0, text_.size() - std::min(text_.size(), kTextBytesMax));
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else {
      if (got == 0) {
        loop_.Unwatch(output_.get());
      }
      return;
    }
  }
}

void ScriptRun::BeforeReap() const {
  kill(-pid_, SIGKILL);
}

void ScriptRun::Reaped(int wait_status) {
  pid_ = -1;
  Read();
  const absl::Status status = Judge(wait_status);
  loop_.Post([this, alive = std::weak_ptr<const bool>(alive_), status] {
    if (!alive.expired()) {
      Finish(status);
    }
  });
}

absl::Status ScriptRun::Judge(int wait_status) {
  std::array<char, 512> said{};
  const ssize_t got = read(said_.get(), said.data(), said.size());
  const LaunchOutcome outcome =
      ParseOutcome(std::string(said.data(), got > 0 ? static_cast<std::size_t>(got) : 0));
  std::string what;
  if (outcome.error != 0) {
    const char* const why = std::strerror(outcome.error);  // NOLINT(concurrency-mt-unsafe): glibc's
    what = absl::StrCat("cannot be started: ", why);
  } else if (timed_out_) {
    what = absl::StrCat("took longer than ", SecondsText(request_.script.time_limit));
  } else if (WIFSIGNALED(wait_status)) {
    what = absl::StrCat("killed by signal ", WTERMSIG(wait_status));
  } else if (WEXITSTATUS(wait_status) != 0) {
    what = absl::StrCat("exit code ", WEXITSTATUS(wait_status));
  } else {
    return absl::OkStatus();
  }
  const std::string lines = LastLines(text_);
  return absl::AbortedError(
      absl::StrCat(request_.script.program, ": ", what, lines.empty() ? "" : ": ", lines));
}

void ScriptRun::Finish(absl::Status status) {
  loop_.Cancel(timer_);
  if (!status.ok()) {
    status = absl::Status(status.code(),
                          absl::StrCat(request_.what, " ", std::string(status.message())));
  }
  const Done done = std::exchange(done_, nullptr);
  done(status);  // may destroy us
}

}  // namespace muster::agent
