// Explores a level: every position that can be reached, and how far each is from the nearest goal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "chunked_array.hpp"
#include "hash_set.hpp"
#include "level_graph_table.hpp"

namespace unjam {

// Goals are positions like others: play may go on from them. What it asks of a Space beside what bfs.hpp says:
//   void expand_back(key, last, sink)   calls sink(parent, mover) for every position from which a move leads to this
//                            one, and perhaps for some that cannot be reached. `last` as in `expand`
//
// First the positions, breadth first from the start; then their distances, breadth first from all goals at once,
// backwards. Edges are not kept: they would take more room than all else.
template <class Space>
class LevelGraphSearch {
 public:
  using Key = typename Space::Key;
  using Table = LevelGraphTable<Key>;

  LevelGraphSearch(Space& space, Meter& meter)
      : space_(space),
        meter_(meter),
        values_(meter),
        layer_(meter),
        next_(meter),
        goals_(meter),
        batch_(std::make_unique_for_overwrite<Near[]>(kBatch + space.fanout())) {}

  // The reason why it stopped early, or nullptr.
  const char* run() {
    const char* stop = reach();
    if (!stop) stop = measure();
    for (ChunkedArray<State>* done : {&layer_, &next_, &goals_}) *done = ChunkedArray<State>(meter_);  // room for `write`
    return stop;
  }

  std::uint64_t states() const { return values_.size(); }
  std::uint64_t bytes() const { return head().bytes(); }

  // Fills zeroed `bytes()`; the reason why it stopped early, or nullptr.
  const char* write(std::uint8_t* bytes) {
    Table table(head(), bytes);
    const char* stop = nullptr;
    std::uint64_t passed = 0;
    const auto goes_on = [&] { return ++passed % kPollEvery != 0 || !(stop = meter_.poll(largest_)); };
    const auto each = [&](auto&& visit) {
      return values_.all_of([&](const auto& slot) {
        visit(slot);
        return goes_on();
      });
    };
    if (!each([&](const auto& slot) { table.count(slot.key); })) return stop;
    table.lay_out();
    if (!each([&](const auto& slot) { table.put(slot.key, slot.value); })) return stop;
    for (std::uint64_t bucket = 0; bucket < head().buckets() && goes_on(); ++bucket) table.order(bucket);
    return stop;
  }

 private:
  static constexpr std::size_t kBatch = 1024;
  static constexpr std::uint64_t kPollEvery = 1 << 16;

  struct State {
    Key key;
    Mover mover;  // what led to it
  };
  struct Near {
    State state;
    std::uint64_t hash;
  };

  typename Table::Head head() const { return Table::head_for(values_.size(), largest_); }

  const char* reach() {
    const char* stop = add({{space_.start(), kNobody}, hash_of(space_.start())});
    if (stop) return stop;
    std::swap(layer_, next_);
    return search([this](const State& at, auto&& sink) { space_.expand(at.key, at.mover, sink); },
                  [this](const Near& child, Value) { return add(child); });
  }

  const char* add(const Near& near) {
    const auto [slot, insert] = values_.insert(near.state.key, near.hash);
    if (insert == Insert::present) return nullptr;
    if (insert == Insert::full || values_.size() > Table::kMost || !next_.push_back(near.state)) return "bytes";
    if (!space_.is_goal(near.state.key)) return nullptr;
    slot->value = largest_ = 1;
    return goals_.push_back({near.state.key, kNobody}) ? nullptr : "bytes";
  }

  const char* measure() {
    std::swap(layer_, goals_);
    return search([this](const State& at, auto&& sink) { space_.expand_back(at.key, at.mover, sink); },
                  [this](const Near& parent, Value depth) {
                    auto* slot = values_.find(parent.state.key, parent.hash);
                    if (!slot || slot->value != 0) return static_cast<const char*>(nullptr);
                    slot->value = largest_ = depth + 1;
                    return next_.push_back(parent.state) ? nullptr : "bytes";
                  });
  }

  // Breadth first from layer_; `take` puts what is new into next_.
  template <class Expand, class Take>
  const char* search(const Expand& expand, const Take& take) {
    for (Value depth = 1; layer_.size() > 0; ++depth) {
      next_.clear();
      for (std::uint64_t at = 0; at < layer_.size();) {
        expand(layer_[at++], [this](const Key& key, Mover mover) { batch_[waiting_++] = {{key, mover}, hash_of(key)}; });
        ++meter_.expanded;
        if (waiting_ < kBatch && at < layer_.size() && !meter_.due()) continue;
        const char* stop = flush([&](const Near& near) { return take(near, depth); });
        if (!stop) stop = meter_.poll(depth);
        if (stop) return stop;
      }
      std::swap(layer_, next_);
    }
    return nullptr;
  }

  template <class Take>
  const char* flush(const Take& take) {
    const std::size_t count = std::min<std::uint64_t>(waiting_, meter_.nodes_left());
    for (std::size_t at = 0; at < std::min(count, kPrefetch); ++at) values_.prefetch(batch_[at].hash);
    for (std::size_t at = 0; at < count; ++at) {
      if (at + kPrefetch < count) values_.prefetch(batch_[at + kPrefetch].hash);
      ++meter_.generated;
      if (const char* stop = take(batch_[at])) return stop;
    }
    const bool cut = count < waiting_;
    waiting_ = 0;
    return cut ? "nodes" : nullptr;
  }

  Space& space_;
  Meter& meter_;
  HashMap<Key, Value> values_;
  ChunkedArray<State> layer_, next_, goals_;
  std::unique_ptr<Near[]> batch_;
  std::size_t waiting_ = 0;
  Value largest_ = 0;
};

}  // namespace unjam
