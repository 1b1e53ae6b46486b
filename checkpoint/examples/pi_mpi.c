/* The points of pi.c, counted by MPI ranks: each rank takes every size-th row and keeps its own
 * progress; all of them checkpoint together.
 *
 *   mpirun -n 4 pi_mpi DIRECTORY ROWS [DIE_AT_ROW]
 *
 * Run it again on as many ranks after one of them died, and it goes on from the last checkpoint
 * that all of them have. Exit code 85 says "checkpointed, run me again".
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/muster_checkpoint_mpi.h"

enum { kRunMeAgain = 85 };

struct progress {
  uint64_t round;
  uint64_t inside;
};

static uint64_t inside_of_row(uint64_t row, uint64_t rows) {
  uint64_t inside = 0;
  for (uint64_t column = 0; column < rows; ++column) {
    inside += row * row + column * column < rows * rows;
  }
  return inside;
}

static int fail(muster_checkpoint* checkpoint) {
  fprintf(stderr, "pi_mpi: %s\n", muster_checkpoint_error(checkpoint));
  MPI_Abort(MPI_COMM_WORLD, 1);
  return 1;
}

/* Counts until the end, or until it is asked to leave: 0, or the exit code. */
static int count(muster_checkpoint* checkpoint, struct progress* progress, uint64_t rows,
                 uint64_t die_at, int rank, int size) {
  const uint64_t rounds = (rows + (uint64_t)size - 1) / (uint64_t)size;
  while (progress->round < rounds) {
    const uint64_t row = progress->round * (uint64_t)size + (uint64_t)rank;
    progress->inside += row < rows ? inside_of_row(row, rows) : 0;
    progress->round += 1;
    if (row == die_at) {
      raise(SIGKILL);
    }
    int need = MUSTER_CHECKPOINT_NOT_NOW;
    if (muster_should_checkpoint_together(checkpoint, &need) != 0) {
      return fail(checkpoint);
    }
    if (need != MUSTER_CHECKPOINT_NOT_NOW && muster_checkpoint_save(checkpoint) != 0) {
      return fail(checkpoint);
    }
    if (need == MUSTER_CHECKPOINT_PREEMPTION || need == MUSTER_CHECKPOINT_TIME_LIMIT) {
      return kRunMeAgain;
    }
  }
  return 0;
}

static int run(const char* directory, uint64_t rows, uint64_t die_at) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  struct progress progress = {0, 0};
  muster_checkpoint_options options;
  memset(&options, 0, sizeof options);
  options.directory = directory;
  options.interval_s = 0.01;
  char error[256];
  muster_checkpoint* checkpoint = NULL;
  if (muster_checkpoint_open_mpi(&options, MPI_COMM_WORLD, &checkpoint, error, sizeof error) != 0) {
    if (rank == 0) {
      fprintf(stderr, "pi_mpi: %s\n", error);
    }
    return 1;
  }
  muster_checkpoint_protect(checkpoint, "progress", &progress, sizeof progress);
  const int restored = muster_checkpoint_restore_latest(checkpoint);
  if (restored == MUSTER_CHECKPOINT_OK && rank == 0) {
    fprintf(stderr, "pi_mpi: going on at round %" PRIu64 "\n", progress.round);
  } else if (restored != MUSTER_CHECKPOINT_OK && restored != MUSTER_CHECKPOINT_NOT_FOUND) {
    return fail(checkpoint);
  }
  const int code = count(checkpoint, &progress, rows, die_at, rank, size);
  uint64_t inside = 0;
  MPI_Reduce(&progress.inside, &inside, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (code == 0 && rank == 0) {
    printf("%.12f\n", 4.0 * (double)inside / ((double)rows * (double)rows));
  }
  muster_checkpoint_close(checkpoint);
  return code;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const uint64_t rows = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  const uint64_t die_at = argc > 3 ? strtoull(argv[3], NULL, 10) : UINT64_MAX;
  int code = 2;
  if (rows == 0) {
    fputs("usage: pi_mpi DIRECTORY ROWS [DIE_AT_ROW]\n", stderr);
  } else {
    code = run(argv[1], rows, die_at);
  }
  MPI_Finalize();
  return code;
}
