#include <cstdio>
#include <cstdlib>

#include "agent/kernels/gpu/device.h"

namespace muster::kernels {

void Must(GPU(Error_t) code, const std::string& what) {
  if (code != GPU(Success)) {
    std::fprintf(stderr, "gpu: %s: %s (%s error %d)\n", what.c_str(), GPU(GetErrorString)(code),
                 kRuntimeName, static_cast<int>(code));
    // Not exit: destructors of what is taken would fail again, with lines of their own.
    std::fflush(nullptr);
    std::_Exit(1);
  }
}

void MustLaunch(const std::string& what) {
  Must(GPU(GetLastError)(), "starting " + what);
}

std::string UseDevice(int device) {
  int count = 0;
  const GPU(Error_t) code = GPU(GetDeviceCount)(&count);
  if (code != GPU(Success) || count == 0) {
    return std::string("no GPU: ") +
           (code != GPU(Success) ? GPU(GetErrorString)(code) : "the driver shows none") +
           ": run on a node that has one";
  }
  if (device >= count) {
    return "--device: " + std::to_string(device) + " is not there: this node shows " +
           std::to_string(count) + ", from 0: choose another";
  }
  const GPU(Error_t) used = GPU(SetDevice)(device);
  return used == GPU(Success) ? ""
                              : "--device: " + std::to_string(device) +
                                    " cannot be used: " + GPU(GetErrorString)(used);
}

int DeviceCount() {
  int count = 0;
  Must(GPU(GetDeviceCount)(&count), "counting GPUs");
  return count;
}

DeviceProperties PropertiesOf(int device) {
  DeviceProperties properties{};
  Must(GPU(GetDeviceProperties)(&properties, device), "reading a GPU's properties");
  return properties;
}

Stream::Stream() {
  Must(GPU(StreamCreateWithFlags)(&stream_, GPU(StreamNonBlocking)), "making a stream");
}

Stream::~Stream() {
  Must(GPU(StreamDestroy)(stream_), "ending a stream");
}

void Stream::Wait() const {
  Must(GPU(StreamSynchronize)(stream_), "waiting for a stream");
}

Event::Event() {
  Must(GPU(EventCreate)(&event_), "making an event");
}

Event::~Event() {
  Must(GPU(EventDestroy)(event_), "ending an event");
}

void Event::Record(const Stream& stream) {
  Must(GPU(EventRecord)(event_, stream.get()), "recording an event");
}

double Event::Since(const Event& begin) const {
  Must(GPU(EventSynchronize)(event_), "waiting for an event");
  float milliseconds = 0;
  Must(GPU(EventElapsedTime)(&milliseconds, begin.event_, event_), "reading a time");
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace muster::kernels
