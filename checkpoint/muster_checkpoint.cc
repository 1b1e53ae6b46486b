#include "checkpoint/muster_checkpoint.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "checkpoint/c_group.h"
#include "checkpoint/disk/report_socket.h"
#include "checkpoint/group/collective.h"
#include "checkpoint/store/admission.h"

using muster::checkpoint::CGroup;
using muster::checkpoint::Collective;
using muster::checkpoint::Error;
using muster::checkpoint::Fault;
using muster::checkpoint::MakeError;
using muster::checkpoint::Result;
using muster::checkpoint::Session;
using muster::checkpoint::SessionOptions;
using muster::checkpoint::ShardSeal;

struct muster_checkpoint {
  std::unique_ptr<Session> alone;        // of one rank, or of one that knows no others
  std::unique_ptr<CGroup> group;         // with the next, or not at all
  std::unique_ptr<Collective> together;  // uses the group
  std::string error;
  std::uint64_t restored = 0;

  Session& session() const { return together != nullptr ? together->session() : *alone; }
};

namespace {

int Told(muster_checkpoint* session, const Error& error) {
  session->error = error.text;
  return static_cast<int>(error.fault);
}

// Runs `call`; what it throws (only std::bad_alloc can be) becomes a code: C has no exceptions.
template <class Call>
int Guarded(muster_checkpoint* session, const Call& call) {
  if (session == nullptr) {
    return MUSTER_CHECKPOINT_USAGE;
  }
  try {
    return Told(session, call(session->session()));
  } catch (const std::bad_alloc&) {
    return MUSTER_CHECKPOINT_SYSTEM;
  }
}

template <class Value, class Got>
Error Give(Value* value, const Got& got) {
  if (value == nullptr) {
    return MakeError(Fault::kUsage, "there is no place for the answer");
  }
  if (got.ok()) {
    *value = got.value;
  }
  return got.error;
}

// The option, else the environment's, else `otherwise`. Read as the session opens, before threads.
std::string TextOr(const char* option, const char* variable, const char* otherwise) {
  if (option != nullptr) {
    return option;
  }
  const char* text =
      variable != nullptr ? std::getenv(variable) : nullptr;  // NOLINT(concurrency-mt-unsafe)
  return text != nullptr ? text : otherwise;
}

SessionOptions OptionsOf(const muster_checkpoint_options& options) {
  constexpr mode_t kPrivate = 0700;
  SessionOptions read;
  read.directory = TextOr(options.directory, "MUSTER_CHECKPOINT_DIR", "");
  if (options.directory == nullptr && !read.directory.empty()) {
    // The scheduler's name for it: made at its first use. What is wrong with it, opening tells.
    (void)mkdir(read.directory.c_str(), kPrivate);
  }
  read.job = TextOr(options.job, "MUSTER_JOB_ID", "job");
  read.attempt = options.attempt;
  read.rank = options.rank;
  read.ranks = options.ranks == 0 ? 1 : options.ranks;
  read.repartitionable = options.repartitionable != 0;
  read.keep = options.keep == 0 ? read.keep : options.keep;
  read.milestone = options.milestone;
  read.age_s = options.age_s;
  read.bytes_max = options.bytes_max;
  read.interval_s = options.interval_s;
  read.hints = TextOr(options.hints, "MUSTER_CHECKPOINT_HINTS", "");
  if (options.hints == nullptr && access(read.hints.c_str(), R_OK) != 0) {
    read.hints.clear();  // of another node, or not to be seen in this container
  }
  read.progress = TextOr(nullptr, "MUSTER_CHECKPOINT_PROGRESS", "");
  read.local_directory = TextOr(options.local_directory, "MUSTER_CHECKPOINT_LOCAL_DIR", "");
  read.parities = options.parities;
  read.set_size = options.set_size == 0 ? read.set_size : options.set_size;
  read.failure_domain = TextOr(options.failure_domain, "MUSTER_NODE_NAME", "");
  read.flush_program = TextOr(nullptr, "MUSTER_CHECKPOINT_FLUSH", "");
  read.admission = muster::checkpoint::AdmissionProgram();
  read.topology = TextOr(options.topology, nullptr, "");
  read.software = TextOr(options.software, nullptr, "");
  read.hardware = TextOr(options.hardware, nullptr, "");
  return read;
}

int Refuse(const Error& error, char* text, std::size_t size) {
  if (text != nullptr && size > 0) {
    const std::size_t length = std::min(size - 1, error.text.size());
    std::memcpy(text, error.text.data(), length);
    text[length] = '\0';
  }
  return static_cast<int>(error.fault);
}

}  // namespace

