#include "agent/kernels/mpi/algorithms.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "agent/kernels/place/partition.h"

namespace muster::kernels {
namespace {

constexpr int kTag = 7;

struct Ring {
  explicit Ring(MPI_Comm with) : comm(with) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }

  int After() const { return (rank + 1) % size; }
  int Before() const { return (rank + size - 1) % size; }
  // The part `steps` before this rank's on the ring.
  int PartBefore(int steps) const { return ((rank - steps) % size + size) % size; }

  MPI_Comm comm;
  int rank = 0;
  int size = 1;
};

int Count(int64_t elements) {
  // Kernels bound their sizes: a message has fewer elements than an int can count.
  return static_cast<int>(std::min<int64_t>(elements, std::numeric_limits<int>::max()));
}

struct Outgoing {
  const double* data;
  int64_t count;
  int to;
};

struct Incoming {
  double* data;
  int64_t count;
  int from;
};

void SendReceive(MPI_Comm comm, const Outgoing& out, const Incoming& in) {
  MPI_Sendrecv(out.data, Count(out.count), MPI_DOUBLE, out.to, kTag, in.data, Count(in.count),
               MPI_DOUBLE, in.from, kTag, comm, MPI_STATUS_IGNORE);
}

void AddTo(double* data, const double* other, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    data[i] += other[i];
  }
}

}  // namespace

void RingAllReduce(MPI_Comm comm, double* data, int64_t count) {
  const Ring ring(comm);
  std::vector<double> arrived(static_cast<size_t>(BlockRange(count, ring.size, 0).size()));
  // Each part goes once round and grows; the rank behind its owner holds the sum.
  for (int step = 0; step < ring.size - 1; ++step) {
    const IndexRange out = BlockRange(count, ring.size, ring.PartBefore(step));
    const IndexRange in = BlockRange(count, ring.size, ring.PartBefore(step + 1));
    SendReceive(comm, {data + out.begin, out.size(), ring.After()},
                {arrived.data(), in.size(), ring.Before()});
    AddTo(data + in.begin, arrived.data(), in.size());
  }
  // Once more round, to be copied.
  for (int step = 0; step < ring.size - 1; ++step) {
    const IndexRange out = BlockRange(count, ring.size, ring.PartBefore(step - 1));
    const IndexRange in = BlockRange(count, ring.size, ring.PartBefore(step));
    SendReceive(comm, {data + out.begin, out.size(), ring.After()},
                {data + in.begin, in.size(), ring.Before()});
  }
}

void RecursiveDoublingAllReduce(MPI_Comm comm, double* data, int64_t count) {
  const Ring ring(comm);
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(ring.size)));
  const int extra = ring.size - power;  // these many pairs at the front act as one rank each
  std::vector<double> arrived(static_cast<size_t>(count));
  const bool paired = ring.rank < 2 * extra;
  if (paired && ring.rank % 2 == 1) {
    MPI_Send(data, Count(count), MPI_DOUBLE, ring.rank - 1, kTag, comm);
    MPI_Recv(data, Count(count), MPI_DOUBLE, ring.rank - 1, kTag, comm, MPI_STATUS_IGNORE);
    return;
  }
  if (paired) {
    MPI_Recv(arrived.data(), Count(count), MPI_DOUBLE, ring.rank + 1, kTag, comm,
             MPI_STATUS_IGNORE);
    AddTo(data, arrived.data(), count);
  }
  const int own = paired ? ring.rank / 2 : ring.rank - extra;
  for (int distance = 1; distance < power; distance *= 2) {
    const int other = own ^ distance;
    const int partner = other < extra ? 2 * other : other + extra;
    SendReceive(comm, {data, count, partner}, {arrived.data(), count, partner});
    AddTo(data, arrived.data(), count);
  }
  if (paired) {
    MPI_Send(data, Count(count), MPI_DOUBLE, ring.rank + 1, kTag, comm);
  }
}

void RingAllGather(MPI_Comm comm, const double* own, double* all, int64_t count) {
  const Ring ring(comm);
  std::copy(own, own + count, all + ring.rank * count);
  for (int step = 0; step < ring.size - 1; ++step) {
    SendReceive(comm, {all + ring.PartBefore(step) * count, count, ring.After()},
                {all + ring.PartBefore(step + 1) * count, count, ring.Before()});
  }
}

void PairwiseAllToAll(MPI_Comm comm, const double* in, double* out, int64_t count) {
  const Ring ring(comm);
  std::copy(in + ring.rank * count, in + (ring.rank + 1) * count, out + ring.rank * count);
  for (int distance = 1; distance < ring.size; ++distance) {
    const int to = (ring.rank + distance) % ring.size;
    const int from = ring.PartBefore(distance);
    SendReceive(comm, {in + to * count, count, to}, {out + from * count, count, from});
  }
}

}  // namespace muster::kernels
