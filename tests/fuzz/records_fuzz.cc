// Files that we read back: an attempt's journal and order, and the blobs of the controller's
// journal and snapshots. Any bytes are read or refused with a reason; what was read is written and
// read back as it was. Returns 1 when that does not hold. The first byte says which.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/supervisor/attempt/journal.h"
#include "agent/supervisor/attempt/order_file.h"
#include "proto/convert/snapshot.h"
#include "proto/convert/through_bytes.h"
#include "proto/journal.pb.h"
#include "proto/snapshot.pb.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/plan/replay_bundle.h"

namespace muster::fuzz {
namespace {

// The bytes as a file, by a name that lasts as long as this.
class BytesAsFile {
 public:
  explicit BytesAsFile(std::string_view bytes) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    made_ =
        fd_ >= 0 && write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  }
  BytesAsFile(const BytesAsFile&) = delete;
  BytesAsFile& operator=(const BytesAsFile&) = delete;
  ~BytesAsFile() { close(fd_); }
  [[nodiscard]] bool made() const { return made_; }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
  bool made_ = false;
};

template <class Model, class Wire>
void Write(const Model& value, Wire* message) {
  if constexpr (requires { ToWire(value, message); }) {
    ToWire(value, message);
  } else {
    convert::WriteThroughBytes(value, message);
  }
}
template <class Wire, class Model>
bool Read(const Wire& message, Model* value) {
  if constexpr (requires { FromWire(message, value); }) {
    return FromWire(message, value).ok();
  } else {
    return convert::ReadThroughBytes(message, value).ok();
  }
}

// Read, written, and read again; and the second writing is the first.
template <class Wire, class Model>
bool ComesBack(std::string_view bytes) {
  Wire message;
  Model value;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !Read(message, &value)) {
    return true;
  }
  Wire first;
  Wire second;
  Model again;
  Write(value, &first);
  if (!Read(first, &again)) {
    return false;
  }
  Write(again, &second);
  return first.SerializeAsString() == second.SerializeAsString();
}

bool ReadJournal(std::string_view bytes) {
  const BytesAsFile file(bytes);
  if (!file.made()) {
    return true;
  }
  agent::AttemptJournalReader reader(file.path());
  const auto reports = reader.ReadNew();
  std::uint64_t index = 0;
  for (const Report& report : reports.ok() ? *reports : std::vector<Report>()) {
    if (report.index != ++index) {
      return false;  // out of order
    }
  }
  return reports.ok() || !reports.status().message().empty();
}

bool ReadOrderFile(std::string_view bytes) {
  const BytesAsFile file(bytes);
  if (!file.made()) {
    return true;
  }
  const auto order = agent::ReadOrder(file.path());
  return order.ok() || !order.status().message().empty();
}

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0:
      return muster::fuzz::ReadJournal(bytes) ? 0 : 1;
    case 1:
      return muster::fuzz::ReadOrderFile(bytes) ? 0 : 1;
    case 2:
      return muster::fuzz::ComesBack<muster::wire::JournalEntry, muster::JournalEntry>(bytes) ? 0
                                                                                              : 1;
    case 3:
      return muster::fuzz::ComesBack<muster::wire::Snapshot, muster::Snapshot>(bytes) ? 0 : 1;
    default:
      return muster::fuzz::ComesBack<muster::wire::ReplayBundle, muster::ReplayBundle>(bytes) ? 0
                                                                                              : 1;
  }
}
