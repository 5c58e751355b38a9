// IDA* (Korf 1985) for the n-puzzle, in steps and in slides.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "tiles_board.hpp"

namespace unjam::tiles {

// What both searches share: the path, and the meter, asked every few thousand nodes and at the last node allowed.
class DepthFirst {
 public:
  DepthFirst(Meter& meter, int blank) : meter_(meter) { path_[0] = static_cast<std::uint8_t>(blank); }

  const char* stopped() const { return stopped_; }

  // The blank's cells from the start on.
  std::vector<int> visited(int moves) const { return {path_.begin(), path_.begin() + moves + 1}; }

  // Those up to the node that comes next, once the search was stopped.
  std::vector<int> visited() const { return visited(stopped_at_); }

 protected:
  void begin(int bound) {
    bound_ = bound;
    poll();
  }
  bool stop(int depth) {
    if (meter_.generated < poll_at_) [[likely]] return false;
    poll();
    stopped_at_ = depth;
    return stopped_ != nullptr;
  }

  Meter& meter_;
  int bound_ = 0, stopped_at_ = 0;
  std::array<std::uint8_t, kMaxDepth + 1> path_{};

 private:
  static constexpr std::uint64_t kPollEvery = 1 << 14;

  void poll() {
    stopped_ = meter_.poll(static_cast<std::uint32_t>(bound_));
    poll_at_ = meter_.generated + std::min(kPollEvery, meter_.nodes_left());
  }

  std::uint64_t poll_at_ = 0;
  const char* stopped_ = nullptr;
};

// A search in steps, whatever its heuristic and board.
class Steps : public DepthFirst {
 public:
  using DepthFirst::DepthFirst;

  // All solutions have the parity of the blank's way, so every second bound is enough.
  virtual int first_bound() const = 0;
  static constexpr int kIncrement = 2;

  // Whether there is a solution of at most `bound` steps; also true when stopped.
  virtual bool search(int bound) = 0;

  // Go down a way without counting its nodes, then search below its end, and below what follows it in the order of
  // moves as far as that, too, begins with the first `fixed` moves. A stopped search goes on in this way where it was.
  virtual bool search_from(const std::vector<Direction>& way, int fixed, int bound) = 0;

 protected:
  ~Steps() = default;
};

// One step at a time; never back the way the blank came. The recursion is templated on the last direction.
//
// A heuristic whose look-ups miss the cache has a Probe of each move, and the probes of all moves of a board are begun
// before the first is used. Such a heuristic keeps its own picture of the board: `exchange` makes the move of a probe.
template <class Shape, class Heuristic>
class StepSearch final : public Steps {
  static constexpr bool kProbes = requires { typename Heuristic::Probe; };

  struct Node {
    CellsOf<Shape> cells;
    typename Heuristic::Value value;
    int blank;
  };

 public:
  StepSearch(Board& board, Heuristic& heuristic, Meter& meter)
      : Steps(meter, board.blank()),
        shape_(board),
        heuristic_(heuristic),
        root_{CellsOf<Shape>(board), heuristic.start(board), board.blank()},
        odd_(board.blank_distance() & 1) {}

  int first_bound() const override {
    const int steps = heuristic_.steps(root_.value);
    return steps + ((steps ^ odd_) & 1);
  }
  bool search(int bound) override {
    begin(bound);
    return stopped() || heuristic_.steps(root_.value) == 0 || expand<kNone>(root_, 0);
  }

  bool search_from(const std::vector<Direction>& way, int fixed, int bound) override {
    begin(bound);
    stopped_at_ = static_cast<int>(way.size());
    return follow<kNone>(root_, 0, way, fixed);
  }

 private:
  template <int Last>
  [[gnu::cold]] bool follow(const Node& node, int depth, const std::vector<Direction>& way, int fixed) {
    if (depth == static_cast<int>(way.size())) {
      return stopped() || heuristic_.steps(node.value) == 0 || expand<Last>(node, depth);
    }
    return turn<kUp, Last>(node, depth, way, fixed) || turn<kLeft, Last>(node, depth, way, fixed) ||
           turn<kRight, Last>(node, depth, way, fixed) || turn<kDown, Last>(node, depth, way, fixed);
  }

