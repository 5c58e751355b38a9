// Edges between skeletons (klotski_skeletons.hpp): moves of one piece, for all fillings that leave it room.
#pragma once

#include <cstdint>
#include <vector>

#include "klotski_piece_moves.hpp"
#include "klotski_skeleton_store.hpp"

namespace unjam {

// From some positions of one skeleton to positions of another.
template <int Words>
struct SkeletonEdge {
  FillingSet<Words> positions;
  std::uint32_t target;
  std::uint8_t klass, from, to;
  bool mirrored : 1;    // the target is the image of what the move leads to
  bool self_image : 1;  // the target's
};

template <int Words>
class SkeletonEdges {
  using Set = FillingSet<Words>;
  using Edge = SkeletonEdge<Words>;
  using Laid = SkeletonKeys::Laid;

 public:
  SkeletonEdges(const KlotskiBoard& board, int singles, const SkeletonKeys& keys, const Fillings<Words>& fillings,
                SkeletonStore<Words>& store, Meter& meter)
      : board_(board),
        singles_(singles),
        keys_(keys),
        piece_moves_(board, fillings),
        store_(store),
        meter_(meter),
        kept_(meter) {}

  // Most skeletons are expanded several times. What is kept of their edges must not use up the memory, though.
  bool keeps() const {
    const std::uint64_t bytes = kept_.size() * sizeof(Edge);
    return bytes < kMostBytes && meter_.affords(4 * bytes);
  }

  // Puts all moves of pieces in found(). False: there is no memory for the skeletons they lead to.
  bool find(const Laid& laid, const Set& positions) {
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
                          [&](int to, const Set& set) { add(laid, klass, from, to, set); });
      }
    }
    bool complete = true;
    for (std::size_t at = 0; at < found_.size(); ++at) {
      const Target& target = targets_[at];
      found_[at].target = store_.add(target.key, target.hash, target.goal, found_[at].self_image);
      complete &= found_[at].target != SkeletonStore<Words>::kNone;
    }
    return complete;
  }

  const std::vector<Edge>& found() const { return found_; }

  // Keeps what was found for all fillings of this skeleton. False: there is no memory for it.
  bool keep(Skeleton<Words>& skeleton, std::uint64_t free) {
    const std::uint64_t first = kept_.size();
    for (const Edge& edge : found_) {
      if (!kept_.push_back(edge)) return false;
    }
    skeleton.free = free;
    skeleton.first_edge = static_cast<std::uint32_t>(first);
    skeleton.edges = static_cast<std::uint16_t>(found_.size());
    return true;
  }

  const Edge& kept(const Skeleton<Words>& skeleton, int at) { return kept_[skeleton.first_edge + at]; }

 private:
  static constexpr std::uint64_t kMostBytes = 256 << 20;

  struct Target {
    SkeletonKeys::Key key;
    std::uint64_t hash;
    bool goal;
  };

  void add(const Laid& laid, int klass, int from, int to, const Set& positions) {
    const SkeletonKeys::Named name = keys_.name_after(laid, klass, from, to);
    const std::uint64_t goals = board_.classes[klass].goals;
    const int missing = laid.missing + static_cast<int>(goals >> from & 1) - static_cast<int>(goals >> to & 1);
    targets_.push_back({name.key, hash_of(name.key), missing == 0});
    store_.prefetch_key(targets_.back().hash);
    found_.push_back({positions, SkeletonStore<Words>::kNone, static_cast<std::uint8_t>(klass),
                      static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to), name.mirrored, name.self_image});
  }

  const KlotskiBoard& board_;
  int singles_;
  const SkeletonKeys& keys_;
  PieceMoves<Words> piece_moves_;
  SkeletonStore<Words>& store_;
  Meter& meter_;
  ChunkedArray<Edge> kept_;
  std::vector<Edge> found_;      // of the skeleton that is being expanded
  std::vector<Target> targets_;  // of found_
};

}  // namespace unjam
