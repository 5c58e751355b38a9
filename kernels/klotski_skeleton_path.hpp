// The way back through a search by skeletons (klotski_skeletons.hpp), from the goal to the start.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "klotski_skeleton_store.hpp"

namespace unjam {

// With the singles and the empty cells.
struct KlotskiPosition {
  KlotskiBoard::Anchors anchors{};
  std::uint64_t empty = 0;
};

template <int Words>
class SkeletonPath {
 public:
  SkeletonPath(const KlotskiBoard& board, const SkeletonKeys& keys, const Fillings<Words>& fillings, const Fold* fold,
               SkeletonStore<Words>& store)
      : board_(board), keys_(keys), fillings_(fillings), fold_(fold), store_(store) {}

  // From the goal to a position one layer nearer, and so on. What it ends at is the start or the start's image.
  Moves moves(KlotskiPosition position, std::uint32_t depth) {
    while (depth > 0) {
      if (!step_back(position, --depth)) return {};
    }
    if (position.anchors != board_.start) {
      for (std::size_t at = 0; at < moves_.size(); ++at) {
        const auto& image = fold_->cell[classes_[at]];
        moves_[at] = {image[moves_[at].first], image[moves_[at].second]};
      }
    }
    std::reverse(moves_.begin(), moves_.end());
    return moves_;
  }

 private:
  bool step_back(KlotskiPosition& position, std::uint32_t depth) {
    for (int klass = 0; klass < board_.count; ++klass) {
      const KlotskiClass& own = board_.classes[klass];
      for (std::uint64_t rest = position.anchors[klass]; rest; rest &= rest - 1) {
        const int to = std::countr_zero(rest);
        for (std::uint64_t reach = board_.reach(own, to, position.empty); reach; reach &= reach - 1) {
          const int from = std::countr_zero(reach);
          KlotskiPosition before = position;
          before.anchors[klass] ^= one(from) | one(to);
          before.empty = (position.empty | own.shape << to) & ~(own.shape << from);
          if (layer_of(before) != store_.layer_code(depth)) continue;
          position = before;
          moves_.emplace_back(from, to);
          classes_.push_back(klass);
          return true;
        }
      }
    }
    return false;
  }

  unsigned layer_of(const KlotskiPosition& position) {
    const SkeletonKeys::Laid laid = keys_.lay(position.anchors);
    const SkeletonKeys::Named name = keys_.name(laid);
    return store_.layer_of(name.key, keys_.filling(fillings_, position.empty, laid.free, name));
  }

  const KlotskiBoard& board_;
  const SkeletonKeys& keys_;
  const Fillings<Words>& fillings_;
  const Fold* fold_;  // nullptr: none
  SkeletonStore<Words>& store_;
  Moves moves_;              // the last first
  std::vector<int> classes_;  // of what moved
};

}  // namespace unjam
