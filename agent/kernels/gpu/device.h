#pragma once

// A GPU's memory, streams and events as values, and the check of every call.
//
// Thread promise: one thread. Invariants: a call that fails ends the program with one line that
// names the call, what it was for and the runtime's own words (exit 1): nothing is measured after
// an error; what was taken is given back.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "agent/kernels/gpu/portability.h"

namespace muster::kernels {

constexpr int kBlockThreads = 256;  // of a block, where nothing speaks for another number
constexpr int kWarpsMax = 32;       // of the largest block

// Ends the program unless `code` is success.
void Must(GPU(Error_t) code, const std::string& what);

// What the launch just made says: bad sizes at once, what ran before only at the next wait.
void MustLaunch(const std::string& what);

// What is wrong with the device asked for; "" when it can be used. It is then the current one.
std::string UseDevice(int device);

int DeviceCount();
DeviceProperties PropertiesOf(int device);

// Memory of the current device.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(int64_t size) : size_(size) {
    void* data = nullptr;
    Must(GPU(Malloc)(&data, Bytes()), "taking " + std::to_string(Bytes()) + " bytes of the GPU");
    data_ = static_cast<T*>(data);
  }
  ~DeviceArray() {
    if (data_ != nullptr) {
      Must(GPU(Free)(data_), "giving memory back");
    }
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  int64_t size() const { return size_; }
  size_t Bytes() const { return static_cast<size_t>(size_ > 0 ? size_ : 1) * sizeof(T); }

  // Our streams do not wait for the default one, on which this is done: so it is waited for here.
  void Set(const std::vector<T>& values) {
    Must(GPU(Memcpy)(data_, values.data(), values.size() * sizeof(T), GPU(MemcpyHostToDevice)),
         "copying to the GPU");
    Must(GPU(DeviceSynchronize)(), "copying to the GPU");
  }
  std::vector<T> Get() const {
    std::vector<T> values(static_cast<size_t>(size_));
    Must(GPU(Memcpy)(values.data(), data_, values.size() * sizeof(T), GPU(MemcpyDeviceToHost)),
         "copying from the GPU");
    return values;
  }
  // Every byte 0xff: no number in floating point, so that what is never written is found out.
  void Poison() {
    Must(GPU(Memset)(data_, 0xff, Bytes()), "filling memory");
    Must(GPU(DeviceSynchronize)(), "filling memory");
  }

 private:
  int64_t size_;
  T* data_ = nullptr;
};

class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  GPU(Stream_t) get() const { return stream_; }
  void Wait() const;

 private:
  GPU(Stream_t) stream_ = nullptr;
};

class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void Record(const Stream& stream);
  // Seconds from `begin` to this one, once both have happened.
  double Since(const Event& begin) const;

 private:
  GPU(Event_t) event_ = nullptr;
};

// Seconds of the device for what `work(stream)` puts on the stream.
template <class Work>
double TimeOn(const Stream& stream, const Work& work) {
  Event begin;
  Event end;
  begin.Record(stream);
  work(stream.get());
  end.Record(stream);
  return end.Since(begin);
}

// Blocks of `threads` that together have one thread for each of `items`, at most `most`.
inline unsigned BlocksFor(int64_t items, int64_t threads, int64_t most = int64_t{1} << 30) {
  const int64_t blocks = (items + threads - 1) / threads;
  return static_cast<unsigned>(blocks < 1 ? 1 : (blocks < most ? blocks : most));
}

}  // namespace muster::kernels
