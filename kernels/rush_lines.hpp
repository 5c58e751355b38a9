// A board of cars line by line: the cars of a row or column, and every way in which they can stand there.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "layout.hpp"

namespace unjam {

inline constexpr int kMaxSide = 8;

// The cars of one line, in the order in which they stand, which never changes; nor do they pass walls. An arrangement
// says where all of them are. Cells are counted along the line.
struct CarLine {
  static constexpr int kMaxCars = kMaxSide / 2;
  static constexpr int kMaxArrangements = 15;  // two cars of two cells in eight

  struct Car {
    int piece, length, first;
  };
  struct Arrangement {
    std::array<std::uint8_t, kMaxCars> first{};  // cell of each car
    std::uint32_t cells = 0;                     // all that are covered, as bits
  };

  int cars = 0;
  int count = 1;  // of arrangements; a line without cars has one
  int start = 0;
  std::uint32_t walls = 0;  // and the cells beyond the end
  std::array<Car, kMaxCars> car;
  std::array<Arrangement, kMaxArrangements> arrangement;

  void arrange() {
    std::sort(car.begin(), car.begin() + cars, [](const Car& one, const Car& other) { return one.first < other.first; });
    count = 0;
    arrange(0, 0, {});
  }

  // The one car that stands elsewhere in the other arrangement; -1 if there are several.
  int mover(int from, int to) const {
    int mover = -1;
    for (int at = 0; at < cars; ++at) {
      if (arrangement[from].first[at] == arrangement[to].first[at]) continue;
      if (mover >= 0) return -1;
      mover = at;
    }
    return mover;
  }

  // The cells that a car covers on its way between two arrangements, both ends included.
  std::uint32_t span(int mover, int from, int to) const {
    const int one = arrangement[from].first[mover], other = arrangement[to].first[mover];
    return (1u << (std::max(one, other) + car[mover].length)) - (1u << std::min(one, other));
  }

 private:
  // Adds every arrangement of the cars from `at` on, which stand at `free` or behind it.
  void arrange(int at, int free, Arrangement partial) {
    if (at == cars) {
      bool is_start = true;
      for (int other = 0; other < cars; ++other) is_start &= partial.first[other] == car[other].first;
      if (is_start) start = count;
      arrangement[count++] = partial;
      return;
    }
    const int length = car[at].length;
    int low = car[at].first, high = car[at].first;
    while (low > 0 && !(walls >> (low - 1) & 1)) --low;
    while (high + length < kMaxSide && !(walls >> (high + length) & 1)) ++high;
    for (int first = std::max(low, free); first <= high; ++first) {
      Arrangement next = partial;
      next.first[at] = static_cast<std::uint8_t>(first);
      next.cells |= ((1u << length) - 1) << first;
      arrange(at + 1, first + length, next);
    }
  }
};

// Rows from 0, columns from kMaxSide on.
struct CarLines {
  std::array<CarLine, 2 * kMaxSide> line;

  // Nothing when the board is too large.
  static std::optional<CarLines> of(const Layout& layout) {
    if (layout.width > kMaxSide || layout.height > kMaxSide) return std::nullopt;
    CarLines lines;
    for (int row = 0; row < kMaxSide; ++row) {
      for (int column = 0; column < kMaxSide; ++column) {
        const bool inside = row < layout.height && column < layout.width;
        if (inside && !(layout.walls & bit(row * layout.width + column))) continue;
        lines.line[row].walls |= 1u << column;
        lines.line[kMaxSide + column].walls |= 1u << row;
      }
    }
    for (int piece = 0; piece < layout.count(); ++piece) {
      const Axis axis = axis_of(layout, piece);
      const auto& cells = layout.pieces[piece];
      const int row = cells[0] / layout.width, column = cells[0] % layout.width;
      const bool across = axis == Axis::horizontal;
      CarLine& line = lines.line[across ? row : kMaxSide + column];
      line.car[line.cars++] = {piece, static_cast<int>(cells.size()), across ? column : row};
    }
    for (CarLine& line : lines.line) line.arrange();
    return lines;
  }
};

}  // namespace unjam
