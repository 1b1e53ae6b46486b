#include "checkpoint/parity/parity_file.h"

#include <fcntl.h>

#include <cerrno>
#include <string_view>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/names.h"
#include "checkpoint/disk/own_file.h"

namespace muster::checkpoint {
namespace {

constexpr std::string_view kMagic = "MUSTPRTY";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeadBytes =
    8 + std::size_t{4} * 4 + std::size_t{3} * 8 + std::size_t{4} * kSetMembersMax;
constexpr std::size_t kChecksumBytes = 8;

void Put(std::string* bytes, std::uint64_t number, int width) {
  for (int i = 0; i < width; ++i) {
    *bytes += static_cast<char>(number >> (8 * i) & 0xff);
  }
}

std::uint64_t Take(std::string_view* bytes, std::size_t width) {
  std::uint64_t number = 0;
  for (std::size_t i = width; i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>((*bytes)[i]);
  }
  bytes->remove_prefix(width);
  return number;
}

std::string Print(const ParityHead& head) {
  std::string bytes(kMagic);
  Put(&bytes, kVersion, 4);
  Put(&bytes, head.rank, 4);
  Put(&bytes, head.set.size(), 4);
  Put(&bytes, head.parities, 4);
  Put(&bytes, head.segment, 8);
  Put(&bytes, head.generation, 8);
  Put(&bytes, head.seal, 8);
  for (std::size_t i = 0; i < kSetMembersMax; ++i) {
    Put(&bytes, i < head.set.size() ? head.set[i] : 0, 4);
  }
  return bytes;
}

// False when it is no head of such a file.
bool Parse(std::string_view bytes, ParityHead* head) {
  const bool ours = bytes.substr(0, kMagic.size()) == kMagic;
  bytes.remove_prefix(kMagic.size());
  const bool known = Take(&bytes, 4) == kVersion;
  head->rank = static_cast<std::uint32_t>(Take(&bytes, 4));
  const std::uint64_t members = Take(&bytes, 4);
  head->parities = static_cast<std::uint32_t>(Take(&bytes, 4));
  head->segment = Take(&bytes, 8);
  head->generation = Take(&bytes, 8);
  head->seal = Take(&bytes, 8);
  for (std::uint64_t i = 0; i < members && i < kSetMembersMax; ++i) {
    head->set.push_back(static_cast<std::uint32_t>(Take(&bytes, 4)));
  }
  return ours && known && members <= kSetMembersMax && head->parities > 0 &&
         head->parities < members;
}

}  // namespace

std::string ParityName(std::uint32_t rank) {
  return "parity" + ShardName(rank).substr(std::string_view("shard").size());
}

ParityWriter::ParityWriter(Disk& disk, OpenFile file)
    : disk_(&disk),
      file_(std::move(file)),
      hashed_(std::make_unique<HashedFile>(disk, file_.get())) {}

Result<ParityWriter> ParityWriter::Open(Disk& disk, int directory, const ParityHead& head) {
  const std::string name = ParityName(head.rank);
  ParityWriter writer(
      disk, OpenFile(disk, disk.OpenAt(directory, name.c_str(),
                                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                       kPrivateFile)));
  if (!writer.file_.ok()) {
    Error error = SystemError(name + ": create", errno);
    return {std::move(writer), std::move(error)};
  }
  const std::string start = Print(head);
  Error error = writer.Append(start.data(), start.size());
  return {std::move(writer), std::move(error)};
}

Error ParityWriter::Append(const void* bytes, std::uint64_t size) {
  return hashed_->Append(bytes, size);
}

Error ParityWriter::Finish() {
  std::string checksum;
  Put(&checksum, hashed_->checksum(), kChecksumBytes);
  if (Error error = hashed_->Append(checksum.data(), checksum.size()); error.failed()) {
    return error;
  }
  if (disk_->Flush(file_.get()) != 0) {
    return SystemError("parity: fsync", errno);
  }
  return file_.Close() == 0 ? Error() : SystemError("parity: close", errno);
}

Result<ParityFile> ParityFile::Open(Disk& disk, int directory, std::uint32_t rank) {
  const std::string name = ParityName(rank);
  const auto corrupt = [&name](const char* what) -> Result<ParityFile> {
    return {{}, MakeError(Fault::kCorrupt, name + ": " + what)};
  };
  std::uint64_t size = 0;
  const Result<int> fd = OpenOwnFile(disk, directory, name, &size);
  if (!fd.ok()) {
    return {{}, fd.error};
  }
  ParityFile parity;
  parity.disk_ = &disk;
  parity.file_ = OpenFile(disk, fd.value);
  if (size < kHeadBytes + kChecksumBytes) {
    return corrupt("is too short");
  }
  std::string head(kHeadBytes, '\0');
  std::string sealed(kChecksumBytes, '\0');
  Error error = ReadFully(disk, fd.value, head.data(), head.size(), 0);
  error = error.failed()
              ? error
              : ReadFully(disk, fd.value, sealed.data(), sealed.size(), size - kChecksumBytes);
  const Result<std::uint64_t> checksum = HashFile(disk, fd.value, size - kChecksumBytes);
  if (error.failed() || !checksum.ok()) {
    return {{}, error.failed() ? error : checksum.error};
  }
  std::string_view rest = sealed;
  if (Take(&rest, kChecksumBytes) != checksum.value) {
    return corrupt("does not match its checksum");
  }
  if (!Parse(head, &parity.head_) || parity.head_.rank != rank ||
      (size - kHeadBytes - kChecksumBytes) / parity.head_.parities != parity.head_.segment) {
    return corrupt("is no parity of this rank");
  }
  return {std::move(parity), {}};
}

Error ParityFile::Read(std::uint32_t parity, std::uint64_t offset, void* bytes,
                       std::uint64_t size) const {
  if (disk_ == nullptr) {
    return MakeError(Fault::kUsage, "parity: is not open");
  }
  return ReadFully(*disk_, file_.get(), bytes, size, kHeadBytes + parity * head_.segment + offset);
}

}  // namespace muster::checkpoint
