// The archive: what is in it, and ended jobs that come back (client_methods.h).
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "daemon/client/client_methods.h"
#include "daemon/store/archive/archive_files.h"
#include "daemon/store/archive/job_archive.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::daemon {
namespace {

constexpr std::uint64_t kJobsOfCall = 16384;  // a second or two

Time TimeOf(std::uint64_t milliseconds) {
  return Time(Duration(static_cast<std::int64_t>(milliseconds)));
}

// The files of a kind; `describe(file, numbers)` says what the numbers of its name mean.
template <class Describe>
void AddFiles(const std::string& directory, const ArchiveName& name, const char* kind,
              const Describe& describe, std::vector<ArchiveFile>& files) {
  const std::size_t first = files.size();
  ForEachFile(directory, name, [&](const std::string& path, const auto& numbers) {
    struct stat status {};
    if (stat(path.c_str(), &status) == 0) {
      ArchiveFile& file = files.emplace_back();
      file.name = std::filesystem::path(path).filename().string();
      file.kind = kind;
      file.size = Bytes(static_cast<std::uint64_t>(status.st_size));
      describe(file, numbers);
    }
  });
  std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end(),
            [](const ArchiveFile& a, const ArchiveFile& b) {
              return std::tie(a.from, a.first, a.name) < std::tie(b.from, b.first, b.name);
            });
}

std::vector<ArchiveFile> FilesIn(const std::string& directory) {
  std::vector<ArchiveFile> files;
  AddFiles(
      directory, kEndedJobsName, "jobs",
      [](ArchiveFile& file, const auto& numbers) {
        file.from = TimeOf(numbers[0]);
        file.to = TimeOf(numbers[1]);
        file.jobs = numbers[2];
      },
      files);
  AddFiles(
      directory, kSegmentName, "journal",
      [](ArchiveFile& file, const auto& numbers) {
        file.first = numbers[0];
        file.last = numbers[1];
      },
      files);
  AddFiles(
      directory, kBeginningName, "beginning",
      [](ArchiveFile& file, const auto& numbers) {
        file.last = numbers[0];
        file.from = TimeOf(numbers[1]);
      },
      files);
  return files;
}

// Loads a file piece by piece: each is part of what the store's writer commits anyway, and between
// two of them others are answered.
class Loading : public std::enable_shared_from_this<Loading> {
 public:
  Loading(const Backend& backend, Call<LoadArchive> call, Time until)
      : backend_(backend), call_(std::move(call)), until_(until) {}

  // On the reader's thread.
  void Begin(const std::string& directory, const LoadArchive& asked) {
    const absl::Status begun = Open(directory, asked);
    begun.ok() ? Next() : call_.Refuse(begun);
  }

 private:
  absl::Status Open(const std::string& directory, const LoadArchive& asked) {
    ASSIGN_OR_RETURN(file_, ArchivedJobs::Open(directory, asked.file, asked.after));
    ASSIGN_OR_RETURN(store_, backend_.store.OpenReader());
    return absl::OkStatus();
  }

  void Next() {
    if (file_->missing() + file_->present() >= kJobsOfCall) {
      call_.Finish(absl::OkStatus(), {file_->missing(), file_->present(), file_->last()});
      return;
    }
    absl::StatusOr<std::optional<Loads>> piece = file_->Next(*store_, until_);
    if (!piece.ok()) {
      call_.Refuse(piece.status());
      return;
    }
    if (!piece->has_value()) {
      call_.Finish(absl::OkStatus(), {file_->missing(), file_->present(), JobId(0)});
      return;
    }
    backend_.controller.Keep([loads = std::make_shared<Loads>(*std::move(*piece))](
                                 Batch& batch, Time) { batch.loads.push_back(std::move(*loads)); },
                             [self = shared_from_this()](const absl::Status& kept) {
                               if (kept.ok()) {
                                 self->call_.Aside(self->backend_.reader, [self] { self->Next(); });
                               } else {
                                 self->call_.Refuse(kept);
                               }
                             });
  }

  const Backend backend_;
  const Call<LoadArchive> call_;
  const Time until_;
  std::unique_ptr<ArchivedJobs> file_;
  std::unique_ptr<Database> store_;
};

}  // namespace

void ServeArchive(Methods& methods, const Backend& backend, const std::string& directory) {
  methods.ServeInTurn<ListArchive>(
      [backend, directory](const Call<ListArchive>& call, const ListArchive&) {
        call.Aside(backend.reader,
                   [call, directory] { call.Finish(absl::OkStatus(), FilesIn(directory)); });
      });
  methods.Serve<LoadArchive>([backend, directory](const Call<LoadArchive>& call,
                                                  const LoadArchive& asked) {
    if (asked.keep.count() <= 0) {
      call.Refuse(absl::InvalidArgumentError("keep: for how long the jobs stay, more than 0"));
      return;
    }
    const auto loading = std::make_shared<Loading>(backend, call, SystemClock().Now() + asked.keep);
    call.Aside(backend.reader, [loading, directory, asked] { loading->Begin(directory, asked); });
  });
}

}  // namespace muster::daemon
