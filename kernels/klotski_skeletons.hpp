// Breadth-first search of klotski over skeletons: many positions at once, in two bits each and a few for the frontier.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "chunked_array.hpp"
#include "hash_set.hpp"
#include "klotski_board.hpp"
#include "klotski_fillings.hpp"
#include "klotski_skeleton_keys.hpp"

namespace unjam {

// One class of single-cell pieces, the largest, is left out of the key; what is left of a position is its skeleton:
//
//   . A A B          . A A B      free cells in order: a, b, c, d; the singles lie on b and c
//   s A A B    ->    . A A B      fillings: the six ways to leave two of them empty
//   s . C C          . . C C
//
// A skeleton holds one bit a filling for each thing there is to know, so that whole sets of positions take the same step by
// a few operations on words: the fillings that let piece C move left are those with d... empty. The skeleton it leads
// to is looked up once for all of them. As each move can be undone, the neighbours of a position lie within one layer
// of it: its layer modulo 3 is enough to walk back from the goal.
//
// Of two skeletons that the symmetry carries into each other the one with the lower key is kept, and within a skeleton
// that is its own image of two such fillings the lower one.
template <int Words>
class KlotskiSkeletons {
  using Set = FillingSet<Words>;
  using Key = SkeletonKeys::Key;
  using Laid = SkeletonKeys::Laid;
  using Named = SkeletonKeys::Named;
  using Anchors = KlotskiBoard::Anchors;

 public:
  KlotskiSkeletons(const KlotskiBoard& board, int singles, const FillingSize& size, int symbols, const Fold* fold,
                   Meter& meter)
      : board_(board),
        singles_(singles),
        keys_(board, singles, symbols, fold),
        fold_(fold),
        fillings_(size),
        meter_(meter),
        index_(meter),
        skeletons_(meter),
        active_{ChunkedArray<std::uint32_t>(meter), ChunkedArray<std::uint32_t>(meter)},
        arrivals_(std::make_unique_for_overwrite<Arrival[]>(kArrivals)) {
    for (int cell = 0; cell < 64; ++cell) {
      for (int direction = 0; direction < 4; ++direction) {
        beside_[cell] |= board.stepped(board.classes[singles], one(cell), direction);
      }
    }
  }

