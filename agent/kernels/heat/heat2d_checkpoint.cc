#include "agent/kernels/heat/heat2d_checkpoint.h"

#include <algorithm>
#include <iostream>
#include <type_traits>

#include "agent/kernels/harness/bench.h"
#include "agent/kernels/harness/kept_json.h"

namespace muster::kernels {
namespace {

constexpr const char* kDirectory = "--checkpoint-dir";
constexpr const char* kEvery = "--checkpoint-every";

// Takes `name VALUE` or `name=VALUE` out; whether it was there. A missing value is left alone.
bool Take(std::vector<std::string>* arguments, const std::string& name, std::string* value) {
  bool found = false;
  for (auto at = arguments->begin(); at != arguments->end();) {
    const bool joined = at->rfind(name + "=", 0) == 0;
    if (!joined && (*at != name || at + 1 == arguments->end())) {
      ++at;
      continue;
    }
    found = true;
    *value = joined ? at->substr(name.size() + 1) : *(at + 1);
    at = arguments->erase(at, at + (joined ? 1 : 2));
  }
  return found;
}

IndexRange Overlap(const IndexRange& a, const IndexRange& b) {
  const int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

int64_t CellsOf(const TileRange& tile) {
  return tile.rows.size() * tile.cols.size();
}

}  // namespace

std::string TakeCheckpointOptions(std::vector<std::string>* arguments, CheckpointOptions* options) {
  std::string every;
  const bool given = Take(arguments, kDirectory, &options->directory);
  options->named = given;
  const bool wanted = Take(arguments, kEvery, &every);
  if (given && options->directory.empty()) {
    return std::string(kDirectory) + ": names no directory";
  }
  if (!wanted) {
    return given ? std::string(kDirectory) + ": needs " + kEvery +
                       ", too: a number of steps, or hints"
                 : "";
  }
  if (!given) {
    options->directory = FromEnvironment("MUSTER_CHECKPOINT_DIR");
  }
  if (options->directory.empty()) {
    return std::string(kEvery) + ": needs " + kDirectory + " DIR, or MUSTER_CHECKPOINT_DIR";
  }
  if (every == "hints") {
    return FromEnvironment("MUSTER_CHECKPOINT_HINTS").empty()
               ? std::string(kEvery) +
                     " hints: there are none here: MUSTER_CHECKPOINT_HINTS names "
                     "no file; give a number of steps"
               : "";
  }
  const auto count = ParseCount(every);
  if (!count.has_value() || *count < 1) {
    return std::string(kEvery) + ": '" + Printable(every) +
           "' is neither a number of steps nor hints";
  }
  options->every = *count;
  return "";
}

std::string CheckpointHelp() {
  return "With --checkpoint-dir DIR and --checkpoint-every N (steps) or hints (when the scheduler "
         "says so) it is\nrun once, keeps its work there, and goes on from it when it is run "
         "again, "
         "on any number of ranks;\nDIR is $MUSTER_CHECKPOINT_DIR by default. Exit 85: "
         "checkpointed, "
         "to be run again.";
}

HeatCheckpoint::HeatCheckpoint(const CheckpointOptions& options, const Plate& plate,
                               const Ranks& ranks)
    : options_(options),
      ranks_(ranks),
      place_{plate.nx, plate.ny, plate.alpha, plate.seed, ranks.tile(), 0},
      cells_(static_cast<size_t>(CellsOf(ranks.tile()))) {
  static_assert(std::is_trivially_copyable_v<Place>);
}

HeatCheckpoint::~HeatCheckpoint() {
  muster_checkpoint_close(session_);
}

int64_t HeatCheckpoint::BytesOf(const TileRange& tile) {
  return CellsOf(tile) * static_cast<int64_t>(sizeof(double));
}

std::unique_ptr<HeatCheckpoint> HeatCheckpoint::Open(const CheckpointOptions& options,
                                                     const Plate& plate, const Ranks& ranks,
                                                     std::string* problem) {
  std::unique_ptr<HeatCheckpoint> checkpoint(new HeatCheckpoint(options, plate, ranks));
  muster_checkpoint_options open{};
  open.directory = options.named ? options.directory.c_str() : nullptr;
  open.repartitionable = 1;
  open.software = "heat2d";
  std::array<char, 512> error{};
  if (muster_checkpoint_open_mpi(&open, ranks.comm(), &checkpoint->session_, error.data(),
                                 error.size()) != MUSTER_CHECKPOINT_OK) {
    *problem = std::string(kDirectory) + ": " + error.data();
    return nullptr;
  }
  muster_checkpoint* session = checkpoint->session_;
  muster_checkpoint_protect(session, "place", &checkpoint->place_, sizeof(Place));
  muster_checkpoint_protect(session, "cells", checkpoint->cells_.data(),
                            checkpoint->cells_.size() * sizeof(double));
  return checkpoint;
}

std::string HeatCheckpoint::Line() const {
  return std::string(kDirectory) + ": " + options_.directory + ": " +
         muster_checkpoint_error(session_);
}

bool HeatCheckpoint::IsOfThisPlate(const Place& place) const {
  return place.nx == place_.nx && place.ny == place_.ny && place.alpha == place_.alpha &&
         place.seed == place_.seed;
}

int HeatCheckpoint::ReadFrom(uint32_t rank, Place* place) {
  const uint64_t generation = muster_checkpoint_restored(session_);
  int code =
      muster_checkpoint_read_region(session_, generation, rank, "place", place, sizeof *place);
  if (code != MUSTER_CHECKPOINT_OK || !IsOfThisPlate(*place)) {
    return code;
  }
  const TileRange& mine = place_.tile;
  const IndexRange rows = Overlap(place->tile.rows, mine.rows);
  const IndexRange cols = Overlap(place->tile.cols, mine.cols);
  if (rows.size() == 0 || cols.size() == 0) {
    return code;
  }
  std::vector<double> theirs(static_cast<size_t>(CellsOf(place->tile)));
  code = muster_checkpoint_read_region(session_, generation, rank, "cells", theirs.data(),
                                       theirs.size() * sizeof(double));
  for (int64_t row = rows.begin; code == MUSTER_CHECKPOINT_OK && row < rows.end; ++row) {
    const TileRange& from = place->tile;
    std::copy_n(
        theirs.data() + (row - from.rows.begin) * from.cols.size() + cols.begin - from.cols.begin,
        cols.size(),
        cells_.data() + (row - mine.rows.begin) * mine.cols.size() + cols.begin - mine.cols.begin);
  }
  return code;
}

int HeatCheckpoint::ReadOthers(Place* place) {
  uint32_t saved = 0;
  int code = muster_checkpoint_saved_ranks(session_, muster_checkpoint_restored(session_), &saved);
  for (uint32_t rank = 0; rank < saved && code == MUSTER_CHECKPOINT_OK; ++rank) {
    code = ReadFrom(rank, place);
    if (code == MUSTER_CHECKPOINT_OK && !IsOfThisPlate(*place)) {
      break;
    }
  }
  return code;
}

int64_t HeatCheckpoint::Restore(int64_t steps, Jacobi* jacobi, std::string* problem) {
  const Place mine = place_;
  int code = muster_checkpoint_restore_latest(session_);
  if (code == MUSTER_CHECKPOINT_NOT_FOUND) {
    return 0;
  }
  Place found = place_;
  place_ = mine;
  if (code == MUSTER_CHECKPOINT_RANKS && muster_checkpoint_restored(session_) != 0) {
    code = ReadOthers(&found);
  }
  if (code != MUSTER_CHECKPOINT_OK) {
    *problem = Line();
  } else if (!IsOfThisPlate(found)) {
    *problem =
        std::string(kDirectory) + ": " + options_.directory +
        ": holds another plate (--nx, --ny, --alpha or --seed differ): use another directory";
  } else if (found.step >= steps) {
    *problem = "--steps: the plate in " + options_.directory + " is " + std::to_string(found.step) +
               " steps old already";
  }
  // One verdict: with other ranks each one read for itself. The session's end then says that the
  // generation is not to blame.
  if (ranks_.Max(problem->empty() ? 0 : 1) > 0) {
    *problem = problem->empty() ? std::string(kDirectory) + ": another rank could not read its part"
                                : *problem;
    return 0;
  }
  unconfirmed_ = true;
  jacobi->SetCells(cells_);
  return found.step;
}

bool HeatCheckpoint::Wants(int64_t step, int* need) {
  if (options_.every > 0) {
    return step % options_.every == 0;
  }
  return muster_should_checkpoint_together(session_, need) == MUSTER_CHECKPOINT_OK &&
         *need != MUSTER_CHECKPOINT_NOT_NOW;
}

void HeatCheckpoint::Save(int64_t step, const Jacobi& jacobi) {
  const double begin = MonotonicSeconds();
  place_.step = step;
  jacobi.CopyCells(&cells_);
  if (muster_checkpoint_save(session_) == MUSTER_CHECKPOINT_OK) {
    costs_.saved += 1;
  } else {
    costs_.failed += 1;
    if (ranks_.rank() == 0) {
      std::cerr << "heat2d: no checkpoint of step " << step << ": " << Line() << "\n";
    }
  }
  costs_.seconds += MonotonicSeconds() - begin;
}

bool HeatCheckpoint::AfterStep(int64_t step, const Jacobi& jacobi) {
  if (unconfirmed_) {
    muster_checkpoint_confirm(session_);
    unconfirmed_ = false;
  }
  int need = MUSTER_CHECKPOINT_INTERVAL;
  if (!Wants(step, &need)) {
    return true;
  }
  const int64_t saved = costs_.saved;
  Save(step, jacobi);
  return need == MUSTER_CHECKPOINT_INTERVAL || costs_.saved == saved;
}

}  // namespace muster::kernels
