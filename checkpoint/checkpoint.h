#pragma once

// Checkpoints for C++20 programs: a thin layer over the C interface of muster_checkpoint.h.
//
//   auto checkpoint = muster::Checkpoint::Open({.directory = "state"});
//   checkpoint.Protect("field", std::span(field));
//   if (!checkpoint.RestoreLatest()) { … start from the beginning … }
//   for (…) { …; if (checkpoint.Should()) checkpoint.Save(); }
//
// Header-only, over the C ABI: it works with any C++ library and any compiler. Thread promise: one
// thread at a time. Invariants: a Checkpoint that is not open answers every call with a failure.

#include <array>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "checkpoint/muster_checkpoint.h"

namespace muster {

class Checkpoint {
 public:
  static Checkpoint Open(const muster_checkpoint_options& options) {
    Checkpoint checkpoint;
    std::array<char, 512> error{};
    muster_checkpoint* session = nullptr;
    checkpoint.code_ = muster_checkpoint_open(&options, &session, error.data(), error.size());
    checkpoint.session_.reset(session);
    checkpoint.error_ = error.data();
    return checkpoint;
  }

  // The last call's code, a muster_checkpoint_code, and the line that goes with it.
  int code() const { return code_; }
  std::string error() const {
    return session_ != nullptr ? muster_checkpoint_error(session_.get()) : error_;
  }
  explicit operator bool() const { return session_ != nullptr; }

  template <class T, std::size_t Extent>
  requires(std::is_trivially_copyable_v<T> &&
           !std::is_const_v<T>) bool Protect(const std::string& name, std::span<T, Extent> values) {
    return Did(muster_checkpoint_protect(session_.get(), name.c_str(), values.data(),
                                         values.size_bytes()));
  }
  template <class T>
  requires(std::is_trivially_copyable_v<T> &&
           !std::is_const_v<T>) bool Protect(const std::string& name, T& value) {
    return Protect(name, std::span<T, 1>(&value, 1));
  }
  bool ProtectFile(const std::string& name, const std::string& path) {
    return Did(muster_checkpoint_protect_file(session_.get(), name.c_str(), path.c_str()));
  }
  bool Save() { return Did(muster_checkpoint_save(session_.get())); }
  // False with code() == MUSTER_CHECKPOINT_NOT_FOUND on a first start.
  bool RestoreLatest() { return Did(muster_checkpoint_restore_latest(session_.get())); }
  bool Confirm() { return Did(muster_checkpoint_confirm(session_.get())); }
  bool Should() { return muster_should_checkpoint(session_.get()) != MUSTER_CHECKPOINT_NOT_NOW; }
  // For the calls of several ranks.
  muster_checkpoint* get() const { return session_.get(); }

 private:
  struct Closer {
    void operator()(muster_checkpoint* session) const { muster_checkpoint_close(session); }
  };
  bool Did(int code) {
    code_ = code;
    return code == MUSTER_CHECKPOINT_OK;
  }

  std::unique_ptr<muster_checkpoint, Closer> session_;
  int code_ = MUSTER_CHECKPOINT_OK;
  std::string error_;
};

}  // namespace muster
