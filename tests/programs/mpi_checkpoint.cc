// An MPI program for tests of collective checkpoints: each rank's state is its rank and a number of
// steps, saved after each step by the C interface over MPI.
//
//   mpi_checkpoint DIRECTORY STEPS [--size BYTES] [--trouble kill|nospace|ioerror RANK CALL]
//                  [--local DIRECTORY HELPER] [--sets SIZE PARITIES]
//
// It goes on from the newest generation and prints one line on rank 0: "from F to T saved N", N of
// the saves of this run that went well. Exit 1 when a save failed. With --trouble the system call
// number CALL of rank RANK in the last step's checkpoint is made to fail, or kills that rank. With
// --local each rank has a local level in DIRECTORY/rank-N and is a failure domain of its own.

#include <mpi.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/c_group.h"
#include "checkpoint/group/collective.h"
#include "checkpoint/muster_checkpoint_mpi.h"
#include "tests/unit/checkpoint/faulty_disk.h"

namespace muster::checkpoint {
namespace {

struct Options {
  std::string directory;
  std::uint64_t steps = 0;
  std::size_t size = 1000;
  Trouble trouble = Trouble::kNone;
  int rank = -1;
  int call = -1;
  std::string local;
  std::string helper;
  unsigned set_size = 8;
  unsigned parities = 0;
};

Options Parse(int argc, char** argv) {
  Options options;
  options.directory = argc > 1 ? argv[1] : "";
  options.steps = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--size" && i + 1 < argc) {
      options.size = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--local" && i + 2 < argc) {
      options.local = argv[++i];
      options.helper = argv[++i];
    } else if (word == "--sets" && i + 2 < argc) {
      options.set_size = static_cast<unsigned>(std::atoi(argv[++i]));
      options.parities = static_cast<unsigned>(std::atoi(argv[++i]));
    } else if (word == "--trouble" && i + 3 < argc) {
      const std::string kind = argv[++i];
      options.trouble = kind == "kill"      ? Trouble::kKillBefore
                        : kind == "nospace" ? Trouble::kNoSpace
                                            : Trouble::kIoError;
      options.rank = std::atoi(argv[++i]);
      options.call = std::atoi(argv[++i]);
    }
  }
  return options;
}

// What rank's memory holds after `step` steps.
void Fill(std::vector<char>* field, int rank, std::uint64_t step) {
  for (std::size_t i = 0; i < field->size(); ++i) {
    (*field)[i] = static_cast<char>(i * 31 + step * 7 + static_cast<std::uint64_t>(rank) * 13);
  }
}

int Fail(const char* what, const Error& error) {
  std::fprintf(stderr, "%s: %s\n", what, error.text.c_str());
  return 1;
}

int Run(const Options& options, int rank) {
  muster_checkpoint_group calls;
  if (muster_checkpoint_mpi_group(MPI_COMM_WORLD, &calls) != 0) {
    return 1;
  }
  CGroup group(calls);
  // Trouble is counted again in the last checkpoint.
  FaultyDisk disk(options.trouble, -1);
  SessionOptions session;
  session.directory = options.directory;
  session.job = "job";
  if (!options.local.empty()) {
    session.failure_domain = "rank-" + std::to_string(rank);
    session.local_directory = options.local + "/" + session.failure_domain;
    session.flush_program = options.helper;
    session.set_size = options.set_size;
    session.parities = options.parities;
  }
  auto opened = Collective::Open(session, &group, disk);
  if (!opened.ok()) {
    return Fail("open", opened.error);
  }
  std::uint64_t step = 0;
  // No two ranks' are of one size.
  std::vector<char> field(options.size + static_cast<std::size_t>(rank) * 1001);
  (void)opened.value->session().Protect("step", &step, sizeof step);
  (void)opened.value->session().Protect("field", field.data(), field.size());
  const Result<std::uint64_t> from = opened.value->RestoreLatest();
  if (!from.ok() && from.error.fault != Fault::kNotFound) {
    return Fail("restore", from.error);
  }
  std::vector<char> expected(field.size());
  Fill(&expected, rank, step);
  if (from.ok() && expected != field) {
    std::fprintf(stderr, "rank %d: came back with another content\n", rank);
    return 3;
  }
  Error error = from.ok() ? opened.value->Confirm() : Error();
  if (error.failed()) {
    return Fail("confirm", error);
  }
  const std::uint64_t began = step;
  int saved = 0;
  while (step < options.steps && !error.failed()) {
    Fill(&field, rank, ++step);
    if (step == options.steps && rank == options.rank) {
      disk.FailAfter(options.call);
    }
    error = opened.value->Save();
    saved += error.failed() ? 0 : 1;
  }
  if (rank == 0) {
    std::printf("from %" PRIu64 " to %" PRIu64 " saved %d\n", began, step, saved);
    (void)(error.failed() ? Fail("save", error) : 0);
  }
  return error.failed() ? 1 : 0;
}

}  // namespace
}  // namespace muster::checkpoint

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int code = muster::checkpoint::Run(muster::checkpoint::Parse(argc, argv), rank);
  MPI_Finalize();
  return code;
}
