// Beam search for the n-puzzle: good solutions soon, without a proof that they are the shortest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "hash_set.hpp"
#include "tiles_board.hpp"

namespace unjam::tiles {

// The blank's cells from the start on; empty where no solution is known.
using Way = std::vector<int>;

// Layer after layer, only the `width` boards of least rank are kept, and none that was kept in a layer before. Boards
// are told apart by a 64-bit hash: if two ever had the same, one would be lost and perhaps a solution with it, but this
// search proves nothing. Boards that cannot lead to a solution short enough are dropped by the bound on what is left.
//
// The Guide (tiles_guides.hpp) follows the board that is looked at: its `picture` is set to that of the board.
template <class Shape, class Guide, bool Slides>
class Beam {
  static constexpr int kLongest = Slides ? kMaxSide - 1 : 1;
  static constexpr std::uint64_t kMoves = Slides ? kMaxSide - 1 : 3;  // of a board that was moved to
  static constexpr bool kFetches = requires(const Guide& guide) { guide.template fetch<kUp>(0, 0, 0); };
  static constexpr std::uint32_t kAhead = 8;  // boards whose look-ups are begun before they are needed
  static constexpr std::uint32_t kPollEvery = 4096;  // boards that are looked at for the next layer

  class WholeCells {
   public:
    explicit WholeCells(const Board& board)
        : cells_(board.cells), blank_(static_cast<std::uint8_t>(board.blank_goal)) {}
    int at(int cell) const { return cells_[cell]; }
    void push(int tile, int from, int to) {
      cells_[to] = static_cast<std::uint8_t>(tile);
      cells_[from] = blank_;
    }
    bool solved(int size) const {
      int cell = 0;
      while (cell < size && cells_[cell] == cell) ++cell;
      return cell == size;
    }

   private:
    Cells cells_;
    std::uint8_t blank_;
  };

  struct Node {
    std::uint64_t hash;
    std::conditional_t<Shape::kPacked, PackedCells, WholeCells> cells;
    typename Guide::Value value;
    typename Guide::Picture picture;
    std::uint8_t blank, last;
  };
  struct Candidate {  // `length` tiles pushed from where the blank goes
    std::uint32_t parent;
    std::uint16_t rank;
    std::uint8_t direction, length;
  };
  struct Origin {
    std::uint32_t parent;
    std::uint8_t blank;  // of the parent
  };

 public:
  Beam(const Board& board, Guide& guide, Meter& meter) : board_(board), shape_(board), guide_(guide), meter_(meter) {
    std::mt19937_64 random;
    for (auto& cells : hash_) {
      for (std::uint64_t& word : cells) word = random();
    }
  }

  // Whether the last search left out boards for want of width: if not, a wider one finds no more.
  bool narrow() const { return narrow_; }

  // A solution of at most `most` moves. `stopped` is set when the meter says stop.
  Way search(std::uint32_t width, int most, const char*& stopped) {
    narrow_ = false;
    std::uint64_t bytes = width * (2 * sizeof(Node) + 2 * kMoves * sizeof(Candidate));
    if (!meter_.take(bytes)) {
      stopped = "bytes";
      return {};
    }
    HashSet<std::uint64_t> seen(meter_);
    std::vector<std::vector<Origin>> origins;
    std::vector<Node> layer{root()}, next;
    layer.reserve(width);
    next.reserve(width);
    candidates_.reserve(width * kMoves);
    sorted_.reserve(width * kMoves);
    seen.insert(layer[0].hash, hash_of(layer[0].hash));
    Way found;
    for (depth_ = 0; depth_ < most && !layer.empty() && found.empty() && !stopped; ++depth_) {
      found = expand(layer, origins, most - depth_ - 1, stopped);
      if (stopped || !found.empty()) break;
      const std::size_t kept = std::min<std::size_t>(width, candidates_.size());
      if (!meter_.take(kept * sizeof(Origin))) {
        stopped = "bytes";
        break;
      }
      bytes += kept * sizeof(Origin);
      origins.emplace_back().reserve(kept);
      next.clear();
      keep(layer, next, width, seen, origins.back(), stopped);
      layer.swap(next);
    }
    meter_.give_back(bytes);
    return found;
  }

 private:
  Node root() {
    const auto value = guide_.start(board_);
    std::uint64_t hash = 0;
    for (int cell = 0; cell < board_.size(); ++cell) {
      if (board_.cells[cell] != board_.blank_goal) hash ^= hash_[board_.cells[cell]][cell];
    }
    return {hash, decltype(Node::cells)(board_), value, guide_.picture(), static_cast<std::uint8_t>(board_.blank()), kNone};
  }

  // All moves of a layer that leave at most `most`; the solution if one ends there.
  Way expand(const std::vector<Node>& layer, const std::vector<std::vector<Origin>>& origins, int most,
             const char*& stopped) {
    candidates_.clear();
    for (std::uint32_t parent = 0; parent < layer.size(); ++parent) {
      if (meter_.due() && (stopped = poll())) return {};
      ++meter_.expanded;
      if constexpr (kFetches) {
        if (parent + kAhead < layer.size()) fetch(layer[parent + kAhead]);
      }
      const int goal = expand(layer[parent], parent, most);
      if (goal >= 0) return way(origins, parent, layer[parent].blank, goal);
    }
    return {};
  }

