// Klotski on up to 64 cells, as bitboards of anchors by class, under a dense key.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "klotski_board.hpp"

namespace unjam {

// Reading the board cell by cell and jumping over the cells that an earlier anchor's piece covers, a bit for each says
// whether it holds an anchor. The classes of the anchors follow in the same order, bit j of all of them in plane j:
//
//   . A A B      anchors  0 1 1 0 1       key: | reached | ... | plane 1 | plane 0 | anchors |
//   . C C B      classes    0 1   0       (two classes: A and C, B)
//
// The key of a board with one piece moved comes from its bitboards by one PEXT each. The top bit says that the goal is
// reached.
template <int Planes, int Words, bool Folded>
class KlotskiPlanes {
  using Wide = std::conditional_t<Words == 1, std::uint64_t, unsigned __int128>;

 public:
  using Key = std::conditional_t<Words == 1, std::uint64_t, std::array<std::uint64_t, 2>>;

  // `symbols` are the pieces and the empty cells.
  KlotskiPlanes(const KlotskiBoard& board, int symbols, const Fold* fold)
      : board_(board), metric_(board.metric), count_(board.count), symbols_(symbols), floor_(board.floor) {
    for (int klass = 0; klass < count_; ++klass) {
      start_[klass] = board.start[klass];
      pieces_ += std::popcount(board.start[klass]);
      static_cast<KlotskiClass&>(classes_[klass]) = board.classes[klass];
    }
    if constexpr (Folded) {
      for (int klass = 0; klass < count_; ++klass) {
        classes_[klass].image_class = static_cast<unsigned>(fold->klass[klass]);
        classes_[klass].image_tail = classes_[fold->klass[klass]].tail;
        classes_[klass].image_cell = fold->cell[klass];
      }
    }
  }

  Key start() { return encode(position_of(start_)); }
  std::size_t fanout() const { return board_.fanout; }
  bool is_goal(const Key& key) const { return top_word(key) >> 63; }

  template <class Sink>
  void expand(const Key& key, Mover last, Sink&& sink) {
    each_move(decode(key), last, [&](int, int, int, const Key& child, Mover mover) { sink(child, mover); });
  }

  // A folded chain may jump to the image of a position at any time: followed by the position itself.
  Moves moves(const std::vector<Key>& keys) {
    Moves moves;
    Anchors anchors = start_;
    for (std::size_t at = 1; at < keys.size(); ++at) {
      int moved = -1, from = 0, to = 0;
      each_move(position_of(anchors), kNobody, [&](int klass, int cell, int target, const Key& child, Mover) {
        if (moved >= 0 || child != keys[at]) return;
        moved = klass;
        from = cell;
        to = target;
      });
      if (moved < 0) return moves;
      anchors[moved] ^= one(from) | one(to);
      moves.emplace_back(from, to);
    }
    return moves;
  }

 private:
  using Anchors = std::array<std::uint64_t, 1 << Planes>;  // by class

  struct Class : KlotskiClass {
    unsigned image_class = 0;  // the class it is folded to
    std::uint64_t image_tail = 0;
    std::array<std::uint8_t, 64> image_cell{};
  };

  // What keys are made of, on the cells of the board.
  struct Bitboards {
    std::uint64_t anchors = 0, tails = 0;
    std::array<std::uint64_t, Planes> planes{};

    void put(unsigned klass, std::uint64_t cells) {
      anchors |= cells;
      for (int plane = 0; plane < Planes; ++plane) {
        if (klass >> plane & 1) planes[plane] |= cells;
      }
    }
  };

  struct Position {
    Anchors anchors{};
    Bitboards board;
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

  Position decode(const Key& key) const {
    Position position;
    const Wide bits = wide(key);
    std::array<std::uint64_t, Planes> planes;
    for (int plane = 0; plane < Planes; ++plane) planes[plane] = static_cast<std::uint64_t>(bits >> shift(plane));
    std::uint64_t uncovered = floor_;
    std::uint64_t anchors = static_cast<std::uint64_t>(bits);
    for (int piece = 0, passed = 0; piece < pieces_; ++piece, anchors &= anchors - 1) {
      const int at = std::countr_zero(anchors);
      const std::uint64_t anchor = spread_bits(one(at - passed), uncovered);
      passed = at + 1;
      unsigned klass = 0;
      for (int plane = 0; plane < Planes; ++plane) klass |= static_cast<unsigned>(planes[plane] >> piece & 1) << plane;
      const std::uint64_t covered = classes_[klass].shape << std::countr_zero(anchor);
      uncovered &= -anchor & ~covered;
      position.anchors[klass] |= anchor;
      position.board.anchors |= anchor;
      position.board.tails |= covered ^ anchor;
    }
    for (int plane = 0; plane < Planes; ++plane) {
      position.board.planes[plane] = spread_bits(planes[plane], position.board.anchors);
    }
    return position;
  }

