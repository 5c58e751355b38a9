// Breadth-first search over any space of states, goal test when a state is generated, path recovered by parents. Where all
// moves can be taken back, undirected.hpp does it with less.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "chunked_array.hpp"
#include "hash_set.hpp"

namespace unjam {

// What the searches ask of a Space:
//   Key                      std::uint64_t or std::array<std::uint64_t, N>; equal states have equal keys
//   Key start()
//   bool is_goal(key)
//   Key goal()               (two_way.hpp) the only goal
//   void expand(key, last, sink)   calls sink(child, mover) for every move, in a fixed order. `last` is the mover that led
//                            to this state, or kNobody: moves that could have been made together with that one may be
//                            left out, for they lead to states that its parent leads to as well
//   std::size_t fanout()     no state has more children than this
//   Moves moves(keys)        the moves along a chain of keys, from the start on
//   int heuristic(key)       (astar.hpp, idastar.hpp) never more than the moves that are left, and consistent; or kNoWay
//   int cost(mover)          (astar.hpp, idastar.hpp) how many moves an edge stands for, if not one
template <class Space>
std::uint32_t cost_of(const Space& space, Mover mover) {
  if constexpr (requires { space.cost(mover); }) {
    return static_cast<std::uint32_t>(space.cost(mover));
  } else {
    return 1;
  }
}

// Children are gathered in a batch of a thousand, then inserted in the order of their generation, each some 30
// prefetches after its slot was named: a large table costs one cache miss a child, and they overlap.
template <class Space>
class BreadthFirst {
 public:
  using Key = typename Space::Key;

  BreadthFirst(Space& space, Meter& meter)
      : space_(space),
        meter_(meter),
        seen_(meter),
        keys_(meter),
        parents_(meter),
        movers_(meter),
        batch_(std::make_unique_for_overwrite<Child[]>(kBatch + space.fanout())) {}

  Result run() {
    const char* stop = search();
    std::optional<Moves> moves;
    if (goal_ != kNone) moves = space_.moves(chain(goal_));
    return layered_result(meter_, static_cast<int>(depth_), stop, std::move(moves), layer_sizes(layers_, keys_.size()));
  }

 private:
  static constexpr std::size_t kBatch = 1024;
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  struct Child {
    Key key;
    std::uint64_t hash;
    std::uint32_t parent;
    Mover mover;
  };

  // Returns why it stopped early, or nullptr. At any time no state of fewer than `depth_` moves is a goal.
  const char* search() {
    layers_.push_back(0);
    const Key start = space_.start();
    if (const char* stop = add({start, hash_of(start), kNone, kNobody})) return stop;
    if (goal_ != kNone) return nullptr;
    for (std::uint32_t at = 0; at < keys_.size();) {
      const std::uint32_t end = static_cast<std::uint32_t>(keys_.size());
      layers_.push_back(end);
      ++depth_;
      while (at < end) {
        space_.expand(keys_[at], movers_[at], [&](const Key& key, Mover mover) {
          batch_[waiting_++] = {key, hash_of(key), at, mover};
        });
        meter_.expanded = ++at;
        if (waiting_ < kBatch && at < end && !meter_.due()) continue;
        const char* stop = flush();
        if (goal_ != kNone) return nullptr;
        if (!stop) stop = meter_.poll(depth_);
        if (stop) return stop;
      }
    }
    return nullptr;
  }

  const char* flush() {
    const std::size_t count = std::min<std::uint64_t>(waiting_, meter_.nodes_left());
    for (std::size_t at = 0; at < std::min(count, kPrefetch); ++at) seen_.prefetch(batch_[at].hash);
    for (std::size_t at = 0; at < count; ++at) {
      if (at + kPrefetch < count) seen_.prefetch(batch_[at + kPrefetch].hash);
      ++meter_.generated;
      const char* stop = add(batch_[at]);
      if (stop || goal_ != kNone) {
        meter_.expanded = batch_[at].parent + 1;
        return stop;
      }
    }
    const bool cut = count < waiting_;
    if (cut) meter_.expanded = batch_[count].parent;
    waiting_ = 0;
    return cut ? "nodes" : nullptr;
  }

  const char* add(const Child& child) {
    const Insert insert = seen_.insert(child.key, child.hash).second;
    if (insert == Insert::present) return nullptr;
    if (insert == Insert::full || keys_.size() == kNone || !keys_.push_back(child.key)) return "bytes";
    if (!parents_.push_back(child.parent) || !movers_.push_back(child.mover)) return "bytes";
    if (space_.is_goal(child.key)) goal_ = static_cast<std::uint32_t>(keys_.size() - 1);
    return nullptr;
  }

  std::vector<Key> chain(std::uint32_t last) {
    std::vector<Key> keys;
    for (std::uint32_t at = last; at != kNone; at = parents_[at]) keys.push_back(keys_[at]);
    std::reverse(keys.begin(), keys.end());
    return keys;
  }

  Space& space_;
  Meter& meter_;
  HashSet<Key> seen_;
  ChunkedArray<Key> keys_;               // in the order of registration, so layer by layer
  ChunkedArray<std::uint32_t> parents_;  // indices of keys_
  ChunkedArray<Mover> movers_;           // what moved from the parent to here
  std::unique_ptr<Child[]> batch_;
  std::size_t waiting_ = 0;
  std::vector<std::uint64_t> layers_;  // index of the first state of each layer
  std::uint32_t depth_ = 0;            // of the layer that is being filled
  std::uint32_t goal_ = kNone;
};

template <class Space>
Result breadth_first(Space& space, Meter& meter) {
  return BreadthFirst<Space>(space, meter).run();
}

}  // namespace unjam
