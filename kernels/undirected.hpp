// Breadth-first search of spaces whose moves can all be taken back: it keeps keys alone, and goes on when memory ends.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "chunked_array.hpp"
#include "hash_set.hpp"

namespace unjam {

// bfs.hpp says what a Space is, and how children are gathered and looked up. Where each move can be undone, the children
// of a layer lie in it, in the layer before or in the next one, so that only these need be looked up:
//
//   keys_    | dropped | layer 3 | layer 4 | layer 5 | layer 6 (being made)    in the order of registration
//   recent_                      |-------------------------|                   a hash set
//
// The set is emptied of older layers whenever it is full, and grows only if these three fill half of it; so it mostly
// stays in the cache. When memory ends, the oldest keys are dropped. The solution is found by asking, from the goal
// back, which neighbour is in the layer before. Where that layer was dropped, a state in the earliest layer that is kept
// becomes the goal of another search from the start. These searches share out the layers among them, as the frontier
// search of Korf, Zhang, Thayer and Hohwald (2005) does by halves; none needs more memory than the first.
template <class Space>
class Undirected {
 public:
  using Key = typename Space::Key;

  Undirected(Space& space, Meter& meter)
      : space_(space),
        meter_(meter),
        chunk_bits_(chunk_bits(meter)),
        recent_(meter),
        keys_(meter, chunk_bits_),
        movers_(meter, chunk_bits_),
        batch_(std::make_unique_for_overwrite<Child[]>(kBatch + space.fanout())) {}

  Result run() {
    const char* stop = search();
    const auto depth = static_cast<int>(depth_);
    std::vector<std::uint64_t> layers = layer_sizes(layers_, keys_.size());
    std::optional<Moves> moves;
    if (found_) {
      const std::vector<Key> chain = solution(stop);
      if (!stop) moves = space_.moves(chain);
    }
    return layered_result(meter_, depth, stop, std::move(moves), std::move(layers));
  }

 private:
  static constexpr std::size_t kBatch = 1024;
  static constexpr std::uint64_t kPollEvery = 1 << 18;  // keys that are passed, not searched: some milliseconds

  struct Child {
    Key key;
    std::uint64_t hash;
    std::uint16_t parent;  // how many states of the batch were expanded before its parent
    Mover mover;
  };

  // A small part of the memory at most, so that it can be given back little by little.
  static int chunk_bits(const Meter& meter) {
    int bits = ChunkedArray<Key>::kBits;
    while (bits > 4 && !meter.affords(32 * sizeof(Key) << bits)) --bits;
    return bits;
  }

  // For `target_` or else for any goal. Returns why it stopped early, or nullptr. At any time no state of fewer than
  // `depth_` moves is a goal.
  const char* search() {
    const Key start = space_.start();
    layers_.assign(1, 0);
    depth_ = 0;
    if (const char* stop = add({start, hash_of(start), 0, kNobody})) return stop;
    for (std::uint64_t at = 0; !found_ && at < keys_.size();) {
      while (movers_.drop_chunk(at)) {
      }
      const std::uint64_t end = keys_.size();
      layers_.push_back(end);
      ++depth_;
      while (at < end) {
        space_.expand(keys_[at], movers_[at], [&](const Key& key, Mover mover) {
          batch_[waiting_++] = {key, hash_of(key), expanded_, mover};
        });
        ++expanded_;
        ++meter_.expanded;
        ++at;
        if (waiting_ < kBatch && at < end && !meter_.due()) continue;
        const char* stop = flush();
        if (found_) return nullptr;
        if (!stop) stop = meter_.poll(depth_);
        if (stop) return stop;
      }
    }
    return nullptr;
  }

  const char* flush() {
    if (recent_.size() + waiting_ > recent_.room() && 2 * live() <= recent_.room()) {
      if (const char* stop = forget()) {
        meter_.expanded -= expanded_;
        return stop;
      }
    }
    const std::size_t count = std::min<std::uint64_t>(waiting_, meter_.nodes_left());
    for (std::size_t at = 0; at < std::min(count, kPrefetch); ++at) recent_.prefetch(batch_[at].hash);
    for (std::size_t at = 0; at < count; ++at) {
      if (at + kPrefetch < count) recent_.prefetch(batch_[at + kPrefetch].hash);
      ++meter_.generated;
      const char* stop = add(batch_[at]);
      if (stop || found_) {
        meter_.expanded -= expanded_ - batch_[at].parent - 1u;
        return stop;
      }
    }
    const bool cut = count < waiting_;
    if (cut) meter_.expanded -= expanded_ - batch_[count].parent;
    waiting_ = 0;
    expanded_ = 0;
    return cut ? "nodes" : nullptr;
  }

