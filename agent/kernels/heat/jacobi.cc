#include "agent/kernels/heat/jacobi.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/kernels/harness/bench.h"

namespace muster::kernels {
namespace {

// The tag of a message says which way it travels.
enum Tag { kNorthward = 1, kSouthward, kWestward, kEastward, kFieldTag };

// A type that spans rows x cols doubles of an array whose rows are `stride` apart; free with
// MPI_Type_free.
MPI_Datatype BlockType(int64_t rows, int64_t cols, int64_t stride) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(stride),
                  MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

}  // namespace

HaloExchange::HaloExchange(const Ranks& ranks, const Tile& shape) : ranks_(ranks) {
  requests_.fill(MPI_REQUEST_NULL);
  row_ = BlockType(1, shape.cols(), shape.cols());
  column_ = BlockType(shape.rows(), 1, shape.stride());
}

HaloExchange::~HaloExchange() {
  MPI_Type_free(&row_);
  MPI_Type_free(&column_);
}

void HaloExchange::Start(Tile* tile) {
  const MPI_Comm comm = ranks_.comm();
  const int64_t last_row = tile->rows() - 1;
  const int64_t last_col = tile->cols() - 1;
  double* top = tile->Row(0);
  MPI_Request* request = requests_.data();
  MPI_Irecv(tile->Row(-1), 1, row_, ranks_.north(), kSouthward, comm, request++);
  MPI_Irecv(tile->Row(last_row + 1), 1, row_, ranks_.south(), kNorthward, comm, request++);
  MPI_Irecv(top - 1, 1, column_, ranks_.west(), kEastward, comm, request++);
  MPI_Irecv(top + last_col + 1, 1, column_, ranks_.east(), kWestward, comm, request++);
  MPI_Isend(top, 1, row_, ranks_.north(), kNorthward, comm, request++);
  MPI_Isend(tile->Row(last_row), 1, row_, ranks_.south(), kSouthward, comm, request++);
  MPI_Isend(top, 1, column_, ranks_.west(), kWestward, comm, request++);
  MPI_Isend(top + last_col, 1, column_, ranks_.east(), kEastward, comm, request++);
}

void HaloExchange::Finish() {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

Jacobi::Jacobi(const Plate& plate, const Ranks& ranks, PhaseMarker* marker)
    : plate_(plate),
      ranks_(ranks),
      marker_(marker),
      now_(ranks.tile().rows.size(), ranks.tile().cols.size()),
      next_(ranks.tile().rows.size(), ranks.tile().cols.size()) {}

int64_t Jacobi::BytesOf(const TileRange& tile) {
  return 2 * Tile::BytesOf(tile.rows.size(), tile.cols.size());
}

RunResult Jacobi::Run(int64_t steps) {
  Begin();
  return Continue(0, steps, [](int64_t) { return true; });
}

void Jacobi::Begin() {
  FillTile(plate_, ranks_.tile(), &now_);
  FillTile(plate_, ranks_.tile(), &next_);
}

void Jacobi::SetCells(const std::vector<double>& cells) {
  for (int64_t i = 0; i < now_.rows(); ++i) {
    std::copy_n(cells.data() + i * now_.cols(), now_.cols(), now_.Row(i));
  }
}

void Jacobi::CopyCells(std::vector<double>* cells) const {
  for (int64_t i = 0; i < now_.rows(); ++i) {
    std::copy_n(now_.Row(i), now_.cols(), cells->data() + i * now_.cols());
  }
}

RunResult Jacobi::Continue(int64_t from, int64_t steps, const AfterStep& after) {
  HaloExchange halo(ranks_, now_);
  RunResult result;
  result.step = from;
  double waited = 0;
  MPI_Barrier(ranks_.comm());
  const double begin = MonotonicSeconds();
  while (result.step < steps && !result.ended_early) {
    {
      const PhaseMarker::Span phase = marker_->Phase("inside");
      halo.Start(&now_);
      UpdateInterior(now_, plate_.alpha, &next_);
    }
    {
      const PhaseMarker::Span phase = marker_->Phase("waiting for halos");
      const double wait_begin = MonotonicSeconds();
      halo.Finish();
      waited += MonotonicSeconds() - wait_begin;
    }
    {
      const PhaseMarker::Span phase = marker_->Phase("rim");
      UpdateRim(now_, plate_.alpha, &next_);
    }
    std::swap(now_, next_);
    result.step += 1;
    result.ended_early = result.step < steps && !after(result.step);
  }
  const double seconds = MonotonicSeconds() - begin;
  result.seconds = ranks_.Max(seconds);
  result.wait_seconds = ranks_.Max(waited);
  result.residual = ReduceResidual();
  return result;
}

double Jacobi::MeasureCopy() {
  constexpr int kRepeats = 5;
  const double bytes =
      2.0 * sizeof(double) * static_cast<double>(plate_.nx) * static_cast<double>(plate_.ny);
  double best = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    MPI_Barrier(ranks_.comm());
    const double begin = MonotonicSeconds();
#pragma omp parallel for schedule(static) default(none)
    for (int64_t i = 0; i < now_.rows(); ++i) {
      std::copy_n(now_.Row(i), now_.cols(), next_.Row(i));
    }
    best = std::max(best, bytes / std::max(ranks_.Max(MonotonicSeconds() - begin), 1e-9));
  }
  return best;
}

double Jacobi::ReduceResidual() const {
  const PhaseMarker::Span phase = marker_->Phase("residual over all ranks");
  const ExactSum::Slots own = UpdateNorm(next_, now_).NormalisedSlots();
  ExactSum::Slots all{};
  MPI_Allreduce(own.data(), all.data(), static_cast<int>(own.size()), MPI_UINT64_T, MPI_SUM,
                ranks_.comm());
  return std::sqrt(ExactSum::FromSlots(all).Value());
}

std::vector<double> Jacobi::GatherField() const {
  if (ranks_.rank() != 0) {
    MPI_Datatype block = BlockType(now_.rows(), now_.cols(), now_.stride());
    MPI_Send(now_.Row(0), 1, block, 0, kFieldTag, ranks_.comm());
    MPI_Type_free(&block);
    return {};
  }
  std::vector<double> field(static_cast<size_t>(plate_.nx * plate_.ny));
  for (int64_t i = 0; i < now_.rows(); ++i) {
    std::copy_n(now_.Row(i), now_.cols(), field.data() + i * plate_.nx);  // rank 0 owns the corner
  }
  for (int rank = 1; rank < ranks_.size(); ++rank) {
    const TileRange tile = ranks_.TileOfRank(rank);
    MPI_Datatype block = BlockType(tile.rows.size(), tile.cols.size(), plate_.nx);
    MPI_Recv(field.data() + tile.rows.begin * plate_.nx + tile.cols.begin, 1, block, rank,
             kFieldTag, ranks_.comm(), MPI_STATUS_IGNORE);
    MPI_Type_free(&block);
  }
  return field;
}

}  // namespace muster::kernels
