#include "agent/pam/job_doors.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "scheduler/runtime/passed_descriptors.h"

namespace muster::agent {
namespace {

constexpr std::size_t kAttemptsMax = 65536;

// The directory of attempts, held open: what is looked into is what was checked.
struct Place {
  UniqueFd directory;
  std::string failure;
};

Place OpenPlace(const std::string& state) {
  const std::string path = state + "/attempts";
  Place place;
  place.directory.reset(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!place.directory.valid()) {
    place.failure = path + ": " + std::strerror(errno);  // NOLINT(concurrency-mt-unsafe)
  }
  return place;
}

struct Attempt {
  std::uint64_t job = 0;
  std::uint64_t number = 0;
  std::string name;
};

// What "<job>.<attempt>" names; nothing: another name.
std::optional<Attempt> AttemptOf(const std::string& name) {
  Attempt attempt;
  attempt.name = name;
  const char* const end = name.data() + name.size();
  const std::from_chars_result job = std::from_chars(name.data(), end, attempt.job);
  if (job.ec != std::errc() || job.ptr == end || *job.ptr != '.') {
    return std::nullopt;
  }
  const std::from_chars_result number = std::from_chars(job.ptr + 1, end, attempt.number);
  return number.ec == std::errc() && number.ptr == end ? std::optional(attempt) : std::nullopt;
}

// The attempts on record, the newest job first.
std::vector<Attempt> AttemptsIn(int place) {
  std::vector<Attempt> attempts;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(
      fdopendir(openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), closedir);
  while (directory != nullptr && attempts.size() < kAttemptsMax) {
    const dirent* const entry =
        readdir(directory.get());  // NOLINT(concurrency-mt-unsafe): the stream is ours
    if (entry == nullptr) {
      break;
    }
    if (std::optional<Attempt> attempt = AttemptOf(entry->d_name); attempt.has_value()) {
      attempts.push_back(*std::move(attempt));
    }
  }
  std::sort(attempts.begin(), attempts.end(), [](const Attempt& a, const Attempt& b) {
    return std::pair(a.job, a.number) > std::pair(b.job, b.number);
  });
  return attempts;
}

// Connected to the attempt's supervisor and asked; invalid: none of this user's is there.
UniqueFd Ask(int place, const std::string& attempt, const SessionQuestion& question) {
  const std::string path = "/proc/self/fd/" + std::to_string(place) + "/" + attempt + "/" +
                           SessionSocketName(question.uid);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return {};
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const std::string packet = ToPacket(question);
  if (!fd.valid() ||
      connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      !IsPeerRootOrSelf(fd.get()) ||
      send(fd.get(), packet.data(), packet.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(packet.size())) {
    return {};
  }
  return fd;
}

// One answer; descriptors that come along are the way's.
std::optional<SessionAnswer> Receive(int socket, WayIn* way) {
  std::vector<char> bytes(kSessionPacketBytes + 1);
  ReceivedMessage received = ReceiveWithDescriptors(socket, bytes);
  const std::array<UniqueFd*, 2> places = {&way->procs, &way->mounts};
  for (std::size_t i = 0; i < received.descriptors.size() && i < places.size(); ++i) {
    *places[i] = std::move(received.descriptors[i]);
  }
  return received.size > 0 && !received.cut
             ? ParseSessionAnswer({bytes.data(), static_cast<std::size_t>(received.size)})
             : std::nullopt;
}

int MillisecondsTo(LoginTime deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60000));
}

// Waits until one of them has something to be read; false: the time is up.
bool WaitForAny(std::vector<pollfd>* asked, LoginTime deadline) {
  while (true) {
    const int wait = MillisecondsTo(deadline);
    const int ready = poll(asked->data(), asked->size(), wait);
    if (ready > 0) {
      return true;
    }
    if ((ready == 0 && wait == 0) || (ready < 0 && errno != EINTR)) {
      return false;
    }
  }
}

void SortNewestFirst(std::vector<JobDoor>* doors) {
  std::stable_sort(doors->begin(), doors->end(), [](const JobDoor& a, const JobDoor& b) {
    return a.answer.started_ms > b.answer.started_ms;
  });
}

}  // namespace

JobDoors FindJobDoors(const std::string& state, uid_t uid, LoginTime deadline) {
  JobDoors doors;
  const Place place = OpenPlace(state);
  doors.failure = place.failure;
  if (!doors.failure.empty()) {
    return doors;
  }
  std::vector<UniqueFd> sockets;
  std::vector<std::string> names;
  std::vector<pollfd> asked;
  for (Attempt& attempt : AttemptsIn(place.directory.get())) {
    UniqueFd socket = Ask(place.directory.get(), attempt.name, {false, uid});
    if (socket.valid()) {
      asked.push_back({socket.get(), POLLIN, 0});
      sockets.push_back(std::move(socket));
      names.push_back(std::move(attempt.name));
    }
    if (sockets.size() == kDoorsMax) {
      break;
    }
  }
  std::size_t left = asked.size();
  while (left > 0 && WaitForAny(&asked, deadline)) {
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (asked[i].fd < 0 || asked[i].revents == 0) {
        continue;
      }
      WayIn none;
      std::optional<SessionAnswer> answer = Receive(asked[i].fd, &none);
      asked[i].fd = -1;  // poll looks at it no more
      --left;
      if (!answer.has_value()) {
        ++doors.silent;
        continue;
      }
      std::vector<JobDoor>& kind = answer->refusal.empty() ? doors.open : doors.closed;
      kind.push_back({names[i], *std::move(answer)});
    }
  }
  doors.silent += left;
  SortNewestFirst(&doors.open);
  SortNewestFirst(&doors.closed);
  return doors;
}

WayIn AskWayIn(const std::string& state, const std::string& attempt, uid_t uid,
               LoginTime deadline) {
  WayIn way;
  const Place place = OpenPlace(state);
  way.failure = place.failure;
  if (!way.failure.empty()) {
    return way;
  }
  const UniqueFd socket = Ask(place.directory.get(), attempt, {true, uid});
  if (!socket.valid()) {
    way.failure = "it has ended";
    return way;
  }
  std::vector<pollfd> asked = {{socket.get(), POLLIN, 0}};
  if (!WaitForAny(&asked, deadline)) {
    way.failure = "its supervisor does not answer";
    return way;
  }
  std::optional<SessionAnswer> answer = Receive(socket.get(), &way);
  if (!answer.has_value()) {
    way.failure = "its supervisor's answer cannot be read";
    return way;
  }
  way.answer = *std::move(answer);
  way.failure = way.answer.refusal;
  if (way.failure.empty() && !way.procs.valid()) {
    way.failure = "its supervisor named no control group";
  }
  return way;
}

std::string RefusalText(const JobDoors& doors, std::string_view node) {
  const std::string here(node);
  if (!doors.failure.empty()) {
    return "cannot tell whether a job of yours runs on " + here +
           "; try again, or ask its operator";
  }
  if (doors.open.size() > 1) {
    return std::to_string(doors.open.size()) + " jobs of yours run on " + here +
           ", and it is not known which you mean; enter one by muster connect JOB";
  }
  if (!doors.closed.empty()) {
    const SessionAnswer& answer = doors.closed.front().answer;
    return "your job " + answer.job + " on " + here + " lets no session in: " + answer.refusal;
  }
  if (doors.silent > 0) {
    return "your job on " + here + " does not answer; try again";
  }
  return "no job of yours runs on " + here + "; submit one: muster alloc -w " + here;
}

}  // namespace muster::agent
