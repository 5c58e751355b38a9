// A* with an admissible heuristic over any space of states (bfs.hpp says what a Space is).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "chunked_array.hpp"
#include "hash_set.hpp"

namespace unjam {

// Nodes wait in one stack for each f = g + h; the lowest f goes first, and of equals the newest, which is nearest to a
// goal. A state is expanded again when a shorter way to it is found later, which no consistent heuristic lets happen.
template <class Space>
class AStar {
 public:
  using Key = typename Space::Key;

  AStar(Space& space, Meter& meter) : space_(space), meter_(meter), index_(meter), nodes_(meter) {}

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

  struct Node {
    Key key;
    std::uint32_t parent;
    std::uint32_t moves : 31;  // from the start: g
    std::uint32_t expanded : 1;
  };

  const char* search() {
    const Key start = space_.start();
    f_ = static_cast<std::uint32_t>(space_.heuristic(start));
    if (const char* stop = add(start, kNone, 0)) return stop;
    if (space_.is_goal(start)) {
      goal_ = 0;
      return nullptr;
    }
    const std::uint32_t first = f_;
    for (; f_ < open_.size(); ++f_) {
      profile_.resize(f_ - first + 1);
      while (open_[f_].size() > 0) {
        const std::uint32_t at = open_[f_].back();
        open_[f_].pop_back();
        if (nodes_[at].expanded) continue;
        nodes_[at].expanded = 1;
        const Key key = nodes_[at].key;
        if (space_.is_goal(key)) {
          goal_ = at;
          return nullptr;
        }
        ++meter_.expanded;
        ++profile_.back();
        const std::uint32_t moves = nodes_[at].moves + 1;
        const char* stop = nullptr;
        space_.expand(key, kNobody, [&](const Key& child, Mover) {
          if (stop) return;
          if (meter_.nodes_left() == 0) {
            stop = "nodes";
            return;
          }
          ++meter_.generated;
          stop = add(child, at, moves);
        });
        if (!stop && meter_.due()) stop = meter_.poll(f_);
        if (stop) return stop;
      }
    }
    return nullptr;
  }

  const char* add(const Key& key, std::uint32_t parent, std::uint32_t moves) {
    const auto [slot, insert] = index_.insert(key, hash_of(key));
    if (insert == Insert::full) return "bytes";
    if (insert == Insert::added) {
      slot->value = static_cast<std::uint32_t>(nodes_.size());
      if (slot->value == kNone || !nodes_.push_back({key, parent, moves, 0})) return "bytes";
    } else {
      Node& node = nodes_[slot->value];
      if (node.moves <= moves) return nullptr;
      node.moves = moves;
      node.parent = parent;
      node.expanded = 0;
    }
    const std::size_t f = std::max<std::size_t>(f_, moves + space_.heuristic(key));
    while (open_.size() <= f) open_.emplace_back(meter_);
    return open_[f].push_back(slot->value) ? nullptr : "bytes";
  }

  std::vector<Key> chain() {
    std::vector<Key> keys;
    for (std::uint32_t at = goal_; at != kNone; at = nodes_[at].parent) keys.push_back(nodes_[at].key);
    std::reverse(keys.begin(), keys.end());
    return keys;
  }

  Space& space_;
  Meter& meter_;
  HashMap<Key, std::uint32_t> index_;  // into nodes_
  ChunkedArray<Node> nodes_;
  std::vector<ChunkedArray<std::uint32_t>> open_;  // by f: indices of nodes_; a node may wait twice
  std::vector<std::uint64_t> profile_;             // expanded for each f, from the start's on
  std::uint32_t f_ = 0;
  std::uint32_t goal_ = kNone;
};

template <class Space>
Result a_star(Space& space, Meter& meter) {
  return AStar<Space>(space, meter).run();
}

}  // namespace unjam
