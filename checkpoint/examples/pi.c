/* Counts the points of a grid that lie in a quarter circle, row by row, and survives its own death:
 *
 *   pi DIRECTORY ROWS [DIE_AT_ROW]
 *
 * Run it again after it died, and it goes on from its last checkpoint; the answer is that of an
 * undisturbed run, to the last digit. Exit code 85 says "checkpointed, run me again".
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/muster_checkpoint.h"

enum { kRunMeAgain = 85 };

struct progress {
  uint64_t row;
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
  fprintf(stderr, "pi: %s\n", muster_checkpoint_error(checkpoint));
  return 1;
}

int main(int argc, char** argv) {
  const uint64_t rows = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  const uint64_t die_at = argc > 3 ? strtoull(argv[3], NULL, 10) : UINT64_MAX;
  if (rows == 0) {
    fputs("usage: pi DIRECTORY ROWS [DIE_AT_ROW]\n", stderr);
    return 2;
  }
  struct progress progress = {0, 0};
  muster_checkpoint_options options;
  memset(&options, 0, sizeof options);
  options.directory = argv[1];
  options.interval_s = 0.01;
  char error[256];
  muster_checkpoint* checkpoint = NULL;
  if (muster_checkpoint_open(&options, &checkpoint, error, sizeof error) != 0) {
    fprintf(stderr, "pi: %s\n", error);
    return 1;
  }
  if (muster_checkpoint_protect(checkpoint, "progress", &progress, sizeof progress) != 0) {
    return fail(checkpoint);
  }
  const int restored = muster_checkpoint_restore_latest(checkpoint);
  if (restored == MUSTER_CHECKPOINT_OK) {
    fprintf(stderr, "pi: going on at row %" PRIu64 "\n", progress.row);
  } else if (restored != MUSTER_CHECKPOINT_NOT_FOUND) {
    return fail(checkpoint);
  }
  while (progress.row < rows) {
    progress.inside += inside_of_row(progress.row, rows);
    progress.row += 1;
    if (progress.row == die_at) {
      raise(SIGKILL);
    }
    const int need = muster_should_checkpoint(checkpoint);
    const int saved = need != MUSTER_CHECKPOINT_NOT_NOW ? muster_checkpoint_save(checkpoint) : 0;
    if (saved != 0 && saved != MUSTER_CHECKPOINT_NOT_SHARED) { /* that one is safe on this node */
      return fail(checkpoint);
    }
    if (need == MUSTER_CHECKPOINT_PREEMPTION || need == MUSTER_CHECKPOINT_TIME_LIMIT) {
      muster_checkpoint_close(checkpoint);
      return kRunMeAgain;
    }
  }
  printf("%.12f\n", 4.0 * (double)progress.inside / ((double)rows * (double)rows));
  muster_checkpoint_close(checkpoint);
  return 0;
}
