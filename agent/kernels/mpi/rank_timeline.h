#pragma once

// `--timeline FILE` of a program of several ranks: one document of all of them.
//
// While they run, each rank writes a file of its own beside FILE, so that a program that is killed
// leaves what there was; at the end rank 0 writes FILE and the parts go. With `%r` in FILE the
// ranks' files stay as they are. Thread promise: the thread that may call MPI, but for the marker,
// which keeps PhaseMarker's. Invariant: every rank makes the same collective calls, whether its
// file can be written or not.

#include <mpi.h>

#include <optional>
#include <string>

#include "agent/kernels/harness/phase_marker.h"

namespace muster::kernels {

class RankTimeline {
 public:
  // Collective. An empty path marks nothing.
  RankTimeline(MPI_Comm comm, const std::string& path);

  PhaseMarker* marker() { return &*marker_; }

  // What is wrong with the path, the same on every rank; empty when nothing is.
  const std::string& problem() const { return problem_; }

  // Collective. No phase is open. False where the one document could not be written: the parts
  // then stay. The same on every rank.
  bool Join();

 private:
  MPI_Comm comm_;
  int rank_ = 0;
  std::string path_;
  std::string part_;  // this rank's own file; empty: it is the result
  std::optional<PhaseMarker> marker_;
  std::string problem_;
};

}  // namespace muster::kernels
