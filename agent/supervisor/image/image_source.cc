#include "agent/supervisor/image/image_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/image/cache/cache_entry.h"
#include "agent/supervisor/image/cache/tree_size.h"
#include "agent/supervisor/image/image_file.h"
#include "agent/supervisor/image/layout/oci_layout.h"
#include "agent/supervisor/image/layout/shared_layout.h"
#include "agent/supervisor/image/system/tool_run.h"
#include "agent/supervisor/user_space/remove_tree.h"
#include "nlohmann/json.hpp"
#include "scheduler/base/status.h"
#include "scheduler/base/text/digest.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/job/container.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

using SourceJson = nlohmann::json;

constexpr Duration kFetchLimit = std::chrono::hours(2);
constexpr std::uint64_t kImageFilesMax = 4'000'000;
constexpr std::chrono::seconds kPause{2};  // before a registry is asked once more
constexpr const char* kLayoutName = "image";
constexpr std::size_t kSettingsBytesMax = std::size_t{4} << 20;
constexpr std::size_t kEnvironmentBytesMax = std::size_t{64} << 10;

std::string LayoutIn(const std::string& draft) {
  return LayoutBeside(draft + "/rootfs");
}

// Ends a fetch that brings too much, or nothing for a while.
class FetchWatch {
 public:
  FetchWatch(std::string draft, const TreeSize& most, Duration patience)
      : draft_(std::move(draft)), most_(most), patience_(patience) {}

  absl::Status Look() {
    RETURN_IF_ERROR(CheckSize(draft_, most_));
    const std::uint64_t bytes = SizeOf(draft_, most_).bytes;
    const auto now = std::chrono::steady_clock::now();
    if (bytes != bytes_) {
      bytes_ = bytes;
      since_ = now;
    }
    return now - since_ < patience_ ? absl::OkStatus() : absl::DeadlineExceededError("it stalls");
  }

 private:
  const std::string draft_;
  const TreeSize most_;
  const Duration patience_;
  std::uint64_t bytes_ = 0;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

// Fetches for one image.
class Source {
 public:
  Source(std::string image, const ImageCache& cache, const FetchTools& tools)
      : image_(std::move(image)), path_(ImagePath(image_)), cache_(cache), tools_(tools) {}

  absl::StatusOr<FoundImage> FromRegistry() const {
    const std::size_t at = path_.find('@');
    std::string digest = at == std::string::npos ? "" : path_.substr(at + 1);
    if (at == std::string::npos) {
      ASSIGN_OR_RETURN(digest, AskDigest());
    }
    if (!IsDigest(digest)) {
      return absl::InvalidArgumentError(absl::StrCat(Quote(digest), " is no sha256 digest"));
    }
    return Keep(KeyOfDigest(digest), [&](const std::string& draft) -> absl::StatusOr<ImageFacts> {
      ASSIGN_OR_RETURN(const TakenImage taken, TakeOrFetch(digest, draft));
      ASSIGN_OR_RETURN(ImageFacts facts, UnpackCopy(draft, taken.kept));
      facts.digest = digest;
      return facts;
    });
  }

  absl::StatusOr<FoundImage> FromLayout() const {
    const std::string tag = ImageTag(image_);
    const absl::StatusOr<ImageFacts> facts = ReadOciLayout(path_, tag);
    const absl::StatusOr<std::string> name = NameInLayout(path_, tag);
    if (facts.ok() && name.ok()) {
      RETURN_IF_ERROR(CheckArchitecture(*facts));
      return Keep(KeyOfDigest(facts->digest),
                  [&](const std::string& draft) -> absl::StatusOr<ImageFacts> {
                    RETURN_IF_ERROR(Unpack(absl::StrCat(path_, ":", *name), draft));
                    return *facts;
                  });
    }
    if (!facts.ok() && !absl::IsFailedPrecondition(facts.status())) {
      return facts.status();
    }
    // Of several machines, or without a name: skopeo knows how to choose.
    ASSIGN_OR_RETURN(const std::string key, KeyOfFile(path_ + "/index.json"));
    return Keep(absl::StrCat(key, "-", tag), [&](const std::string& draft) {
      return CopyAndUnpack(absl::StrCat("oci:", path_, tag.empty() ? "" : ":", tag), draft);
    });
  }

