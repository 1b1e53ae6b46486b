// muster-container: makes a container for a supervisor, or saves one, as the job's user; see
// agent/supervisor/attempt/container_order.h. Exit status: 0 it answered, 1 it could not.
// muster-container bring: has copies of data for a job, likewise.
// muster-container bring-ahead paths|all CACHE BYTES PROGRAM SOURCE...: has a process of its own
// make copies of data for a job that waits, and does not wait for it.
// muster-container fetch IMAGE CACHE BYTES SECONDS [shared|shared-here]: has a process of its own
// fetch the image, and does not wait for it. muster-container give image|kept|fetch|alone
// DIGEST CACHE ADDRESS...: has one give it to another node, or say that none comes.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/container_order.h"
#include "agent/supervisor/image/container_make.h"
#include "agent/supervisor/image/container_save.h"
#include "agent/supervisor/image/data_copies.h"
#include "agent/supervisor/image/image_fetch.h"
#include "agent/supervisor/image/layout/image_give.h"
#include "scheduler/base/utf8.h"
#include "scheduler/runtime/passed_descriptors.h"
#include "scheduler/runtime/unique_fd.h"

namespace {

using muster::agent::ContainerMade;
using muster::agent::ContainerOrder;
using muster::agent::MadeContainer;

constexpr std::size_t kOrderBytesMax = std::size_t{16} << 20;

std::string ReadInput() {
  std::string text;
  std::array<char, 65536> buffer = {};
  while (text.size() <= kOrderBytesMax) {
    const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got <= 0 && errno != EINTR) {
      break;
    }
    text.append(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    if (got == 0) {
      break;
    }
  }
  return text;
}

bool Answer(const ContainerMade& facts, const std::vector<int>& descriptors) {
  const std::string bytes = muster::agent::EncodeContainerMade(facts);
  return muster::SendWithDescriptors(muster::agent::kContainerChannel, bytes, descriptors);
}

std::string Words(const absl::Status& why) {
  constexpr std::size_t kWordsMax = 4096;
  return muster::EscapeControl(std::string(why.message()).substr(0, kWordsMax));
}

bool Refuse(const absl::Status& why) {
  ContainerMade facts;
  facts.error = Words(why);
  facts.again = absl::IsUnavailable(why);
  return Answer(facts, {});
}

bool Work(const std::vector<std::string>& environment) {
  const absl::StatusOr<ContainerOrder> order = muster::agent::DecodeContainerOrder(ReadInput());
  if (!order.ok()) {
    return Refuse(absl::InternalError("the order cannot be read"));
  }
  if (!order->saved.rootfs.empty()) {
    const absl::Status saved = muster::agent::SaveContainer(*order, environment);
    return saved.ok() ? Answer(order->saved, {}) : Refuse(saved);
  }
  const auto announce = [](const muster::agent::ImageWanted& wanted) {
    ContainerMade facts;
    facts.wanted = wanted;
    return Answer(facts, {});
  };
  const absl::StatusOr<MadeContainer> made =
      muster::agent::MakeContainer(*order, environment, announce);
  if (!made.ok()) {
    return Refuse(made.status());
  }
  if (muster::agent::EncodeContainerMade(made->facts).size() >
      muster::agent::kContainerAnswerBytesMax) {
    return Refuse(absl::ResourceExhaustedError("the image's environment is larger than 128 KiB"));
  }
  std::vector<int> descriptors = {made->users.get(), made->mounts.get()};
  for (const muster::UniqueFd& lock : made->locks) {
    descriptors.push_back(lock.get());
  }
  return Answer(made->facts, descriptors);
}

bool Bring(const std::vector<std::string>& environment) {
  muster::agent::DataAnswer answer;
  std::vector<int> descriptors;
  const absl::StatusOr<muster::agent::DataOrder> order =
      muster::agent::DecodeDataOrder(ReadInput());
  const absl::StatusOr<muster::agent::DataCopies> copies =
      order.ok() ? muster::agent::BringCopies(*order, environment)
                 : absl::InternalError("the order cannot be read");
  if (copies.ok()) {
    answer = copies->facts;
    for (const muster::UniqueFd& lock : copies->locks) {
      descriptors.push_back(lock.get());
    }
  } else {
    answer.error = Words(copies.status());
  }
  return muster::SendWithDescriptors(muster::agent::kContainerChannel,
                                     muster::agent::EncodeDataAnswer(answer), descriptors);
}

// Within which a fetch has to know that it wants to ask other nodes: the agent waits no longer.
constexpr int kAnnounceWithinMs = 3000;

int Complain(const absl::Status& why) {
  std::fprintf(stderr, "muster-container: %s\n", std::string(why.message()).c_str());
  return 1;
}

// Goes on as a process of its own, whom nobody waits for: true in that process.
bool GoAside(pid_t* child) {
  *child = fork();
  if (*child != 0) {
    return false;
  }
  setsid();
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    dup2(null, stream);
  }
  return true;
}

