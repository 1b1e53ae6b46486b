#pragma once

// The container that a job's script, or a step's ranks, run in: what the user asks for.
//
// Invariant: a spec that passed CheckContainer names paths that begin with "/" wherever it names
// paths, and holds no control character.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/value/fields.h"

namespace muster {

// A directory or file of the node that the container sees too.
struct ContainerMount {
  std::string source;       // on the node
  std::string destination;  // in the container
  bool read_only = false;
  static constexpr auto Fields(auto list) {
    return list(Field{"source", &ContainerMount::source},
                Field{"destination", &ContainerMount::destination},
                Field{"read_only", &ContainerMount::read_only});
  }
  friend bool operator==(const ContainerMount&, const ContainerMount&) = default;
};

struct ContainerSpec {
  std::string image;  // as KindOf() reads it; empty: no container
  std::vector<ContainerMount> mounts = {};
  std::string work_dir = {};          // in it; empty: the image's
  std::string name = {};              // its files are kept under that name; empty: they go with it
  std::string save = {};              // the squashfs file that it becomes when it ends; empty: none
  bool writable = false;              // its files can be changed
  std::vector<std::string> env = {};  // names of the job's variables that go before the image's
  bool entrypoint = false;            // the image's entrypoint runs the command
  bool mount_home = false;            // the user's home directory is there
  bool remap_root = false;            // the user appears as root inside
  [[nodiscard]] bool given() const { return !image.empty(); }
  static constexpr auto Fields(auto list) {
    return list(Field{"image", &ContainerSpec::image}, Field{"mounts", &ContainerSpec::mounts},
                Field{"work_dir", &ContainerSpec::work_dir}, Field{"name", &ContainerSpec::name},
                Field{"save", &ContainerSpec::save}, Field{"writable", &ContainerSpec::writable},
                Field{"env", &ContainerSpec::env}, Field{"entrypoint", &ContainerSpec::entrypoint},
                Field{"mount_home", &ContainerSpec::mount_home},
                Field{"remap_root", &ContainerSpec::remap_root});
  }
  friend bool operator==(const ContainerSpec&, const ContainerSpec&) = default;
};

enum class ImageKind : std::uint8_t {
  kRegistry = 0,       // REF: NAME[:TAG][@sha256:…], or docker://REF
  kSquashfs = 1,       // a path that ends in .sqsh or .squashfs
  kOciLayout = 2,      // oci:DIR[:TAG], an OCI image layout
  kDockerArchive = 3,  // docker-archive:FILE, what `docker save` writes
  kBundle = 4,         // bundle:DIR, an OCI bundle: config.json and what it calls its root
};

ImageKind KindOf(const std::string& image);
// The path that it names, without the scheme; of an OCI layout without its tag. Of a registry's
// image the reference, with "/" for the first "#".
std::string ImagePath(const std::string& image);
// Of an OCI layout; empty: none was given.
std::string ImageTag(const std::string& image);
// The same image by a path from `directory`, where it names one that is not absolute.
std::string WithAbsolutePath(const std::string& image, const std::string& directory);

// By what number the cluster knows that a node keeps that user's image: of the user, for each keeps
// images apart, and of the digest to which it is pinned, else of what it is called. 0: a node keeps
// nothing of it, for there is none, or it is a bundle, whose files stay where they are.
std::uint64_t MarkOfImage(std::uint32_t uid, const std::string& image);

// "SRC:DST", "SRC:DST:ro".
std::string ToText(const ContainerMount& mount);

// InvalidArgument, one line, names the option. A spec without an image must be empty.
absl::Status CheckContainer(const ContainerSpec& container);

}  // namespace muster
