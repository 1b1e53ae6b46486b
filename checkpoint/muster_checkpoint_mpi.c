/* Only the C interface and MPI: users of another MPI than the one that this was built with compile
 * this file with theirs. */

#include "checkpoint/muster_checkpoint_mpi.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What one call moves: MPI counts with an int. */
enum { kAtOnce = 1 << 30 };

struct communicator {
  MPI_Comm comm;
};

static MPI_Comm comm_of(void* context) {
  const struct communicator* mine = context;
  return mine->comm;
}

static int broadcast(void* context, uint32_t root, void* bytes, size_t size) {
  char* next = bytes;
  while (size > 0) {
    const int piece = size < kAtOnce ? (int)size : kAtOnce;
    const int code = MPI_Bcast(next, piece, MPI_BYTE, (int)root, comm_of(context));
    if (code != MPI_SUCCESS) {
      return code;
    }
    next += piece;
    size -= (size_t)piece;
  }
  return 0;
}

static int gather(void* context, const void* own, size_t size, void* all) {
  return size > INT_MAX
             ? MPI_ERR_COUNT
             : MPI_Gather(own, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, 0, comm_of(context));
}

static int least(void* context, uint64_t* value) {
  return MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_UINT64_T, MPI_MIN, comm_of(context));
}

static int exchange(void* context, uint32_t to, const void* out, size_t out_size, uint32_t from,
                    void* in, size_t in_size) {
  enum { kTag = 0 };
  if (out_size > INT_MAX || in_size > INT_MAX) {
    return MPI_ERR_COUNT;
  }
  return MPI_Sendrecv(out, (int)out_size, MPI_BYTE, out_size > 0 ? (int)to : MPI_PROC_NULL, kTag,
                      in, (int)in_size, MPI_BYTE, in_size > 0 ? (int)from : MPI_PROC_NULL, kTag,
                      comm_of(context), MPI_STATUS_IGNORE);
}

static void release(void* context) {
  struct communicator* mine = context;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) {
    MPI_Comm_free(&mine->comm);
  }
  free(mine);
}

int muster_checkpoint_mpi_group(MPI_Comm comm, muster_checkpoint_group* group) {
  struct communicator* mine = malloc(sizeof *mine);
  if (mine == NULL) {
    return MPI_ERR_NO_MEM;
  }
  int code = MPI_Comm_dup(comm, &mine->comm);
  if (code != MPI_SUCCESS) {
    free(mine);
    return code;
  }
  /* A lost rank is to be an answer, where MPI gives one. */
  MPI_Comm_set_errhandler(mine->comm, MPI_ERRORS_RETURN);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(mine->comm, &rank);
  MPI_Comm_size(mine->comm, &ranks);
  memset(group, 0, sizeof *group);
  group->context = mine;
  group->rank = (uint32_t)rank;
  group->ranks = (uint32_t)ranks;
  group->broadcast = broadcast;
  group->gather = gather;
  group->least = least;
  group->release = release;
  group->exchange = exchange;
  return 0;
}

int muster_checkpoint_open_mpi(const muster_checkpoint_options* options, MPI_Comm comm,
                               muster_checkpoint** session, char* error, size_t error_size) {
  muster_checkpoint_group group;
  if (session != NULL) {
    *session = NULL;
  }
  if (muster_checkpoint_mpi_group(comm, &group) != 0) {
    if (error != NULL && error_size > 0) {
      strncpy(error, "open: MPI gave no communicator", error_size - 1);
      error[error_size - 1] = '\0';
    }
    return MUSTER_CHECKPOINT_SYSTEM;
  }
  return muster_checkpoint_open_together(options, &group, session, error, error_size);
}