  int shift(int plane) const { return symbols_ + plane * pieces_; }

  // Once a piece of the class has changed cells: of `change` it has left one for the other. `tails` are those after it.
  Wide pack(const Bitboards& board, unsigned klass, std::uint64_t change, std::uint64_t tails) const {
    const std::uint64_t anchors = board.anchors ^ change;
    Wide packed = extract_bits(anchors, floor_ & ~tails);
    for (int plane = 0; plane < Planes; ++plane) {
      const std::uint64_t bits = board.planes[plane] ^ (klass >> plane & 1 ? change : 0);
      packed |= static_cast<Wide>(extract_bits(bits, anchors)) << shift(plane);
    }
    return packed;
  }

  Position position_of(const Anchors& anchors) const {
    Position position{anchors, {}};
    for (int klass = 0; klass < count_; ++klass) {
      position.board.put(static_cast<unsigned>(klass), anchors[klass]);
      for (std::uint64_t rest = anchors[klass]; rest; rest &= rest - 1) {
        position.board.tails |= classes_[klass].tail << std::countr_zero(rest);
      }
    }
    return position;
  }

  Bitboards image_of(const Anchors& anchors) const {
    Bitboards board;
    for (int klass = 0; klass < count_; ++klass) {
      const Class& own = classes_[klass];
      std::uint64_t images = 0;
      for (std::uint64_t rest = anchors[klass]; rest; rest &= rest - 1) {
        const int cell = own.image_cell[std::countr_zero(rest)];
        images |= one(cell);
        board.tails |= own.image_tail << cell;
      }
      board.put(own.image_class, images);
    }
    return board;
  }

  int goals_missing(const Anchors& anchors) const {
    if (!board_.has_goal) return kNever;
    int missing = 0;
    for (int klass = 0; klass < count_; ++klass) missing += std::popcount(classes_[klass].goals & ~anchors[klass]);
    return missing;
  }

  static Wide reached(bool goal) { return static_cast<Wide>(goal) << (64 * Words - 1); }

  Key encode(const Position& position) const {
    Wide packed = pack(position.board, 0, 0, position.board.tails);
    if constexpr (Folded) {
      const Bitboards image = image_of(position.anchors);
      packed = std::min(packed, pack(image, 0, 0, image.tails));
    }
    return key_of(packed | reached(goals_missing(position.anchors) == 0));
  }

  // Who moved, as the cell of its anchor and the direction it went in.
  Mover mover_of(int from, int to) const {
    const bool along_row = to > from ? to - from < board_.width : from - to < board_.width;
    return mover(to, along_row ? (to > from ? kRight : kLeft) : (to > from ? kDown : kUp));
  }

  // Calls visit(class, from, to, key after the move, mover) for each move but those that the last mover could have made
  // at once.
  template <class Visit>
  void each_move(const Position& position, Mover last, Visit&& visit) {
    const Bitboards& board = position.board;
    Bitboards image;
    if constexpr (Folded) image = image_of(position.anchors);
    const std::uint64_t empty = floor_ & ~board.tails & ~board.anchors;
    const int missing = goals_missing(position.anchors);
    std::array<std::uint64_t, 4> allowed;
    allowed.fill(~std::uint64_t{0});
    if (last != kNobody) {
      for (int direction = 0; direction < 4; ++direction) {
        if (made_at_once(metric_, last % 4, direction)) allowed[direction] = ~one(last / 4);
      }
    }

    for (int klass = 0; klass < count_; ++klass) {
      const Class& own = classes_[klass];
      std::array<std::uint64_t, 4> ready;  // the pieces that can take a step, all of the class at once
      for (int direction = 0; direction < 4; ++direction) {
        ready[direction] = board_.ready(own, position.anchors[klass] & allowed[direction], empty, direction);
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
          Wide packed = pack(board, static_cast<unsigned>(klass), here ^ one(to), tails | own.tail << to);
          Mover mover = mover_of(from, to);
          if constexpr (Folded) {
            const int image_to = own.image_cell[to];
            const Wide folded = pack(image, own.image_class, one(image_from) ^ one(image_to),
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
  int count_;  // of classes
  int symbols_, pieces_ = 0;
  std::uint64_t floor_;
  std::array<Class, 1 << Planes> classes_;
  Anchors start_{};
};

}  // namespace unjam
