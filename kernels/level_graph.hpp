// What the graph of a level answers: moves left, next moves, shortest solutions, positions at a distance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "chunked_array.hpp"
#include "control.hpp"
#include "layout.hpp"
#include "level_graph_table.hpp"

namespace unjam {

// How many shortest solutions there are: 64-bit words, little end first.
struct SolutionCount {
  const char* reason = nullptr;  // why it stopped early
  std::vector<std::uint64_t> words;
};

// A position is the first cell in row-major order of each piece, in the order of the layout; -1 for a car that has left.
class LevelGraph {
 public:
  using Anchors = std::vector<int>;
  static constexpr std::int64_t kNowhere = -1;

  virtual ~LevelGraph() = default;

  virtual std::int64_t value(const Anchors& anchors) const = 0;  // kNowhere: cannot be reached
  // One for each position that is one move nearer to a goal; none from a goal or a dead end.
  virtual Moves next_moves(const Anchors& anchors) = 0;
  virtual SolutionCount solutions(const Anchors& anchors, Meter& meter) const = 0;
  // The first positions of a value in the order of the table.
  virtual std::vector<Anchors> listed(Value value, std::uint64_t most) const = 0;
  // Positions by value; the first are the dead ends.
  virtual std::vector<std::uint64_t> counts() const = 0;
};

// `Input` is what the space refers to.
template <class Space, class Input>
class LevelGraphOf : public LevelGraph {
 public:
  using Key = typename Space::Key;

  LevelGraphOf(std::unique_ptr<Input> input, const std::uint8_t* bytes, std::uint64_t size)
      : input_(std::move(input)), space_(input_->template space<Space>()), table_(bytes, size) {}

  std::int64_t value(const Anchors& anchors) const override {
    const std::int64_t at = find(anchors);
    return at == kNowhere ? kNowhere : table_.value(at);
  }

  Moves next_moves(const Anchors& anchors) override {
    const std::uint64_t at = present(anchors);
    const Key key = table_.key(at);
    std::vector<Key> nearer;
    each_nearer(space_, at, [&](std::uint64_t child) { nearer.push_back(table_.key(child)); });
    Moves moves;
    for (const Key& child : nearer) moves.push_back(space_.moves({key, child})[0]);
    return moves;
  }

  // Ways from the position to those of each layer, one layer nearer at a time. A move leads to a position of its own, so
  // sequences of moves and of positions are as many.
  SolutionCount solutions(const Anchors& anchors, Meter& meter) const override {
    Space space = space_;  // one of its own: others may ask meanwhile
    auto layer = std::make_unique<Layer>(meter, 1);
    const std::uint64_t start = present(anchors);
    if (!layer->add(start, std::vector<std::uint64_t>{1})) return {"bytes", {}};
    for (Value value = table_.value(start); value > 1; --value) {
      auto next = std::make_unique<Layer>(meter, layer->width_after());
      for (std::uint64_t from = 0; from < layer->positions.size(); ++from) {
        bool fits = true;
        const auto ways = layer->ways_to(from);
        each_nearer(space, layer->positions[from], [&](std::uint64_t child) {
          ++meter.generated;
          fits = fits && next->add(child, ways);
        });
        ++meter.expanded;
        if (!fits) return {"bytes", {}};
        if (!meter.due()) continue;
        if (const char* stop = meter.poll(value)) return {stop, {}};
      }
      layer = std::move(next);
    }
    if (table_.value(start) == 0) return {nullptr, {0}};
    return {nullptr, layer->sum()};
  }

  std::vector<Anchors> listed(Value value, std::uint64_t most) const override {
    std::vector<Anchors> found;
    for (std::uint64_t at = 0; at < table_.size() && found.size() < most; ++at) {
      if (table_.value(at) == value) found.push_back(space_.anchors_of(table_.key(at)));
    }
    return found;
  }

  std::vector<std::uint64_t> counts() const override {
    std::vector<std::uint64_t> counts(1);
    for (std::uint64_t at = 0; at < table_.size(); ++at) {
      const Value value = table_.value(at);
      require(value <= table_.size(), "a position is farther from the goal than there are positions");
      if (value >= counts.size()) counts.resize(value + 1);
      ++counts[value];
    }
    return counts;
  }

 private:
  // Positions of one distance and in how many ways they are reached.
  struct Layer {
    static constexpr int kRoom = 16;  // bits: no position has 2^16 neighbours

    ChunkedArray<std::uint64_t> positions;  // in the table
    HashMap<std::uint64_t, std::uint32_t> place;
    ChunkedArray<std::uint64_t> ways;  // `width` words a position
    std::uint64_t width, top = 0;      // the greatest of the last words

    Layer(Meter& meter, std::uint64_t width) : positions(meter), place(meter), ways(meter), width(width) {}

    bool add(std::uint64_t position, const std::vector<std::uint64_t>& more) {
      const auto [slot, insert] = place.insert(position, hash_of(position));
      if (insert == Insert::full) return false;
      if (insert == Insert::added) {
        slot->value = static_cast<std::uint32_t>(positions.size());
        if (!positions.push_back(position)) return false;
        for (std::uint64_t word = 0; word < width; ++word) {
          if (!ways.push_back(0)) return false;
        }
      }
      const std::uint64_t first = slot->value * width;
      unsigned __int128 carry = 0;
      for (std::uint64_t word = 0; word < width; ++word) {
        carry += ways[first + word];
        if (word < more.size()) carry += more[word];
        ways[first + word] = static_cast<std::uint64_t>(carry);
        carry >>= 64;
      }
      top = std::max(top, ways[first + width - 1]);
      return true;
    }

    // Words for the next layer's numbers: sums of fewer than 2^kRoom of this one's.
    std::uint64_t width_after() const { return width + (top >> (64 - kRoom) != 0); }

    std::vector<std::uint64_t> ways_to(std::uint64_t at) {
      std::vector<std::uint64_t> words;
      for (std::uint64_t word = 0; word < width; ++word) words.push_back(ways[at * width + word]);
      return words;
    }

    std::vector<std::uint64_t> sum() {
      std::vector<std::uint64_t> sum(width + 1);
      for (std::uint64_t at = 0; at < positions.size(); ++at) {
        unsigned __int128 carry = 0;
        for (std::uint64_t word = 0; word <= width; ++word) {
          carry += sum[word];
          if (word < width) carry += ways[at * width + word];
          sum[word] = static_cast<std::uint64_t>(carry);
          carry >>= 64;
        }
      }
      return sum;
    }
  };

  std::int64_t find(const Anchors& anchors) const {
    if (anchors.size() != input_->layout.pieces.size()) throw std::invalid_argument("a position has a cell for each piece");
    const std::optional<Key> key = space_.key_of(anchors);
    return key ? table_.find(*key) : kNowhere;
  }
  std::uint64_t present(const Anchors& anchors) const {
    const std::int64_t at = find(anchors);
    if (at == kNowhere) throw std::invalid_argument("the position cannot be reached");
    return static_cast<std::uint64_t>(at);
  }

  template <class Visit>
  void each_nearer(Space& space, std::uint64_t at, Visit&& visit) const {
    const Value value = table_.value(at);
    if (value < 2) return;
    space.expand(table_.key(at), kNobody, [&](const Key& key, Mover) {
      const std::int64_t child = table_.find(key);
      if (child != kNowhere && table_.value(child) == value - 1) visit(static_cast<std::uint64_t>(child));
    });
  }

  std::unique_ptr<Input> input_;
  Space space_;
  LevelGraphTable<Key> table_;
};

}  // namespace unjam
