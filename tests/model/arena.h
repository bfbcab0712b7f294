// Memory of one execution: each thread has a region of its own, so that the same thread making the same objects gets the same
// addresses in every execution, whatever the others do. Nothing is used twice within an execution: a stale pointer always
// points to what it used to point to, and the checker can say so.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "view.h"

namespace tartan::model {

/// Makes the objects of an execution and ends those that the test did not.
class arena {
 public:
  static constexpr std::size_t region_bytes = std::size_t{256} * 1024;

  arena() : memory_{new(std::align_val_t{region_bytes}) std::byte[max_threads * region_bytes]} {}

  template <class T, class... Arguments>
  T* make(thread_id thread, Arguments&&... arguments) {
    std::size_t& used = used_[thread];
    const std::size_t at = (used + alignof(T) - 1) / alignof(T) * alignof(T);
    if (at + sizeof(T) > region_bytes) {
      std::fputs("model: a thread made more than 256 KiB of objects in one execution\n", stderr);
      std::abort();
    }
    used = at + sizeof(T);
    T* made =
        ::new (static_cast<void*>(memory_.get() + thread * region_bytes + at)) T(std::forward<Arguments>(arguments)...);
    objects_.push_back({made, [](void* object) { static_cast<T*>(object)->~T(); }});
    return made;
  }

  template <class T>
  void destroy(T* object) {
    std::erase_if(objects_, [object](const record& each) { return each.object == object; });
    object->~T();
  }

  void clear() {
    while (!objects_.empty()) {
      const record last = objects_.back();
      objects_.pop_back();
      last.end(last.object);
    }
    used_ = {};
  }

 private:
  struct record {
    void* object;
    void (*end)(void*);
  };
  struct release {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{region_bytes}); }
  };

  std::unique_ptr<std::byte[], release> memory_;
  std::array<std::size_t, max_threads> used_{};
  std::vector<record> objects_;
};

}  // namespace tartan::model
