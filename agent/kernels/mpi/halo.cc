// halo: the edges of square tiles to their neighbours on a grid of ranks, alone and behind the work
// on the inside.

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/kernels/harness/check.h"
#include "agent/kernels/mpi/ranks.h"
#include "agent/kernels/mpi/world.h"
#include "agent/kernels/place/memory.h"

namespace muster::kernels {
namespace {

constexpr int kTag = 3;
constexpr double kNone = -1;  // no cell's value

// A tile of side x side cells with a ring of neighbours' cells around it, and the ranks beside it.
class HaloTile {
 public:
  HaloTile(const Ranks& ranks, int64_t side)
      : side_(side), stride_(side + 2), cells_(stride_ * stride_), out_(side * side) {
    std::fill(cells_.data(), cells_.data() + cells_.size(), kNone);
    for (int64_t row = 0; row < side; ++row) {
      for (int64_t column = 0; column < side; ++column) {
        At(row, column) = Value(ranks.row() * side + row, ranks.col() * side + column);
      }
    }
    std::fill(out_.data(), out_.data() + out_.size(), kNone);
    MPI_Type_vector(static_cast<int>(side), 1, static_cast<int>(stride_), MPI_DOUBLE, &column_);
    MPI_Type_commit(&column_);
  }
  ~HaloTile() { MPI_Type_free(&column_); }
  HaloTile(const HaloTile&) = delete;
  HaloTile& operator=(const HaloTile&) = delete;

  // A cell by its place on the whole plate.
  static double Value(int64_t row, int64_t column) {
    return static_cast<double>(row * 4099 + column);
  }

  double& At(int64_t row, int64_t column) {
    return cells_.data()[(row + 1) * stride_ + column + 1];
  }

  void Start(const Ranks& ranks) {
    const int count = static_cast<int>(side_);
    const int64_t end = side_ - 1;
    MPI_Request* request = requests_.data();
    MPI_Irecv(&At(-1, 0), count, MPI_DOUBLE, ranks.north(), kTag, ranks.comm(), request++);
    MPI_Irecv(&At(side_, 0), count, MPI_DOUBLE, ranks.south(), kTag, ranks.comm(), request++);
    MPI_Irecv(&At(0, -1), 1, column_, ranks.west(), kTag, ranks.comm(), request++);
    MPI_Irecv(&At(0, side_), 1, column_, ranks.east(), kTag, ranks.comm(), request++);
    MPI_Isend(&At(0, 0), count, MPI_DOUBLE, ranks.north(), kTag, ranks.comm(), request++);
    MPI_Isend(&At(end, 0), count, MPI_DOUBLE, ranks.south(), kTag, ranks.comm(), request++);
    MPI_Isend(&At(0, 0), 1, column_, ranks.west(), kTag, ranks.comm(), request++);
    MPI_Isend(&At(0, end), 1, column_, ranks.east(), kTag, ranks.comm(), request++);
  }

  void Finish() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  // The mean of four neighbours, for all cells that need no halo.
  void Inside() {
    for (int64_t row = 1; row + 1 < side_; ++row) {
      const double* above = &At(row - 1, 0);
      const double* here = &At(row, 0);
      const double* below = &At(row + 1, 0);
      double* to = out_.data() + row * side_;
      for (int64_t column = 1; column + 1 < side_; ++column) {
        to[column] = 0.25 * (above[column] + below[column] + here[column - 1] + here[column + 1]);
      }
    }
  }

  // The largest error of the ring around the tile against the cells that belong there. `rows` and
  // `columns` of the whole plate: outside, nothing must have been written.
  double HaloError(const Ranks& ranks, int64_t rows, int64_t columns) {
    double worst = 0;
    const int64_t row0 = ranks.row() * side_;
    const int64_t column0 = ranks.col() * side_;
    const auto check = [&](int64_t row, int64_t column) {
      const bool outside = row0 + row < 0 || row0 + row >= rows || column0 + column < 0 ||
                           column0 + column >= columns;
      const double expected = outside ? kNone : Value(row0 + row, column0 + column);
      worst = std::max(worst, ErrorOf(At(row, column), expected));
    };
    for (int64_t i = 0; i < side_; ++i) {
      check(-1, i);
      check(side_, i);
      check(i, -1);
      check(i, side_);
    }
    return worst;
  }

