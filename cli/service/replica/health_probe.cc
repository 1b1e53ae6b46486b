#include "cli/service/replica/health_probe.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/connect/target.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

constexpr std::size_t kStatusLineMost = 512;
constexpr int kGood = 200;
constexpr int kBad = 400;

// One question to one program, within its time.
class HealthQuestion {
 public:
  HealthQuestion(UniqueFd socket, Duration patience, int interrupt)
      : socket_(std::move(socket)),
        patience_(patience),
        until_(SystemClock().SteadyNow() + patience),
        interrupt_(interrupt) {}

  absl::Status Connect() const {
    RETURN_IF_ERROR(Await(POLLOUT));
    int error = 0;
    socklen_t size = sizeof(error);
    if (getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
      return absl::UnavailableError(std::strerror(error == 0 ? errno : error));
    }
    return absl::OkStatus();
  }

  absl::Status Write(const std::string& text) const {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t wrote =
          send(socket_.get(), text.data() + done, text.size() - done, MSG_NOSIGNAL);
      if (wrote < 0 && errno != EAGAIN && errno != EINTR) {
        return absl::UnavailableError(std::strerror(errno));
      }
      done += wrote > 0 ? static_cast<std::size_t>(wrote) : 0;
      if (wrote < 0) {
        RETURN_IF_ERROR(Await(POLLOUT));
      }
    }
    return absl::OkStatus();
  }

  // The first line of the answer.
  absl::StatusOr<std::string> ReadLine() const {
    std::string line;
    std::array<char, kStatusLineMost> buffer = {};
    while (line.size() < kStatusLineMost) {
      RETURN_IF_ERROR(Await(POLLIN));
      const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (got < 0 && errno != EAGAIN && errno != EINTR) {
        return absl::UnavailableError(std::strerror(errno));
      }
      if (got == 0) {
        return absl::UnavailableError("it closes the connection without an answer");
      }
      line.append(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
      if (const std::size_t end = line.find('\n'); end != std::string::npos) {
        return line.substr(0, end);
      }
    }
    return line;
  }

 private:
  absl::Status Await(int16_t events) const {
    const auto left = std::chrono::ceil<Duration>(until_ - SystemClock().SteadyNow());
    std::array<pollfd, 2> watched = {pollfd{socket_.get(), events, 0},
                                     pollfd{interrupt_, POLLIN, 0}};
    (void)poll(watched.data(), watched.size(),
               static_cast<int>(std::max(left, Duration(0)).count()));
    if (watched[1].revents != 0) {
      return absl::CancelledError("interrupted");
    }
    if (watched[0].revents == 0 && SystemClock().SteadyNow() >= until_) {
      return absl::UnavailableError(absl::StrCat("no answer within ", SecondsText(patience_)));
    }
    return absl::OkStatus();
  }

  const UniqueFd socket_;
  const Duration patience_;
  const SteadyTime until_;
  const int interrupt_;
};

// "HTTP/1.1 200 OK"
absl::Status JudgeLine(const std::string& line) {
  const std::vector<std::string> words = SplitWords(line);
  int status = 0;
  if (words.size() < 2 || !absl::StartsWith(words[0], "HTTP/") ||
      !absl::SimpleAtoi(words[1], &status)) {
    return absl::UnavailableError(absl::StrCat("its answer is no HTTP: ", Quote(line)));
  }
  return status >= kGood && status < kBad
             ? absl::OkStatus()
             : absl::UnavailableError(absl::StrCat("it answers with the status ", status));
}

}  // namespace

absl::Status AskHealth(const std::string& host, std::uint16_t port, const ServiceProbe& probe,
                       Duration patience, int interrupt) {
  ASSIGN_OR_RETURN(UniqueFd socket, BeginConnection({.local = 0, .host = host, .port = port}));
  const HealthQuestion question(std::move(socket), patience, interrupt);
  RETURN_IF_ERROR(question.Connect());
  if (probe.kind == ProbeKind::kTcp) {
    return absl::OkStatus();
  }
  const bool v6 = host.find(':') != std::string::npos;
  RETURN_IF_ERROR(question.Write(absl::StrCat(
      "GET ", probe.path, " HTTP/1.1\r\nHost: ", v6 ? "[" : "", host, v6 ? "]" : "", ":", port,
      "\r\nUser-Agent: muster-service\r\nAccept: */*\r\nConnection: close\r\n\r\n")));
  ASSIGN_OR_RETURN(const std::string line, question.ReadLine());
  return JudgeLine(line);
}

}  // namespace muster::cli
