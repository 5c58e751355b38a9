// What a breadth-first search of rush looks up: for each line, where its cars can go past those that cross it.
#pragma once

#include <bit>
#include <type_traits>

#include "klotski_pieces.hpp"
#include "rush_lines.hpp"

namespace unjam {

// Boards of up to Side x Side cells, Side being 6 or 8. A state is a number of kBits bits a line, its arrangement:
//
//   | row 0 | row 1 | ... | column 0 | column 1 | ... |
//
// A set of children is kept in kWords words with a bit for each arrangement of each line that one move leads to.
template <int Side>
struct RushTables {
  static constexpr int kLines = 2 * Side;
  static constexpr int kBits = Side == 6 ? 3 : 4;
  static constexpr int kSlots = Side == 6 ? 6 : 15;         // the most arrangements of a line
  static constexpr int kLinesPerWord = Side == 6 ? 6 : 4;
  static constexpr int kWords = kLines / kLinesPerWord;      // the first half are rows
  static constexpr int kFanout = kLines * kSlots;
  static constexpr std::uint64_t kField = (1 << kBits) - 1;
  static constexpr std::uint64_t kLine = (1 << kSlots) - 1;  // all arrangements of a line

  using Some = std::conditional_t<Side == 6, std::uint8_t, std::uint16_t>;  // some arrangements of a line
  using Children = std::array<std::uint64_t, kWords>;
  template <class T>
  using Each = std::array<std::array<T, 1 << kBits>, kLines>;  // by line and arrangement

  // The cells covered, as the lines that cross this one see them: bit 8 * crossing line + this line.
  Each<std::uint64_t> cover{};
  // The arrangements that one move leads to, by the cells (bits) that crossing cars cover.
  Each<std::array<Some, 1 << Side>> to{};
  // By the arrangement before and after a move of one car: those that this car could as well have gone to, and the
  // crossing lines on its way.
  Each<std::array<Some, 1 << kBits>> same_car{};
  Each<std::array<std::uint8_t, 1 << kBits>> span{};
  // Places in a dense numbering of all combinations; a state's number is the sum.
  Each<std::uint32_t> number{};
  std::uint64_t combinations = 1;  // 2^32 and more: too many for such numbers
  std::uint64_t start = 0;

  static constexpr int line_index(int line) { return line < Side ? line : line - Side + kMaxSide; }
  static int arrangement(std::uint64_t state, int line) { return static_cast<int>(state >> line * kBits & kField); }

  RushTables(const CarLines& lines, Metric metric) {
    for (int line = 0; line < kLines; ++line) {
      const CarLine& cars = lines.line[line_index(line)];
      start |= static_cast<std::uint64_t>(cars.start) << line * kBits;
      for (int at = 0; at < cars.count; ++at) {
        for (std::uint32_t cells = cars.arrangement[at].cells; cells; cells &= cells - 1) {
          cover[line][at] |= std::uint64_t{1} << (8 * std::countr_zero(cells) + line % Side);
        }
        number[line][at] = static_cast<std::uint32_t>(at * combinations);
      }
      add_moves(cars, line, metric);
      combinations = std::min<std::uint64_t>(combinations * cars.count, std::uint64_t{1} << 32);
    }
  }

  bool fits() const { return combinations < std::uint64_t{1} << 32; }

 private:
  void add_moves(const CarLine& cars, int line, Metric metric) {
    for (int from = 0; from < cars.count; ++from) {
      std::array<Some, CarLine::kMaxCars> reach{};  // the arrangements where only this car stands elsewhere
      std::array<std::int8_t, kSlots> movers;
      for (int other = 0; other < cars.count; ++other) {
        movers[other] = static_cast<std::int8_t>(cars.mover(from, other));
        if (movers[other] >= 0) reach[movers[other]] |= static_cast<Some>(1 << other);
      }
      for (int other = 0; other < cars.count; ++other) {
        if (movers[other] < 0) continue;
        // Slides of one car in a row are one slide; a step back undoes a step.
        same_car[line][other][from] = metric == Metric::slide ? reach[movers[other]] : static_cast<Some>(1 << other);
        add_move(cars, line, from, other, movers[other], metric);
      }
    }
  }

  void add_move(const CarLine& cars, int line, int from, int other, int mover, Metric metric) {
    const int distance = cars.arrangement[other].first[mover] - cars.arrangement[from].first[mover];
    if (metric == Metric::step && distance != 1 && distance != -1) return;
    const std::uint32_t way = cars.span(mover, from, other);
    span[line][from][other] = static_cast<std::uint8_t>(way);
    const std::uint32_t swept = way & ~cars.arrangement[from].cells;
    const auto bit = static_cast<Some>(1 << other);
    for (std::uint32_t crossing = 0; crossing < 1u << Side; ++crossing) {
      to[line][from][crossing] |= crossing & swept ? Some{0} : bit;
    }
  }
};

}  // namespace unjam
