// Breadth-first search of klotski over skeletons: many positions at once, in two bits each and a few for the frontier.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "klotski_singles.hpp"
#include "klotski_skeleton_edges.hpp"
#include "klotski_skeleton_path.hpp"

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
  using Laid = SkeletonKeys::Laid;
  using Edge = SkeletonEdge<Words>;

 public:
  KlotskiSkeletons(const KlotskiBoard& board, int singles, const FillingSize& size, int symbols, const Fold* fold,
                   Meter& meter)
      : board_(board),
        singles_(singles),
        keys_(board, singles, symbols, fold),
        fold_(fold),
        fillings_(size),
        single_moves_(board, singles),
        meter_(meter),
        skeletons_(meter),
        edges_(board, singles, keys_, fillings_, skeletons_, meter),
        active_{ChunkedArray<std::uint32_t>(meter), ChunkedArray<std::uint32_t>(meter)},
        arrivals_(std::make_unique_for_overwrite<Arrival[]>(kArrivals)) {}

  Result run() {
    const char* stop = search();
    std::optional<Moves> moves;
    if (goal_) moves = SkeletonPath<Words>(board_, keys_, fillings_, fold_, skeletons_).moves(*goal_, depth_);
    return layered_result(meter_, static_cast<int>(depth_), stop, std::move(moves), layers_);
  }

 private:
  static constexpr std::uint32_t kNone = SkeletonStore<Words>::kNone;
  static constexpr std::size_t kArrivals = 64;

  struct Arrival {
    std::uint32_t target;
    Set fillings;
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
    layers_.push_back(0);
    const Laid laid = keys_.lay(board_.start);
    const SkeletonKeys::Named name = keys_.name(laid);
    const std::uint32_t at = skeletons_.add(name.key, hash_of(name.key), laid.missing == 0, name.self_image);
    if (at == kNone) return false;
    Set start{};
    insert<Words>(start, keys_.filling(fillings_, laid.free & ~board_.start[singles_], laid.free, name));
    mark(at, start);
    return !full_;
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

  // --- moves ---

  void expand(std::uint32_t from, const Set& positions) {
    meter_.expanded += static_cast<std::uint64_t>(size_of<Words>(positions));
    if (skeletons_[from].first_edge == kNone) {
      const Laid laid = keys_.lay(keys_.decode(skeletons_[from].key));
      const bool keep = edges_.keeps();
      if (!edges_.find(laid, keep ? fillings_.all() : positions)) {
        full_ = true;
        return;
      }
      if (!keep || !edges_.keep(skeletons_[from], laid.free)) {
        move_singles(from, laid.free, positions);
        for (const Edge& edge : edges_.found()) arrive(laid.free, edge, both<Words>(edge.positions, positions));
        return;
      }
    }
    const Skeleton<Words> skeleton = skeletons_[from];
    for (int at = 0; at < skeleton.edges; ++at) {
      const Edge& edge = edges_.kept(skeleton, at);
      const Set set = both<Words>(edge.positions, positions);
      if (any<Words>(set)) arrive(skeleton.free, edge, set);
    }
    move_singles(from, skeleton.free, positions);
  }

  void arrive(std::uint64_t free_before, const Edge& edge, const Set& positions) {
    if (waiting_ == kArrivals) flush();
    Arrival& arrival = arrivals_[waiting_++];
    arrival.target = edge.target;
    skeletons_.prefetch(edge.target);
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

  // Positions that can be reached in depth_ moves; some may be known already.
  void mark(std::uint32_t at, const Set& positions) {
    Skeleton<Words>& skeleton = skeletons_[at];
    Set& frontier = skeleton.frontier[depth_ % 2];
    const std::uint64_t low = skeletons_.layer_code(depth_) & 1 ? ~std::uint64_t{0} : 0;
    const std::uint64_t high = skeletons_.layer_code(depth_) & 2 ? ~std::uint64_t{0} : 0;
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
    if (skeleton.goal && board_.has_goal && !goal_) find_goal(skeleton, fresh);
  }

  void find_goal(const Skeleton<Words>& skeleton, const Set& fresh) {
    const Laid laid = keys_.lay(keys_.decode(skeleton.key));
    const std::uint64_t wanted = board_.classes[singles_].goals;
    each_filling<Words>(fresh, [&](int filling) {
      const std::uint64_t empty = spread_bits(fillings_.mask(filling), laid.free);
      const std::uint64_t singles = laid.free & ~empty;
      if (goal_ || (wanted & ~singles)) return;
      goal_ = KlotskiPosition{laid.anchors, empty};
      goal_->anchors[singles_] = singles;
    });
  }

  const KlotskiBoard& board_;
  int singles_;  // the class that is left out
  SkeletonKeys keys_;
  const Fold* fold_;  // nullptr: none
  Fillings<Words> fillings_;
  SingleMoves single_moves_;
  Meter& meter_;
  SkeletonStore<Words> skeletons_;
  SkeletonEdges<Words> edges_;
  std::array<ChunkedArray<std::uint32_t>, 2> active_;  // with a frontier in even and in odd layers
  std::unique_ptr<Arrival[]> arrivals_;
  std::size_t waiting_ = 0;
  std::vector<std::uint64_t> layers_;  // positions of each
  std::uint32_t depth_ = 0;            // of the layer that is being filled
  bool full_ = false;
  std::optional<KlotskiPosition> goal_;
};

}  // namespace unjam
