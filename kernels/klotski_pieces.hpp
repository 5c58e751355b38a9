// Klotski of any size, and rush, over packed places: also the second opinion on klotski_planes.hpp.
#pragma once

#include <array>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "control.hpp"
#include "pieces.hpp"
#include "rush_bound.hpp"

namespace unjam {

enum class Metric { step, slide, path };

inline Metric metric_named(const std::string& name) {
  if (name == "step") return Metric::step;
  if (name == "slide") return Metric::slide;
  require(name == "path", "the metric is step, slide or path");
  return Metric::path;
}

inline Mover mover(int piece, int direction) { return static_cast<Mover>(piece * 4 + direction); }

// Whether a piece that went in the first direction could have made a move in the second one with it: on a path always,
// on a slide along the same axis. A step back undoes the last one.
inline bool made_at_once(Metric metric, int first, int second) {
  switch (metric) {
    case Metric::path: return true;
    case Metric::slide: return (first ^ second) % 2 == 0;
    default: return first == (second ^ 2);
  }
}

// What klotski and rush have in common, once names and numbers are checked.
struct Blocks {
  std::vector<std::vector<int>> classes;    // the pieces of each class: they are interchangeable
  std::vector<Track> tracks;                // of each class
  std::vector<std::pair<int, int>> goal;    // (class, anchor cell); empty: no goal, explore all
  Cells walls = 0;
  Metric metric = Metric::step;
  std::optional<int> primary;               // rush: the class of the primary car

  Packing packing() const {
    std::vector<int> values;
    for (std::size_t at = 0; at < classes.size(); ++at) {
      values.insert(values.end(), classes[at].size(), tracks[at].size());
    }
    return Packing(values);
  }
};

// Pieces are reordered so that those of a class follow each other; within a class their places ascend, so that equal
// positions have equal keys.
template <int Words>
class KlotskiPieces {
 public:
  using Key = typename Fields<Words>::Key;

  KlotskiPieces(const Layout& layout, const Blocks& blocks)
      : blocks_(blocks), fields_(blocks.packing().fields<Words>()) {
    int first_place = 0;
    for (std::size_t at = 0; at < blocks.classes.size(); ++at) {
      const Track& track = blocks.tracks[at];
      const int first = static_cast<int>(pieces_.size());
      const int end = first + static_cast<int>(blocks.classes[at].size());
      pieces_.insert(pieces_.end(), end - first, {first_place, first, end});
      masks_.insert(masks_.end(), track.mask.begin(), track.mask.end());
      next_.insert(next_.end(), track.next.begin(), track.next.end());
      cells_.insert(cells_.end(), track.cell.begin(), track.cell.end());
      fanout_ += (end - first) * track.size();
      first_place += track.size();
    }
    std::vector<int> anchors;
    for (const auto& piece : layout.pieces) anchors.push_back(piece[0]);
    start_ = *key_of(anchors);
    for (const auto& [klass, cell] : blocks.goal) add_goal(klass, blocks.tracks[klass], cell, layout.width);
    if (blocks.primary && goals_[0].place != Track::kNone) {
      rush_bound_.emplace(blocks.tracks, *blocks.primary, goals_[0].place, blocks.metric == Metric::step);
    }
  }

  Key start() const { return start_; }
  std::size_t fanout() const { return fanout_; }

  bool is_goal(const Key& key) const {
    for (const Goal& goal : goals_) {
      if (distance(goal, key) != 0) return false;
    }
    return !goals_.empty();
  }

  template <class Sink>
  void expand(const Key& key, Mover last, Sink&& sink) {
    each_move(key, last, [&](int piece, int to, int direction) {
      Key child = key;
      const int moved = move(child, piece, to);
      sink(child, mover(moved, direction));
    });
  }

  // (level_graph.hpp) Every move can be taken back.
  template <class Sink>
  void expand_back(const Key& key, Mover last, Sink&& sink) {
    expand(key, last, sink);
  }

  // (level_graph.hpp) The key of a position by the anchor of each piece; none where a piece can never be.
  std::optional<Key> key_of(const std::vector<int>& anchors) const {
    Key key{};
    int first = 0;
    for (std::size_t klass = 0; klass < blocks_.classes.size(); ++klass) {
      std::vector<int> places;
      for (const int piece : blocks_.classes[klass]) {
        places.push_back(blocks_.tracks[klass].place_at(anchors[piece]));
        if (places.back() == Track::kNone) return std::nullopt;
      }
      std::sort(places.begin(), places.end());
      for (const int place : places) fields_.set(key, first++, place);
    }
    return key;
  }
  std::vector<int> anchors_of(const Key& key) const {
    std::vector<int> anchors(pieces_.size());
    int at = 0;
    for (std::size_t klass = 0; klass < blocks_.classes.size(); ++klass) {
      const Track& track = blocks_.tracks[klass];
      for (const int piece : blocks_.classes[klass]) anchors[piece] = track.cell[known_place(fields_.get(key, at++), track)];
    }
    return anchors;
  }

