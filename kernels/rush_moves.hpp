// The moves of rush by way of tables: all of a state at once, as bits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "rush_search.hpp"
#include "rush_tables.hpp"

namespace unjam {

template <int Side>
class RushMoves {
 public:
  using Tables = RushTables<Side>;
  using Children = typename Tables::Children;

  RushMoves(const Layout& layout, const CarLines& lines, const Tables& tables, RushGoal goal)
      : layout_(layout), lines_(lines), tables_(tables) {
    for (int line = 0; line < Tables::kLines; ++line) {
      const CarLine& cars = lines.line[Tables::line_index(line)];
      for (int at = 0; at < cars.cars; ++at) {
        if (goal.cell < 0 || cars.car[at].piece != goal.primary) continue;
        for (int arrangement = 0; arrangement < cars.count; ++arrangement) {
          if (cell(line, cars.arrangement[arrangement].first[at]) != goal.cell) continue;
          goals_[line / Tables::kLinesPerWord] |= std::uint64_t{1} << slot(line, arrangement);
        }
      }
    }
  }

  // The primary's arrangements at its exit.
  const Children& goals() const { return goals_; }
  bool is_goal(std::uint64_t arrangements) const {
    bool is = false;
    for (int line = 0; line < Tables::kLines; ++line) {
      is |= goals_[line / Tables::kLinesPerWord] >> slot(line, Tables::arrangement(arrangements, line)) & 1;
    }
    return is;
  }

  // Every state that one move leads to.
  Children children_of(std::uint64_t arrangements) const {
    std::uint64_t covered_by_rows = 0, covered_by_columns = 0;
#pragma GCC unroll 16
    for (int line = 0; line < Side; ++line) {
      covered_by_rows |= tables_.cover[line][Tables::arrangement(arrangements, line)];
      covered_by_columns |= tables_.cover[Side + line][Tables::arrangement(arrangements, Side + line)];
    }
    Children children{};
#pragma GCC unroll 16
    for (int line = 0; line < Tables::kLines; ++line) {
      const std::uint64_t covered = line < Side ? covered_by_columns : covered_by_rows;
      const auto crossing = static_cast<std::uint8_t>(covered >> line % Side * 8);
      const std::uint64_t to = tables_.to[line][Tables::arrangement(arrangements, line)][crossing];
      children[line / Tables::kLinesPerWord] |= to << slot(line, 0);
    }
    return children;
  }

  // Calls visit(line, from, to) for each.
  template <class Visit>
  static void each(const Children& children, std::uint64_t arrangements, Visit&& visit) {
    for (int word = 0; word < Tables::kWords; ++word) {
      for (std::uint64_t bits = children[word]; bits; bits &= bits - 1) {
        const int at = std::countr_zero(bits);
        const int line = word * Tables::kLinesPerWord + at / Tables::kSlots;
        visit(line, Tables::arrangement(arrangements, line), at % Tables::kSlots);
      }
    }
  }
  static std::uint64_t moved(std::uint64_t arrangements, int line, int from, int to) {
    return arrangements ^ static_cast<std::uint64_t>(from ^ to) << line * Tables::kBits;
  }

  // Takes away children that are known or that another state of this depth leads to as well:
  //
  // - those of the car that moved last, for the parent leads there or came from there;
  // - those of a line before the line that moved last, in the order of line numbers, where the two moves can be
  //   exchanged: the lines are parallel, or the first move's way does not touch where they cross. Of the states before
  //   a state at its least depth, take one whose last move is in the last line: it is never left out there.
  //
  // The last move was in `line`.
  void leave_out_known(Children& children, int line, int before, int after) const {
    const int own_word = line / Tables::kLinesPerWord;
    const std::uint64_t same = static_cast<std::uint64_t>(tables_.same_car[line][before][after]) << slot(line, 0);
    const std::uint32_t touched = line < Side ? ~0u : tables_.span[line][before][after];
    for (int word = 0; word < Tables::kWords; ++word) {
      std::uint64_t keep = kKeep.from_line[line][word];
      if (word < Tables::kWords / 2) {
        keep &= kKeep.lines[touched >> word * Tables::kLinesPerWord & ((1 << Tables::kLinesPerWord) - 1)];
      }
      children[word] &= keep & ~(word == own_word ? same : 0);
    }
  }

  // What moved between two states, from where to where.
  std::pair<int, int> move(std::uint64_t parent, std::uint64_t state) const {
    const int line = changed(parent, state);
    const CarLine& cars = lines_.line[Tables::line_index(line)];
    const int before = Tables::arrangement(parent, line), after = Tables::arrangement(state, line);
    const int car = cars.mover(before, after);
    return {cell(line, cars.arrangement[before].first[car]), cell(line, cars.arrangement[after].first[car])};
  }
  // The line in which two states differ.
  static int changed(std::uint64_t parent, std::uint64_t state) {
    return std::countr_zero(parent ^ state) / Tables::kBits;
  }

  int cell(int line, int along) const {
    return line < Side ? line * layout_.width + along : along * layout_.width + line - Side;
  }

 private:
  // Where an arrangement's bit is within its line's word of Children.
  static constexpr int slot(int line, int arrangement) {
    return line % Tables::kLinesPerWord * Tables::kSlots + arrangement;
  }

  // Bits of Children.
  struct Keep {
    std::array<Children, Tables::kLines> from_line{};  // this line and those behind it; for a column, rows as well
    std::array<std::uint64_t, 1 << Tables::kLinesPerWord> lines{};  // by the lines of a word

    constexpr Keep() {
      for (int line = 0; line < Tables::kLines; ++line) {
        for (int other = 0; other < Tables::kLines; ++other) {
          const bool parallel = (line < Side) == (other < Side);
          if (parallel && other < line) continue;
          from_line[line][other / Tables::kLinesPerWord] |= Tables::kLine << slot(other, 0);
        }
      }
      for (std::size_t some = 0; some < lines.size(); ++some) {
        for (int line = 0; line < Tables::kLinesPerWord; ++line) {
          if (some >> line & 1) lines[some] |= Tables::kLine << slot(line, 0);
        }
      }
    }
  };
  static constexpr Keep kKeep{};

  const Layout& layout_;
  const CarLines& lines_;
  const Tables& tables_;
  Children goals_{};
};

}  // namespace unjam