  absl::StatusOr<FoundImage> FromArchive() const {
    ASSIGN_OR_RETURN(const std::string key, KeyOfFile(path_));
    return Keep(key, [&](const std::string& draft) {
      return CopyAndUnpack("docker-archive:" + path_, draft);
    });
  }

  absl::StatusOr<FoundImage> FromSquashfs() const {
    ASSIGN_OR_RETURN(const std::string key, KeyOfFile(path_));
    if (std::optional<SquashMount> mount =
            tools_.squashfuse ? SquashMount::Prepare(path_) : std::nullopt) {
      ASSIGN_OR_RETURN(FoundImage found, Mounted(key));
      found.mount = std::move(mount);
      return found;
    }
    return Keep(key, [&](const std::string& draft) -> absl::StatusOr<ImageFacts> {
      std::vector<std::string> command;
      if (geteuid() == 0) {
        command = {"unshare", "--user"};  // root would give files away, to who is nobody inside
      }
      command.insert(command.end(), {"unsquashfs", "-no-progress", "-d", draft + "/rootfs", path_});
      // 2: what only root may make, such as a device, was left out.
      RETURN_IF_ERROR(Run(std::move(command), draft, {0, 2}));
      ImageFacts facts;
      facts.digest = key;
      facts.environment = EnvironmentIn(draft + "/rootfs");
      return facts;
    });
  }

