#pragma once

// A library that is loaded at run time, and its entry points.
//
// For libraries that a machine may lack: nothing is linked, and a missing library is reported and
// ends no program. Thread promise: owned by one thread. Invariants: the library stays loaded as
// long as this lives.

#include <dlfcn.h>

#include <memory>
#include <string>

namespace muster {

class LoadedLibrary {
 public:
  // A file's path, or a name as dlopen(3) looks for it.
  explicit LoadedLibrary(const std::string& name)
      : library_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {}

  [[nodiscard]] bool loaded() const { return library_ != nullptr; }
  // The last of the entry points that were needed and are not there; empty: none is missing.
  [[nodiscard]] const std::string& missing() const { return missing_; }

  // REQUIRES: it is loaded.
  template <class Function>
  void Need(const char* symbol, Function*& function) {
    Find(symbol, function);
    if (function == nullptr) {
      missing_ = symbol;
    }
  }
  // Null where the library, perhaps an older one, has none such. REQUIRES: it is loaded.
  template <class Function>
  void Find(const char* symbol, Function*& function) const {
    function = reinterpret_cast<Function*>(dlsym(library_.get(), symbol));
  }

 private:
  struct Close {
    void operator()(void* library) const { dlclose(library); }
  };
  std::unique_ptr<void, Close> library_;
  std::string missing_;
};

}  // namespace muster
