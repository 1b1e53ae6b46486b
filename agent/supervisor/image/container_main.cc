// muster-container: makes a container for a supervisor, or saves one, as the job's user; see
// agent/supervisor/attempt/container_order.h. Exit status: 0 it answered, 1 it could not.
// muster-container fetch IMAGE CACHE BYTES SECONDS: has a process of its own fetch the image, and
// ends before that has begun.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
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
#include "agent/supervisor/image/image_fetch.h"
#include "scheduler/base/utf8.h"
#include "scheduler/runtime/passed_descriptors.h"

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

bool Refuse(const absl::Status& why) {
  constexpr std::size_t kWordsMax = 4096;
  ContainerMade facts;
  facts.error = muster::EscapeControl(std::string(why.message()).substr(0, kWordsMax));
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
  const absl::StatusOr<MadeContainer> made = muster::agent::MakeContainer(*order, environment);
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

// The process that fetches is nobody's to wait for: what comes of it is in the cache.
int FetchAside(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  const absl::StatusOr<muster::agent::FetchAhead> wanted =
      muster::agent::ReadFetchWords(words, environment);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (!wanted.ok() || null < 0) {
    std::fprintf(stderr, "muster-container: %s\n", std::string(wanted.status().message()).c_str());
    return 1;
  }
  const pid_t child = fork();
  if (child != 0) {
    return child > 0 ? 0 : 1;
  }
  setsid();
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    dup2(null, stream);
  }
  return muster::agent::Fetch(*wanted).ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  umask(022);
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    environment.emplace_back(*entry);
  }
  if (argc > 1 && std::string(argv[1]) == "fetch") {
    return FetchAside(std::vector<std::string>(argv + 2, argv + argc), environment);
  }
  return Work(environment) ? 0 : 1;
}
