// Breadth-first search from both ends, for spaces with one goal state whose moves can all be taken back (bfs.hpp says
// what a Space is; this search also asks for `Key goal()`).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hash_set.hpp"

namespace unjam {

// Each side keeps all states at each distance from its end as one set: a layer. The layer next to the last is made of
// the children of the last that are neither there nor in the layer before, as moves can be taken back; no other
// distance is possible. With a layers complete on one side and b on the other, and no state in both sides, no
// solution has a + b moves or fewer. So the first child that is in the last layer of the other side ends a shortest
// one. Its moves are found by asking, from there to either end, which neighbour is one layer nearer. So a state costs its
// key alone, at 0.5 to 0.8 of the slots.
template <class Space>
class TwoWay {
 public:
  using Key = typename Space::Key;

  TwoWay(Space& space, Meter& meter)
      : space_(space), meter_(meter), batch_(std::make_unique_for_overwrite<Child[]>(kBatch + space.fanout())) {}

  Result run() {
    const char* stop = search();
    std::vector<std::uint64_t> layers;
    for (Layer& layer : from_start_) layers.push_back(layer.size());
    for (auto layer = from_goal_.rbegin(); layer != from_goal_.rend(); ++layer) layers.push_back(layer->size());
    std::optional<Moves> moves;
    if (met_) moves = space_.moves(chain());
    return layered_result(meter_, complete_, stop, std::move(moves), std::move(layers));
  }

 private:
  static constexpr std::size_t kBatch = 1024;

  using Layer = HashSet<Key>;
  using Side = std::deque<Layer>;  // by distance
  struct Child {
    Key key;
    std::uint64_t hash;
  };

  // The reason to stop early, or nullptr: they have met, or one side has no states left.
  const char* search() {
    const Key start = space_.start(), goal = space_.goal();
    if (!add(from_start_.emplace_back(meter_), start) || !add(from_goal_.emplace_back(meter_), goal)) return "bytes";
    met_ = start == goal;
    meeting_ = start;
    while (!met_) {
      ++complete_;
      const bool forward = from_start_.back().size() <= from_goal_.back().size();
      Side& side = forward ? from_start_ : from_goal_;
      const char* stop = grow(side, (forward ? from_goal_ : from_start_).back());
      if (stop || met_ || side.back().size() == 0) return stop;
    }
    return nullptr;
  }

  static bool add(Layer& layer, const Key& key) { return layer.insert(key, hash_of(key)).second != Insert::full; }

  const char* grow(Side& side, Layer& opposite) {
    Layer& next = side.emplace_back(meter_);
    Layer& last = side[side.size() - 2];
    Layer& before = side[side.size() - std::min<std::size_t>(side.size(), 3)];
    const char* stop = nullptr;
    const auto flush = [&] {
      stop = settle(next, last, before, opposite);
      if (!stop && !met_) stop = meter_.poll(static_cast<std::uint32_t>(complete_));
      return !stop && !met_;
    };
    const bool all = last.all_of([&](const auto& slot) {
      space_.expand(slot.key, kNobody, [&](const Key& child, Mover) { batch_[waiting_++] = {child, hash_of(child)}; });
      ++meter_.expanded;
      return (waiting_ < kBatch && !meter_.due()) || flush();
    });
    if (all) flush();
    return stop;
  }

  const char* settle(Layer& next, Layer& last, Layer& before, Layer& opposite) {
    const std::size_t count = std::min<std::uint64_t>(waiting_, meter_.nodes_left());
    const auto prefetch = [&](std::size_t at) {
      for (const Layer* layer : {&opposite, &before, &last, &next}) layer->prefetch(batch_[at].hash);
    };
    for (std::size_t at = 0; at < std::min(count, kPrefetch); ++at) prefetch(at);
    for (std::size_t at = 0; at < count; ++at) {
      if (at + kPrefetch < count) prefetch(at + kPrefetch);
      const auto [key, hash] = batch_[at];
      ++meter_.generated;
      if (opposite.find(key, hash)) {
        met_ = true;
        meeting_ = key;
        return nullptr;
      }
      if (before.find(key, hash) || last.find(key, hash)) continue;
      if (next.insert(key, hash).second == Insert::full) return "bytes";
    }
    const bool cut = count < waiting_;
    waiting_ = 0;
    return cut ? "nodes" : nullptr;
  }

  // All states of the solution. The side that met the other has an incomplete layer, which is not needed: the meeting
  // state is in the last complete layer of one side, and a child of the last complete layer of the other.
  std::vector<Key> chain() {
    std::vector<Key> keys = way(from_start_), rest = way(from_goal_);
    std::reverse(keys.begin(), keys.end());
    keys.push_back(meeting_);
    keys.insert(keys.end(), rest.begin(), rest.end());
    return keys;
  }

  // From the meeting state, which is not included, to the end of this side.
  std::vector<Key> way(Side& side) {
    std::vector<Key> keys;
    std::size_t distance = 0;
    while (!is_in(side[distance], meeting_) && distance + 1 < side.size()) ++distance;
    Key key = meeting_;
    while (distance > 0) {
      --distance;
      Key nearer = key;
      space_.expand(key, kNobody, [&](const Key& neighbour, Mover) {
        if (is_in(side[distance], neighbour)) nearer = neighbour;
      });
      keys.push_back(key = nearer);
    }
    return keys;
  }

  static bool is_in(Layer& layer, const Key& key) { return layer.find(key, hash_of(key)) != nullptr; }

  Space& space_;
  Meter& meter_;
  Side from_start_, from_goal_;
  std::unique_ptr<Child[]> batch_;
  std::size_t waiting_ = 0;
  int complete_ = 0;  // no solution has fewer moves
  bool met_ = false;
  Key meeting_{};
};

template <class Space>
Result two_way(Space& space, Meter& meter) {
  return TwoWay<Space>(space, meter).run();
}

}  // namespace unjam
