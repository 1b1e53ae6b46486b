#pragma once

/* Checkpoints of MPI programs: the ranks of a communicator as a group.
 *
 *   muster_checkpoint_open_mpi(&options, MPI_COMM_WORLD, &session, error, sizeof error);
 *   muster_checkpoint_protect(session, "field", field, size);
 *   muster_checkpoint_restore_latest(session);
 *   for (...) { ...; muster_should_checkpoint_together(session, &need); if (need) save... }
 *   muster_checkpoint_close(session);
 *
 * Each rank writes a shard of its own; a generation is complete when all ranks could, and none of
 * them has it otherwise. Thread promise: the thread that may call MPI. Invariants: a session has a
 * communicator of its own (MPI_Comm_dup): its messages meet no others; it is closed before
 * MPI_Finalize, by all ranks.
 */

#include <mpi.h>

#include "checkpoint/muster_checkpoint.h"

/* C's names. NOLINTBEGIN(readability-identifier-naming) */

#ifdef __cplusplus
extern "C" {
#endif

/* All ranks of `comm`; the options' rank and ranks are `comm`'s. It fails on all ranks or on none.
 */
int muster_checkpoint_open_mpi(const muster_checkpoint_options* options, MPI_Comm comm,
                               muster_checkpoint** session, char* error, size_t error_size);

/* The group alone, for muster_checkpoint_open_together. 0, or MPI's error. */
int muster_checkpoint_mpi_group(MPI_Comm comm, muster_checkpoint_group* group);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(readability-identifier-naming) */
