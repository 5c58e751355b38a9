// A* with an admissible heuristic over any space of states (bfs.hpp says what a Space is).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "bfs.hpp"
#include "chunked_array.hpp"
#include "node_table.hpp"

namespace unjam {

// Nodes wait in one stack for each f = g + h; the lowest f goes first, and of equals the newest, which are nearest to a
// goal. Some of those are expanded together: their children's places in the table are then prefetched. A state is expanded
// again when a shorter way to it is found later, which no consistent heuristic lets happen.
template <class Space>
class AStar {
 public:
  using Key = typename Space::Key;

  AStar(Space& space, Meter& meter)
      : space_(space),
        meter_(meter),
        nodes_(meter),
        batch_(std::make_unique_for_overwrite<Child[]>(kBatch + space.fanout())) {}

  Result run() {
    const char* stop = search();
    Result result;
    if (goal_ != kNone) {
      result.outcome = "optimal";
      result.length = result.lower = result.upper = static_cast<int>(nodes_[goal_].moves);
      result.moves = space_.moves(chain());
    } else if (stop) {
      result.outcome = "bounded";
      result.reason = stop;
      result.lower = static_cast<int>(f_);
    } else {
      result.outcome = "unsolvable";
    }
    result.expanded = meter_.expanded;
    result.generated = meter_.generated;
    result.peak_states = nodes_.size();
    result.peak_bytes = meter_.peak_bytes();
    result.profile = profile_;
    return result;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr int kTogether = 16;        // nodes at most that are expanded in one go
  static constexpr std::size_t kBatch = 128;  // children that are enough

  struct Node {
    Key key;
    std::uint32_t parent;
    std::uint32_t moves : 31;  // from the start: g
    std::uint32_t expanded : 1;
  };
  struct Child {
    Key key;
    std::uint64_t hash;
    std::uint32_t parent;
    std::uint32_t cost;
  };

  const char* search() {
    const Key start = space_.start();
    const int least = space_.heuristic(start);
    if (least == kNoWay) return nullptr;
    f_ = static_cast<std::uint32_t>(least);
    if (const char* stop = add({start, hash_of(start), kNone, 0})) return stop;
    if (space_.is_goal(start)) {
      goal_ = 0;
      return nullptr;
    }
    const std::uint32_t first = f_;
    for (; f_ < open_.size(); ++f_) {
      profile_.resize(f_ - first + 1);
      while (open_[f_].size() > 0) {
        for (int taken = 0; taken < kTogether && waiting_ < kBatch && open_[f_].size() > 0; ++taken) {
          const std::uint32_t at = open_[f_].back();
          open_[f_].pop_back();
          if (!nodes_[at].expanded) expand(at);
          if (goal_ != kNone) return nullptr;
        }
        const char* stop = flush();
        if (!stop && meter_.due()) stop = meter_.poll(f_);
        if (stop) return stop;
      }
      open_[f_] = ChunkedArray<std::uint32_t>(meter_);
    }
    return nullptr;
  }

  void expand(std::uint32_t at) {
    nodes_[at].expanded = 1;
    const Key key = nodes_[at].key;
    if (space_.is_goal(key)) {
      goal_ = at;
      return;
    }
    ++meter_.expanded;
    ++profile_.back();
    space_.expand(key, kNobody, [&](const Key& child, Mover mover) {
      batch_[waiting_++] = {child, hash_of(child), at, cost_of(space_, mover)};
    });
  }

  // Adds the children that wait.
  const char* flush() {
    const std::size_t count = std::min<std::uint64_t>(waiting_, meter_.nodes_left());
    const bool cut = count < waiting_;
    waiting_ = 0;
    for (std::size_t at = 0; at < std::min(count, kPrefetch); ++at) nodes_.prefetch(batch_[at].hash);
    for (std::size_t at = 0; at < count; ++at) {
      if (at + kPrefetch < count) nodes_.prefetch(batch_[at + kPrefetch].hash);
      if (at + kPrefetch / 2 < count) nodes_.prefetch_node(batch_[at + kPrefetch / 2].hash);
      ++meter_.generated;
      if (const char* stop = add(batch_[at])) return stop;
    }
    return cut ? "nodes" : nullptr;
  }

  const char* add(const Child& child) {
    const auto [at, insert] = nodes_.insert(child.key, child.hash);
    if (insert == Insert::full) return "bytes";
    const std::uint32_t moves = child.parent == kNone ? 0 : nodes_[child.parent].moves + child.cost;
    Node& node = nodes_[at];
    if (insert == Insert::present && node.moves <= moves) return nullptr;
    node.parent = child.parent;
    node.moves = moves;
    node.expanded = 0;
    const int left = space_.heuristic(child.key);
    if (left == kNoWay) return nullptr;
    const std::size_t f = std::max<std::size_t>(f_, moves + left);
    while (open_.size() <= f) open_.emplace_back(meter_);
    return open_[f].push_back(at) ? nullptr : "bytes";
  }

  std::vector<Key> chain() {
    std::vector<Key> keys;
    for (std::uint32_t at = goal_; at != kNone; at = nodes_[at].parent) keys.push_back(nodes_[at].key);
    std::reverse(keys.begin(), keys.end());
    return keys;
  }

  Space& space_;
  Meter& meter_;
  NodeTable<Node> nodes_;
  std::vector<ChunkedArray<std::uint32_t>> open_;  // by f: numbers of nodes; a node may wait twice
  std::unique_ptr<Child[]> batch_;
  std::size_t waiting_ = 0;
  std::vector<std::uint64_t> profile_;  // expanded for each f, from the start's on
  std::uint32_t f_ = 0;
  std::uint32_t goal_ = kNone;
};

template <class Space>
Result a_star(Space& space, Meter& meter) {
  return AStar<Space>(space, meter).run();
}

}  // namespace unjam