 private:
  int64_t side_;
  int64_t stride_;
  Aligned<double> cells_;
  Aligned<double> out_;
  MPI_Datatype column_ = MPI_DATATYPE_NULL;
  std::array<MPI_Request, 8> requests_{};
};

struct Plate {
  Plate(const World& world, int64_t tile_side)
      : side(tile_side),
        ranks(Ranks::Make(world.comm, world.size * tile_side, world.size * tile_side)) {
    tile = std::make_unique<HaloTile>(*ranks, side);
  }

  double Error() const {
    return tile->HaloError(*ranks, ranks->grid().rows * side, ranks->grid().cols * side);
  }

  int64_t side;
  std::unique_ptr<Ranks> ranks;
  std::unique_ptr<HaloTile> tile;
};

void CheckOnce(const World& world, int64_t side, Check* check) {
  Plate plate(world, side);
  plate.tile->Start(*plate.ranks);
  plate.tile->Finish();
  check->Hold("halo of side " + std::to_string(side), plate.Error(), 0);
}

Operation Timed(const char* name, const std::shared_ptr<Plate>& plate, bool exchange,
                bool compute) {
  Operation operation;
  operation.name = name;
  const auto side = static_cast<double>(plate->side);
  operation.bytes = exchange ? 4 * sizeof(double) * side : 0;  // four edges in, as many out
  operation.flop = compute ? 4 * (side - 2) * (side - 2) : 0;
  operation.run = [plate, exchange, compute] {
    const double begin = MonotonicSeconds();
    if (exchange) {
      plate->tile->Start(*plate->ranks);
    }
    if (compute) {
      plate->tile->Inside();
    }
    if (exchange) {
      plate->tile->Finish();
    }
    return MonotonicSeconds() - begin;
  };
  if (exchange) {
    operation.check = [plate, name](Check* check) { check->Hold(name, plate->Error(), 0); };
  }
  return operation;
}

std::vector<Operation> Prepare(const World& world, const BenchOptions& options) {
  auto plate = std::make_shared<Plate>(world, options.n);
  return {Timed("exchange", plate, true, false), Timed("inside", plate, false, true),
          Timed("exchange-behind-inside", plate, true, true)};
}

// 1: the exchange costs nothing beside the work; 0: both one after the other. And what share of a
// step the ranks spend waiting.
nlohmann::ordered_json Facts(const World& /*world*/, const std::vector<Measured>& measured) {
  const double exchange = Summarise(measured[0].seconds).median;
  const double inside = Summarise(measured[1].seconds).median;
  const double both = std::max(Summarise(measured[2].seconds).median, 1e-9);
  const double most = std::max(std::min(exchange, inside), 1e-9);
  return {{"overlap_share", std::clamp((exchange + inside - both) / most, 0.0, 1.0)},
          {"communication_share", std::clamp((both - inside) / both, 0.0, 1.0)}};
}

int Run(int argc, char** argv) {
  MpiKernel kernel;
  kernel.name = "halo";
  kernel.purpose =
      "the edges of square tiles to their neighbours on a grid of ranks: alone, and "
      "during the work\non the inside.";
  kernel.example = "muster run -n 4 halo --n 2048 --json";
  kernel.n_meaning = "cells along a side of each rank's tile";
  kernel.n = 1024;
  kernel.n_max = int64_t{1} << 24;
  kernel.tolerance = "0: every edge arrives, and nothing else is written";
  kernel.bytes_needed = [](int64_t n, int /*ranks*/) {
    return 16.0 * (static_cast<double>(n) + 2) * (static_cast<double>(n) + 2);
  };
  kernel.prepare = Prepare;
  kernel.verify = [](const World& world, uint64_t /*seed*/, Check* check) {
    for (const int64_t side : {1, 2, 3, 5, 8, 17, 64, 129}) {
      CheckOnce(world, side, check);
    }
  };
  kernel.facts = Facts;
  return RunMpiKernel(kernel, argc, argv);
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
