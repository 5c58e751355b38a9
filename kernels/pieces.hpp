// States as one packed field a piece: where it stands, as an index into the places it can ever reach. Up to 128 cells
// and any number of pieces; the base of klotski_pieces.hpp (klotski and rush) and parkout.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "layout.hpp"

namespace unjam {

enum Direction { kUp, kRight, kDown, kLeft };

// A place is a piece's position; a track holds the places of one kind of piece, ordered by the cell of their anchor
// (the piece's first cell in row-major order), and how steps lead from one to the other.
struct Track {
  static constexpr std::uint8_t kNone = 255;

  std::vector<std::uint8_t> cell;                 // of the anchor
  std::vector<Cells> mask;                        // the cells covered
  std::vector<std::array<std::uint8_t, 4>> next;  // by Direction: a place, or kNone

  int size() const { return static_cast<int>(cell.size()); }
  int place_at(int anchor) const {
    const auto found = std::find(cell.begin(), cell.end(), anchor);
    return found == cell.end() ? kNone : static_cast<int>(found - cell.begin());
  }
};

// All places that the pieces (of one shape) can reach by steps in the given directions within the allowed cells, other
// pieces left aside.
inline Track make_track(const Layout& layout, const std::vector<int>& pieces, Cells allowed,
                        const std::vector<Direction>& directions) {
  const auto shape = layout.shape(pieces[0]);
  const auto cover = [&](int row, int column) {  // 0: does not fit
    Cells mask = 0;
    for (const auto& [down, right] : shape) {
      const int r = row + down, c = column + right;
      if (r < 0 || r >= layout.height || c < 0 || c >= layout.width) return Cells{0};
      mask |= bit(r * layout.width + c);
    }
    return (mask & ~allowed) == 0 ? mask : Cells{0};
  };
  const auto step = [&](int anchor, int direction) {  // -1: does not fit
    const int row = anchor / layout.width + (direction == kDown) - (direction == kUp);
    const int column = anchor % layout.width + (direction == kRight) - (direction == kLeft);
    return cover(row, column) ? row * layout.width + column : -1;
  };

  std::vector<int> queue;
  Cells seen = 0;
  const auto reach = [&](int anchor) {
    if (seen & bit(anchor)) return;
    seen |= bit(anchor);
    queue.push_back(anchor);
  };
  for (const int piece : pieces) {
    const int anchor = layout.pieces[piece][0];
    require(cover(anchor / layout.width, anchor % layout.width) != 0, "a piece stands on a gate closed to it");
    reach(anchor);
  }
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const Direction direction : directions) {
      const int to = step(queue[at], direction);
      if (to >= 0) reach(to);
    }
  }
  std::sort(queue.begin(), queue.end());

  Track track;
  for (const int anchor : queue) {
    track.cell.push_back(static_cast<std::uint8_t>(anchor));
    track.mask.push_back(cover(anchor / layout.width, anchor % layout.width));
  }
  for (const int anchor : queue) {
    std::array<std::uint8_t, 4> next;
    next.fill(Track::kNone);
    for (const Direction direction : directions) {
      const int to = step(anchor, direction);
      if (to >= 0) next[direction] = static_cast<std::uint8_t>(track.place_at(to));
    }
    track.next.push_back(next);
  }
  return track;
}

// The place itself; throws where a key that was not made here has one that is not there.
inline int known_place(int place, const Track& track) {
  require(place < track.size(), "a position has a piece where none can be");
  return place;
}

// Packs one small number a piece into a key of `Words` 64-bit words; no field lies across two words.
//
//   word 0: | piece 0 | piece 1 | ... | unused |   word 1: | piece 8 | ...
template <int Words>
class Fields {
 public:
  using Key = std::conditional_t<Words == 1, std::uint64_t, std::array<std::uint64_t, Words>>;

  void add(int word, int shift, int bits) {
    fields_.push_back({static_cast<std::uint8_t>(word), static_cast<std::uint8_t>(shift),
                       (std::uint64_t{1} << bits) - 1});
  }
  int get(const Key& key, int piece) const {
    const Field& field = fields_[piece];
    return static_cast<int>(word_of(key, field.word) >> field.shift & field.mask);
  }
  void set(Key& key, int piece, int value) const {
    const Field& field = fields_[piece];
    std::uint64_t& word = word_of(key, field.word);
    word = (word & ~(field.mask << field.shift)) | static_cast<std::uint64_t>(value) << field.shift;
  }

 private:
  struct Field {
    std::uint8_t word, shift;
    std::uint64_t mask;
  };

  template <class AnyKey>  // const or not
  static auto& word_of(AnyKey& key, int at) {
    if constexpr (Words == 1) {
      return key;
    } else {
      return key[at];
    }
  }

  std::vector<Field> fields_;
};

// Where each piece's field goes, for values 0 .. values[piece] - 1.
struct Packing {
  struct Slot {
    int word, shift, bits;
  };
  std::vector<Slot> slots;
  int words = 1;

  explicit Packing(const std::vector<int>& values) {
    int used = 0;
    for (const int count : values) {
      const int bits = std::bit_width(static_cast<unsigned>(count - 1));
      if (used + bits > 64) {
        ++words;
        used = 0;
      }
      slots.push_back({words - 1, std::min(used, 63), bits});
      used += bits;
    }
  }

  template <int Words>
  Fields<Words> fields() const {
    Fields<Words> fields;
    for (const Slot& slot : slots) fields.add(slot.word, slot.shift, slot.bits);
    return fields;
  }
};

// Calls `use` with the least word count that is compiled and suffices, as a compile-time constant.
template <class Use>
auto with_words(int words, Use&& use) {
  if (words <= 1) return use(std::integral_constant<int, 1>{});
  if (words <= 2) return use(std::integral_constant<int, 2>{});
  if (words <= 4) return use(std::integral_constant<int, 4>{});
  return use(std::integral_constant<int, 16>{});
}

}  // namespace unjam