  Moves moves(const std::vector<Key>& keys) {
    Moves moves;
    for (std::size_t at = 1; at < keys.size(); ++at) {
      const std::size_t known = moves.size();
      each_move(keys[at - 1], kNobody, [&](int piece, int to, int) {
        Key child = keys[at - 1];
        move(child, piece, to);
        if (moves.size() > known || child != keys[at]) return;
        const int first = pieces_[piece].first_place;
        moves.emplace_back(cells_[first + places_[piece]], cells_[first + to]);
      });
    }
    return moves;
  }

  // Klotski: each goal piece that is not in place needs a move, or as many as the metric's Manhattan distance says when
  // it is the only one of its class. Rush: rush_bound.hpp.
  int heuristic(const Key& key) {
    if (rush_bound_) {
      std::array<std::uint8_t, RushBound::kMaxCars> places;
      for (int car = 0; car < static_cast<int>(pieces_.size()); ++car) {
        places[car] = static_cast<std::uint8_t>(fields_.get(key, car));
      }
      return (*rush_bound_)(places);
    }
    int sum = 0;
    for (const Goal& goal : goals_) sum += distance(goal, key);
    return sum;
  }

 private:
  struct Piece {
    int first_place;            // in masks_, next_ and cells_
    int class_first, class_end;  // the pieces of its class
  };
  struct Goal {
    int class_first, class_end;
    int place;
    std::vector<int> distance;  // by place
  };

  void add_goal(int klass, const Track& track, int cell, int width) {
    int first = 0;
    for (int at = 0; at < klass; ++at) first += static_cast<int>(blocks_.classes[at].size());
    Goal goal{first, first + static_cast<int>(blocks_.classes[klass].size()), track.place_at(cell), {}};
    for (const int from : track.cell) {
      const int rows = std::abs(from / width - cell / width), columns = std::abs(from % width - cell % width);
      const int steps = rows + columns, slides = (rows > 0) + (columns > 0);
      goal.distance.push_back(blocks_.metric == Metric::step ? steps : blocks_.metric == Metric::slide ? slides : steps > 0);
    }
    goals_.push_back(std::move(goal));
  }

  int distance(const Goal& goal, const Key& key) const {
    if (goal.class_end - goal.class_first == 1) return goal.distance[fields_.get(key, goal.class_first)];
    for (int piece = goal.class_first; piece < goal.class_end; ++piece) {
      if (fields_.get(key, piece) == goal.place) return 0;
    }
    return 1;
  }

  // Calls visit(piece, place, direction) for each move but those that the last mover could have made at once; places_
  // then holds where the pieces stand.
  template <class Visit>
  void each_move(const Key& key, Mover last, Visit&& visit) {
    const int count = static_cast<int>(pieces_.size());
    Cells occupied = blocks_.walls;
    for (int piece = 0; piece < count; ++piece) {
      places_[piece] = static_cast<std::uint8_t>(fields_.get(key, piece));
      occupied |= masks_[pieces_[piece].first_place + places_[piece]];
    }
    for (int piece = 0; piece < count; ++piece) {
      const Cells* masks = masks_.data() + pieces_[piece].first_place;
      const auto* next = next_.data() + pieces_[piece].first_place;
      const int from = places_[piece];
      const Cells others = occupied ^ masks[from];
      const auto free = [&](int place) { return place != Track::kNone && (masks[place] & others) == 0; };
      if (blocks_.metric == Metric::path) {
        if (piece != last / 4) flood(from, next, free, [&](int to) { visit(piece, to, 0); });
        continue;
      }
      for (int direction = 0; direction < 4; ++direction) {
        if (piece == last / 4 && made_at_once(blocks_.metric, last % 4, direction)) continue;
        for (int to = next[from][direction]; free(to); to = next[to][direction]) {
          visit(piece, to, direction);
          if (blocks_.metric == Metric::step) break;
        }
      }
    }
  }

  template <class Free, class Visit>
  static void flood(int from, const std::array<std::uint8_t, 4>* next, const Free& free, Visit&& visit) {
    std::array<std::uint8_t, kMaxCells> reached;
    int size = 1;
    reached[0] = static_cast<std::uint8_t>(from);
    Cells seen = bit(from);
    for (int at = 0; at < size; ++at) {
      for (int direction = 0; direction < 4; ++direction) {
        const int to = next[reached[at]][direction];
        if (!free(to) || (seen & bit(to))) continue;
        seen |= bit(to);
        reached[size++] = static_cast<std::uint8_t>(to);
        visit(to);
      }
    }
  }

  // Puts the piece at the place and sorts its class again; returns which piece of the class it is then.
  int move(Key& key, int piece, int to) const {
    const Piece& own = pieces_[piece];
    for (; piece + 1 < own.class_end && places_[piece + 1] < to; ++piece) fields_.set(key, piece, places_[piece + 1]);
    for (; piece > own.class_first && places_[piece - 1] > to; --piece) fields_.set(key, piece, places_[piece - 1]);
    fields_.set(key, piece, to);
    return piece;
  }

  const Blocks& blocks_;
  Fields<Words> fields_;
  std::vector<Piece> pieces_;
  std::vector<Cells> masks_;
  std::vector<std::array<std::uint8_t, 4>> next_;
  std::vector<std::uint8_t> cells_;
  std::vector<Goal> goals_;
  std::optional<RushBound> rush_bound_;
  std::size_t fanout_ = 0;
  Key start_{};
  std::array<std::uint8_t, kMaxCells> places_;
};

}  // namespace unjam