  // Its files are the user's own, where they are.
  absl::StatusOr<FoundImage> FromBundle() const {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path_ + "/config.json", kSettingsBytesMax));
    const SourceJson config = SourceJson::parse(text, nullptr, /*allow_exceptions=*/false);
    FoundImage found{path_, {}, std::nullopt};
    try {
      found.image.rootfs = config.at("root").at("path").get<std::string>();
      const SourceJson process = config.value("process", SourceJson::object());
      found.image.facts.work_dir = process.value("cwd", std::string());
      found.image.facts.environment = process.value("env", std::vector<std::string>());
    } catch (const SourceJson::exception&) {
      return absl::InvalidArgumentError(absl::StrCat(path_, "/config.json is not an OCI bundle's"));
    }
    if (!absl::StartsWith(found.image.rootfs, "/")) {
      found.image.rootfs = absl::StrCat(path_, "/", found.image.rootfs);
    }
    struct stat root = {};
    if (stat(found.image.rootfs.c_str(), &root) != 0 || !S_ISDIR(root.st_mode)) {
      return absl::NotFoundError(absl::StrCat(found.image.rootfs, " is no directory"));
    }
    found.image.facts.digest = path_;
    return found;
  }

 private:
  // Its layout, from another node or from the registry.
  absl::StatusOr<TakenImage> TakeOrFetch(const std::string& digest,
                                         const std::string& draft) const {
    const std::string layout = LayoutIn(draft);
    TakenImage taken;
    if (tools_.sharing.announce != nullptr) {
      const absl::StatusOr<TakenImage> asked =
          TakeImage({image_, digest, layout, cache_.bytes(), tools_.patience}, tools_.sharing);
      taken = asked.ok() ? *asked : TakenImage{.taken = false, .kept = true};
      // Of an index the other node has the image for its own machine.
      taken.taken = taken.taken && FitsHere(layout);
    }
    if (!taken.taken) {
      RETURN_IF_ERROR(RemoveTree(layout, kRemovalLimit));
      RETURN_IF_ERROR(
          Copy(absl::StrCat("docker://", WithDigest(path_, digest)), draft, /*asks=*/true));
    }
    if (!taken.taken && taken.kept) {
      taken.kept = MakeProvable(digest, layout).ok();
    }
    return taken;
  }

  static bool FitsHere(const std::string& layout) {
    const absl::StatusOr<ImageFacts> facts = ReadOciLayout(layout, kLayoutName);
    return facts.ok() && CheckArchitecture(*facts).ok();
  }

  // What was chosen from an index is of that digest only by the index.
  [[nodiscard]] absl::Status MakeProvable(const std::string& digest,
                                          const std::string& layout) const {
    if (CheckLayout(layout, digest).ok()) {
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const std::string raw,
                     AskRegistry({"inspect", "--raw"}, WithDigest(path_, digest)));
    RETURN_IF_ERROR(KeepIndex(layout, digest, raw));
    return CheckLayout(layout, digest);
  }

  // The cache has a place for it, and what it is called.
  absl::StatusOr<FoundImage> Mounted(const std::string& key) const {
    ASSIGN_OR_RETURN(
        FoundImage found,
        Keep(key + "-mounted", [&](const std::string& draft) -> absl::StatusOr<ImageFacts> {
          if (mkdir((draft + "/rootfs").c_str(), 0755) != 0) {
            return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", draft, "/rootfs"));
          }
          ImageFacts facts;
          facts.digest = key;
          return facts;
        }));
    found.key = key;
    return found;
  }

  absl::StatusOr<FoundImage> Keep(const std::string& key, const ImageCache::Make& make) const {
    const auto named = [&](const std::string& draft) -> absl::StatusOr<ImageFacts> {
      ASSIGN_OR_RETURN(ImageFacts facts, make(draft));
      facts.name = image_;
      return facts;
    };
    ASSIGN_OR_RETURN(CachedImage image, cache_.FindOrMake(key, named));
    return FoundImage{key, std::move(image), std::nullopt};
  }

  [[nodiscard]] absl::Status Run(std::vector<std::string> command, const std::string& draft,
                                 std::vector<int> codes = {0},
                                 Duration patience = kFetchLimit) const {
    const TreeSize most{cache_.bytes(), kImageFilesMax};
    FetchWatch watch(draft, most, patience);
    ToolRun run{.command = std::move(command),
                .environment = tools_.environment,
                .limit = kFetchLimit,
                .watch = [&] { return watch.Look(); },
                .codes = std::move(codes)};
    run.environment.push_back("TMPDIR=" + draft);
    absl::Status ran = RunTool(run).status();
    if (absl::StrContains(ran.message(), ": panic: ")) {
      // umoci stumbles where one thread fails and another still reads: alone it says what failed.
      run.environment.emplace_back("GOMAXPROCS=1");
      ran = RunTool(run).status();
    }
    RETURN_IF_ERROR(ran);
    return CheckSize(draft, most);
  }

  // Where nothing says whom to trust, the registry's TLS and the digest do.
  static std::vector<std::string> Skopeo() {
    std::vector<std::string> command = {"skopeo"};
    if (access("/etc/containers/policy.json", R_OK) != 0) {
      command.emplace_back("--insecure-policy");
    }
    return command;
  }

  // Asks the registry, and once more where that may help at once.
  absl::Status Ask(const std::function<absl::Status()>& attempt) const {
    absl::Status status = attempt();
    if (!status.ok() && IsPassing(status) && !absl::IsDeadlineExceeded(status)) {
      std::this_thread::sleep_for(kPause);
      status = attempt();
    }
    if (absl::IsDeadlineExceeded(status)) {
      return absl::UnavailableError(
          absl::StrCat("its registry has sent nothing for ",
                       std::chrono::floor<std::chrono::seconds>(tools_.patience).count(),
                       " s ([containers] fetch_patience)"));
    }
    return status.ok() || !IsPassing(status) ? status : absl::UnavailableError(status.message());
  }

  // Whether it may go better in a while: not what the registry has answered for good.
  static bool IsPassing(const absl::Status& status) {
    const std::string text(status.message());
    return !absl::StrContains(text, "manifest unknown") && !absl::StrContains(text, "denied") &&
           !absl::StrContains(text, "unauthorized") && !absl::StrContains(text, "not found") &&
           !absl::StrContains(text, "invalid reference") && !absl::IsNotFound(status) &&
           !absl::IsResourceExhausted(status);
  }

  absl::StatusOr<std::string> AskRegistry(const std::vector<std::string>& words,
                                          const std::string& reference) const {
    std::string answer;
    RETURN_IF_ERROR(Ask([&]() -> absl::Status {
      ToolRun run{.command = Skopeo(), .environment = tools_.environment, .limit = tools_.patience};
      run.command.insert(run.command.end(), words.begin(), words.end());
      run.command.push_back("docker://" + reference);
      ASSIGN_OR_RETURN(answer, RunTool(run));
      return absl::OkStatus();
    }));
    return answer;
  }

  absl::StatusOr<std::string> AskDigest() const {
    ASSIGN_OR_RETURN(const std::string digest,
                     AskRegistry({"inspect", "--no-tags", "--format", "{{.Digest}}"}, path_));
    return digest.substr(0, digest.find('\n'));
  }

  absl::Status Copy(const std::string& from, const std::string& draft, bool asks) const {
    const auto copy = [&]() -> absl::Status {
      std::vector<std::string> command = Skopeo();
      for (const std::string& word :
           {std::string("copy"), std::string("--quiet"), from,
            absl::StrCat("oci:", LayoutIn(draft), ":", kLayoutName)}) {
        command.push_back(word);
      }
      return Run(std::move(command), draft, {0}, asks ? tools_.patience : kFetchLimit);
    };
    return asks ? Ask(copy) : copy();
  }

  absl::StatusOr<ImageFacts> CopyAndUnpack(const std::string& from,
                                           const std::string& draft) const {
    RETURN_IF_ERROR(Copy(from, draft, /*asks=*/false));
    return UnpackCopy(draft, /*kept=*/false);
  }

  absl::StatusOr<ImageFacts> UnpackCopy(const std::string& draft, bool kept) const {
    const std::string layout = LayoutIn(draft);
    ASSIGN_OR_RETURN(ImageFacts facts, ReadOciLayout(layout, kLayoutName));
    RETURN_IF_ERROR(CheckArchitecture(facts));
    RETURN_IF_ERROR(Unpack(absl::StrCat(layout, ":", kLayoutName), draft));
    if (!kept) {
      RemoveTree(layout, kRemovalLimit).IgnoreError();
    }
    return facts;
  }

  absl::Status Unpack(const std::string& named, const std::string& draft) const {
    RETURN_IF_ERROR(Run({"umoci", "--log=error", "raw", "unpack", "--rootless", "--image", named,
                         draft + "/rootfs"},
                        draft));
    // Whoever made the image may have closed its root to its user.
    return chmod((draft + "/rootfs").c_str(), 0755) == 0
               ? absl::OkStatus()
               : absl::ErrnoToStatus(errno, "cannot open the image's root");
  }

  const std::string image_;
  const std::string path_;
  const ImageCache& cache_;
  const FetchTools& tools_;
};

