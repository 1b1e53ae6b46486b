#pragma once

/* Checkpoints for any program: the C interface of libmuster-checkpoint.
 *
 * A serial program: open, protect, restore, then work; now and then, where should_checkpoint says
 * so, save. A program of several ranks opens with a group (of MPI ranks: muster_checkpoint_mpi.h)
 * and then calls the same on all ranks; or, without a group, rank 0 calls begin, latest and commit,
 * and the program carries the generation's number to the others and their seals back. Every call
 * that can fail returns MUSTER_CHECKPOINT_OK or another code; muster_checkpoint_error is then one
 * line that says what and where. Thread promise: one thread at a time a session. Invariants: those
 * of checkpoint/session/session.h: until commit or save returns well the generation before stands;
 * memory is written by restoring only after every byte matched its checksum.
 */

#include <stddef.h>
#include <stdint.h>

/* C's names and C's typedefs. NOLINTBEGIN(modernize-use-using,readability-identifier-naming) */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct muster_checkpoint muster_checkpoint;

enum muster_checkpoint_code {
  MUSTER_CHECKPOINT_OK = 0,
  MUSTER_CHECKPOINT_USAGE = 1,     /* a call out of order, or a bad argument */
  MUSTER_CHECKPOINT_SYSTEM = 2,    /* the operating system refused */
  MUSTER_CHECKPOINT_NOT_FOUND = 3, /* nothing to restore: a first start */
  MUSTER_CHECKPOINT_CORRUPT = 4,   /* incomplete, or checksums differ */
  MUSTER_CHECKPOINT_FOREIGN = 5,   /* another job's or user's */
  MUSTER_CHECKPOINT_RANKS = 6,     /* written by another number of ranks */
  MUSTER_CHECKPOINT_REGIONS = 7,   /* holds other regions than are protected */
  MUSTER_CHECKPOINT_BUSY = 8,      /* another living program writes there */
  /* Of save and commit: it is committed on the local level, and stands; but copying it, or one
   * before it, to the shared directory failed. */
  MUSTER_CHECKPOINT_NOT_SHARED = 9,
  /* Of save and commit: the site's quota of a user's checkpoints leaves no room for it; those
   * before it stand. */
  MUSTER_CHECKPOINT_OVER_QUOTA = 10
};

enum muster_checkpoint_need {
  MUSTER_CHECKPOINT_NOT_NOW = 0,
  MUSTER_CHECKPOINT_INTERVAL = 1,
  MUSTER_CHECKPOINT_PREEMPTION = 2,
  MUSTER_CHECKPOINT_DRAIN = 3,
  MUSTER_CHECKPOINT_RESIZE = 4,
  MUSTER_CHECKPOINT_TIME_LIMIT = 5
};

/* Zero it, then set what matters. Text may be NULL. */
typedef struct muster_checkpoint_options {
  const char* directory; /* NULL: $MUSTER_CHECKPOINT_DIR, which is made when it is not there */
  const char* job;       /* NULL: $MUSTER_JOB_ID, else "job" */
  uint32_t attempt;
  uint32_t rank;
  uint32_t ranks;       /* 0: 1 */
  int repartitionable;  /* another number of ranks may read the shards */
  uint32_t keep;        /* complete generations; 0: 2 */
  double interval_s;    /* of work; the scheduler's hint overrides it; 0: none */
  const char* hints;    /* NULL: $MUSTER_CHECKPOINT_HINTS where that can be read, else none */
  const char* topology; /* remarks for people */
  const char* software;
  const char* hardware;
  uint64_t milestone; /* keeps every generation whose number it divides, too; 0: none */
  double age_s;       /* keeps none but the newest that was written longer ago; 0: of any age */
  uint64_t bytes_max; /* of the complete generations, of which the newest always stays; 0: any */
  /* On the node's own disk, there already: commits go there first, and a process beside the program
   * copies them to `directory`. NULL: $MUSTER_CHECKPOINT_LOCAL_DIR; that or this "": none.
   * $MUSTER_CHECKPOINT_FLUSH names another helper than the one that is installed. */
  const char* local_directory;
  /* Of a group with local directories: losses of that many ranks of a set are rebuilt from the
   * others at a restart. 1 is XOR (with a set of 2: partners), more is Reed-Solomon; 0: none. */
  uint32_t parities;
  uint32_t set_size; /* of ranks on as many failure domains, at most 32; 0: 8 */
  /* What is lost together with this rank's local directory. NULL: $MUSTER_NODE_NAME, else the
   * host's name. */
  const char* failure_domain;
} muster_checkpoint_options;

/* What a commit needs to know of each rank's shard. */
typedef struct muster_checkpoint_seal {
  uint64_t bytes;
  uint64_t checksum;
  uint32_t rank;
  uint32_t reserved;
} muster_checkpoint_seal;

/* On failure *session is NULL and `error`, if it is not NULL, holds the line, cut to `error_size`.
 */
