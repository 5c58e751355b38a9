// What is known of each skeleton (klotski_skeletons.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "chunked_array.hpp"
#include "hash_set.hpp"
#include "klotski_fillings.hpp"
#include "klotski_skeleton_keys.hpp"

namespace unjam {

template <int Words>
struct Skeleton {
  SkeletonKeys::Key key;
  std::uint64_t free;           // once it has edges
  std::uint32_t first_edge;     // kNone: none are kept
  std::uint16_t edges;
  bool self_image;              // a filling and its image are one
  bool goal;                    // its pieces are where the goal wants them
  FillingSet<Words> low, high;  // the layer modulo 3, plus 1; 0 where nobody has been
  std::array<FillingSet<Words>, 2> frontier;  // of even and of odd layers

  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
};

template <int Words>
class SkeletonStore {
 public:
  using Key = SkeletonKeys::Key;
  static constexpr std::uint32_t kNone = Skeleton<Words>::kNone;

  explicit SkeletonStore(Meter& meter) : index_(meter), skeletons_(meter) {}

  Skeleton<Words>& operator[](std::uint32_t at) { return skeletons_[at]; }

  // The number of the skeleton; kNone if there is no memory for it.
  std::uint32_t add(const Key& key, std::uint64_t hash, bool goal, bool self_image) {
    const auto [slot, insert] = index_.insert(key, hash);
    if (insert == Insert::present) return slot->value;
    const std::uint64_t number = skeletons_.size();
    if (insert == Insert::full || number == kNone) return kNone;
    Skeleton<Words> skeleton{};
    skeleton.key = key;
    skeleton.first_edge = kNone;
    skeleton.self_image = self_image;
    skeleton.goal = goal;
    if (!skeletons_.push_back(skeleton)) return kNone;
    slot->value = static_cast<std::uint32_t>(number);
    return slot->value;
  }

  [[gnu::always_inline]] void prefetch_key(std::uint64_t hash) const { index_.prefetch(hash); }

  [[gnu::always_inline]] void prefetch(std::uint32_t at) {
    const char* bytes = reinterpret_cast<const char*>(&skeletons_[at]);
    const std::size_t size = std::min<std::size_t>(sizeof(Skeleton<Words>), 256);
    for (std::size_t line = 0; line < size; line += 64) __builtin_prefetch(bytes + line);
  }

  static unsigned layer_code(std::uint32_t depth) { return depth % 3 + 1; }

  // The layer code of a filling of the skeleton with this key; 0 where nobody has been.
  unsigned layer_of(const Key& key, int filling) {
    const auto* slot = index_.find(key, hash_of(key));
    if (!slot) return 0;
    const Skeleton<Words>& skeleton = skeletons_[slot->value];
    const auto has = [&](const FillingSet<Words>& set) {
      return static_cast<unsigned>(set[filling / 64] >> (filling % 64) & 1);
    };
    return has(skeleton.low) | has(skeleton.high) << 1;
  }

 private:
  HashMap<Key, std::uint32_t> index_;
  ChunkedArray<Skeleton<Words>> skeletons_;
};

}  // namespace unjam
