// muster-container: makes a container for a supervisor, or saves one, as the job's user; see
// agent/supervisor/attempt/container_order.h. Exit status: 0 it answered, 1 it could not.
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "agent/supervisor/attempt/container_order.h"
#include "agent/supervisor/image/container_make.h"
#include "agent/supervisor/image/container_save.h"
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

}  // namespace

int main() {
  umask(022);
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    environment.emplace_back(*entry);
  }
  return Work(environment) ? 0 : 1;
}
