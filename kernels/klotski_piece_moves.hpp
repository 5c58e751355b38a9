// Moves of one piece of a skeleton (klotski_skeletons.hpp), from a set of positions at once.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "klotski_board.hpp"
#include "klotski_fillings.hpp"

namespace unjam {

template <int Words>
class PieceMoves {
  using Set = FillingSet<Words>;

 public:
  PieceMoves(const KlotskiBoard& board, const Fillings<Words>& fillings) : board_(board), fillings_(fillings) {}

  // Calls visit(to, the positions from which the piece can move from one cell to the other).
  template <class Visit>
  void each(const KlotskiClass& own, int from, std::uint64_t free, const Set& positions, Visit&& visit) {
    const std::uint64_t covered = own.shape << from;
    const std::uint64_t fits = board_.places_in(own, free | covered);
    // The positions of the set in which the piece can be at the place.
    const auto with_room = [&](Set set, int place) {
      for (std::uint64_t cells = (own.shape << place) & ~covered; cells; cells &= cells - 1) {
        const std::uint64_t before = free & (one(std::countr_zero(cells)) - 1);
        set = both<Words>(set, fillings_.with_empty(std::popcount(before)));
      }
      return set;
    };
    if (board_.metric != Metric::path) {
      for (int direction = 0; direction < 4; ++direction) {
        Set set = positions;
        for (std::uint64_t at = one(from); (at = board_.stepped(own, at, direction) & fits);) {
          const int to = std::countr_zero(at);
          set = with_room(set, to);
          if (!any<Words>(set)) break;
          visit(to, set);
          if (board_.metric == Metric::step) break;
        }
      }
      return;
    }
    // By place, the positions from which the piece has a way there.
    reached_[from] = positions;
    std::uint64_t seen = one(from), open = seen;
    while (open) {
      const int at = std::countr_zero(open);
      open &= open - 1;
      for (int direction = 0; direction < 4; ++direction) {
        const std::uint64_t next = board_.stepped(own, one(at), direction) & fits;
        if (!next) continue;
        const int to = std::countr_zero(next);
        if (to == from) continue;
        const Set set = with_room(reached_[at], to);
        if (!(seen & next)) reached_[to] = {};
        Set& known = reached_[to];
        std::uint64_t more = 0;
        for (int word = 0; word < Words; ++word) {
          more |= set[word] & ~known[word];
          known[word] |= set[word];
        }
        if (!more) continue;
        seen |= next;
        open |= next;
      }
    }
    for (seen ^= one(from); seen; seen &= seen - 1) {
      visit(std::countr_zero(seen), reached_[std::countr_zero(seen)]);
    }
  }

 private:
  const KlotskiBoard& board_;
  const Fillings<Words>& fillings_;
  std::array<Set, 64> reached_;  // by place
};

}  // namespace unjam