  template <int D, int Last>
  bool turn(const Node& node, int depth, const std::vector<Direction>& way, int fixed) {
    if constexpr (D == opposite(Last)) {
      return false;
    } else {
      if (!can_go<D>(shape_, node.blank) || D < way[depth]) return false;
      if (D > way[depth]) {
        if (depth < fixed) return false;
        if constexpr (kProbes) {
          typename Heuristic::Probe there;
          probe<D, Last>(node, there);
          return step<D, Last>(node, depth, there);
        } else {
          return step<D, Last>(node, depth);
        }
      }
      const int to = node.blank, from = neighbour<D>(shape_, to);
      const int tile = node.cells.at(from);
      Node next{node.cells, node.value, from};
      path_[depth + 1] = static_cast<std::uint8_t>(from);
      if constexpr (kProbes) {
        typename Heuristic::Probe there;
        probe<D, Last>(node, there);
        heuristic_.within(kMaxDepth, next.value, there);
        next.cells.push(tile, from, to);
        heuristic_.exchange(there);
        const bool found = follow<D>(next, depth + 1, way, fixed);
        heuristic_.exchange(there);
        next.cells.restore(tile, from, to);
        return found;
      } else {
        next.value = heuristic_.template after<D>(node.value, node.cells, tile, from, to);
        next.cells.push(tile, from, to);
        heuristic_.template enter<D>(tile, from, to);
        const bool found = follow<D>(next, depth + 1, way, fixed);
        heuristic_.template leave<D>(tile, from, to);
        next.cells.restore(tile, from, to);
        return found;
      }
    }
  }

  template <int Last>
  bool expand(const Node& node, int depth) {
    if (stop(depth)) return true;
    ++meter_.expanded;
    if constexpr (kProbes) {
      typename Heuristic::Probe up, left, right, down;
      probe<kUp, Last>(node, up);
      probe<kLeft, Last>(node, left);
      probe<kRight, Last>(node, right);
      probe<kDown, Last>(node, down);
      return step<kUp, Last>(node, depth, up) || step<kLeft, Last>(node, depth, left) ||
             step<kRight, Last>(node, depth, right) || step<kDown, Last>(node, depth, down);
    } else {
      return step<kUp, Last>(node, depth) || step<kLeft, Last>(node, depth) || step<kRight, Last>(node, depth) ||
             step<kDown, Last>(node, depth);
    }
  }

  template <int D, int Last, class Probe>
  [[gnu::always_inline]] void probe(const Node& node, Probe& probe) {
    if constexpr (D != opposite(Last)) {
      if (!can_go<D>(shape_, node.blank)) return;
      const int from = neighbour<D>(shape_, node.blank);
      probe = heuristic_.template probe<D>(node.cells.at(from), from, node.blank);
    }
  }

  template <int D, int Last, class Probe>
  [[gnu::always_inline]] bool step(const Node& node, int depth, Probe& probe) {
    if constexpr (D == opposite(Last)) {
      return false;
    } else {
      if (!can_go<D>(shape_, node.blank)) return false;
      const int to = node.blank, from = neighbour<D>(shape_, to);
      const int tile = node.cells.at(from);
      Node next{node.cells, node.value, from};
      ++meter_.generated;
      if (!heuristic_.within(bound_ - depth - 1, next.value, probe)) return false;
      path_[depth + 1] = static_cast<std::uint8_t>(from);
      if (heuristic_.steps(next.value) == 0) return true;
      next.cells.push(tile, from, to);
      heuristic_.exchange(probe);
      const bool found = expand<D>(next, depth + 1);
      heuristic_.exchange(probe);
      next.cells.restore(tile, from, to);
      return found;
    }
  }

  template <int D, int Last>
  [[gnu::always_inline]] bool step(const Node& node, int depth) {
    if constexpr (D == opposite(Last)) {
      return false;
    } else {
      if (!can_go<D>(shape_, node.blank)) return false;
      const int to = node.blank, from = neighbour<D>(shape_, to);
      const int tile = node.cells.at(from);
      Node next{node.cells, heuristic_.template after<D>(node.value, node.cells, tile, from, to), from};
      ++meter_.generated;
      const int steps = heuristic_.steps(next.value);
      if (depth + 1 + steps > bound_) return false;
      path_[depth + 1] = static_cast<std::uint8_t>(from);
      if (steps == 0) return true;
      next.cells.push(tile, from, to);
      heuristic_.template enter<D>(tile, from, to);
      const bool found = expand<D>(next, depth + 1);
      heuristic_.template leave<D>(tile, from, to);
      next.cells.restore(tile, from, to);
      return found;
    }
  }

