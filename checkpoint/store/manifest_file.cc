#include "checkpoint/store/manifest_file.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "checkpoint/disk/own_file.h"

namespace muster::checkpoint {

Error InGeneration(const GenerationName& name, const Error& error) {
  return MakeError(error.fault, ToText(name) + ": " + error.text);
}

Result<Manifest> ReadManifestIn(Disk& disk, int directory, const GenerationName& name) {
  std::uint64_t size = 0;
  const Result<int> fd = OpenOwnFile(disk, directory, kManifestName, &size);
  if (!fd.ok()) {
    return {{}, InGeneration(name, fd.error)};
  }
  const OpenFile file(disk, fd.value);
  if (size > kManifestBytesMax) {
    return {{}, InGeneration(name, MakeError(Fault::kCorrupt, "manifest: is too large"))};
  }
  std::string text(size, '\0');
  if (Error error = ReadFully(disk, file.get(), text.data(), size, 0); error.failed()) {
    return {{}, InGeneration(name, error)};
  }
  Result<Manifest> manifest = ParseManifest(text);
  if (!manifest.ok()) {
    return {{}, InGeneration(name, manifest.error)};
  }
  if (manifest.value.generation != name.number) {
    return {{},
            InGeneration(
                name, MakeError(Fault::kForeign, "manifest: is that of generation " +
                                                     std::to_string(manifest.value.generation)))};
  }
  return manifest;
}

Error WriteManifestIn(Disk& disk, int directory, const Manifest& manifest) {
  OpenFile file(disk,
                disk.OpenAt(directory, kManifestName,
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kPrivateFile));
  if (!file.ok()) {
    return SystemError("manifest: create", errno);
  }
  const std::string text = PrintManifest(manifest);
  if (Error error = WriteFully(disk, file.get(), text.data(), text.size()); error.failed()) {
    return MakeError(error.fault, "manifest: " + error.text);
  }
  if (disk.Flush(file.get()) != 0) {
    return SystemError("manifest: fsync", errno);
  }
  return file.Close() == 0 ? Error() : SystemError("manifest: close", errno);
}

Error CheckEntriesIn(Disk& disk, int directory, const Manifest& manifest) {
  std::vector<std::string> names;
  if (disk.List(directory, &names) != 0) {
    return SystemError("list", errno);
  }
  std::vector<std::string> expected = {kManifestName};
  for (const ShardSeal& seal : manifest.shards) {
    expected.push_back(ShardName(seal.rank));
  }
  std::sort(expected.begin(), expected.end());
  for (const std::string& name : expected) {
    if (!std::binary_search(names.begin(), names.end(), name)) {
      return MakeError(Fault::kCorrupt, name + ": is missing");
    }
  }
  for (const std::string& name : names) {
    if (!std::binary_search(expected.begin(), expected.end(), name)) {
      return MakeError(Fault::kForeign, "holds something that is not the checkpoint's");
    }
  }
  return {};
}

}  // namespace muster::checkpoint
