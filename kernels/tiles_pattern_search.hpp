// Fills the table of a pattern: breadth-first from the goal, over the pattern's cells, order and region of the blank.
//
// A step of a tile leads from the whole of one block to another, and every permutation goes the same way: the search
// streams through blocks and need not rank a state. A step of a tile to the side keeps their order: 64 states at once.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "control.hpp"
#include "memory.hpp"
#include "tiles_patterns.hpp"

namespace unjam::tiles {

// Two bits tell of each state whether it was reached and whether it was expanded. Depths go to the table alone, which may
// be compressed: of the states that share an entry the first has the least.
class PatternSearch {
 public:
  PatternSearch(const PatternSpace& table, std::uint8_t* entries, Meter& meter)
      : table_(table),
        entries_(entries),
        meter_(meter),
        states_(table.width(), table.cells() / table.width(), table.tiles(), false) {}

  // The reason when the meter says stop. It counts the entries that are done as expanded, the states as generated.
  const char* run(Mask goal, int blank) {
    words_ = (states_.permutations() + 63) / 64;
    const std::uint64_t bytes = std::uint64_t{states_.blocks()} * words_ * sizeof(Word);
    const Pages reached = Pages::zeroed(bytes, meter_), expanded = Pages::zeroed(bytes, meter_);
    if (!reached.data() || !expanded.data()) return "bytes";
    reached_ = static_cast<Word*>(reached.data());
    expanded_ = static_cast<Word*>(expanded.data());
    blocks_.resize(states_.blocks());
    for (const Mask mask : states_.masks()) {
      for (int cell = 0; cell < states_.cells(); ++cell) {
        if (!(mask >> cell & 1)) blocks_[states_.block(mask, cell)] = {mask, table_.block(mask, cell)};
      }
    }
    std::fill_n(entries_, table_.entries(), kUnreached);
    const char* reason = search(states_.block(goal, blank));
    if (!reason) meter_.poll(0);  // publishes the last count
    return reason;
  }

 private:
  using Word = std::uint64_t;
  static constexpr std::uint8_t kUnreached = 255;

  struct Block {
    Mask mask;
    std::uint32_t in_table;
  };

  const char* search(std::uint32_t home) {
    std::vector<std::uint8_t> active(states_.blocks()), next_active(states_.blocks());
    reached_[std::uint64_t{home} * words_] = 1;  // the labels of the tiles are in the order of their goals
    active[home] = 1;
    frontier_.resize(words_);
    ranks_.resize(states_.permutations());
    bool any = true;
    for (std::uint8_t depth = 0; any; ++depth) {
      any = false;
      for (std::uint32_t block = 0; block < states_.blocks(); ++block) {
        if (!active[block]) continue;
        active[block] = 0;
        if (!take_frontier(block, depth)) continue;
        any = true;
        expand(block, next_active);
        if (meter_.due()) {
          if (const char* reason = meter_.poll(depth)) return reason;
        }
      }
      active.swap(next_active);
    }
    return nullptr;
  }

  // What was reached in the last layer and not before.
  bool take_frontier(std::uint32_t block, std::uint8_t depth) {
    const Word* reached = reached_ + std::uint64_t{block} * words_;
    Word* expanded = expanded_ + std::uint64_t{block} * words_;
    std::uint8_t* entries = entries_ + table_.first_entry(blocks_[block].in_table);
    count_ = 0;
    for (std::uint32_t word = 0; word < words_; ++word) {
      frontier_[word] = reached[word] & ~expanded[word];
      expanded[word] = reached[word];
      for (Word rest = frontier_[word]; rest; rest &= rest - 1) {
        const std::uint32_t rank = word * 64 + static_cast<std::uint32_t>(std::countr_zero(rest));
        ranks_[count_++] = static_cast<Rank>(rank);
        meter_.expanded += entries[rank] == kUnreached;
        entries[rank] = std::min(entries[rank], depth);
      }
    }
    meter_.generated += count_;
    return count_ > 0;
  }

  // The tiles beside a free cell of the region step into it, and leave the blank behind.
  void expand(std::uint32_t block, std::vector<std::uint8_t>& next_active) {
    const int width = states_.width();
    const Mask mask = blocks_[block].mask;
    for (int to = 0; to < states_.cells(); ++to) {
      if (mask >> to & 1 || states_.block(mask, to) != block) continue;
      const int column = to % width;
      for (const int from : {to - width, column > 0 ? to - 1 : -1, column < width - 1 ? to + 1 : -1, to + width}) {
        if (from < 0 || from >= states_.cells() || !(mask >> from & 1)) continue;
        const Mask stepped = mask ^ Mask{1} << from ^ Mask{1} << to;
        const std::uint32_t next = states_.block(stepped, from);
        const int before = std::popcount(mask & ((Mask{1} << from) - 1));
        const int after = std::popcount(stepped & ((Mask{1} << to) - 1));
        reach(reached_ + std::uint64_t{next} * words_, before == after ? nullptr : states_.turned(before, after));
        next_active[next] = 1;
      }
    }
  }

  void reach(Word* reached, const Rank* turned) const {
    if (!turned) {
      for (std::uint32_t word = 0; word < words_; ++word) reached[word] |= frontier_[word];
      return;
    }
    for (std::uint32_t i = 0; i < count_; ++i) {
      const Rank rank = turned[ranks_[i]];
      reached[rank / 64] |= Word{1} << rank % 64;
    }
  }

  const PatternSpace& table_;
  std::uint8_t* entries_;
  Meter& meter_;
  PatternSpace states_;
  std::uint32_t words_ = 0, count_ = 0;
  Word *reached_ = nullptr, *expanded_ = nullptr;  // of each block as many words as hold its ranks
  std::vector<Block> blocks_;
  std::vector<Word> frontier_;  // of the block that is expanded: bits, and ranks
  std::vector<Rank> ranks_;
};

}  // namespace unjam::tiles