int muster_checkpoint_open(const muster_checkpoint_options* options, muster_checkpoint** session,
                           char* error, size_t error_size) {
  if (options == nullptr || session == nullptr) {
    return Refuse(MakeError(Fault::kUsage, "open: needs options and a place for the session"),
                  error, error_size);
  }
  *session = nullptr;
  try {
    SessionOptions read = OptionsOf(*options);
    if (options->local_directory == nullptr && read.ranks > 1) {
      read.local_directory.clear();  // the environment's: it needs ranks that know one another
    }
    auto opened = Session::Open(std::move(read));
    if (!opened.ok()) {
      return Refuse(opened.error, error, error_size);
    }
    *session = new muster_checkpoint;
    (*session)->alone = std::move(opened.value);
    return MUSTER_CHECKPOINT_OK;
  } catch (const std::bad_alloc&) {
    return Refuse(MakeError(Fault::kSystem, "open: out of memory"), error, error_size);
  }
}

int muster_checkpoint_open_together(const muster_checkpoint_options* options,
                                    const muster_checkpoint_group* group,
                                    muster_checkpoint** session, char* error, size_t error_size) {
  if (group == nullptr || !CGroup::IsWhole(*group)) {
    return Refuse(MakeError(Fault::kUsage, "open: needs a group with a rank and all its calls"),
                  error, error_size);
  }
  try {
    auto carrier = std::make_unique<CGroup>(*group);
    if (options == nullptr || session == nullptr) {
      return Refuse(MakeError(Fault::kUsage, "open: needs options and a place for the session"),
                    error, error_size);
    }
    *session = nullptr;
    auto opened = Collective::Open(OptionsOf(*options), carrier.get());
    if (!opened.ok()) {
      return Refuse(opened.error, error, error_size);
    }
    *session = new muster_checkpoint;
    (*session)->group = std::move(carrier);
    (*session)->together = std::move(opened.value);
    return MUSTER_CHECKPOINT_OK;
  } catch (const std::bad_alloc&) {
    return Refuse(MakeError(Fault::kSystem, "open: out of memory"), error, error_size);
  }
}

void muster_checkpoint_close(muster_checkpoint* session) {
  if (session != nullptr) {
    (void)session->session().Confirm();  // on ranks but 0 it does nothing
    delete session;
  }
}

const char* muster_checkpoint_error(const muster_checkpoint* session) {
  return session == nullptr ? "there is no session" : session->error.c_str();
}

int muster_checkpoint_protect(muster_checkpoint* session, const char* name, void* bytes,
                              uint64_t size) {
  return Guarded(session, [&](Session& s) { return s.Protect(name ? name : "", bytes, size); });
}

int muster_checkpoint_protect_cuda(muster_checkpoint* session, const char* name, void* device,
                                   uint64_t size) {
  return Guarded(session, [&](Session& s) {
    Result<muster::checkpoint::Elsewhere> memory = muster::checkpoint::CudaMemory(device, size);
    return memory.ok() ? s.ProtectElsewhere(name ? name : "", std::move(memory.value), size)
                       : memory.error;
  });
}

int muster_checkpoint_protect_file(muster_checkpoint* session, const char* name, const char* path) {
  return Guarded(session,
                 [&](Session& s) { return s.ProtectFile(name ? name : "", path ? path : ""); });
}

int muster_checkpoint_save(muster_checkpoint* session) {
  return Guarded(session, [session](Session& s) {
    return session->together != nullptr ? session->together->Save() : s.Save();
  });
}

int muster_checkpoint_restore_latest(muster_checkpoint* session) {
  return Guarded(session, [session](Session& s) {
    Result<std::uint64_t> from;
    if (session->together != nullptr) {
      from = session->together->RestoreLatest();
    } else {
      from = s.Latest();
      from.error = from.ok() ? s.Restore(from.value) : from.error;
    }
    const bool found = from.ok() || from.error.fault == Fault::kRanks;
    session->restored = found ? from.value : 0;
    return from.error;
  });
}