  // The blank's cell at the goal if a move leads there, else -1.
  int expand(const Node& node, std::uint32_t parent, int most) {
    int goal = -1;
    for_directions([&]<int D>(std::integral_constant<int, D>) {
      if (node.last != kNone && (Slides ? is_vertical(D) == is_vertical(node.last) : D == opposite(node.last))) return;
      guide_.picture() = node.picture;
      auto value = node.value;
      auto cells = node.cells;
      int blank = node.blank;
      for (int length = 1; length <= kLongest && can_go<D>(shape_, blank); ++length) {
        const int to = blank, tile = cells.at(blank = neighbour<D>(shape_, to));
        value = guide_.template after<D>(value, cells, tile, blank, to);
        ++meter_.generated;
        if constexpr (Slides) {
          cells.push(tile, blank, to);
          guide_.template enter<D>(tile, blank, to);
        }
        const int left = guide_.at_least(value);
        if (left > most) continue;
        if (left == 0) {  // on slides a bound may be 0 before the goal
          auto last = cells;
          if constexpr (!Slides) last.push(tile, blank, to);
          if (last.solved(shape_.size())) goal = blank;
        }
        candidates_.push_back({parent, static_cast<std::uint16_t>(guide_.rank(value)), static_cast<std::uint8_t>(D),
                               static_cast<std::uint8_t>(length)});
      }
    });
    return goal;
  }

  // The first of the candidates, by rank and then as they came, that are new.
  void keep(const std::vector<Node>& layer, std::vector<Node>& next, std::uint32_t width, HashSet<std::uint64_t>& seen,
            std::vector<Origin>& origins, const char*& stopped) {
    sort();
    std::uint32_t looked_at = 0;
    for (const Candidate& candidate : sorted_) {
      if (next.size() == width) {
        narrow_ = true;
        return;
      }
      if (++looked_at % kPollEvery == 0 && (stopped = poll())) return;
      const Node& parent = layer[candidate.parent];
      const std::uint64_t hash = hash_after(parent, candidate);
      const Insert inserted = seen.insert(hash, hash_of(hash)).second;
      if (inserted == Insert::full) {
        stopped = "bytes";
        return;
      }
      if (inserted == Insert::present) continue;
      origins.push_back({candidate.parent, parent.blank});
      next.push_back(parent);
      advance(next.back(), candidate);
      next.back().hash = hash;
    }
  }

  const char* poll() { return meter_.poll(static_cast<std::uint32_t>(depth_)); }

  void sort() {
    std::uint16_t highest = 0;
    for (const Candidate& candidate : candidates_) highest = std::max(highest, candidate.rank);
    std::vector<std::uint32_t> at(highest + 2u);
    for (const Candidate& candidate : candidates_) ++at[candidate.rank + 1u];
    for (std::size_t rank = 1; rank < at.size(); ++rank) at[rank] += at[rank - 1];
    sorted_.resize(candidates_.size());
    for (const Candidate& candidate : candidates_) sorted_[at[candidate.rank]++] = candidate;
  }

  std::uint64_t hash_after(const Node& node, const Candidate& candidate) const {
    const int offset = std::array{-shape_.width(), -1, 1, shape_.width()}[candidate.direction];
    std::uint64_t hash = node.hash;
    int blank = node.blank;
    for (int i = 0; i < candidate.length; ++i, blank += offset) {
      const auto& of_tile = hash_[node.cells.at(blank + offset)];
      hash ^= of_tile[blank + offset] ^ of_tile[blank];
    }
    return hash;
  }

  void advance(Node& node, const Candidate& candidate) {
    guide_.picture() = node.picture;
    for_directions([&]<int D>(std::integral_constant<int, D>) {
      if (D != candidate.direction) return;
      for (int i = 0; i < candidate.length; ++i) {
        const int to = node.blank, from = neighbour<D>(shape_, to), tile = node.cells.at(from);
        node.value = guide_.template after<D>(node.value, node.cells, tile, from, to);
        guide_.template enter<D>(tile, from, to);
        node.cells.push(tile, from, to);
        node.blank = static_cast<std::uint8_t>(from);
      }
    });
    node.picture = guide_.picture();
    node.last = candidate.direction;
  }

  void fetch(const Node& node) {
    guide_.picture() = node.picture;
    for_directions([&]<int D>(std::integral_constant<int, D>) {
      if (D == opposite(node.last) || !can_go<D>(shape_, node.blank)) return;
      const int from = neighbour<D>(shape_, node.blank);
      guide_.template fetch<D>(node.cells.at(from), from, node.blank);
    });
  }

  static Way way(const std::vector<std::vector<Origin>>& origins, std::uint32_t at, int blank, int goal) {
    Way visited{goal, blank};
    for (auto layer = origins.rbegin(); layer != origins.rend(); ++layer) {
      const Origin& origin = (*layer)[at];
      visited.push_back(origin.blank);
      at = origin.parent;
    }
    std::reverse(visited.begin(), visited.end());
    return visited;
  }

  template <class Visit>
  static void for_directions(Visit visit) {
    visit(std::integral_constant<int, kUp>{});
    visit(std::integral_constant<int, kLeft>{});
    visit(std::integral_constant<int, kRight>{});
    visit(std::integral_constant<int, kDown>{});
  }

  Board board_;
  [[no_unique_address]] Shape shape_;
  Guide& guide_;
  Meter& meter_;
  bool narrow_ = false;
  int depth_ = 0;
  std::array<std::array<std::uint64_t, kMaxCells>, kMaxCells> hash_;  // [tile][cell]
  std::vector<Candidate> candidates_, sorted_;
};

}  // namespace unjam::tiles
