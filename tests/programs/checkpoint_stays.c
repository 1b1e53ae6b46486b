/* Saves whenever that is asked for, and goes on: nothing but SIGKILL ends it.
 *
 *   checkpoint_stays DIRECTORY
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint/muster_checkpoint.h"

int main(int argc, char** argv) {
  int step = 0;
  char error[256];
  muster_checkpoint* checkpoint = NULL;
  muster_checkpoint_options options;
  memset(&options, 0, sizeof options);
  options.directory = argc > 1 ? argv[1] : NULL;
  signal(SIGTERM, SIG_IGN);
  if (muster_checkpoint_open(&options, &checkpoint, error, sizeof error) != 0) {
    fprintf(stderr, "checkpoint_stays: %s\n", error);
    return 1;
  }
  muster_checkpoint_protect(checkpoint, "step", &step, sizeof step);
  muster_checkpoint_restore_latest(checkpoint);
  for (int saved = 0; saved == 0; ++step) {
    usleep(1000);
    if (step == 0 || muster_should_checkpoint(checkpoint) != MUSTER_CHECKPOINT_NOT_NOW) {
      saved = muster_checkpoint_save(checkpoint);
    }
  }
  fprintf(stderr, "checkpoint_stays: %s\n", muster_checkpoint_error(checkpoint));
  return 1;
}