int muster_checkpoint_open(const muster_checkpoint_options* options, muster_checkpoint** session,
                           char* error, size_t error_size);

/* What carries the messages of ranks that checkpoint together: each call is made by all ranks in
 * the same order, and returns 0 when it did its work. One that does not (a rank is gone) makes
 * every later call of the session fail; such a program ends itself. */
typedef struct muster_checkpoint_group {
  void* context;
  uint32_t rank;
  uint32_t ranks;
  int (*broadcast)(void* context, uint32_t root, void* bytes, size_t size);
  int (*gather)(void* context, const void* own, size_t size, void* all); /* to rank 0 */
  int (*least)(void* context, uint64_t* value);                          /* of all, on all */
  void (*release)(void* context); /* NULL, or called when the session is closed or not opened */
  /* NULL, and then there is no redundancy (`parities`). Sends to rank `to` while it receives from
   * rank `from`; with a size of 0 there is no such rank. Only the ranks that take part call it. */
  int (*exchange)(void* context, uint32_t to, const void* out, size_t out_size, uint32_t from,
                  void* in, size_t in_size);
} muster_checkpoint_group;

/* As open, on all ranks of a group; it fails on all or on none. `rank` and `ranks` are the group's.
 */
int muster_checkpoint_open_together(const muster_checkpoint_options* options,
                                    const muster_checkpoint_group* group,
                                    muster_checkpoint** session, char* error, size_t error_size);

/* A restart that was not confirmed counts as one that went well: the program ended. */
void muster_checkpoint_close(muster_checkpoint* session);
/* Of the last call that failed; valid until the next call. */
const char* muster_checkpoint_error(const muster_checkpoint* session);

/* Names are 1 to 64 letters, digits, '.', '_' and '-'. The memory outlives the session. */
int muster_checkpoint_protect(muster_checkpoint* session, const char* name, void* bytes,
                              uint64_t size);
/* Memory of a GPU, by CUDA's driver: it passes through as much memory of the host. `device` is
 * valid in the current context of the thread that saves and restores. SYSTEM: no CUDA driver. */
int muster_checkpoint_protect_cuda(muster_checkpoint* session, const char* name, void* device,
                                   uint64_t size);
int muster_checkpoint_protect_file(muster_checkpoint* session, const char* name, const char* path);

/* One rank, or all ranks of a group: all of a checkpoint; all of coming back. RANKS after
 * restore_latest of a group: another number of ranks wrote the newest generation, and it is
 * declared repartitionable; muster_checkpoint_restored tells its number, read_region reads it. */
int muster_checkpoint_save(muster_checkpoint* session);
int muster_checkpoint_restore_latest(muster_checkpoint* session);
/* The generation that restore_latest found; 0: none. */
uint64_t muster_checkpoint_restored(const muster_checkpoint* session);
/* Of a group: rank 0's answer on every rank, a muster_checkpoint_need. */
int muster_should_checkpoint_together(muster_checkpoint* session, int* need);

/* Several ranks without a group. */
int muster_checkpoint_begin(muster_checkpoint* session, uint64_t* generation); /* rank 0 */
int muster_checkpoint_write(muster_checkpoint* session, uint64_t generation,
                            muster_checkpoint_seal* seal);
int muster_checkpoint_commit(muster_checkpoint* session, uint64_t generation,
                             const muster_checkpoint_seal* seals, uint32_t count); /* rank 0 */
void muster_checkpoint_abandon(muster_checkpoint* session, uint64_t generation);   /* rank 0 */
void muster_checkpoint_done(muster_checkpoint* session); /* other ranks, after rank 0's commit */
int muster_checkpoint_latest(muster_checkpoint* session, uint64_t* generation); /* rank 0 */
int muster_checkpoint_restore(muster_checkpoint* session, uint64_t generation);

/* The restart went well: it will not be set aside. The first commit says so, too. Rank 0, or all
 * ranks of a group. */
int muster_checkpoint_confirm(muster_checkpoint* session);

/* Another number of ranks: what each of the former ones wrote. */
int muster_checkpoint_saved_ranks(muster_checkpoint* session, uint64_t generation, uint32_t* ranks);
int muster_checkpoint_region_size(muster_checkpoint* session, uint64_t generation, uint32_t rank,
                                  const char* name, uint64_t* size);
int muster_checkpoint_read_region(muster_checkpoint* session, uint64_t generation, uint32_t rank,
                                  const char* name, void* bytes, uint64_t size);

/* A muster_checkpoint_need, in well under a microsecond. With several ranks, rank 0 asks and tells
 * the others. */
int muster_should_checkpoint(muster_checkpoint* session);

/* Says how the program gets on, for muster show --curve, the page and alerts: NAME=VALUE words,
 * such as "loss=0.31 step=400"; names are up to 64 letters, digits, '.', '_', '-' and '/'. Needs no
 * session, never waits, and what does not arrive is lost: NOT_FOUND outside of a job, BUSY when too
 * much was said. */
int muster_report(const char* values);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using,readability-identifier-naming) */
