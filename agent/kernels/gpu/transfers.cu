#include <algorithm>
#include <cstring>
#include <memory>

#include "agent/kernels/gpu/device.h"
#include "agent/kernels/gpu/operations.h"
#include "agent/kernels/place/seeded.h"

namespace muster::kernels {
namespace {

constexpr int64_t kBytesMost = int64_t{256} << 20;
constexpr int64_t kPeerBlocks = 4096;

// Host memory that the device can reach by itself.
class PinnedArray {
 public:
  explicit PinnedArray(size_t bytes) {
    Must(AllocatePinned(&data_, bytes), "taking pinned memory of the host");
  }
  ~PinnedArray() { Must(FreePinned(data_), "giving pinned memory back"); }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

// 16 bytes a thread and turn; the first thread takes the tail. Either side may lie on a peer.
__global__ void CopyBytes(const unsigned char* from, unsigned char* to, int64_t bytes) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
  const int64_t step = static_cast<int64_t>(gridDim.x) * kBlockThreads;
  const int64_t fours = bytes / static_cast<int64_t>(sizeof(uint4));
  for (int64_t i = first; i < fours; i += step) {
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
  }
  for (int64_t i = fours * static_cast<int64_t>(sizeof(uint4)); first == 0 && i < bytes; ++i) {
    to[i] = from[i];
  }
}

std::vector<unsigned char> Pattern(uint64_t seed, size_t bytes) {
  std::vector<unsigned char> pattern(bytes);
  for (size_t i = 0; i < bytes; ++i) {
    pattern[i] = static_cast<unsigned char>(SeededUnit(seed, i) * 256);
  }
  return pattern;
}

struct HostCopies {
  HostCopies(uint64_t seed, size_t bytes)
      : pattern(Pattern(seed, bytes)),
        pageable(pattern),
        pinned_in(bytes),
        pinned_out(bytes),
        device(static_cast<int64_t>(bytes)),
        other(static_cast<int64_t>(bytes)) {
    std::memcpy(pinned_in.data(), pattern.data(), bytes);
    device.Set(pattern);
    other.Set(pattern);
  }

  size_t Bytes() const { return pattern.size(); }

