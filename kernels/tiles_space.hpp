// Whole boards as keys, for breadth-first search and A* (bfs.hpp says what a Space is).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "control.hpp"
#include "tiles_board.hpp"

namespace unjam::tiles {

// A lower bound on the moves left. A call through a pointer is nothing beside working it out from the whole board.
using Bound = std::function<int(const Board&)>;

// Words: 64-bit words of a key; up to 16 cells take 4 bits each, up to 32 take 5, and 36 take 6.
template <int Words>
class TilesSpace {
 public:
  using Key = std::conditional_t<Words == 1, std::uint64_t, std::array<std::uint64_t, Words>>;

  TilesSpace(const Board& board, bool slides, Bound bound)
      : board_(board), slides_(slides), bound_(std::move(bound)), bits_(bits_of_cell(board.size())) {
    Cells goal{};
    for (int cell = 0; cell < board.size(); ++cell) goal[cell] = static_cast<std::uint8_t>(cell);
    goal_ = pack(goal);
  }

  static int bits_of_cell(int size) { return size <= 16 ? 4 : size <= 32 ? 5 : 6; }

  Key start() const { return pack(board_.cells); }
  const Key& goal() const { return goal_; }
  bool is_goal(const Key& key) const { return key == goal_; }
  std::size_t fanout() const { return static_cast<std::size_t>(slides_ ? board_.width + board_.height - 2 : 4); }

  template <class Sink>
  void expand(const Key& key, Mover, Sink&& sink) const {
    const Cells cells = unpack(key);
    const int width = board_.width, blank = find_blank(cells);
    const int row = blank / width, column = blank % width;
    push(cells, blank, -width, row, sink);
    push(cells, blank, -1, column, sink);
    push(cells, blank, 1, width - 1 - column, sink);
    push(cells, blank, width, board_.height - 1 - row, sink);
  }

  Moves moves(const std::vector<Key>& keys) const {
    std::vector<int> visited;
    for (const Key& key : keys) visited.push_back(find_blank(unpack(key)));
    return board_.moves(visited);
  }

  int heuristic(const Key& key) const {
    Board board = board_;
    board.cells = unpack(key);
    return bound_(board);
  }

 private:
  // Pushes up to `longest` tiles, one after the other, from the side where the blank goes.
  template <class Sink>
  void push(Cells cells, int blank, int offset, int longest, Sink& sink) const {
    for (int length = 1; length <= (slides_ ? longest : std::min(longest, 1)); ++length) {
      std::swap(cells[blank], cells[blank + offset]);
      blank += offset;
      sink(pack(cells), kNobody);
    }
  }

  int find_blank(const Cells& cells) const {
    int cell = 0;
    while (cells[cell] != board_.blank_goal) ++cell;
    return cell;
  }

  Key pack(const Cells& cells) const {
    std::array<std::uint64_t, Words> words{};
    int word = 0, shift = 0;
    for (int cell = 0; cell < board_.size(); ++cell) {
      words[word] |= std::uint64_t{cells[cell]} << shift;
      if ((shift += bits_) < 64) continue;
      shift -= 64;
      if (++word < Words) words[word] |= std::uint64_t{cells[cell]} >> (bits_ - shift);
    }
    if constexpr (Words == 1) {
      return words[0];
    } else {
      return words;
    }
  }

  Cells unpack(const Key& key) const {
    std::array<std::uint64_t, Words> words;
    if constexpr (Words == 1) {
      words[0] = key;
    } else {
      words = key;
    }
    Cells cells{};
    int word = 0, shift = 0;
    for (int cell = 0; cell < board_.size(); ++cell) {
      std::uint64_t value = words[word] >> shift;
      if ((shift += bits_) >= 64) {
        shift -= 64;
        if (++word < Words && shift > 0) value |= words[word] << (bits_ - shift);
      }
      cells[cell] = static_cast<std::uint8_t>(value & ((1u << bits_) - 1));
    }
    return cells;
  }

  Board board_;
  bool slides_;
  Bound bound_;
  int bits_;
  Key goal_;
};

}  // namespace unjam::tiles
