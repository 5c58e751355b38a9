// Tables that heuristics look up: built once, shared by all threads of the process, bounded in size.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "control.hpp"

namespace unjam {

// A Table has a `space()` that tells it apart, its `bytes()`, and a static `build(space, meter, reason)` that gives
// nullptr and the reason when the meter says stop. The least recently used tables go when all are beyond the limit.
template <class Table>
class TableCache {
 public:
  using Shared = std::shared_ptr<const Table>;

  // Who waits for another thread's build keeps polling.
  template <class Space>
  static Shared get(const Space& space, Meter& meter, const char*& reason) {
    TableCache& cache = instance();
    std::unique_lock lock(cache.mutex_, std::defer_lock);
    while (!lock.try_lock_for(std::chrono::milliseconds(20))) {
      if ((reason = meter.poll(0))) return nullptr;
    }
    if (Shared built = cache.find(space)) return built;
    Shared built = Table::build(space, meter, reason);
    if (!built) return nullptr;
    cache.tables_.push_front(built);
    std::uint64_t bytes = 0;
    cache.tables_.remove_if([&](const Shared& old) { return (bytes += old->bytes()) > kLimit && old != built; });
    return built;
  }

  // nullptr if it is not built yet.
  template <class Space>
  static Shared get_built(const Space& space) {
    TableCache& cache = instance();
    const std::unique_lock lock(cache.mutex_, std::try_to_lock);
    return lock ? cache.find(space) : nullptr;
  }

 private:
  static constexpr std::uint64_t kLimit = 128 << 20;

  static TableCache& instance() {
    static TableCache cache;
    return cache;
  }

  template <class Space>
  Shared find(const Space& space) {
    for (auto at = tables_.begin(); at != tables_.end(); ++at) {
      if ((*at)->space() != space) continue;
      tables_.splice(tables_.begin(), tables_, at);
      return *at;
    }
    return nullptr;
  }

  std::timed_mutex mutex_;
  std::list<Shared> tables_;  // the last used first
};

}  // namespace unjam
