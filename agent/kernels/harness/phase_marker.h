#pragma once

// Marks the phases of a program in a timeline that Perfetto and chrome://tracing read; header-only
// C++17, for kernels and for the programs of any job.
//
//   muster::PhaseMarker marker("timeline.%r.json");
//   { const auto phase = marker.Phase("exchange"); … }
//
// One file a process, in the Trace Event Format's array form (complete events, pid = rank, tid =
// the thread that marked); `%r` in the path becomes the rank, so that ranks do not write one file,
// and `muster kernel timeline ALL.json timeline.*.json` joins them. Times are microseconds of the
// wall clock when the marker began, counted on by the monotonic clock: they never go back, and
// those of several nodes agree as well as the nodes' clocks do. An empty path marks nothing. Where
// NVTX's header is found, each phase is an NVTX range too (MUSTER_WITHOUT_NVTX keeps it out).
//
// Thread promise: Phase may be called from any thread; the marker outlives its phases. Invariant:
// the file is a whole document after each phase, so that a killed program leaves one that can be
// read.

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <utility>

#if !defined(MUSTER_WITHOUT_NVTX) && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define MUSTER_HAS_NVTX 1
#endif

namespace muster {

// The rank that a launcher gave this process, 0 without one. A launcher inside a job's script comes
// before the job's own.
inline int RankOfLauncher() {
  for (const char* name : {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets one
    if (text != nullptr && *text >= '0' && *text <= '9') {
      return static_cast<int>(std::strtol(text, nullptr, 10));
    }
  }
  return 0;
}

class PhaseMarker {
 public:
  // One phase: it ends with the object.
  class Span {
   public:
    Span(PhaseMarker* marker, std::string name)
        : marker_(marker), name_(std::move(name)), begin_(marker->on() ? marker->Now() : 0) {
#if defined(MUSTER_HAS_NVTX)
      nvtxRangePushA(name_.c_str());
#endif
    }
    ~Span() {
#if defined(MUSTER_HAS_NVTX)
      nvtxRangePop();
#endif
      if (marker_->on()) {
        marker_->Write(name_, begin_, marker_->Now());
      }
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    PhaseMarker* marker_;
    std::string name_;
    int64_t begin_;
  };

  PhaseMarker() = default;
  explicit PhaseMarker(std::string path, int rank = RankOfLauncher()) : rank_(rank) {
    const size_t at = path.find("%r");
    if (at != std::string::npos) {
      path.replace(at, 2, std::to_string(rank));
    }
    if (path.empty()) {
      return;
    }
    file_ = std::fopen(path.c_str(), "we");
    failed_ = file_ == nullptr;
    if (on()) {
      wall_offset_ = Nanoseconds(CLOCK_REALTIME) - Nanoseconds(CLOCK_MONOTONIC);
      std::array<char, 256> host{};
      gethostname(host.data(), host.size() - 1);
      const std::string name = "rank " + std::to_string(rank_) + " on " + host.data();
      std::fprintf(
          file_,
          "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":%s}}\n]\n",
          rank_, Quoted(name).c_str());
      std::fflush(file_);
    }
  }
  ~PhaseMarker() {
    if (on()) {
      std::fclose(file_);
    }
  }
  PhaseMarker(const PhaseMarker&) = delete;
  PhaseMarker& operator=(const PhaseMarker&) = delete;

  // Whether phases are written.
  bool on() const {
    return file_ != nullptr;
  }
  // Whether the file could not be made.
  bool failed() const {
    return failed_;
  }

  Span Phase(std::string name) {
    return Span(this, std::move(name));
  }

 private:
  static int64_t Nanoseconds(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
  }

  int64_t Now() const {
    return Nanoseconds(CLOCK_MONOTONIC) + wall_offset_;
  }

  // A name as a JSON string; what would need an escape becomes '?'.
  static std::string Quoted(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) {
      const bool plain = static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
      text += plain ? c : '?';
    }
    return text + "\"";
  }

  // Over the closing bracket, which follows again.
  void Write(const std::string& name, int64_t begin, int64_t end) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::fseek(file_, -2, SEEK_END);
    std::fprintf(
        file_,
        ",{\"name\":%s,\"ph\":\"X\",\"ts\":%lld.%03d,\"dur\":%.3f,\"pid\":%d,\"tid\":%ld}\n]\n",
        Quoted(name).c_str(), static_cast<long long>(begin / 1000), static_cast<int>(begin % 1000),
        static_cast<double>(end - begin) * 1e-3, rank_, static_cast<long>(syscall(SYS_gettid)));
    std::fflush(file_);
  }

  std::FILE* file_ = nullptr;
  bool failed_ = false;
  int rank_ = 0;
  int64_t wall_offset_ = 0;  // nanoseconds
  std::mutex mutex_;
};

}  // namespace muster