uint64_t muster_checkpoint_restored(const muster_checkpoint* session) {
  return session == nullptr ? 0 : session->restored;
}

int muster_should_checkpoint_together(muster_checkpoint* session, int* need) {
  return Guarded(session, [&](Session& s) {
    Result<muster::checkpoint::Need> answer;
    if (session->together != nullptr) {
      answer = session->together->ShouldCheckpoint();
    } else {
      answer.value = s.ShouldCheckpoint();
    }
    const Result<int> number{static_cast<int>(answer.value), answer.error};
    return Give(need, number);
  });
}

int muster_checkpoint_begin(muster_checkpoint* session, uint64_t* generation) {
  return Guarded(session, [&](Session& s) { return Give(generation, s.Begin()); });
}

int muster_checkpoint_write(muster_checkpoint* session, uint64_t generation,
                            muster_checkpoint_seal* seal) {
  return Guarded(session, [&](Session& s) {
    if (seal == nullptr) {
      return MakeError(Fault::kUsage, "write: needs a place for the seal");
    }
    const auto written = s.Write(generation);
    if (written.ok()) {
      *seal = {written.value.bytes, written.value.checksum, written.value.rank, 0};
    }
    return written.error;
  });
}

int muster_checkpoint_commit(muster_checkpoint* session, uint64_t generation,
                             const muster_checkpoint_seal* seals, uint32_t count) {
  return Guarded(session, [&](Session& s) {
    std::vector<ShardSeal> all;
    for (uint32_t i = 0; seals != nullptr && i < count; ++i) {
      all.push_back({seals[i].rank, seals[i].bytes, seals[i].checksum});
    }
    return s.Commit(generation, all);
  });
}

void muster_checkpoint_abandon(muster_checkpoint* session, uint64_t generation) {
  Guarded(session, [&](Session& s) {
    s.levels().Abandon(generation);
    return Error();
  });
}

void muster_checkpoint_done(muster_checkpoint* session) {
  Guarded(session, [](Session& s) {
    s.cadence().End();
    s.cadence().Report({});
    return Error();
  });
}

int muster_checkpoint_latest(muster_checkpoint* session, uint64_t* generation) {
  return Guarded(session, [&](Session& s) { return Give(generation, s.Latest()); });
}

int muster_checkpoint_restore(muster_checkpoint* session, uint64_t generation) {
  return Guarded(session, [&](Session& s) { return s.Restore(generation); });
}

int muster_checkpoint_confirm(muster_checkpoint* session) {
  return Guarded(session, [session](Session& s) {
    return session->together != nullptr ? session->together->Confirm() : s.Confirm();
  });
}

int muster_checkpoint_saved_ranks(muster_checkpoint* session, uint64_t generation,
                                  uint32_t* ranks) {
  return Guarded(session, [&](Session& s) { return Give(ranks, s.saved().Ranks(generation)); });
}

int muster_checkpoint_region_size(muster_checkpoint* session, uint64_t generation, uint32_t rank,
                                  const char* name, uint64_t* size) {
  return Guarded(session, [&](Session& s) {
    return Give(size, s.saved().RegionSize(generation, rank, name ? name : ""));
  });
}

int muster_checkpoint_read_region(muster_checkpoint* session, uint64_t generation, uint32_t rank,
                                  const char* name, void* bytes, uint64_t size) {
  return Guarded(session, [&](Session& s) {
    return s.ReadRegion(generation, rank, name ? name : "", bytes, size);
  });
}

int muster_should_checkpoint(muster_checkpoint* session) {
  return session == nullptr ? MUSTER_CHECKPOINT_NOT_NOW
                            : static_cast<int>(session->session().ShouldCheckpoint());
}

int muster_report(const char* values) {
  const char* const socket = std::getenv("MUSTER_REPORT_SOCKET");  // NOLINT(concurrency-mt-unsafe)
  if (values == nullptr || socket == nullptr) {
    return values == nullptr ? MUSTER_CHECKPOINT_USAGE : MUSTER_CHECKPOINT_NOT_FOUND;
  }
  return static_cast<int>(muster::checkpoint::SendReport(socket, values).fault);
}
