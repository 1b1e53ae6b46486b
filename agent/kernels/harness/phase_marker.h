#pragma once

// Marks the phases of a program in a timeline that Perfetto and chrome://tracing read; header-only,
// for kernels and for anybody's job.
//
//   muster::PhaseMarker marker("timeline.json", rank);
//   { const auto phase = marker.Phase("exchange"); … }
//
// One file a process, in the Trace Event Format's array form (complete events, microseconds of the
// system's monotonic clock, pid = rank, tid = the thread that marked); `%r` in the path becomes the
// rank, so that ranks do not write one file. An empty path marks nothing. Where the program is
// compiled with MUSTER_WITH_NVTX, each phase is an NVTX range too.
//
// Thread promise: Phase may be called from any thread; the marker outlives its phases. Invariant:
// the file is a whole document after each phase, so that a killed program leaves one that can be
// read.

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <string>
#include <utility>

#if defined(MUSTER_WITH_NVTX)
#include <nvtx3/nvToolsExt.h>
#endif

namespace muster {

class PhaseMarker {
 public:
  // One phase: it ends with the object.
  class Span {
   public:
    Span(PhaseMarker* marker, std::string name)
        : marker_(marker), name_(std::move(name)), begin_(marker->on() ? Microseconds() : 0) {
#if defined(MUSTER_WITH_NVTX)
      nvtxRangePushA(name_.c_str());
#endif
    }
    ~Span() {
#if defined(MUSTER_WITH_NVTX)
      nvtxRangePop();
#endif
      if (marker_->on()) {
        marker_->Write(name_, begin_, Microseconds());
      }
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    PhaseMarker* marker_;
    std::string name_;
    double begin_;
  };

  PhaseMarker() = default;
  explicit PhaseMarker(std::string path, int rank = 0) : rank_(rank) {
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
      std::fputs("[\n]\n", file_);
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
  static double Microseconds() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
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
  void Write(const std::string& name, double begin, double end) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::fseek(file_, -2, SEEK_END);
    std::fprintf(
        file_, "%s{\"name\":%s,\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":%d,\"tid\":%ld}\n]\n",
        first_ ? "" : ",", Quoted(name).c_str(), begin, end - begin, rank_,
        static_cast<long>(syscall(SYS_gettid)));
    std::fflush(file_);
    first_ = false;
  }

  std::FILE* file_ = nullptr;
  bool failed_ = false;
  bool first_ = true;
  int rank_ = 0;
  std::mutex mutex_;
};

}  // namespace muster
