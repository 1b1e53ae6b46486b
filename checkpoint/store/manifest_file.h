#pragma once

// The manifest as a file of a generation's directory, and what that directory holds besides.
//
// Thread promise: one thread at a time a directory. Invariants: a manifest that is read is whole
// and that of the generation which was asked for; one that is written is on the disk.

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/error.h"
#include "checkpoint/disk/names.h"
#include "checkpoint/store/manifest.h"

namespace muster::checkpoint {

// "gen-0000000012: " before the error's text.
Error InGeneration(const GenerationName& name, const Error& error);

// `directory` is that of `name`, open.
Result<Manifest> ReadManifestIn(Disk& disk, int directory, const GenerationName& name);
// The file must not be there yet.
Error WriteManifestIn(Disk& disk, int directory, const Manifest& manifest);
// That the directory holds the manifest, its shards and nothing else, by name.
Error CheckEntriesIn(Disk& disk, int directory, const Manifest& manifest);

}  // namespace muster::checkpoint
