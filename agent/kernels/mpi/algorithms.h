#pragma once

// Collective operations made of messages between pairs, as textbooks give them, to stand beside the
// library's own (Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations
// in MPICH, IJHPCA 19(1), 2005; ring: Patarasu, Yuan, JPDC 69(2), 2009).
//
// Thread promise: the thread that speaks MPI; collective over the communicator. Invariant: any
// number of ranks and any count of elements, less than one a rank included.

#include <mpi.h>

#include <cstdint>

namespace muster::kernels {

// data = the sum over all ranks, element by element. Reduce-scatter and all-gather on a ring: each
// rank sends 2 (p - 1) / p of the data in 2 (p - 1) messages.
void RingAllReduce(MPI_Comm comm, double* data, int64_t count);

// The same in log2 p exchanges of the whole data; ranks beyond a power of two give theirs to a
// neighbour first and get the result last.
void RecursiveDoublingAllReduce(MPI_Comm comm, double* data, int64_t count);

// all[r * count ..] = what rank r gave in `own`. A ring: p - 1 messages of one part.
void RingAllGather(MPI_Comm comm, const double* own, double* all, int64_t count);

// in[r * count ..] on rank s becomes out[s * count ..] on rank r. In p - 1 exchanges with one
// partner each.
void PairwiseAllToAll(MPI_Comm comm, const double* in, double* out, int64_t count);

}  // namespace muster::kernels
