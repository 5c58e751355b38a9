// The heuristic of pattern databases: the distances of patterns that share no tile, added up.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tiles_board.hpp"
#include "tiles_patterns.hpp"

namespace unjam::tiles {

inline constexpr int kMaxPatterns = 4;

// A table that somebody else built and keeps: the entries of all patterns, one after the other. Tiles are named by their
// goal cells. The blank's goal lies in the upper left quarter, as on every Board.
class PatternTable {
 public:
  struct Pattern {
    std::shared_ptr<const PatternSpace> space;
    const std::uint8_t* entries;
  };

  PatternTable(int width, int height, int blank_goal, const std::vector<std::vector<int>>& patterns, bool compressed,
               const std::uint8_t* entries, std::uint64_t size)
      : width_(width), height_(height), blank_goal_(blank_goal) {
    const auto require = [](bool holds, const char* otherwise) {
      if (!holds) throw std::invalid_argument(std::string("patterns: ") + otherwise);
    };
    require(patterns.size() <= kMaxPatterns, "there are at most 4");
    pattern_of_.fill(kNoPattern);
    std::uint64_t used = 0;
    for (const std::vector<int>& tiles : patterns) {
      Pattern pattern;
      for (const Pattern& other : patterns_) {
        if (other.space->tiles() == static_cast<int>(tiles.size())) pattern.space = other.space;
      }
      if (!pattern.space) {
        pattern.space = std::make_shared<PatternSpace>(width, height, static_cast<int>(tiles.size()), compressed);
      }
      pattern.entries = entries + used;
      used += pattern.space->entries();
      int label = 0;
      for (const int tile : tiles) {
        require(pattern_of_[tile] == kNoPattern && tile != blank_goal, "a tile is in two of them");
        pattern_of_[tile] = static_cast<std::uint8_t>(patterns_.size());
        label_[tile] = static_cast<std::uint8_t>(label++);
      }
      patterns_.push_back(std::move(pattern));
    }
    require(used == size, "the table has another size");
    for (int tile = 0; tile < width * height; ++tile) {
      require(tile == blank_goal || pattern_of_[tile] != kNoPattern, "a tile is in none of them");
    }
  }

  bool fits(const Board& board) const {
    return board.width == width_ && board.height == height_ && board.blank_goal == blank_goal_;
  }
  // Transposed boards have the same goal: what their tiles cost is a second bound on the board.
  bool reflects() const { return width_ == height_ && blank_goal_ / width_ == blank_goal_ % width_; }

  int patterns() const { return static_cast<int>(patterns_.size()); }
  const Pattern& operator[](int pattern) const { return patterns_[pattern]; }
  int pattern_of(int tile) const { return pattern_of_[tile]; }
  int label(int tile) const { return label_[tile]; }

 private:
  static constexpr std::uint8_t kNoPattern = 255;

  int width_, height_, blank_goal_;
  std::vector<Pattern> patterns_;
  std::array<std::uint8_t, kMaxCells> pattern_of_, label_;
};

// The greater of the sums for the board and for its transposed image, where that has the same goal. What the look-ups
// need is changed in place, move by move: to hand copies down the search costs 1.4 times its whole time.
template <class Shape, int Patterns, bool Reflected>
class PatternSum {
  static constexpr int kViews = Reflected ? 2 : 1;

  struct View {
    std::array<Mask, Patterns> masks;
    std::array<Rank, Patterns> ranks;
    std::array<std::uint8_t, Patterns> steps;
  };
  struct Lookup {
    const std::uint8_t* entry;
    Mask mask;
    Rank rank;
    std::uint8_t pattern, steps;
  };

 public:
  using Value = std::array<int, kViews>;  // the sums
  using Probe = std::array<Lookup, kViews>;
  using Picture = std::array<View, kViews>;

  PatternSum(const Board& board, const PatternTable& table) : shape_(board) {
    for (int pattern = 0; pattern < table.patterns(); ++pattern) {
      tables_[pattern] = {table[pattern].space.get(), table[pattern].entries};
    }
    patterns_ = table.patterns();
    for (int cell = 0; cell < board.size(); ++cell) {
      transposed_[cell] = static_cast<std::uint8_t>(shape_.column(cell) * shape_.height() + shape_.row(cell));
    }
    for (int tile = 0; tile < board.size(); ++tile) {
      for (int view = 0; view < kViews; ++view) {
        const int seen = view == 0 ? tile : transposed_[tile];
        pattern_of_[view][tile] = static_cast<std::uint8_t>(table.pattern_of(seen));
        label_[view][tile] = static_cast<std::uint8_t>(table.label(seen));
      }
    }
  }