// Prints what the process aside says first, if that comes soon.
void PassOn(int from) {
  pollfd said = {from, POLLIN, 0};
  std::array<char, 65536> words = {};
  if (poll(&said, 1, kAnnounceWithinMs) > 0) {
    const ssize_t got = read(from, words.data(), words.size());
    for (ssize_t put = 0; put < got;) {
      const ssize_t more =
          write(STDOUT_FILENO, words.data() + put, static_cast<std::size_t>(got - put));
      put = more > 0 ? put + more : got;
    }
  }
}

// What comes of the fetch is in the cache. Where other nodes may have the image, whom they are to
// call is printed, as an ImageWanted.
int FetchAside(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  absl::StatusOr<muster::agent::FetchAhead> wanted =
      muster::agent::ReadFetchWords(words, environment);
  if (!wanted.ok()) {
    return Complain(wanted.status());
  }
  const absl::StatusOr<muster::UniqueFd> turn =
      muster::agent::TakeTurn(wanted->cache, wanted->cache_size);
  std::array<int, 2> ends = {-1, -1};
  if (!turn.ok() || pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Complain(turn.ok() ? absl::ErrnoToStatus(errno, "cannot make a pipe") : turn.status());
  }
  pid_t child = 0;
  if (!GoAside(&child)) {
    close(ends[1]);
    if (child > 0) {
      PassOn(ends[0]);
    }
    return child > 0 ? 0 : 1;
  }
  close(ends[0]);
  std::signal(SIGPIPE, SIG_IGN);
  if (wanted->asks) {
    wanted->tools.sharing.announce = [&ends](const muster::agent::ImageWanted& asked) {
      const std::string bytes = muster::agent::EncodeImageWanted(asked);
      const bool told =
          write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
      close(std::exchange(ends[1], -1));
      return told;
    };
  } else {
    close(std::exchange(ends[1], -1));
  }
  return muster::agent::Fetch(*wanted).ok() ? 0 : 1;
}

int BringAside(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  const absl::StatusOr<muster::agent::AheadOrder> order = muster::agent::ReadAheadWords(words);
  const absl::StatusOr<muster::UniqueFd> turn =
      order.ok() ? muster::agent::TakeTurn(*order) : order.status();
  if (!turn.ok()) {
    return Complain(turn.status());
  }
  pid_t child = 0;
  if (!GoAside(&child)) {
    return child > 0 ? 0 : 1;
  }
  return muster::agent::BringAhead(*order, environment).ok() ? 0 : 1;
}

int GiveAside(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  const absl::StatusOr<muster::agent::ImageGift> gift =
      muster::agent::ReadGiveWords(words, environment);
  const absl::Status good = gift.ok() ? muster::agent::CheckGift(*gift) : gift.status();
  if (!good.ok()) {
    return Complain(good);
  }
  pid_t child = 0;
  if (!GoAside(&child)) {
    return child > 0 ? 0 : 1;
  }
  return muster::agent::GiveImage(*gift).ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  umask(022);
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    environment.emplace_back(*entry);
  }
  const std::string verb = argc > 1 ? argv[1] : "";
  const std::vector<std::string> words(argv + std::min(argc, 2), argv + argc);
  if (verb == "fetch") {
    return FetchAside(words, environment);
  }
  if (verb == muster::agent::kBringAheadVerb) {
    return BringAside(words, environment);
  }
  if (verb == "give") {
    return GiveAside(words, environment);
  }
  if (verb == muster::agent::kBringVerb) {
    return Bring(environment) ? 0 : 1;
  }
  return Work(environment) ? 0 : 1;
}
