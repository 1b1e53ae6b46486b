// muster-checkpoint-flush: see flush.h.
#include "checkpoint/store/flush.h"

int main(int argc, char** argv) {
  return muster::checkpoint::FlushMain(argc, argv);
}
