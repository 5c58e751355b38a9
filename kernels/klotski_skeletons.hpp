// Breadth-first search of klotski over skeletons: many positions at once, in two bits each and a few for the frontier.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "chunked_array.hpp"
#include "hash_set.hpp"
#include "klotski_board.hpp"
#include "klotski_fillings.hpp"
#include "klotski_piece_moves.hpp"
#include "klotski_singles.hpp"
#include "klotski_skeleton_keys.hpp"

namespace unjam {

// One class of single-cell pieces, the largest, is left out of the key; what is left of a position is its skeleton:
//
//   . A A B          a A A B      free cells in order: a, b, c, d; the singles s lie on b and c
//   s A A B    ->    b A A B      fillings: the six ways to leave two of them empty
//   s . C C          c d C C
//
// A skeleton holds one bit a filling for each thing there is to know, so that whole sets of positions take the same step by
// a few operations on words: C moves left in the fillings that leave d empty, and the skeleton it leads to is looked up
// once for all of them. Where there is memory these edges are kept, with the fillings that they serve. As each move can be
// undone, the neighbours of a position lie within one layer of it: its layer modulo 3 is enough to walk back from the goal.
//
// Of two skeletons that the symmetry carries into each other the one with the lower key is kept, and within a skeleton
// that is its own image of two such fillings the lower one.
template <int Words>
class KlotskiSkeletons {
  using Set = FillingSet<Words>;
  using Key = SkeletonKeys::Key;
  using Laid = SkeletonKeys::Laid;
  using Named = SkeletonKeys::Named;
  using Anchors = KlotskiBoard::Anchors;

 public:
  KlotskiSkeletons(const KlotskiBoard& board, int singles, const FillingSize& size, int symbols, const Fold* fold,
                   Meter& meter)
      : board_(board),
        singles_(singles),
        keys_(board, singles, symbols, fold),
        fold_(fold),
        fillings_(size),
        single_moves_(board, singles),
        piece_moves_(board, fillings_),
        meter_(meter),
        index_(meter),
        skeletons_(meter),
        edges_(meter),
        active_{ChunkedArray<std::uint32_t>(meter), ChunkedArray<std::uint32_t>(meter)},
        arrivals_(std::make_unique_for_overwrite<Arrival[]>(kArrivals)) {}