  std::vector<unsigned char> pattern;
  std::vector<unsigned char> pageable;
  PinnedArray pinned_in;
  PinnedArray pinned_out;
  DeviceArray<unsigned char> device;
  DeviceArray<unsigned char> other;
  Stream up;
  Stream down;
};

double WrongBytes(const std::vector<unsigned char>& expected, const void* actual) {
  return std::memcmp(expected.data(), actual, expected.size()) == 0 ? 0 : 1;
}

void Up(HostCopies* copies, const void* from) {
  Must(GPU(MemcpyAsync)(copies->device.data(), from, copies->Bytes(), GPU(MemcpyHostToDevice),
                        copies->up.get()),
       "copying to the GPU");
}

void Down(HostCopies* copies, void* to) {
  Must(GPU(MemcpyAsync)(to, copies->other.data(), copies->Bytes(), GPU(MemcpyDeviceToHost),
                        copies->down.get()),
       "copying from the GPU");
}

// Both directions at once; the seconds until the later one ends, by the host's clock, because the
// streams' events do not compare while both run.
double BothWays(HostCopies* copies) {
  const double begin = MonotonicSeconds();
  Up(copies, copies->pinned_in.data());
  Down(copies, copies->pinned_out.data());
  copies->up.Wait();
  copies->down.Wait();
  return MonotonicSeconds() - begin;
}

using Copies = std::shared_ptr<HostCopies>;

Operation MakeCopy(const char* name, const Copies& copies, double times,
                   const std::function<double()>& run, const std::function<void(Check*)>& check) {
  Operation operation;
  operation.name = name;
  operation.bytes = times * static_cast<double>(copies->Bytes());
  operation.memory_roof = false;  // the link's roof is not the memory's
  operation.run = run;
  operation.check = check;
  return operation;
}

void AddHostCopies(const Copies& copies, Operations* operations) {
  for (const bool pinned : {true, false}) {
    void* from = pinned ? copies->pinned_in.data() : copies->pageable.data();
    void* to = pinned ? copies->pinned_out.data() : copies->pageable.data();
    const auto up = [copies, from] {
      return TimeOn(copies->up, [&](GPU(Stream_t)) { Up(copies.get(), from); });
    };
    const auto down = [copies, to] {
      return TimeOn(copies->down, [&](GPU(Stream_t)) { Down(copies.get(), to); });
    };
    const char* up_name = pinned ? "host-to-device-pinned" : "host-to-device-pageable";
    const char* down_name = pinned ? "device-to-host-pinned" : "device-to-host-pageable";
    operations->push_back(MakeCopy(up_name, copies, 1, up, [copies, up, up_name](Check* check) {
      copies->device.Poison();
      up();
      check->Hold(up_name, WrongBytes(copies->pattern, copies->device.Get().data()), 0);
    }));
    operations->push_back(
        MakeCopy(down_name, copies, 1, down, [copies, down, to, down_name](Check* check) {
          std::memset(to, 0xff, copies->Bytes());
          down();
          check->Hold(down_name, WrongBytes(copies->pattern, to), 0);
        }));
  }
  operations->push_back(MakeCopy(
      "both-ways-pinned", copies, 2, [copies] { return BothWays(copies.get()); },
      [copies](Check* check) {
        copies->device.Poison();
        std::memset(copies->pinned_out.data(), 0xff, copies->Bytes());
        BothWays(copies.get());
        check->Hold("both-ways-pinned",
                    WrongBytes(copies->pattern, copies->device.Get().data()) +
                        WrongBytes(copies->pattern, copies->pinned_out.data()),
                    0);
      }));
}

// Memory on another device, made and given back there.
struct PeerMemory {
  PeerMemory(int home_device, int peer_device, size_t size)
      : home(home_device), peer(peer_device), bytes(size) {
    Must(GPU(SetDevice)(peer), "turning to a peer");
    Must(GPU(Malloc)(&data, bytes), "taking memory of a peer");
    Must(GPU(SetDevice)(home), "turning back");
  }
  ~PeerMemory() { Must(GPU(Free)(data), "giving a peer's memory back"); }
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  int home;
  int peer;
  size_t bytes;
  void* data = nullptr;
};

// Whether a kernel of the current device can reach the peer's memory; it is then open to it.
bool OpenPeer(int home, int peer) {
  int reachable = 0;
  Must(GPU(DeviceCanAccessPeer)(&reachable, home, peer), "asking for a peer");
  if (reachable != 0) {
    const GPU(Error_t) code = GPU(DeviceEnablePeerAccess)(peer, 0);
    if (code != GPU(ErrorPeerAccessAlreadyEnabled)) {
      Must(code, "opening a peer");
    }
  }
  return reachable != 0;
}

// The runtime's copy, by the copy engines.
void AddPeerCopy(const Copies& copies, const std::shared_ptr<PeerMemory>& memory,
                 const std::string& name, Operations* operations) {
  const auto copy = [copies, memory](GPU(Stream_t) on) {
    Must(GPU(MemcpyPeerAsync)(memory->data, memory->peer, copies->other.data(), memory->home,
                              memory->bytes, on),
         "copying to a peer");
  };
  const auto run = [copies, copy] { return TimeOn(copies->up, copy); };
  operations->push_back(
      MakeCopy(name.c_str(), copies, 1, run, [copies, memory, run, name](Check* check) {
        run();
        copies->device.Poison();
        Must(GPU(MemcpyPeer)(copies->device.data(), memory->home, memory->data, memory->peer,
                             memory->bytes),
             "copying back from a peer");
        check->Hold(name, WrongBytes(copies->pattern, copies->device.Get().data()), 0);
      }));
}

// A kernel that stores to the peer, and one that loads from it: all multiprocessors keep the links
// busy.
void AddPeerKernels(const Copies& copies, const std::shared_ptr<PeerMemory>& memory,
                    Operations* operations) {
  const auto copy = [copies](const void* from, void* to) {
    return TimeOn(copies->up, [&](GPU(Stream_t) on) {
      const auto bytes = static_cast<int64_t>(copies->Bytes());
      CopyBytes<<<BlocksFor(bytes / 16, kBlockThreads, kPeerBlocks), kBlockThreads, 0, on>>>(
          static_cast<const unsigned char*>(from), static_cast<unsigned char*>(to), bytes);
      MustLaunch("a copy to a peer");
    });
  };
  const std::string ends = std::to_string(memory->home) + "-" + std::to_string(memory->peer);
  const auto store = [copies, memory, copy] { return copy(copies->other.data(), memory->data); };
  const auto load = [copies, memory, copy] { return copy(memory->data, copies->device.data()); };
  // Both ways, on poison at both ends: each check sees what both directions brought.
  const auto check_as = [copies, memory, store, load](const std::string& name) {
    return [copies, memory, store, load, name](Check* check) {
      Must(GPU(Memset)(memory->data, 0xff, memory->bytes), "filling memory of a peer");
      Must(GPU(DeviceSynchronize)(), "filling memory of a peer");
      store();
      copies->device.Poison();
      load();
      check->Hold(name, WrongBytes(copies->pattern, copies->device.Get().data()), 0);
    };
  };
  operations->push_back(MakeCopy(("stores-to-peer-" + ends).c_str(), copies, 1, store,
                                 check_as("stores-to-peer-" + ends)));
  operations->push_back(MakeCopy(("loads-from-peer-" + ends).c_str(), copies, 1, load,
                                 check_as("loads-from-peer-" + ends)));
}

void AddPeer(const Copies& copies, int home, int peer, Operations* operations) {
  const bool reachable = OpenPeer(home, peer);
  const auto memory = std::make_shared<PeerMemory>(home, peer, copies->Bytes());
  const std::string name = "peer-" + std::to_string(home) + "-" + std::to_string(peer);
  AddPeerCopy(copies, memory, name + (reachable ? "" : "-through-host"), operations);
  if (reachable) {
    AddPeerKernels(copies, memory, operations);
  }
}

}  // namespace

void AddTransfers(const GpuOptions& options, Operations* operations) {
  const int64_t bytes = std::min<int64_t>(options.n * int64_t{sizeof(float)}, kBytesMost);
  const auto copies = std::make_shared<HostCopies>(options.seed, static_cast<size_t>(bytes));
  AddHostCopies(copies, operations);
  const int home = static_cast<int>(options.device);
  for (int peer = 0; peer < DeviceCount(); ++peer) {
    if (peer != home) {
      AddPeer(copies, home, peer, operations);
    }
  }
}

}  // namespace muster::kernels
