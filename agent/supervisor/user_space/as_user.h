#pragma once

// Work in a user's own space (the user's files, sockets and names) is done by a child process that
// has become that user for good and hands back descriptors and a text.
//
// Why a process: the credentials of a socket's peer, /proc/self and what a hung file system holds
// up are those of the process that acts, whatever the thread's file user is.
//
// Thread promise: the caller's thread; `work` runs in the child, which has copies of our memory,
// but of our descriptors only the one that is named: it must use nothing else of them, and no lock
// that another thread may hold. Invariants: (1) nothing of `work` runs as us, unless `user` is
// null, which means our own user: then it runs here, without a child; (2) what is brought is handed
// out only once the child is gone, so that no descriptor of its /proc entries shows anything; (3) a
// child that does not answer within `limit` is killed, and that is an error.

#include <sys/types.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

struct Brought {
  std::vector<UniqueFd> descriptors;
  std::string text;  // at most 16 KiB of it arrive
};

// A plain value as the text.
template <class Value>
Brought BringValue(const Value& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  return {.descriptors = {},
          .text = std::string(reinterpret_cast<const char*>(&value), sizeof(value))};
}
template <class Value>
std::optional<Value> ValueIn(const Brought& brought) {
  static_assert(std::is_trivially_copyable_v<Value>);
  Value value;
  if (brought.text.size() != sizeof(value)) {
    return std::nullopt;
  }
  std::memcpy(&value, brought.text.data(), sizeof(value));
  return value;
}

using UserWork = std::function<absl::StatusOr<Brought>()>;

// Waits for the answer, and so keeps its caller waiting: at most `limit`. `kept`: a descriptor that
// the child keeps.
absl::StatusOr<Brought> RunAsUser(const JobUser* user, Duration limit, const UserWork& work,
                                  int kept = -1);

class UserChild;

// The same without waiting: `done` is called once, from the loop; not at all when this goes before.
class UserTask {
 public:
  using Done = std::function<void(absl::StatusOr<Brought>)>;

  // `done` may destroy this. `kept` as RunAsUser's.
  UserTask(EventLoop& loop, const JobUser* user, Duration limit, const UserWork& work, Done done,
           int kept = -1);
  UserTask(const UserTask&) = delete;
  UserTask& operator=(const UserTask&) = delete;
  ~UserTask();

 private:
  void Read();
  void TimeOut();
  void Answer(absl::StatusOr<Brought> brought);
  void Finish(absl::StatusOr<Brought> brought);

  EventLoop& loop_;
  const Duration limit_;
  Done done_;
  std::unique_ptr<UserChild> child_;
  std::optional<EventLoop::TimerId> timer_;
  bool stopped_ = false;  // when its limit had passed for the last time
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace muster::agent
