// Keys of skeletons (klotski_skeletons.hpp): positions of klotski without the singles of one class.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "klotski_board.hpp"
#include "klotski_fillings.hpp"

namespace unjam {

// Reading the board cell by cell and jumping over the cells that an earlier anchor's piece covers, each symbol tells the
// class of an anchor, or is 0 for a cell that is empty or holds one of those singles. Bit j of all symbols makes plane j,
// and the planes make the key, of up to 128 bits. Of a skeleton and its image the lower key is taken.
class SkeletonKeys {
  using Wide = unsigned __int128;
  using Anchors = KlotskiBoard::Anchors;

 public:
  using Key = std::array<std::uint64_t, 2>;

  // Bit j of every symbol is in plane j.
  struct Planes {
    std::array<std::uint64_t, 4> plane{};
    std::uint64_t tails = 0;
  };

  struct Named {
    Key key;
    bool mirrored;    // the key is that of the image
    bool self_image;
  };

  // A skeleton laid out.
  struct Laid {
    Anchors anchors{};
    std::uint64_t free = 0;
    int missing = 0;  // goals of its pieces
    Planes own, image;
  };

  // Without the class `singles`; `symbols` are the pieces and empty cells of a position; `fold` may be nullptr.
  SkeletonKeys(const KlotskiBoard& board, int singles, int symbols, const Fold* fold)
      : board_(board), fold_(fold), singles_(singles), symbols_(symbols), planes_(planes_for(board.count)) {}

  static bool fits(int classes, int symbols) { return symbols < 64 && planes_for(classes) * symbols <= 128; }

  Anchors decode(const Key& key) const {
    Anchors anchors{};
    const Wide wide = static_cast<Wide>(key[1]) << 64 | key[0];
    std::array<std::uint64_t, 4> planes;
    std::uint64_t pieces = 0;
    for (int plane = 0; plane < planes_; ++plane) {
      pieces |= planes[plane] = static_cast<std::uint64_t>(wide >> (plane * symbols_)) & (one(symbols_) - 1);
    }
    // Free cells between two pieces are skipped at once.
    std::uint64_t uncovered = board_.floor;
    for (int done = 0; pieces; pieces &= pieces - 1) {
      const int at = std::countr_zero(pieces);
      for (; done < at; ++done) uncovered &= uncovered - 1;
      ++done;
      unsigned symbol = 0;
      for (int plane = 0; plane < planes_; ++plane) symbol |= static_cast<unsigned>(planes[plane] >> at & 1) << plane;
      const int klass = class_of(symbol);
      const int cell = std::countr_zero(uncovered);
      anchors[klass] |= one(cell);
      uncovered &= ~(board_.classes[klass].shape << cell);
    }
    return anchors;
  }

  Laid lay(const Anchors& anchors) const {
    Laid laid;
    laid.anchors = anchors;
    laid.free = board_.floor;
    for (int klass = 0; klass < board_.count; ++klass) {
      if (klass == singles_) continue;
      laid.free &= ~anchors[klass];
      put(laid.own, klass, anchors[klass]);
      laid.missing += std::popcount(board_.classes[klass].goals & ~anchors[klass]);
      if (!fold_) continue;
      std::uint64_t images = 0;
      for (std::uint64_t rest = anchors[klass]; rest; rest &= rest - 1) {
        images |= one(fold_->cell[klass][std::countr_zero(rest)]);
      }
      put(laid.image, fold_->klass[klass], images);
    }
    laid.free &= ~laid.own.tails;
    return laid;
  }

  Named name(const Laid& laid) const {
    return choose(pack(laid.own, 0, 0, laid.own.tails), fold_ ? pack(laid.image, 0, 0, laid.image.tails) : 0);
  }

  // Once one piece has gone from one cell to the other.
  Named name_after(const Laid& laid, int klass, int from, int to) const {
    const std::uint64_t tail = board_.classes[klass].tail;
    const Wide own = pack(laid.own, klass, one(from) ^ one(to), (laid.own.tails ^ tail << from) | tail << to);
    if (!fold_) return {key_of(own), false, false};
    const int image = fold_->klass[klass];
    const int image_from = fold_->cell[klass][from], image_to = fold_->cell[klass][to];
    const std::uint64_t image_tail = board_.classes[image].tail;
    return choose(own, pack(laid.image, image, one(image_from) ^ one(image_to),
                            (laid.image.tails ^ image_tail << image_from) | image_tail << image_to));
  }

  // The number of the filling with these cells empty, in the skeleton that is kept for this one.
  template <int Words>
  int filling(const Fillings<Words>& fillings, std::uint64_t empty, std::uint64_t free, const Named& name) const {
    if (!name.mirrored && !name.self_image) return fillings.number(extract_bits(empty, free));
    const int image = fillings.number(extract_bits(image_of_cells(empty), image_of_cells(free)));
    return name.mirrored ? image : std::min(image, fillings.number(extract_bits(empty, free)));
  }

  std::uint64_t image_of_cells(std::uint64_t cells) const {
    std::uint64_t image = 0;
    for (; cells; cells &= cells - 1) image |= one(fold_->board[std::countr_zero(cells)]);
    return image;
  }

 private:
  static int planes_for(int classes) { return std::bit_width(static_cast<unsigned>(classes - 1)); }

  unsigned code(int klass) const { return static_cast<unsigned>(klass < singles_ ? klass + 1 : klass); }
  int class_of(unsigned symbol) const {
    const int klass = static_cast<int>(symbol);
    return klass <= singles_ ? klass - 1 : klass;
  }

  static Key key_of(Wide wide) { return {static_cast<std::uint64_t>(wide), static_cast<std::uint64_t>(wide >> 64)}; }

  void put(Planes& planes, int klass, std::uint64_t anchors) const {
    for (int plane = 0; plane < planes_; ++plane) {
      if (code(klass) >> plane & 1) planes.plane[plane] |= anchors;
    }
    for (; anchors; anchors &= anchors - 1) planes.tails |= board_.classes[klass].tail << std::countr_zero(anchors);
  }

  Wide pack(const Planes& planes, int klass, std::uint64_t change, std::uint64_t tails) const {
    const std::uint64_t mask = board_.floor & ~tails;
    Wide packed = 0;
    for (int plane = 0; plane < planes_; ++plane) {
      const std::uint64_t bits = planes.plane[plane] ^ (code(klass) >> plane & 1 ? change : 0);
      packed |= static_cast<Wide>(extract_bits(bits, mask)) << (plane * symbols_);
    }
    return packed;
  }

  Named choose(Wide own, Wide image) const {
    if (!fold_) return {key_of(own), false, false};
    return {key_of(std::min(own, image)), image < own, image == own};
  }

  const KlotskiBoard& board_;
  const Fold* fold_;
  int singles_, symbols_, planes_;
};

}  // namespace unjam
