// IDA* with a transposition table over any space of states (bfs.hpp says what a Space is).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "bfs.hpp"
#include "hash_set.hpp"

namespace unjam {

// Depth-first searches with a rising limit on f = g + h. The table remembers with how few moves each state was reached
// under the current limit: block puzzles come back to the same states so often that without it no search would end.
// The stack is our own: hundreds of moves deep, it would not be safe on a thread's.
template <class Space>
class IdaStar {
 public:
  using Key = typename Space::Key;

  IdaStar(Space& space, Meter& meter) : space_(space), meter_(meter), reached_(meter) {}

  Result run() {
    const char* stop = search();
    Result result;
    if (solved_) {
      result.outcome = "optimal";
      result.length = result.lower = result.upper = static_cast<int>(moves_.back());
      result.moves = space_.moves(path_);
    } else if (stop) {
      result.outcome = "bounded";
      result.reason = stop;
      result.lower = static_cast<int>(bound_);
    } else {
      result.outcome = "unsolvable";
    }
    result.expanded = meter_.expanded;
    result.generated = meter_.generated;
    result.peak_states = reached_.size();
    result.peak_bytes = meter_.peak_bytes();
    result.profile = profile_;
    return result;
  }

 private:
  static constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

  struct Child {
    Key key;
    std::uint32_t moves;
  };
  struct Reached {
    std::uint32_t iteration, moves;
  };

  const char* search() {
    const Key start = space_.start();
    const int least = space_.heuristic(start);
    if (least == kNoWay) return nullptr;
    bound_ = static_cast<std::uint32_t>(least);
    while (true) {
      ++iteration_;
      next_bound_ = kNever;
      profile_.push_back(0);
      path_.assign(1, start);
      moves_.assign(1, 0);
      children_.clear();
      ends_.clear();
      if ((solved_ = space_.is_goal(start))) return nullptr;
      const Insert insert = note(start, 0);
      if (insert == Insert::full) return "bytes";
      const char* stop = descend();
      if (stop || solved_) return stop;
      if (next_bound_ == kNever) return nullptr;  // nothing was cut off: all states were seen
      bound_ = next_bound_;
    }
  }

  // children_ holds the children that are still to be tried of all states on the path; ends_ where each one's begin.
  const char* descend() {
    if (const char* stop = open(path_.back())) return stop;
    while (!ends_.empty()) {
      if (children_.size() == ends_.back()) {
        ends_.pop_back();
        path_.pop_back();
        moves_.pop_back();
        continue;
      }
      const auto [child, moves] = children_.back();
      children_.pop_back();
      if (meter_.nodes_left() == 0) return "nodes";
      ++meter_.generated;
      const int left = space_.heuristic(child);
      if (left == kNoWay) continue;
      const std::uint32_t f = moves + static_cast<std::uint32_t>(left);
      if (f > bound_) {
        next_bound_ = std::min(next_bound_, f);
        continue;
      }
      const Insert insert = note(child, moves);
      if (insert == Insert::full) return "bytes";
      if (insert == Insert::present) continue;
      path_.push_back(child);
      moves_.push_back(moves);
      if ((solved_ = space_.is_goal(child))) return nullptr;
      if (const char* stop = open(child)) return stop;
    }
    return nullptr;
  }

  const char* open(const Key& key) {
    ends_.push_back(children_.size());
    space_.expand(key, kNobody, [&](const Key& child, Mover mover) {
      children_.push_back({child, moves_.back() + cost_of(space_, mover)});
    });
    std::reverse(children_.begin() + static_cast<std::ptrdiff_t>(ends_.back()), children_.end());
    ++profile_.back();
    ++meter_.expanded;
    return meter_.due() ? meter_.poll(bound_) : nullptr;
  }

  // Present: reached with as few moves in this iteration already.
  Insert note(const Key& key, std::uint32_t moves) {
    const auto [slot, insert] = reached_.insert(key, hash_of(key));
    if (insert == Insert::full) return insert;
    if (slot->value.iteration == iteration_ && slot->value.moves <= moves) return Insert::present;
    slot->value = {iteration_, moves};
    return Insert::added;
  }

  Space& space_;
  Meter& meter_;
  HashMap<Key, Reached> reached_;
  std::vector<Key> path_;
  std::vector<std::uint32_t> moves_;  // to each state of the path
  std::vector<Child> children_;
  std::vector<std::size_t> ends_;
  std::vector<std::uint64_t> profile_;  // expanded under each bound
  std::uint32_t iteration_ = 0;
  std::uint32_t bound_ = 0, next_bound_ = kNever;
  bool solved_ = false;
};

template <class Space>
Result ida_star(Space& space, Meter& meter) {
  return IdaStar<Space>(space, meter).run();
}

}  // namespace unjam
