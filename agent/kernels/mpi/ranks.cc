#include "agent/kernels/mpi/ranks.h"

#include <array>
#include <numeric>
#include <optional>

namespace muster::kernels {

std::unique_ptr<Ranks> Ranks::Make(MPI_Comm parent, int64_t nx, int64_t ny) {
  int size = 1;
  MPI_Comm_size(parent, &size);
  std::array<int, 2> dims = {0, 0};
  MPI_Dims_create(size, 2, dims.data());
  const std::optional<ProcessGrid> grid = FitProcessGrid({dims[0], dims[1]}, nx, ny);
  if (!grid.has_value()) {
    return nullptr;
  }
  dims = {grid->rows, grid->cols};
  const std::array<int, 2> periodic = {0, 0};
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Cart_create(parent, 2, dims.data(), periodic.data(), /*reorder=*/0, &comm);
  return std::unique_ptr<Ranks>(new Ranks(comm, *grid, nx, ny));
}

Ranks::Ranks(MPI_Comm comm, ProcessGrid grid, int64_t nx, int64_t ny)
    : comm_(comm), grid_(grid), nx_(nx), ny_(ny) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  std::array<int, 2> coords = {0, 0};
  MPI_Cart_coords(comm_, rank_, 2, coords.data());
  row_ = coords[0];
  col_ = coords[1];
  MPI_Cart_shift(comm_, 0, 1, &north_, &south_);
  MPI_Cart_shift(comm_, 1, 1, &west_, &east_);
  tile_ = TileOf(nx_, ny_, grid_, row_, col_);
}

Ranks::~Ranks() {
  MPI_Comm_free(&comm_);
}

TileRange Ranks::TileOfRank(int rank) const {
  std::array<int, 2> coords = {0, 0};
  MPI_Cart_coords(comm_, rank, 2, coords.data());
  return TileOf(nx_, ny_, grid_, coords[0], coords[1]);
}

std::vector<std::string> Ranks::Gather(const std::string& text) const {
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<size_t>(size_));
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm_);
  std::vector<int> offsets(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string all(static_cast<size_t>(offsets.back() + lengths.back()), '\0');
  MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
              0, comm_);
  std::vector<std::string> texts;
  for (size_t i = 0; rank_ == 0 && i < lengths.size(); ++i) {
    texts.push_back(all.substr(static_cast<size_t>(offsets[i]), static_cast<size_t>(lengths[i])));
  }
  return texts;
}

double Ranks::Max(double value) const {
  double largest = 0;
  MPI_Allreduce(&value, &largest, 1, MPI_DOUBLE, MPI_MAX, comm_);
  return largest;
}

}  // namespace muster::kernels