absl::StatusOr<FoundImage> FindBy(ImageKind kind, const Source& source) {
  switch (kind) {
    case ImageKind::kOciLayout:
      return source.FromLayout();
    case ImageKind::kDockerArchive:
      return source.FromArchive();
    case ImageKind::kSquashfs:
      return source.FromSquashfs();
    case ImageKind::kBundle:
      return source.FromBundle();
    case ImageKind::kRegistry:
      break;
  }
  return source.FromRegistry();
}

}  // namespace

std::vector<std::string> EnvironmentIn(const std::string& rootfs) {
  std::vector<std::string> environment;
  const absl::StatusOr<std::string> text =
      ReadInRoot(rootfs, "etc/environment", kEnvironmentBytesMax);
  if (text.ok()) {
    for (const std::string& line :
         std::vector<std::string>(absl::StrSplit(*text, '\n', absl::SkipEmpty()))) {
      if (line.find('=') != std::string::npos && line.front() != '#' && line.front() != '=') {
        environment.push_back(line);
      }
    }
  }
  return environment;
}

std::string WithDigest(const std::string& reference, const std::string& digest) {
  std::string name = reference.substr(0, reference.find('@'));
  const std::size_t colon = name.rfind(':');
  if (colon != std::string::npos && name.find('/', colon) == std::string::npos) {
    name = name.substr(0, colon);
  }
  return absl::StrCat(name, "@", digest);
}

absl::StatusOr<FoundImage> FindImage(const std::string& image, const ImageCache& cache,
                                     const FetchTools& tools) {
  absl::StatusOr<FoundImage> found = FindBy(KindOf(image), Source(image, cache, tools));
  return found.ok() ? std::move(found)
                    : absl::Status(found.status().code(),
                                   absl::StrCat("image ", image, ": ",
                                                std::string(found.status().message())));
}

}  // namespace muster::agent