  Result run() {
    const char* stop = search();
    Result result;
    if (goal_) {
      result.outcome = "optimal";
      result.length = result.lower = result.upper = static_cast<int>(depth_);
      result.moves = moves();
    } else if (stop) {
      result.outcome = "bounded";
      result.reason = stop;
      result.lower = static_cast<int>(depth_);
    } else {
      result.outcome = "unsolvable";
    }
    result.expanded = meter_.expanded;
    result.generated = meter_.generated;
    result.peak_bytes = meter_.peak_bytes();
    result.profile = layers_;
    if (!result.profile.empty() && result.profile.back() == 0) result.profile.pop_back();
    for (const std::uint64_t layer : layers_) result.peak_states += layer;
    return result;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kArrivals = 64;
  static constexpr std::uint64_t kEdgeBytes = 256 << 20;

  struct Skeleton {
    Key key;
    std::uint64_t free;           // once it has edges
    std::uint32_t first_edge;     // kNone: none are kept
    std::uint16_t edges;
    bool self_image;              // a filling and its image are one
    bool goal;                    // its pieces are where the goal wants them
    Set low, high;                // the layer modulo 3, plus 1; 0 where nobody has been
    std::array<Set, 2> frontier;  // of even and of odd layers
  };

  // A move of one piece, from some positions of one skeleton to positions of another.
  struct Edge {
    Set positions;
    std::uint32_t target;
    std::uint8_t klass, from, to;
    bool mirrored : 1;    // the target is the image of what the move leads to
    bool self_image : 1;  // the target's
  };

  struct Target {
    Key key;
    std::uint64_t hash;
    bool goal;
  };

  struct Arrival {
    std::uint32_t target;
    Set fillings;
  };

  struct Position {
    Anchors anchors{};
    std::uint64_t empty = 0;
  };

  // Returns why it stopped early, or nullptr.
  const char* search() {
    if (!add_start()) return "bytes";
    while (!goal_ && active_[depth_ % 2].size()) {
      auto& active = active_[depth_ % 2];
      ++depth_;
      layers_.push_back(0);
      for (std::uint64_t at = 0; at < active.size(); ++at) {
        const std::uint32_t from = active[at];
        Set frontier{};
        std::swap(frontier, skeletons_[from].frontier[(depth_ - 1) % 2]);
        while (any<Words>(frontier)) {
          const Set part = within_nodes(frontier);
          if (!any<Words>(part)) return "nodes";
          expand(from, part);
          if (full_) return "bytes";
          if (meter_.due()) {
            flush();
            if (goal_) return nullptr;
            if (const char* stop = full_ ? "bytes" : meter_.poll(depth_)) return stop;
          }
        }
      }
      flush();
      if (full_) return "bytes";
      active.clear();
    }
    return nullptr;
  }

  bool add_start() {
    Position position{board_.start, 0};
    layers_.push_back(0);
    const Laid laid = keys_.lay(position.anchors);
    position.empty = laid.free & ~board_.start[singles_];
    const Named name = keys_.name(laid);
    const std::uint32_t at = add({name.key, hash_of(name.key), laid.missing == 0}, name.self_image);
    if (at == kNone) return false;
    mark(at, single(filling_of(position, laid.free, name)));
    return !full_;
  }

  static Set single(int filling) {
    Set set{};
    insert<Words>(set, filling);
    return set;
  }

  // As many of the positions as the node budget surely allows, and takes them out of the frontier.
  Set within_nodes(Set& frontier) {
    const std::uint64_t left = meter_.nodes_left() / board_.fanout;
    Set part{};
    if (static_cast<std::uint64_t>(64 * Words) <= left) {
      std::swap(part, frontier);
      return part;
    }
    std::uint64_t taken = 0;
    each_filling<Words>(frontier, [&](int filling) {
      if (taken++ < left) insert<Words>(part, filling);
    });
    for (int word = 0; word < Words; ++word) frontier[word] ^= part[word];
    return part;
  }

  int filling_of(const Position& position, std::uint64_t free, const Named& name) const {
    if (!name.mirrored && !name.self_image) return fillings_.number(extract_bits(position.empty, free));
    const int image = fillings_.number(extract_bits(keys_.image_of_cells(position.empty), keys_.image_of_cells(free)));
    if (name.mirrored) return image;
    return std::min(image, fillings_.number(extract_bits(position.empty, free)));
  }

  // --- moves ---

  void expand(std::uint32_t from, const Set& positions) {
    meter_.expanded += static_cast<std::uint64_t>(size_of<Words>(positions));
    if (skeletons_[from].first_edge == kNone) {
      const Laid laid = keys_.lay(keys_.decode(skeletons_[from].key));
      const bool keep = keeps_edges();
      if (!find_edges(laid, keep ? fillings_.all() : positions)) return;
      if (!keep || !keep_edges(from, laid.free)) {
        move_singles(from, laid.free, positions);
        for (const Edge& edge : found_) arrive(laid.free, edge, both<Words>(edge.positions, positions));
        return;
      }
    }
    const Skeleton skeleton = skeletons_[from];
    for (std::uint32_t at = 0; at < skeleton.edges; ++at) {
      const Edge& edge = edges_[skeleton.first_edge + at];
      const Set set = both<Words>(edge.positions, positions);
      if (any<Words>(set)) arrive(skeleton.free, edge, set);
    }
    move_singles(from, skeleton.free, positions);
  }

  // Most skeletons are expanded several times. What is kept of their edges must not use up the memory, though.
  bool keeps_edges() const {
    const std::uint64_t bytes = edges_.size() * sizeof(Edge);
    return bytes < kEdgeBytes && meter_.affords(4 * bytes);
  }

  bool keep_edges(std::uint32_t from, std::uint64_t free) {
    const std::uint64_t first = edges_.size();
    for (const Edge& edge : found_) {
      if (!edges_.push_back(edge)) return false;
    }
    Skeleton& skeleton = skeletons_[from];
    skeleton.free = free;
    skeleton.first_edge = static_cast<std::uint32_t>(first);
    skeleton.edges = static_cast<std::uint16_t>(found_.size());
    return true;
  }

  // Puts all moves of pieces in found_. False: there is no memory for the skeletons they lead to.
  bool find_edges(const Laid& laid, const Set& positions) {
    found_.clear();
    targets_.clear();
    for (int klass = 0; klass < board_.count; ++klass) {
      if (klass == singles_) continue;
      const KlotskiClass& own = board_.classes[klass];
      std::uint64_t ready = 0;
      for (int direction = 0; direction < 4; ++direction) {
        ready |= board_.ready(own, laid.anchors[klass], laid.free, direction);
      }
      for (; ready; ready &= ready - 1) {
        const int from = std::countr_zero(ready);
        piece_moves_.each(own, from, laid.free, positions,
                          [&](int to, const Set& set) { add_edge(laid, klass, from, to, set); });
      }
    }
    for (std::size_t at = 0; at < found_.size(); ++at) {
      const std::uint32_t target = add(targets_[at], found_[at].self_image);
      found_[at].target = target;
      if (target == kNone) full_ = true;
    }
    return !full_;
  }

  void add_edge(const Laid& laid, int klass, int from, int to, const Set& positions) {
    const Named name = keys_.name_after(laid, klass, from, to);
    const std::uint64_t goals = board_.classes[klass].goals;
    const bool goal = laid.missing + static_cast<int>(goals >> from & 1) == static_cast<int>(goals >> to & 1);
    targets_.push_back({name.key, hash_of(name.key), goal});
    index_.prefetch(targets_.back().hash);
    found_.push_back({positions, kNone, static_cast<std::uint8_t>(klass), static_cast<std::uint8_t>(from),
                      static_cast<std::uint8_t>(to), name.mirrored, name.self_image});
  }

  void arrive(std::uint64_t free_before, const Edge& edge, const Set& positions) {
    if (waiting_ == kArrivals) flush();
    Arrival& arrival = arrivals_[waiting_++];
    arrival.target = edge.target;
    prefetch(edge.target);
    arrival.fillings = {};
    const std::uint64_t shape = board_.classes[edge.klass].shape;
    const std::uint64_t before = shape << edge.from, after = shape << edge.to;
    const std::uint64_t free = (free_before | before) & ~after;
    const auto each = [&](auto&& number) {
      each_filling<Words>(positions, [&](int filling) {
        const std::uint64_t empty = (spread_bits(fillings_.mask(filling), free_before) | before) & ~after;
        insert<Words>(arrival.fillings, number(empty));
        ++meter_.generated;
      });
    };
    if (!edge.mirrored && !edge.self_image) {
      each([&](std::uint64_t empty) { return fillings_.number(extract_bits(empty, free)); });
    } else {
      const std::uint64_t image = keys_.image_of_cells(free);
      each([&](std::uint64_t empty) {
        const int folded = fillings_.number(extract_bits(keys_.image_of_cells(empty), image));
        return edge.mirrored ? folded : std::min(folded, fillings_.number(extract_bits(empty, free)));
      });
    }
  }

  // Singles stay in their skeleton.
  void move_singles(std::uint32_t from, std::uint64_t free, const Set& positions) {
    single_moves_.set_free(free);
    Set children{};
    each_filling<Words>(positions, [&](int filling) {
      single_moves_.each(fillings_.mask(filling), [&](std::uint32_t mask) {
        insert<Words>(children, fillings_.number(mask));
        ++meter_.generated;
      });
    });
    mark(from, skeletons_[from].self_image ? folded(children, free) : children);
  }

  // In a skeleton that is its own image: each filling, or its image if that has the lower number.
  Set folded(const Set& set, std::uint64_t free) const {
    Set lower{};
    each_filling<Words>(set, [&](int filling) {
      const std::uint64_t empty = spread_bits(fillings_.mask(filling), free);
      insert<Words>(lower, std::min(filling, fillings_.number(extract_bits(keys_.image_of_cells(empty), free))));
    });
    return lower;
  }

  // --- what is known ---

  void flush() {
    for (std::size_t at = 0; at < waiting_; ++at) mark(arrivals_[at].target, arrivals_[at].fillings);
    waiting_ = 0;
  }

  void prefetch(std::uint32_t at) {
    const char* bytes = reinterpret_cast<const char*>(&skeletons_[at]);
    for (std::size_t line = 0; line < std::min<std::size_t>(sizeof(Skeleton), 256); line += 64) __builtin_prefetch(bytes + line);
  }

  // The number of the skeleton; kNone if there is no memory for it.
  std::uint32_t add(const Target& target, bool self_image) {
    const auto [slot, insert] = index_.insert(target.key, target.hash);
    if (insert == Insert::present) return slot->value;
    const std::uint64_t number = skeletons_.size();
    if (insert == Insert::full || number == kNone) return kNone;
    Skeleton skeleton{};
    skeleton.key = target.key;
    skeleton.first_edge = kNone;
    skeleton.self_image = self_image;
    skeleton.goal = target.goal && board_.has_goal;
    if (!skeletons_.push_back(skeleton)) return kNone;
    slot->value = static_cast<std::uint32_t>(number);
    return slot->value;
  }

  // Positions that can be reached in depth_ moves; some may be known already.
  void mark(std::uint32_t at, const Set& positions) {
    Skeleton& skeleton = skeletons_[at];
    Set& frontier = skeleton.frontier[depth_ % 2];
    const std::uint64_t low = layer_code(depth_) & 1 ? ~std::uint64_t{0} : 0;
    const std::uint64_t high = layer_code(depth_) & 2 ? ~std::uint64_t{0} : 0;
    Set fresh;
    std::uint64_t already = 0;
    int count = 0;
    for (int word = 0; word < Words; ++word) {
      fresh[word] = positions[word] & ~(skeleton.low[word] | skeleton.high[word]);
      count += std::popcount(fresh[word]);
      already |= frontier[word];
      frontier[word] |= fresh[word];
      skeleton.low[word] |= fresh[word] & low;
      skeleton.high[word] |= fresh[word] & high;
    }
    if (!count) return;
    layers_.back() += static_cast<std::uint64_t>(count);
    if (!already && !active_[depth_ % 2].push_back(at)) full_ = true;
    if (skeleton.goal && !goal_) find_goal(skeleton, fresh);
  }

  static unsigned layer_code(std::uint32_t depth) { return depth % 3 + 1; }

  void find_goal(const Skeleton& skeleton, const Set& fresh) {
    const Laid laid = keys_.lay(keys_.decode(skeleton.key));
    const std::uint64_t wanted = board_.classes[singles_].goals;
    each_filling<Words>(fresh, [&](int filling) {
      const std::uint64_t empty = spread_bits(fillings_.mask(filling), laid.free);
      const std::uint64_t singles = laid.free & ~empty;
      if (goal_ || (wanted & ~singles)) return;
      goal_ = Position{laid.anchors, empty};
      goal_->anchors[singles_] = singles;
    });
  }

  // --- the way back ---

  // The layer of a position modulo 3, plus 1; 0 where nobody has been.
  unsigned layer_of(const Position& position) {
    const Laid laid = keys_.lay(position.anchors);
    const Named name = keys_.name(laid);
    const auto* slot = index_.find(name.key, hash_of(name.key));
    if (!slot) return 0;
    const Skeleton& skeleton = skeletons_[slot->value];
    const int filling = filling_of(position, laid.free, name);
    const auto has = [&](const Set& set) { return static_cast<unsigned>(set[filling / 64] >> (filling % 64) & 1); };
    return has(skeleton.low) | has(skeleton.high) << 1;
  }

  // From the goal to a position one layer nearer, and so on. What it ends at is the start or the start's image.
  Moves moves() {
    Moves moves;
    std::vector<int> classes;
    Position position = *goal_;
    for (std::uint32_t depth = depth_; depth > 0; --depth) {
      if (!step_back(position, depth - 1, moves, classes)) return {};
    }
    if (position.anchors != board_.start) {
      for (std::size_t at = 0; at < moves.size(); ++at) {
        const auto& image = fold_->cell[classes[at]];
        moves[at] = {image[moves[at].first], image[moves[at].second]};
      }
    }
    std::reverse(moves.begin(), moves.end());
    return moves;
  }

  bool step_back(Position& position, std::uint32_t depth, Moves& moves, std::vector<int>& classes) {
    for (int klass = 0; klass < board_.count; ++klass) {
      const KlotskiClass& own = board_.classes[klass];
      for (std::uint64_t rest = position.anchors[klass]; rest; rest &= rest - 1) {
        const int to = std::countr_zero(rest);
        for (std::uint64_t reach = board_.reach(own, to, position.empty); reach; reach &= reach - 1) {
          const int from = std::countr_zero(reach);
          Position before = position;
          before.anchors[klass] ^= one(from) | one(to);
          before.empty = (position.empty | own.shape << to) & ~(own.shape << from);
          if (layer_of(before) != layer_code(depth)) continue;
          position = before;
          moves.emplace_back(from, to);
          classes.push_back(klass);
          return true;
        }
      }
    }
    return false;
  }

  const KlotskiBoard& board_;
  int singles_;  // the class that is left out
  SkeletonKeys keys_;
  const Fold* fold_;  // nullptr: none
  Fillings<Words> fillings_;
  SingleMoves single_moves_;
  PieceMoves<Words> piece_moves_;
  Meter& meter_;
  HashMap<Key, std::uint32_t> index_;
  ChunkedArray<Skeleton> skeletons_;
  ChunkedArray<Edge> edges_;
  std::vector<Edge> found_;      // of the skeleton that is being expanded
  std::vector<Target> targets_;  // of found_
  std::array<ChunkedArray<std::uint32_t>, 2> active_;  // with a frontier in even and in odd layers
  std::unique_ptr<Arrival[]> arrivals_;
  std::size_t waiting_ = 0;
  std::vector<std::uint64_t> layers_;  // positions of each
  std::uint32_t depth_ = 0;            // of the layer that is being filled
  bool full_ = false;
  std::optional<Position> goal_;
};

}  // namespace unjam
