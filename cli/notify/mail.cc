#include "cli/notify/mail.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/child_end.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

constexpr std::size_t kLineBytes = 76;          // of base64
constexpr std::size_t kEncodedPieceBytes = 39;  // of a header's text in one encoded word
constexpr std::size_t kSubjectBytesMax = 300;

bool IsPlain(const std::string& text) {
  for (const char letter : text) {
    if (letter < ' ' || letter > '~') {
      return false;
    }
  }
  return true;
}

// RFC 2047: encoded words, each whole characters.
std::string HeaderText(const std::string& text) {
  std::string printable = Printable(text).substr(0, kSubjectBytesMax);
  if (IsPlain(printable) && printable.size() < kLineBytes - 10) {
    return printable;
  }
  std::string header;
  for (std::size_t at = 0; at < printable.size();) {
    std::size_t end = std::min(printable.size(), at + kEncodedPieceBytes);
    while (end < printable.size() && (static_cast<unsigned char>(printable[end]) & 0xc0) == 0x80) {
      --end;
    }
    absl::StrAppend(&header, header.empty() ? "" : "\n ", "=?UTF-8?B?",
                    absl::Base64Escape(printable.substr(at, end - at)), "?=");
    at = end;
  }
  return header;
}

std::string Folded(const std::string& text) {
  const std::string all = absl::Base64Escape(text);
  std::string folded;
  for (std::size_t at = 0; at < all.size(); at += kLineBytes) {
    absl::StrAppend(&folded, all.substr(at, kLineBytes), "\n");
  }
  return folded;
}

// All of it, or an error once nobody reads.
absl::Status WriteAll(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(fd, text.data() + done, text.size() - done);
    if (wrote < 0 && errno != EINTR) {
      return absl::ErrnoToStatus(errno, "sendmail does not read its message");
    }
    done += wrote > 0 ? static_cast<std::size_t>(wrote) : 0;
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Await(pid_t pid, std::chrono::seconds patience) {
  if (EndsWithin(pid, patience)) {
    return AwaitEnd(pid);
  }
  kill(pid, SIGKILL);
  (void)AwaitEnd(pid);
  return absl::DeadlineExceededError("sendmail does not end; it was killed");
}

// Of sysexits.h.
bool IsForGood(int code) {
  return code == 64 || code == 65 || code == 67 || code == 68;
}

}  // namespace

std::string MailText(const Mail& mail, Time now) {
  const std::string date =
      absl::FormatTime("%a, %d %b %Y %H:%M:%S +0000",
                       absl::FromUnixMillis(now.time_since_epoch().count()), absl::UTCTimeZone());
  return absl::StrCat("From: ", mail.from, "\nTo: ", mail.to,
                      "\nSubject: ", HeaderText(mail.subject), "\nDate: ", date, "\nMessage-ID: <",
                      mail.id, "@muster>", "\nAuto-Submitted: auto-generated\nMIME-Version: 1.0",
                      "\nContent-Type: text/plain; charset=utf-8",
                      "\nContent-Transfer-Encoding: base64\n\n", Folded(mail.text));
}

absl::Status SendMail(const std::string& program, const Mail& mail, Time now,
                      std::chrono::seconds patience) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "pipe");
  }
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  SpawnRequest request;
  request.program = program;
  request.arguments = {"sendmail", "-i", "-f", mail.from, "--", mail.to};
  request.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
  request.working_directory = "/";
  request.fds = {{read_end.get(), STDIN_FILENO}};
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(request));
  read_end.reset();
  absl::Status written = WriteAll(write_end.get(), MailText(mail, now));
  write_end.reset();
  ASSIGN_OR_RETURN(const int status, Await(pid, patience));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return written;
  }
  // Whoever refuses a message may do so before reading it: its code says more than the broken pipe.
  const int code = ShellCode(status);
  const std::string text = absl::StrCat(program, " ended with ", code);
  return IsForGood(code) ? absl::InvalidArgumentError(text) : absl::UnavailableError(text);
}

}  // namespace muster::cli