  [[no_unique_address]] Shape shape_;
  Heuristic& heuristic_;
  Node root_;
  int odd_;
};

// Two slides along the same axis one after the other stay in one row or column and only shift its tiles, so a single
// slide does the same, or none: a shortest solution turns after every slide. Hence, if the next slide is vertical, n
// slides are ceil(n / 2) vertical and floor(n / 2) horizontal ones, and v of the first kind and h of the other need
// n >= max(2 v - 1, 2 h), which is never less than v + h.
template <class Shape, class Heuristic>
class SlideSearch : public DepthFirst {
  struct Node {
    CellsOf<Shape> cells;
    typename Heuristic::Value value;
    int blank;
  };

 public:
  SlideSearch(Board& board, Heuristic& heuristic, Meter& meter)
      : DepthFirst(meter, board.blank()),
        shape_(board),
        heuristic_(heuristic),
        root_{CellsOf<Shape>(board), heuristic.start(board), board.blank()} {}

  int first_bound() const { return std::min(slides<true>(root_.value), slides<false>(root_.value)); }
  static constexpr int kIncrement = 1;

  bool search(int bound) {
    begin(bound);
    if (stopped() || root_.cells.solved(shape_.size())) return true;
    ++meter_.expanded;
    return (slides<true>(root_.value) <= bound && turn<true>(root_, 0)) ||
           (slides<false>(root_.value) <= bound && turn<false>(root_, 0));
  }

 private:
  template <bool Vertical>
  int slides(const typename Heuristic::Value& value) const {
    const int v = heuristic_.vertical_slides(value), h = heuristic_.horizontal_slides(value);
    return Vertical ? std::max(2 * v - 1, 2 * h) : std::max(2 * h - 1, 2 * v);
  }

  template <bool Vertical>
  bool turn(const Node& node, int depth) {
    return slide<Vertical ? kUp : kLeft>(node, depth) || slide<Vertical ? kDown : kRight>(node, depth);
  }

  // Pushes tile after tile; each length of the run is a slide of its own.
  template <int D>
  bool slide(const Node& node, int depth) {
    Node next = node;
    bool found = false;
    std::array<std::uint8_t, kMaxSide> pushed;
    int length = 0;
    while (!found && can_go<D>(shape_, next.blank)) {
      const int to = next.blank, from = neighbour<D>(shape_, to);
      const int tile = next.cells.at(from);
      next.value = heuristic_.template after<D>(next.value, next.cells, tile, from, to);
      next.cells.push(tile, from, to);
      heuristic_.template enter<D>(tile, from, to);
      next.blank = from;
      pushed[length++] = static_cast<std::uint8_t>(tile);
      ++meter_.generated;
      const int slides_left = slides<!is_vertical(D)>(next.value);
      if (depth + 1 + slides_left > bound_) continue;
      path_[depth + 1] = static_cast<std::uint8_t>(from);
      found = (slides_left == 0 && next.cells.solved(shape_.size())) || expand<!is_vertical(D)>(next, depth + 1);
    }
    while (length > 0) {
      const int from = next.blank, to = neighbour<opposite(D)>(shape_, from);
      heuristic_.template leave<D>(pushed[--length], from, to);
      next.cells.restore(pushed[length], from, to);
      next.blank = to;
    }
    return found;
  }

  template <bool Vertical>
  bool expand(const Node& node, int depth) {
    if (stop(depth)) return true;
    ++meter_.expanded;
    return turn<Vertical>(node, depth);
  }

  [[no_unique_address]] Shape shape_;
  Heuristic& heuristic_;
  Node root_;
};

// `so_far`: of a search of the same board that stopped; its last bound is searched again.
template <class Search>
Result idastar(Search& search, const Board& board, Meter& meter, Result so_far = {}) {
  Result result;
  result.profile = std::move(so_far.profile);
  if (result.profile.empty()) {
    ++meter.generated;  // the root, once
  } else {
    result.profile.pop_back();
  }
  std::uint64_t before = std::accumulate(result.profile.begin(), result.profile.end(), std::uint64_t{0});
  for (int bound = std::max(search.first_bound(), so_far.lower);; bound += Search::kIncrement, before = meter.generated) {
    const bool found = search.search(bound);
    result.profile.push_back(meter.generated - before);
    result.lower = bound;
    if (search.stopped()) {
      result.outcome = "bounded";
      result.reason = search.stopped();
      break;
    }
    if (found) {
      result.outcome = "optimal";
      result.length = result.upper = bound;
      result.moves = board.moves(search.visited(bound));
      break;
    }
  }
  return result;
}

}  // namespace unjam::tiles