  const char* add(const Child& child) {
    Insert insert;
    while ((insert = recent_.insert(child.key, child.hash).second) == Insert::full) {
      if (const char* stop = make_room()) return stop;
    }
    if (insert == Insert::present) return nullptr;
    while (!keys_.push_back(child.key) || !movers_.push_back(child.mover)) {
      if (keys_.size() > movers_.size()) keys_.pop_back();
      if (!keys_.drop_chunk(live_from())) return "bytes";
    }
    found_ = target_ ? same_key(child.key, *target_) : space_.is_goal(child.key);
    return nullptr;
  }

  // The first key of the layer before the one that is being expanded.
  std::uint64_t live_from() const { return layers_[std::max(depth_, 2u) - 2]; }
  std::uint64_t live() const { return keys_.size() - live_from(); }

  // Returns why it stopped, "bytes" if nothing can be spared, or nullptr.
  const char* make_room() {
    const std::uint64_t needed = live();
    if (recent_.size() <= needed + needed / 4 && keys_.drop_chunk(live_from())) return nullptr;
    return recent_.size() == needed ? "bytes" : forget();
  }

  // Leaves the last layers in the set. Returns why it stopped early, or nullptr.
  const char* forget() {
    recent_.clear();
    const std::uint64_t end = keys_.size();
    std::array<std::uint64_t, kPrefetch> hashes;
    for (std::uint64_t at = live_from(), ahead = at; at < end; ++at) {
      for (; ahead < end && ahead < at + kPrefetch; ++ahead) {
        recent_.prefetch(hashes[ahead % kPrefetch] = hash_of(keys_[ahead]));
      }
      recent_.insert(keys_[at], hashes[at % kPrefetch]);
      if (at % kPollEvery != 0) continue;
      if (const char* stop = meter_.poll(depth_)) return stop;
    }
    return nullptr;
  }

  // All states from the start to the goal; or why it stopped.
  std::vector<Key> solution(const char*& stop) {
    std::vector<Key> keys{keys_.back()};
    while (true) {
      if ((stop = walk_back(keys)) || depth_ == 0) break;
      recent_ = HashSet<Key>(meter_);
      keys_ = ChunkedArray<Key>(meter_, chunk_bits_);
      movers_ = ChunkedArray<Mover>(meter_, chunk_bits_);
      waiting_ = expanded_ = 0;
      found_ = false;
      target_ = keys.back();
      if ((stop = search())) break;
    }
    std::reverse(keys.begin(), keys.end());
    return keys;
  }

  // From the last of the keys, in layer `depth_`, as far as whole layers are kept.
  const char* walk_back(std::vector<Key>& keys) {
    for (; depth_ > 0 && layers_[depth_ - 1] >= keys_.first(); --depth_) {
      if (const char* stop = meter_.poll(depth_)) return stop;
      std::vector<Key> neighbours;
      std::uint64_t hashes = 0;  // the upper 6 bits of each, as a set
      space_.expand(keys.back(), kNobody, [&](const Key& key, Mover) {
        neighbours.push_back(key);
        hashes |= std::uint64_t{1} << (hash_of(key) >> 58);
      });
      const auto is_neighbour = [&](const Key& key) {
        if (!(hashes >> (hash_of(key) >> 58) & 1)) return false;
        return std::find(neighbours.begin(), neighbours.end(), key) != neighbours.end();
      };
      std::uint64_t at = layers_[depth_ - 1];
      for (; !is_neighbour(keys_[at]); ++at) {
        if (at % kPollEvery != 0) continue;
        if (const char* stop = meter_.poll(depth_)) return stop;
      }
      keys.push_back(keys_[at]);
    }
    return nullptr;
  }

  Space& space_;
  Meter& meter_;
  int chunk_bits_;
  HashSet<Key> recent_;
  ChunkedArray<Key> keys_;
  ChunkedArray<Mover> movers_;  // what moved last, by key; of two layers
  std::unique_ptr<Child[]> batch_;
  std::size_t waiting_ = 0;
  std::uint16_t expanded_ = 0;         // in this batch
  std::vector<std::uint64_t> layers_;  // number of the first key of each layer
  std::uint32_t depth_ = 0;            // of the layer that is being filled
  std::optional<Key> target_;
  bool found_ = false;
};

// For spaces whose moves can all be taken back.
template <class Space>
Result undirected(Space& space, Meter& meter) {
  return Undirected<Space>(space, meter).run();
}

}  // namespace unjam
