#include "agent/supervisor/user_space/as_user.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/user_space/child_setup.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/passed_descriptors.h"
#include "scheduler/runtime/process.h"

namespace muster::agent {
namespace {

constexpr std::size_t kTextBytesMax = std::size_t{1} << 14;
// A child that was killed, or has answered, is waited for so long at most.
constexpr int kGoneWithinMs = 100;

// The last message: this, and the text. Those before it carry descriptors and are empty.
struct Verdict {
  std::int32_t code = 0;  // absl::StatusCode
};

bool Send(int socket, std::string_view bytes, std::span<const UniqueFd> descriptors) {
  std::vector<int> numbers;
  numbers.reserve(descriptors.size());
  for (const UniqueFd& descriptor : descriptors) {
    numbers.push_back(descriptor.get());
  }
  return SendWithDescriptors(socket, bytes, numbers);
}

void SendAnswer(int socket, const absl::StatusOr<Brought>& brought) {
  Verdict verdict = {static_cast<std::int32_t>(brought.status().code())};
  std::string text = brought.ok() ? brought->text : std::string(brought.status().message());
  for (std::size_t at = 0; brought.ok() && at < brought->descriptors.size();
       at += kPassedDescriptorsMax) {
    const std::span<const UniqueFd> left = std::span(brought->descriptors).subspan(at);
    if (!Send(socket, "d", left.first(std::min(left.size(), kPassedDescriptorsMax)))) {
      verdict.code = static_cast<std::int32_t>(absl::ErrnoToStatusCode(errno));
      const char* const why = std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): one thread
      text = absl::StrCat("cannot pass what was opened: ", why);
      break;
    }
  }
  std::string bytes(reinterpret_cast<const char*>(&verdict), sizeof(verdict));
  bytes += text.substr(0, kTextBytesMax);
  Send(socket, bytes, {});
}

void CloseAllBut(int one, int other) {
  const auto low = static_cast<unsigned>(std::min(one, other));
  const auto high = static_cast<unsigned>(std::max(one, other));
  if (other >= 0 && low > 0) {
    close_range(0, low - 1, 0);
  }
  if (other >= 0 && high > low + 1) {
    close_range(low + 1, high - 1, 0);
  }
  if (other < 0 && high > 0) {
    close_range(0, high - 1, 0);
  }
  close_range(high + 1, ~0U, 0);
}

// The user, looked up where nobody has done it yet.
absl::StatusOr<JobUser> Found(const JobUser& user) {
  if (!user.to_find) {
    return user;
  }
  ASSIGN_OR_RETURN(const std::optional<JobUser> found,
                   FindJobUser(User{user.uid, user.gid, user.name}));
  return found.has_value() ? absl::StatusOr<JobUser>(*found)
                           : absl::InternalError("there is no user to become");
}

absl::Status Enter(const std::string& cgroup) {
  return cgroup.empty() ? absl::OkStatus() : WriteCgroupFile(cgroup, "cgroup.procs", "0");
}

[[noreturn]] void RunChild(const JobUser& named, int socket, int kept, pid_t parent,
                           const UserWork& work) {
  ResetSignals();
  DieWithParent(parent);
  CloseAllBut(socket, kept);
  const absl::StatusOr<JobUser> found = Found(named);
  if (!found.ok()) {
    SendAnswer(socket, found.status());
    _exit(1);
  }
  const JobUser& user = *found;
  if (absl::Status entered = Enter(named.cgroup); !entered.ok()) {
    SendAnswer(socket, entered);
    _exit(1);
  }
  if (!BecomeForGood(user)) {
    SendAnswer(socket, absl::ErrnoToStatus(errno, absl::StrCat("cannot become user ", user.name)));
    _exit(1);
  }
  DieWithParent(parent);  // the kernel forgot it with the old user
  SendAnswer(socket, work());
  _exit(0);
}

}  // namespace

// The child, from our side.
class UserChild {
 public:
  static absl::StatusOr<std::unique_ptr<UserChild>> Start(const JobUser& user, const UserWork& work,
                                                          int kept);
  UserChild(const UserChild&) = delete;
  UserChild& operator=(const UserChild&) = delete;
  // Ends it. It is reaped here if that needs no waiting, else by whoever reaps our children.
  ~UserChild();

  [[nodiscard]] int socket() const { return socket_.get(); }
  // Reads what is there; true once the child has closed its end, which its memory goes before.
  bool Read();
  // REQUIRES: Read() returned true.
  absl::StatusOr<Brought> Take();
  // Somebody has stopped it, or all that we have started.
  [[nodiscard]] bool Stopped() const;
  [[nodiscard]] absl::Status TooSlow(Duration limit) const {
    return absl::DeadlineExceededError(
        absl::StrCat("no answer within ", std::chrono::duration<double>(limit).count(),
                     " s as user ", name_, ": a file system or a name server hangs"));
  }

 private:
  UserChild(pid_t pid, UniqueFd pidfd, UniqueFd socket, std::string name)
      : pid_(pid), pidfd_(std::move(pidfd)), socket_(std::move(socket)), name_(std::move(name)) {}

  const pid_t pid_;
  const UniqueFd pidfd_;  // whoever reaps our children may have reaped it
  const UniqueFd socket_;
  const std::string name_;
  bool damaged_ = false;  // descriptors were lost on their way: we have no more places
  Brought brought_;
  std::optional<absl::Status> verdict_;
};