  Value start(const Board& board) {
    Value value{};
    views_ = {};
    for (int view = 0; view < kViews; ++view) {
      auto& [masks, ranks, steps] = views_[view];
      std::array<std::vector<int>, Patterns> labels;
      for (int place = 0; place < board.size(); ++place) {  // transposing is its own inverse on a square
        const int cell = view == 0 ? place : transposed_[place], tile = board.cells[cell];
        if (tile == board.blank_goal) continue;
        const int pattern = pattern_of_[view][tile];
        masks[pattern] |= Mask{1} << place;
        labels[pattern].push_back(label_[view][tile]);
      }
      const int blank = view == 0 ? board.blank() : transposed_[board.blank()];
      for (int pattern = 0; pattern < patterns_; ++pattern) {
        const auto& [space, entries] = tables_[pattern];
        ranks[pattern] = space->rank(labels[pattern]);
        steps[pattern] = entries[space->first_entry(space->block(masks[pattern], blank)) + ranks[pattern]];
        value[view] += steps[pattern];
      }
    }
    return value;
  }

  template <int D>
  [[gnu::always_inline]] Probe probe(int tile, int from, int to) const {
    Probe probe;
    probe[0] = look_up<is_vertical(D)>(views_[0], pattern_of_[0][tile], from, to);
    if constexpr (Reflected) {
      probe[1] = look_up<!is_vertical(D)>(views_[1], pattern_of_[1][tile], transposed_[from], transposed_[to]);
    }
    return probe;
  }

  // Whether the board has at most `most` steps left by this bound; if so, `value` becomes the board's.
  [[gnu::always_inline]] bool within(int most, Value& value, Probe& probe) const {
    for (int view = 0; view < kViews; ++view) {
      Lookup& lookup = probe[view];
      lookup.steps = *lookup.entry;
      value[view] += lookup.steps - views_[view].steps[lookup.pattern];
      if (value[view] > most) return false;
    }
    return true;
  }

  // Makes the move, and takes it back when called again.
  [[gnu::always_inline]] void exchange(Probe& probe) {
    for (int view = 0; view < kViews; ++view) {
      auto& [entry, mask, rank, pattern, steps] = probe[view];
      std::swap(views_[view].masks[pattern], mask);
      std::swap(views_[view].ranks[pattern], rank);
      std::swap(views_[view].steps[pattern], steps);
    }
  }

  int steps(const Value& value) const { return *std::max_element(value.begin(), value.end()); }

  // The same one by one, for searches that keep whole boards.
  template <int D, class C>
  Value after(Value value, const C&, int tile, int from, int to) const {
    Probe probe = this->probe<D>(tile, from, to);
    within(kMaxDepth, value, probe);
    return value;
  }
  template <int D>
  void enter(int tile, int from, int to) {
    Probe probe = this->probe<D>(tile, from, to);
    Value value{};
    within(kMaxDepth, value, probe);
    exchange(probe);
  }
  template <int D>
  void fetch(int tile, int from, int to) const {
    probe<D>(tile, from, to);
  }
  Picture& picture() { return views_; }

 private:
  template <bool Vertical>
  [[gnu::always_inline]] Lookup look_up(const View& view, std::uint8_t pattern, int from, int to) const {
    const auto& [space, entries] = tables_[pattern];
    const Mask before = view.masks[pattern], after = before ^ Mask{1} << from ^ Mask{1} << to;
    Rank rank = view.ranks[pattern];
    if constexpr (Vertical) {
      rank = space->turned(std::popcount(before & ((Mask{1} << from) - 1)),
                           std::popcount(after & ((Mask{1} << to) - 1)))[rank];
    }
    const std::uint8_t* entry = entries + space->first_entry(space->block(after, from)) + rank;
    __builtin_prefetch(entry);
    return {entry, after, rank, pattern, 0};
  }

  struct Table {
    const PatternSpace* space;
    const std::uint8_t* entries;
  };

  [[no_unique_address]] Shape shape_;
  int patterns_;
  std::array<Table, Patterns> tables_{};
  Picture views_{};  // of the board that the search has come to
  std::array<std::array<std::uint8_t, kMaxCells>, kViews> pattern_of_{}, label_{};
  std::array<std::uint8_t, kMaxCells> transposed_{};
};

// Of any bytes: a word that differs changes the result, since every step maps one lane one to one.
inline std::uint64_t checksum(const std::uint8_t* bytes, std::uint64_t size) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  const auto mix = [](std::uint64_t lane, std::uint64_t word) { return std::rotl((lane ^ word) * kOdd, 29); };
  std::array<std::uint64_t, 8> lanes{1, 2, 3, 4, 5, 6, 7, 8}, words;
  for (std::uint64_t at = 0; at < size; at += sizeof words) {
    words.fill(0);
    std::memcpy(words.data(), bytes + at, std::min<std::uint64_t>(sizeof words, size - at));
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = mix(lanes[i], words[i]);
  }
  std::uint64_t sum = size;
  for (const std::uint64_t lane : lanes) sum = mix(sum, lane);
  return sum;
}

}  // namespace unjam::tiles
