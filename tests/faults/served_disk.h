#pragma once

// Serves a ForgetfulDisk as a file system of the kernel's (FUSE), whose power a test turns off.
//
// Invariants: while the power is off every call waits and nothing changes; a call that waited when
// the power failed ends with an error. Serve is called by one thread, the rest by another.

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "tests/faults/forgetful_disk.h"

struct fuse;

namespace muster {

class ServedDisk {
 public:
  explicit ServedDisk(std::string mount_point) : mount_point_(std::move(mount_point)) {}

  // Mounts, calls `mounted`, and serves until Unmount; false when it cannot mount.
  template <typename Mounted>
  bool Serve(Mounted mounted) {
    if (!Mount()) {
      return false;
    }
    mounted();
    Loop();
    return true;
  }

  void TurnOff() { SetPower(Power::kOff); }
  void TurnOn() { SetPower(Power::kOn); }
  // Ends Serve; what waits fails.
  void Unmount();
  // Between two calls of Serve.
  DiskLoss Lose(std::uint64_t seed);

  // Of the calls that the kernel makes: the disk, once there is power, for as long as this lives.
  class Turn {
   public:
    explicit Turn(ServedDisk& served);
    [[nodiscard]] bool failed() const { return served_.power_ == Power::kFailed; }
    [[nodiscard]] ForgetfulDisk& disk() const { return served_.disk_; }
    // An open file by its number; null where the call names none.
    [[nodiscard]] DiskNodePtr Opened(std::uint64_t number) const;
    std::uint64_t Open(DiskNodePtr node) const;
    void Close(std::uint64_t number) const { served_.opened_.erase(number); }

   private:
    ServedDisk& served_;
    std::unique_lock<std::mutex> hold_;
  };

 private:
  enum class Power { kOn, kOff, kFailed };

  bool Mount();
  void Loop();
  void SetPower(Power power);

  const std::string mount_point_;
  fuse* fuse_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  Power power_ = Power::kOn;
  ForgetfulDisk disk_;
  std::map<std::uint64_t, DiskNodePtr> opened_;
  std::uint64_t opened_last_ = 0;
};

}  // namespace muster