absl::StatusOr<std::unique_ptr<UserChild>> UserChild::Start(const JobUser& user,
                                                            const UserWork& work, int kept) {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a socket");
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    return absl::ErrnoToStatus(errno, "cannot fork");
  }
  if (pid == 0) {
    RunChild(user, theirs.get(), kept, parent, work);
  }
  UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.valid()) {
    const absl::Status status = absl::ErrnoToStatus(errno, "cannot watch a child");
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return status;
  }
  return std::unique_ptr<UserChild>(
      new UserChild(pid, std::move(pidfd), std::move(ours), user.name));
}

UserChild::~UserChild() {
  syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  pollfd ended = {pidfd_.get(), POLLIN, 0};
  poll(&ended, 1, kGoneWithinMs);
  siginfo_t info = {};
  waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED | WNOHANG);
}

bool UserChild::Read() {
  std::array<char, sizeof(Verdict) + kTextBytesMax> bytes;  // not set: two of three reads are short
  while (true) {
    ReceivedMessage received = ReceiveWithDescriptors(socket_.get(), bytes);
    if (received.size <= 0) {
      return received.size == 0 || errno != EAGAIN;
    }
    damaged_ = received.lost || damaged_;
    std::move(received.descriptors.begin(), received.descriptors.end(),
              std::back_inserter(brought_.descriptors));
    const auto got = static_cast<std::size_t>(received.size);
    if (got >= sizeof(Verdict)) {
      Verdict verdict;
      std::memcpy(&verdict, bytes.data(), sizeof(verdict));
      std::string text(bytes.data() + sizeof(verdict), got - sizeof(verdict));
      verdict_ = absl::Status(static_cast<absl::StatusCode>(verdict.code), text);
      brought_.text = std::move(text);
    }
  }
}

absl::StatusOr<Brought> UserChild::Take() {
  if (!verdict_.has_value()) {
    return absl::AbortedError(
        absl::StrCat("the process that acts as user ", name_, " was ended before it had answered"));
  }
  RETURN_IF_ERROR(*verdict_);
  if (damaged_) {
    return absl::ResourceExhaustedError(
        "too many open files: raise the limit of the agent's unit (LimitNOFILE)");
  }
  return std::move(brought_);
}

bool UserChild::Stopped() const {
  const absl::StatusOr<std::string> text = ReadFile(absl::StrCat("/proc/", pid_, "/stat"));
  const absl::StatusOr<ProcessStat> stat =
      text.ok() ? ParseProcessStat(*text) : absl::StatusOr<ProcessStat>(text.status());
  return stat.ok() && (stat->state == 'T' || stat->state == 't');
}

absl::StatusOr<Brought> RunAsUser(const JobUser* user, Duration limit, const UserWork& work,
                                  int kept) {
  if (user == nullptr) {
    return work();
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<UserChild> child, UserChild::Start(*user, work, kept));
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!child->Read()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return child->TooSlow(limit);
    }
    pollfd waiting = {child->socket(), POLLIN, 0};
    poll(&waiting, 1, static_cast<int>(left.count()));
  }
  return child->Take();
}

UserTask::UserTask(EventLoop& loop, const JobUser* user, Duration limit, const UserWork& work,
                   Done done, int kept)
    : loop_(loop), limit_(limit), done_(std::move(done)) {
  if (user == nullptr) {
    Answer(work());
    return;
  }
  absl::StatusOr<std::unique_ptr<UserChild>> child = UserChild::Start(*user, work, kept);
  if (!child.ok()) {
    Answer(child.status());
    return;
  }
  child_ = *std::move(child);
  const absl::Status watched =
      loop_.Watch(child_->socket(), EPOLLIN, [this](std::uint32_t) { Read(); });
  if (!watched.ok()) {
    Answer(watched);
    return;
  }
  timer_ = loop_.RunAfter(limit_, [this] { TimeOut(); });
}

UserTask::~UserTask() {
  if (timer_.has_value()) {
    loop_.Cancel(*timer_);
  }
  if (child_ != nullptr) {
    loop_.Unwatch(child_->socket());
  }
}

// From the loop: whoever made us is still at it.
void UserTask::Answer(absl::StatusOr<Brought> brought) {
  const auto kept = std::make_shared<absl::StatusOr<Brought>>(std::move(brought));
  loop_.Post([this, kept, alive = std::weak_ptr<const bool>(alive_)] {
    if (!alive.expired()) {
      Finish(std::move(*kept));
    }
  });
}

void UserTask::Read() {
  if (child_->Read()) {
    Finish(child_->Take());
  }
}

void UserTask::TimeOut() {
  // A suspended job waits; one that was continued meanwhile has its whole time from now on.
  const bool stopped = child_->Stopped();
  if (std::exchange(stopped_, stopped) || stopped) {
    timer_ = loop_.RunAfter(limit_, [this] { TimeOut(); });
    return;
  }
  Finish(child_->TooSlow(limit_));
}

void UserTask::Finish(absl::StatusOr<Brought> brought) {
  if (timer_.has_value()) {
    loop_.Cancel(*timer_);
    timer_.reset();
  }
  if (child_ != nullptr) {
    loop_.Unwatch(child_->socket());
    child_.reset();
  }
  const Done done = std::exchange(done_, nullptr);
  done(std::move(brought));  // may destroy us
}

}  // namespace muster::agent
