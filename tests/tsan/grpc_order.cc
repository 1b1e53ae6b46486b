// Tells ThreadSanitizer what gRPC and absl order: a batch of a call is begun before its callback
// runs, and who holds a mutex comes after who held it.
//
// Debian's libraries are not instrumented, so what one thread hands to another through them looks
// like a race. Loaded with LD_PRELOAD, this stands before their functions: each batch of a call
// with callbacks releases its tag, and the callback acquires it; a mutex likewise. Nothing else is
// ordered by it: it takes no lock that ThreadSanitizer sees. Without ThreadSanitizer in the program
// it changes nothing. It is for the gRPC and the absl of Debian 12.
#include <dlfcn.h>
#include <grpc/grpc.h>

#include <atomic>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "absl/time/time.h"

extern "C" {
__attribute__((weak)) void __tsan_acquire(void* address);
__attribute__((weak)) void __tsan_release(void* address);
}

namespace {

using Functor = grpc_completion_queue_functor;
using Run = void (*)(Functor*, int);

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Of this file alone: a mutex would order for ThreadSanitizer what gRPC does not.
class SpinLock {
 public:
  explicit SpinLock(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~SpinLock() { flag_.clear(std::memory_order_release); }
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

 private:
  std::atomic_flag& flag_;
};

struct Known {
  std::atomic_flag lock = ATOMIC_FLAG_INIT;
  std::unordered_map<Functor*, Run> begun;             // what each tag runs once its batch is over
  std::unordered_set<const void*> plucked;             // queues whose tags are no functors
  std::unordered_set<const grpc_call*> calls_plucked;  // and the calls of those
};

Known& All() {
  static Known& known = *new Known;
  return known;
}

void Acquire(void* address) {
  if (__tsan_acquire != nullptr) {
    __tsan_acquire(address);
  }
}

void Release(void* address) {
  if (__tsan_release != nullptr) {
    __tsan_release(address);
  }
}

void Over(Functor* tag, int ok) {
  Run run = nullptr;
  {
    Known& known = All();
    const SpinLock lock(known.lock);
    const auto found = known.begun.find(tag);
    run = found->second;
    known.begun.erase(found);
  }
  tag->functor_run = run;
  Acquire(tag);
  run(tag, ok);
}

void NoteCall(const grpc_call* call, const grpc_completion_queue* queue) {
  Known& known = All();
  const SpinLock lock(known.lock);
  if (known.plucked.count(queue) != 0) {
    known.calls_plucked.insert(call);
  } else {
    known.calls_plucked.erase(call);
  }
}

}  // namespace

extern "C" {

grpc_completion_queue* grpc_completion_queue_create_for_pluck(void* reserved) {
  static const auto next = Next<decltype(grpc_completion_queue_create_for_pluck)>(__func__);
  grpc_completion_queue* const queue = next(reserved);
  Known& known = All();
  const SpinLock lock(known.lock);
  known.plucked.insert(queue);
  return queue;
}

grpc_completion_queue* grpc_completion_queue_create(
    const grpc_completion_queue_factory* factory,
    const grpc_completion_queue_attributes* attributes, void* reserved) {
  static const auto next = Next<decltype(grpc_completion_queue_create)>(__func__);
  grpc_completion_queue* const queue = next(factory, attributes, reserved);
  Known& known = All();
  const SpinLock lock(known.lock);
  if (attributes->cq_completion_type == GRPC_CQ_PLUCK) {
    known.plucked.insert(queue);
  } else {
    known.plucked.erase(queue);
  }
  return queue;
}

grpc_call* grpc_channel_create_registered_call(grpc_channel* channel, grpc_call* parent,
                                               uint32_t mask, grpc_completion_queue* queue,
                                               void* handle, gpr_timespec deadline,
                                               void* reserved) {
  static const auto next = Next<decltype(grpc_channel_create_registered_call)>(__func__);
  grpc_call* const call = next(channel, parent, mask, queue, handle, deadline, reserved);
  NoteCall(call, queue);
  return call;
}

grpc_call* grpc_channel_create_call(grpc_channel* channel, grpc_call* parent, uint32_t mask,
                                    grpc_completion_queue* queue, grpc_slice method,
                                    const grpc_slice* host, gpr_timespec deadline, void* reserved) {
  static const auto next = Next<decltype(grpc_channel_create_call)>(__func__);
  grpc_call* const call = next(channel, parent, mask, queue, method, host, deadline, reserved);
  NoteCall(call, queue);
  return call;
}

void grpc_call_unref(grpc_call* call) {
  static const auto next = Next<decltype(grpc_call_unref)>(__func__);
  {
    Known& known = All();
    const SpinLock lock(known.lock);
    known.calls_plucked.erase(call);
  }
  next(call);
}

grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops, size_t count, void* tag,
                                      void* reserved) {
  static const auto next = Next<decltype(grpc_call_start_batch)>(__func__);
  if (__tsan_release != nullptr && tag != nullptr) {
    Known& known = All();
    const SpinLock lock(known.lock);
    if (known.calls_plucked.count(call) == 0) {
      auto* const functor = static_cast<Functor*>(tag);
      known.begun[functor] = functor->functor_run;
      functor->functor_run = Over;
      Release(tag);
    }
  }
  return next(call, ops, count, tag, reserved);
}

// Members of absl::Mutex and absl::CondVar by the names that the linker gives them.
using OfMutex = void(void* mutex);

void _ZN4absl7debian35Mutex4LockEv(void* mutex) {
  static const auto next = Next<OfMutex>("_ZN4absl7debian35Mutex4LockEv");
  next(mutex);
  Acquire(mutex);
}

bool _ZN4absl7debian35Mutex7TryLockEv(void* mutex) {
  static const auto next = Next<bool(void*)>("_ZN4absl7debian35Mutex7TryLockEv");
  const bool locked = next(mutex);
  if (locked) {
    Acquire(mutex);
  }
  return locked;
}

void _ZN4absl7debian35Mutex6UnlockEv(void* mutex) {
  static const auto next = Next<OfMutex>("_ZN4absl7debian35Mutex6UnlockEv");
  Release(mutex);
  next(mutex);
}

void _ZN4absl7debian37CondVar4WaitEPNS0_5MutexE(void* changed, void* mutex) {
  static const auto next = Next<void(void*, void*)>("_ZN4absl7debian37CondVar4WaitEPNS0_5MutexE");
  Release(mutex);
  next(changed, mutex);
  Acquire(mutex);
}

bool _ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE(void* changed, void* mutex,
                                                                       absl::Time deadline) {
  static const auto next = Next<bool(void*, void*, absl::Time)>(
      "_ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE");
  Release(mutex);
  const bool late = next(changed, mutex, deadline);
  Acquire(mutex);
  return late;
}

}  // extern "C"
