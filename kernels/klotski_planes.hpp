// Klotski on up to 64 cells, as bitboards of anchors by class, under a dense key taken from bit planes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "klotski_board.hpp"

namespace unjam {

// Reading the board cell by cell and jumping over the cells that an earlier anchor's piece covers, each symbol is 0 for
// an empty cell or 1 + class for an anchor. Bit j of all symbols makes plane j, and the planes make the key:
//
//   . A A B      symbols  0 1 2 0 2       key: | reached | ... | plane 1 | plane 0 |
//   . C C B      (two classes: A, C and B)
//
// The symbols of a board with one piece moved come from its planes by one PEXT each, the mask being all cells that are
// not covered by the tail (all but the anchor) of a piece. The top bit says that the goal is reached.
template <int Planes, int Words, bool Folded>
class KlotskiPlanes {
  using Wide = std::conditional_t<Words == 1, std::uint64_t, unsigned __int128>;

 public:
  using Key = std::conditional_t<Words == 1, std::uint64_t, std::array<std::uint64_t, 2>>;

  KlotskiPlanes(const KlotskiBoard& board, int symbols, const Fold* fold)
      : board_(board), metric_(board.metric), count_(board.count), symbols_(symbols), floor_(board.floor) {
    for (int klass = 0; klass < count_; ++klass) {
      start_.anchors[klass] = board.start[klass];
      static_cast<KlotskiClass&>(classes_[klass]) = board.classes[klass];
    }
    if constexpr (Folded) {
      for (int klass = 0; klass < count_; ++klass) {
        classes_[klass].image_code = static_cast<unsigned>(fold->klass[klass] + 1);
        classes_[klass].image_tail = classes_[fold->klass[klass]].tail;
        classes_[klass].image_cell = fold->cell[klass];
      }
    }
  }

  Key start() { return encode(start_); }
  std::size_t fanout() const { return board_.fanout; }
  bool is_goal(const Key& key) const { return top_word(key) >> 63; }

  template <class Sink>
  void expand(const Key& key, Mover last, Sink&& sink) {
    const State state = decode(key);
    each_move(state, last, [&](int, int, int, const Key& child, Mover mover) { sink(child, mover); });
  }

  // A folded chain may jump to the image of a position at any time: followed by the position itself.
  Moves moves(const std::vector<Key>& keys) {
    Moves moves;
    State state = start_;
    for (std::size_t at = 1; at < keys.size(); ++at) {
      int moved = -1, from = 0, to = 0;
      each_move(state, kNobody, [&](int klass, int cell, int target, const Key& child, Mover) {
        if (moved >= 0 || child != keys[at]) return;
        moved = klass;
        from = cell;
        to = target;
      });
      if (moved < 0) return moves;
      state.anchors[moved] ^= one(from) | one(to);
      moves.emplace_back(from, to);
    }
    return moves;
  }

 private:
  static constexpr int kClasses = (1 << Planes) - 1;

  struct State {
    std::array<std::uint64_t, kClasses> anchors;
  };

  struct Class : KlotskiClass {
    unsigned image_code = 0;  // 1 + the class it is folded to
    std::uint64_t image_tail = 0;
    std::array<std::uint8_t, 64> image_cell{};
  };

  static std::uint64_t top_word(const Key& key) {
    if constexpr (Words == 1) {
      return key;
    } else {
      return key[1];
    }
  }
  static Wide wide(const Key& key) {
    if constexpr (Words == 1) {
      return key;
    } else {
      return static_cast<Wide>(key[1]) << 64 | key[0];
    }
  }
  static Key key_of(Wide wide) {
    if constexpr (Words == 1) {
      return wide;
    } else {
      return {static_cast<std::uint64_t>(wide), static_cast<std::uint64_t>(wide >> 64)};
    }
  }

  State decode(const Key& key) const {
    State state{};
    std::array<std::uint64_t, Planes> planes;
    for (int plane = 0; plane < Planes; ++plane) planes[plane] = static_cast<std::uint64_t>(wide(key) >> (plane * symbols_));
    std::uint64_t covered = ~floor_;
    for (int at = 0; at < symbols_; ++at) {
      const int cell = std::countr_one(covered);
      unsigned symbol = 0;
      for (int plane = 0; plane < Planes; ++plane) symbol |= static_cast<unsigned>(planes[plane] >> at & 1) << plane;
      covered |= one(cell);
      if (symbol == 0) continue;
      state.anchors[symbol - 1] |= one(cell);
      covered |= classes_[symbol - 1].tail << cell;
    }
    return state;
  }

  struct Board {
    std::array<std::uint64_t, Planes> planes{};
    std::uint64_t tails = 0;

    void put(unsigned code, std::uint64_t anchors) {
      for (int plane = 0; plane < Planes; ++plane) {
        if (code >> plane & 1) planes[plane] |= anchors;
      }
    }
  };

  // The symbols once the piece of this code has gone from one cell to the other; `tails` are those after the move.
  Wide pack(const Board& board, unsigned code, std::uint64_t change, std::uint64_t tails) const {
    const std::uint64_t mask = floor_ & ~tails;
    Wide packed = 0;
    for (int plane = 0; plane < Planes; ++plane) {
      const std::uint64_t bits = board.planes[plane] ^ (code >> plane & 1 ? change : 0);
      packed |= static_cast<Wide>(extract_bits(bits, mask)) << (plane * symbols_);
    }
    return packed;
  }

