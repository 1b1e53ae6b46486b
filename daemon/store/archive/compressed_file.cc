#include "daemon/store/archive/compressed_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::daemon {
namespace {

// Slow disks gain more than the processor loses.
constexpr int kLevel = 6;

absl::Status Failed(const std::string& path) {
  const int error = errno;
  return absl::ErrnoToStatus(error, path);
}

absl::StatusOr<std::size_t> ReadSome(int fd, const std::string& path, std::vector<char>* buffer) {
  while (true) {
    const ssize_t got = read(fd, buffer->data(), buffer->size());
    if (got >= 0) {
      return static_cast<std::size_t>(got);
    }
    if (errno != EINTR) {
      return Failed(path);
    }
  }
}

absl::Status WriteAll(int fd, const std::string& path, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t put = write(fd, bytes, size);
    if (put < 0 && errno != EINTR) {
      return Failed(path);
    }
    bytes += put > 0 ? put : 0;
    size -= put > 0 ? static_cast<std::size_t>(put) : 0;
  }
  return absl::OkStatus();
}

absl::Status SyncDirectoryOf(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  const UniqueFd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd.get() >= 0 && fsync(fd.get()) == 0 ? absl::OkStatus() : Failed(directory);
}

// Has `pump` write to a new file beside `to`, which takes its name once it is on the disk.
absl::Status WriteBeside(const std::string& to,
                         const std::function<absl::Status(int fd, const std::string& path)>& pump) {
  const std::string beside = absl::StrCat(to, ".part");
  const UniqueFd fd(open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (fd.get() < 0) {
    return Failed(beside);
  }
  absl::Status status = pump(fd.get(), beside);
  status = status.ok() && fsync(fd.get()) != 0 ? Failed(beside) : status;
  status = status.ok() && rename(beside.c_str(), to.c_str()) != 0 ? Failed(to) : status;
  if (!status.ok()) {
    unlink(beside.c_str());
    return status;
  }
  return SyncDirectoryOf(to);
}

// What the bytes give goes to the file `fd`, called `path`. Returns what is missing of the frame;
// 0 at its end.
absl::StatusOr<std::size_t> DecompressPart(ZSTD_DCtx* context, const std::string& from,
                                           ZSTD_inBuffer taken, int fd, const std::string& path,
                                           std::vector<char>* out) {
  ZSTD_outBuffer made = {out->data(), 0, 0};
  std::size_t missing = 1;
  while (taken.pos < taken.size || made.pos == made.size) {
    made = {out->data(), out->size(), 0};
    missing = ZSTD_decompressStream(context, &made, &taken);
    if (ZSTD_isError(missing) != 0) {
      return absl::DataLossError(absl::StrCat(from, ": damaged: ", ZSTD_getErrorName(missing)));
    }
    RETURN_IF_ERROR(WriteAll(fd, path, out->data(), made.pos));
    if (missing == 0 && taken.pos == taken.size) {
      break;
    }
  }
  return missing;
}

}  // namespace

absl::Status CompressFile(const std::string& from, const std::string& to) {
  const UniqueFd source(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (source.get() < 0) {
    return Failed(from);
  }
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
  MUSTER_CHECK(context != nullptr);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::vector<char> in(ZSTD_CStreamInSize());
  std::vector<char> out(ZSTD_CStreamOutSize());
  return WriteBeside(to, [&](int fd, const std::string& path) -> absl::Status {
    while (true) {
      ASSIGN_OR_RETURN(const std::size_t got, ReadSome(source.get(), from, &in));
      ZSTD_inBuffer taken = {in.data(), got, 0};
      const ZSTD_EndDirective mode = got == 0 ? ZSTD_e_end : ZSTD_e_continue;
      while (true) {
        ZSTD_outBuffer made = {out.data(), out.size(), 0};
        const std::size_t left = ZSTD_compressStream2(context.get(), &made, &taken, mode);
        MUSTER_CHECK(ZSTD_isError(left) == 0);
        RETURN_IF_ERROR(WriteAll(fd, path, out.data(), made.pos));
        if (got == 0 ? left == 0 : taken.pos == taken.size) {
          break;
        }
      }
      if (got == 0) {
        return absl::OkStatus();
      }
    }
  });
}

absl::Status DecompressFile(const std::string& from, const std::string& to) {
  const UniqueFd source(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (source.get() < 0) {
    return Failed(from);
  }
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     ZSTD_freeDCtx);
  MUSTER_CHECK(context != nullptr);
  std::vector<char> in(ZSTD_DStreamInSize());
  std::vector<char> out(ZSTD_DStreamOutSize());
  return WriteBeside(to, [&](int fd, const std::string& path) -> absl::Status {
    std::size_t missing = 1;  // of the frame; 0 at its end
    while (true) {
      ASSIGN_OR_RETURN(const std::size_t got, ReadSome(source.get(), from, &in));
      if (got == 0) {
        return missing == 0 ? absl::OkStatus()
                            : absl::DataLossError(absl::StrCat(from, ": ends within"));
      }
      ASSIGN_OR_RETURN(missing,
                       DecompressPart(context.get(), from, {in.data(), got, 0}, fd, path, &out));
    }
  });
}

}  // namespace muster::daemon