  Result run() {
    const char* stop = search();
    Result result;
    if (goal_) {
      result.outcome = "optimal";
      result.length = result.lower = result.upper = static_cast<int>(depth_);
      result.moves = moves();
    } else if (stop) {
      result.outcome = "bounded";
      result.reason = stop;
      result.lower = static_cast<int>(depth_);
    } else {
      result.outcome = "unsolvable";
    }
    result.expanded = meter_.expanded;
    result.generated = meter_.generated;
    result.peak_bytes = meter_.peak_bytes();
    result.profile = layers_;
    if (!result.profile.empty() && result.profile.back() == 0) result.profile.pop_back();
    for (const std::uint64_t layer : layers_) result.peak_states += layer;
    return result;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kArrivals = 64;

  struct Skeleton {
    Key key;
    std::uint32_t self_image;     // a filling and its image are one
    std::uint32_t goal;           // its pieces are where the goal wants them
    Set low, high;                // the layer modulo 3, plus 1; 0 where nobody has been
    std::array<Set, 2> frontier;  // of even and of odd layers
  };

  // Positions of one skeleton that one piece's move leads to.
  struct Arrival {
    Key key;
    std::uint64_t hash;
    bool self_image, goal;
    Set fillings;
  };

  struct Position {
    Anchors anchors{};
    std::uint64_t empty = 0;
  };

  // Returns why it stopped early, or nullptr.
  const char* search() {
    if (!add_start()) return "bytes";
    while (!goal_ && active_[depth_ % 2].size()) {
      auto& active = active_[depth_ % 2];
      ++depth_;
      layers_.push_back(0);
      for (std::uint64_t at = 0; at < active.size(); ++at) {
        const std::uint32_t from = active[at];
        Set frontier{};
        std::swap(frontier, skeletons_[from].frontier[(depth_ - 1) % 2]);
        while (any<Words>(frontier)) {
          const Set part = within_nodes(frontier);
          if (!any<Words>(part)) return "nodes";
          expand(from, part);
          if (full_) return "bytes";
          if (meter_.due()) {
            flush();
            if (goal_) return nullptr;
            if (const char* stop = full_ ? "bytes" : meter_.poll(depth_)) return stop;
          }
        }
      }
      flush();
      if (full_) return "bytes";
      active.clear();
    }
    return nullptr;
  }

  bool add_start() {
    Position position{board_.start, 0};
    layers_.push_back(0);
    const Laid laid = keys_.lay(position.anchors);
    position.empty = laid.free & ~board_.start[singles_];
    const Named name = keys_.name(laid);
    const std::uint32_t at = add(name.key, hash_of(name.key), name.self_image, laid.missing == 0);
    if (at == kNone) return false;
    mark(at, single(filling_of(position, laid.free, name)));
    return !full_;
  }

  static Set single(int filling) {
    Set set{};
    insert<Words>(set, filling);
    return set;
  }

  // As many of the positions as the node budget surely allows, and takes them out of the frontier.
  Set within_nodes(Set& frontier) {
    const std::uint64_t left = meter_.nodes_left() / board_.fanout;
    Set part{};
    if (static_cast<std::uint64_t>(64 * Words) <= left) {
      std::swap(part, frontier);
      return part;
    }
    std::uint64_t taken = 0;
    each_filling<Words>(frontier, [&](int filling) {
      if (taken++ < left) insert<Words>(part, filling);
    });
    for (int word = 0; word < Words; ++word) frontier[word] ^= part[word];
    return part;
  }

  int filling_of(const Position& position, std::uint64_t free, const Named& name) const {
    if (!name.mirrored && !name.self_image) return fillings_.number(extract_bits(position.empty, free));
    const int image = fillings_.number(extract_bits(keys_.image_of_cells(position.empty), keys_.image_of_cells(free)));
    if (name.mirrored) return image;
    return std::min(image, fillings_.number(extract_bits(position.empty, free)));
  }

  // --- moves ---

  void expand(std::uint32_t from, const Set& positions) {
    const Skeleton& skeleton = skeletons_[from];
    const Laid laid = keys_.lay(keys_.decode(skeleton.key));
    move_singles(from, skeleton.self_image, laid, positions);
    for (int klass = 0; klass < board_.count; ++klass) {
      if (klass == singles_) continue;
      const KlotskiClass& own = board_.classes[klass];
      std::uint64_t ready = 0;
      for (int direction = 0; direction < 4; ++direction) {
        ready |= board_.ready(own, laid.anchors[klass], laid.free, direction);
      }
      for (; ready; ready &= ready - 1) move_piece(laid, klass, std::countr_zero(ready), positions);
    }
    meter_.expanded += static_cast<std::uint64_t>(size_of<Words>(positions));
  }

  // All moves of one piece, from all positions at once.
  void move_piece(const Laid& laid, int klass, int from, const Set& positions) {
    const KlotskiClass& own = board_.classes[klass];
    const std::uint64_t covered = own.shape << from;
    const std::uint64_t fits = board_.places_in(own, laid.free | covered);
    // The positions of the set in which the piece can be at the place.
    const auto with_room = [&](Set set, int place) {
      for (std::uint64_t cells = (own.shape << place) & ~covered; cells; cells &= cells - 1) {
        const std::uint64_t before = laid.free & (one(std::countr_zero(cells)) - 1);
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
          arrive(laid, klass, from, to, set);
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
      arrive(laid, klass, from, std::countr_zero(seen), reached_[std::countr_zero(seen)]);
    }
  }

  void arrive(const Laid& laid, int klass, int from, int to, const Set& positions) {
    if (waiting_ == kArrivals) flush();
    const KlotskiClass& own = board_.classes[klass];
    const Named name = keys_.name_after(laid, klass, from, to);
    Arrival& arrival = arrivals_[waiting_++];
    arrival.key = name.key;
    arrival.hash = hash_of(arrival.key);
    index_.prefetch(arrival.hash);
    arrival.self_image = name.self_image;
    arrival.goal = laid.missing + static_cast<int>(own.goals >> from & 1) == static_cast<int>(own.goals >> to & 1);
    arrival.fillings = {};
    const std::uint64_t before = own.shape << from, after = own.shape << to;
    const std::uint64_t free = (laid.free | before) & ~after;
    const auto each = [&](auto&& number) {
      each_filling<Words>(positions, [&](int filling) {
        const std::uint64_t empty = (spread_bits(fillings_.mask(filling), laid.free) | before) & ~after;
        insert<Words>(arrival.fillings, number(empty));
        ++meter_.generated;
      });
    };
    if (!name.mirrored && !name.self_image) {
      each([&](std::uint64_t empty) { return fillings_.number(extract_bits(empty, free)); });
    } else {
      const std::uint64_t image = keys_.image_of_cells(free);
      each([&](std::uint64_t empty) {
        const int folded = fillings_.number(extract_bits(keys_.image_of_cells(empty), image));
        return name.mirrored ? folded : std::min(folded, fillings_.number(extract_bits(empty, free)));
      });
    }
  }

  // Singles stay in their skeleton.
  void move_singles(std::uint32_t from, bool self_image, const Laid& laid, const Set& positions) {
    const std::uint64_t places = board_.classes[singles_].places & laid.free;
    const auto packed_places = static_cast<std::uint32_t>(extract_bits(places, laid.free));
    std::array<std::uint32_t, FillingSize::kMostCells> beside;
    int at = 0;
    for (std::uint64_t rest = laid.free; rest; rest &= rest - 1, ++at) {
      const std::uint64_t cells = beside_[std::countr_zero(rest)] & laid.free;
      beside[at] = static_cast<std::uint32_t>(extract_bits(cells, laid.free));
    }
    Set children{};
    each_filling<Words>(positions, [&](int filling) {
      const std::uint32_t mask = fillings_.mask(filling);
      const std::uint32_t empty = mask & packed_places;
      const auto exchange = [&](std::uint32_t single, std::uint32_t hole) {
        ++meter_.generated;
        insert<Words>(children, fillings_.number(mask ^ single ^ hole));
      };
      if (board_.metric == Metric::path) {
        for (std::uint32_t rest = empty; rest;) {
          std::uint32_t hole = rest & -rest, edge = 0;
          for (std::uint32_t open = hole; open;) {
            const std::uint32_t near = beside[std::countr_zero(open)];
            edge |= near & ~empty;
            open = (open & (open - 1)) | (near & empty & ~hole);
            hole |= near & empty;
          }
          rest &= ~hole;
          for (; edge; edge &= edge - 1) {
            for (std::uint32_t holes = hole; holes; holes &= holes - 1) exchange(edge & -edge, holes & -holes);
          }
        }
      } else if (board_.metric == Metric::step) {
        for (std::uint32_t rest = empty; rest; rest &= rest - 1) {
          const std::uint32_t near = beside[std::countr_zero(rest)] & ~empty;
          for (std::uint32_t edge = near; edge; edge &= edge - 1) exchange(edge & -edge, rest & -rest);
        }
      } else {
        slide_singles(laid.free, spread_bits(empty, laid.free), [&](std::uint64_t single, std::uint64_t hole) {
          exchange(static_cast<std::uint32_t>(extract_bits(single, laid.free)),
                   static_cast<std::uint32_t>(extract_bits(hole, laid.free)));
        });
      }
    });
    if (self_image) children = folded(children, laid.free);
    mark(from, children);
  }

  template <class Exchange>
  void slide_singles(std::uint64_t free, std::uint64_t empty, Exchange&& exchange) const {
    const KlotskiClass& own = board_.classes[singles_];
    for (int direction = 0; direction < 4; ++direction) {
      std::uint64_t ready = board_.ready(own, free & own.places & ~empty, empty, direction);
      for (; ready; ready &= ready - 1) {
        const std::uint64_t single = ready & -ready;
        for (std::uint64_t at = single; (at = board_.stepped(own, at, direction) & empty);) exchange(single, at);
      }
    }
  }

  // In a skeleton that is its own image: each filling, or its image if that has the lower number.
  Set folded(const Set& set, std::uint64_t free) const {
    Set lower{};
    each_filling<Words>(set, [&](int filling) {
      const std::uint64_t empty = spread_bits(fillings_.mask(filling), free);
      insert<Words>(lower, std::min(filling, fillings_.number(extract_bits(keys_.image_of_cells(empty), free))));
    });
    return lower;
  }

  // --- what is known ---

  void flush() {
    std::array<std::uint32_t, kArrivals> at;
    for (std::size_t n = 0; n < waiting_; ++n) {
      const Arrival& arrival = arrivals_[n];
      at[n] = add(arrival.key, arrival.hash, arrival.self_image, arrival.goal);
      if (at[n] == kNone) {
        full_ = true;
        waiting_ = n;
        break;
      }
      const char* bytes = reinterpret_cast<const char*>(&skeletons_[at[n]]);
      for (std::size_t line = 0; line < std::min<std::size_t>(sizeof(Skeleton), 256); line += 64) __builtin_prefetch(bytes + line);
    }
    for (std::size_t n = 0; n < waiting_; ++n) mark(at[n], arrivals_[n].fillings);
    waiting_ = 0;
  }

  // The number of the skeleton; kNone if there is no memory for it.
  std::uint32_t add(const Key& key, std::uint64_t hash, bool self_image, bool goal) {
    const auto [slot, insert] = index_.insert(key, hash);
    if (insert == Insert::present) return slot->value;
    const std::uint64_t number = skeletons_.size();
    if (insert == Insert::full || number == kNone) return kNone;
    Skeleton skeleton{};
    skeleton.key = key;
    skeleton.self_image = self_image;
    skeleton.goal = goal && board_.has_goal;
    if (!skeletons_.push_back(skeleton)) return kNone;
    slot->value = static_cast<std::uint32_t>(number);
    return slot->value;
  }

  // Positions that can be reached in depth_ moves; some may be known already.
  void mark(std::uint32_t at, const Set& positions) {
    Skeleton& skeleton = skeletons_[at];
    Set& frontier = skeleton.frontier[depth_ % 2];
    const std::uint64_t low = layer_code(depth_) & 1 ? ~std::uint64_t{0} : 0;
    const std::uint64_t high = layer_code(depth_) & 2 ? ~std::uint64_t{0} : 0;
    Set fresh;
    std::uint64_t already = 0;
    int count = 0;
    for (int word = 0; word < Words; ++word) {
      fresh[word] = positions[word] & ~(skeleton.low[word] | skeleton.high[word]);
      count += std::popcount(fresh[word]);
      already |= frontier[word];
      frontier[word] |= fresh[word];
      skeleton.low[word] |= fresh[word] & low;
      skeleton.high[word] |= fresh[word] & high;
    }
    if (!count) return;
    layers_.back() += static_cast<std::uint64_t>(count);
    if (!already && !active_[depth_ % 2].push_back(at)) full_ = true;
    if (skeleton.goal && !goal_) find_goal(skeleton, fresh);
  }

  static unsigned layer_code(std::uint32_t depth) { return depth % 3 + 1; }

  void find_goal(const Skeleton& skeleton, const Set& fresh) {
    const Laid laid = keys_.lay(keys_.decode(skeleton.key));
    const std::uint64_t wanted = board_.classes[singles_].goals;
    each_filling<Words>(fresh, [&](int filling) {
      const std::uint64_t empty = spread_bits(fillings_.mask(filling), laid.free);
      const std::uint64_t singles = laid.free & ~empty;
      if (goal_ || (wanted & ~singles)) return;
      goal_ = Position{laid.anchors, empty};
      goal_->anchors[singles_] = singles;
    });
  }

  // --- the way back ---

  // The layer of a position modulo 3, plus 1; 0 where nobody has been.
  unsigned layer_of(const Position& position) {
    const Laid laid = keys_.lay(position.anchors);
    const Named name = keys_.name(laid);
    const auto* slot = index_.find(name.key, hash_of(name.key));
    if (!slot) return 0;
    const Skeleton& skeleton = skeletons_[slot->value];
    const int filling = filling_of(position, laid.free, name);
    const auto has = [&](const Set& set) { return static_cast<unsigned>(set[filling / 64] >> (filling % 64) & 1); };
    return has(skeleton.low) | has(skeleton.high) << 1;
  }

  // From the goal to a position one layer nearer, and so on. What it ends at is the start or the start's image.
  Moves moves() {
    Moves moves;
    std::vector<int> classes;
    Position position = *goal_;
    for (std::uint32_t depth = depth_; depth > 0; --depth) {
      if (!step_back(position, depth - 1, moves, classes)) return {};
    }
    if (position.anchors != board_.start) {
      for (std::size_t at = 0; at < moves.size(); ++at) {
        const auto& image = fold_->cell[classes[at]];
        moves[at] = {image[moves[at].first], image[moves[at].second]};
      }
    }
    std::reverse(moves.begin(), moves.end());
    return moves;
  }

  bool step_back(Position& position, std::uint32_t depth, Moves& moves, std::vector<int>& classes) {
    for (int klass = 0; klass < board_.count; ++klass) {
      const KlotskiClass& own = board_.classes[klass];
      for (std::uint64_t rest = position.anchors[klass]; rest; rest &= rest - 1) {
        const int to = std::countr_zero(rest);
        for (std::uint64_t reach = board_.reach(own, to, position.empty); reach; reach &= reach - 1) {
          const int from = std::countr_zero(reach);
          Position before = position;
          before.anchors[klass] ^= one(from) | one(to);
          before.empty = (position.empty | own.shape << to) & ~(own.shape << from);
          if (layer_of(before) != layer_code(depth)) continue;
          position = before;
          moves.emplace_back(from, to);
          classes.push_back(klass);
          return true;
        }
      }
    }
    return false;
  }

  const KlotskiBoard& board_;
  int singles_;  // the class that is left out
  SkeletonKeys keys_;
  const Fold* fold_;  // nullptr: none
  Fillings<Words> fillings_;
  std::array<std::uint64_t, 64> beside_{};  // by cell: where a single may go from there
  std::array<Set, 64> reached_;
  Meter& meter_;
  HashMap<Key, std::uint32_t> index_;
  ChunkedArray<Skeleton> skeletons_;
  std::array<ChunkedArray<std::uint32_t>, 2> active_;  // with a frontier in even and in odd layers
  std::unique_ptr<Arrival[]> arrivals_;
  std::size_t waiting_ = 0;
  std::vector<std::uint64_t> layers_;  // positions of each
  std::uint32_t depth_ = 0;            // of the layer that is being filled
  bool full_ = false;
  std::optional<Position> goal_;
};

}  // namespace unjam