  Board board_of(const State& state) const {
    Board board;
    for (int klass = 0; klass < count_; ++klass) {
      const std::uint64_t anchors = state.anchors[klass];
      board.put(static_cast<unsigned>(klass + 1), anchors);
      for (std::uint64_t rest = anchors; rest; rest &= rest - 1) {
        board.tails |= classes_[klass].tail << std::countr_zero(rest);
      }
    }
    return board;
  }

  Board image_of(const State& state) const {
    Board board;
    for (int klass = 0; klass < count_; ++klass) {
      const Class& own = classes_[klass];
      std::uint64_t images = 0;
      for (std::uint64_t rest = state.anchors[klass]; rest; rest &= rest - 1) {
        const int cell = own.image_cell[std::countr_zero(rest)];
        images |= one(cell);
        board.tails |= own.image_tail << cell;
      }
      board.put(own.image_code, images);
    }
    return board;
  }

  int goals_missing(const State& state) const {
    if (!board_.has_goal) return kNever;
    int missing = 0;
    for (int klass = 0; klass < count_; ++klass) missing += std::popcount(classes_[klass].goals & ~state.anchors[klass]);
    return missing;
  }

  static Wide reached(bool goal) { return static_cast<Wide>(goal) << (64 * Words - 1); }

  Key encode(const State& state) const {
    const Board board = board_of(state);
    Wide packed = pack(board, 0, 0, board.tails);
    if constexpr (Folded) {
      const Board image = image_of(state);
      packed = std::min(packed, pack(image, 0, 0, image.tails));
    }
    return key_of(packed | reached(goals_missing(state) == 0));
  }

  // Who moved, as the cell of its anchor and the direction it went in.
  Mover mover_of(int from, int to) const {
    const bool along_row = to > from ? to - from < board_.width : from - to < board_.width;
    return mover(to, along_row ? (to > from ? kRight : kLeft) : (to > from ? kDown : kUp));
  }

  // Calls visit(class, from, to, key after the move, mover) for each move but those that the last mover could have made
  // at once.
  template <class Visit>
  void each_move(const State& state, Mover last, Visit&& visit) {
    const Board board = board_of(state);
    Board image;
    if constexpr (Folded) image = image_of(state);
    std::uint64_t empty = floor_ & ~board.tails;
    for (int klass = 0; klass < count_; ++klass) empty &= ~state.anchors[klass];
    const int missing = goals_missing(state);
    std::array<std::uint64_t, 4> allowed;
    allowed.fill(~std::uint64_t{0});
    if (last != kNobody) {
      for (int direction = 0; direction < 4; ++direction) {
        if (made_at_once(metric_, last % 4, direction)) allowed[direction] = ~one(last / 4);
      }
    }

    for (int klass = 0; klass < count_; ++klass) {
      const Class& own = classes_[klass];
      const unsigned code = static_cast<unsigned>(klass + 1);
      std::array<std::uint64_t, 4> ready;  // the pieces that can take a step, all of the class at once
      for (int direction = 0; direction < 4; ++direction) {
        ready[direction] = board_.ready(own, state.anchors[klass] & allowed[direction], empty, direction);
      }
      for (std::uint64_t rest = ready[0] | ready[1] | ready[2] | ready[3]; rest; rest &= rest - 1) {
        const int from = std::countr_zero(rest);
        const std::uint64_t here = one(from);
        std::uint64_t targets = metric_ == Metric::step ? steps(here, own, ready) : reach(own, here, from, empty, ready);
        const std::uint64_t tails = board.tails ^ own.tail << from;
        const int still_missing = missing + static_cast<int>((own.goals & here) != 0);
        const int image_from = own.image_cell[from];
        const std::uint64_t image_tails = image.tails ^ own.image_tail << image_from;
        for (; targets; targets &= targets - 1) {
          const int to = std::countr_zero(targets);
          Wide packed = pack(board, code, here ^ one(to), tails | own.tail << to);
          Mover mover = mover_of(from, to);
          if constexpr (Folded) {
            const int image_to = own.image_cell[to];
            const Wide folded = pack(image, own.image_code, one(image_from) ^ one(image_to),
                                     image_tails | own.image_tail << image_to);
            if (folded < packed) {
              packed = folded;
              mover = mover_of(image_from, image_to);
            }
          }
          const bool goal = still_missing == static_cast<int>(own.goals >> to & 1);
          visit(klass, from, to, key_of(packed | reached(goal)), mover);
        }
      }
    }
  }

  std::uint64_t steps(std::uint64_t here, const Class& own, const std::array<std::uint64_t, 4>& ready) const {
    std::uint64_t targets = 0;
    for (int direction = 0; direction < 4; ++direction) targets |= board_.stepped(own, here & ready[direction], direction);
    return targets;
  }

  // All places of one slide along the directions that are ready, or one path, from here.
  std::uint64_t reach(const Class& own, std::uint64_t here, int from, std::uint64_t empty,
                      const std::array<std::uint64_t, 4>& ready) const {
    if (metric_ == Metric::path) return board_.reach(own, from, empty);
    const std::uint64_t fits = KlotskiBoard::places_in(own, empty | own.shape << from);
    std::uint64_t reached = 0;
    for (int direction = 0; direction < 4; ++direction) {
      for (std::uint64_t at = here & ready[direction]; (at = board_.stepped(own, at, direction) & fits);) reached |= at;
    }
    return reached;
  }

  static constexpr int kNever = 1 << 20;

  const KlotskiBoard& board_;
  Metric metric_;
  int count_, symbols_;
  std::uint64_t floor_;
  std::array<Class, kClasses> classes_;
  State start_{};
};

}  // namespace unjam
