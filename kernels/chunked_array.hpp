// An array that grows without copying what it holds, except while it is small, and can give back its oldest items.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "memory.hpp"

namespace unjam {

//   chunk 0 (doubles up to 2^bits items) | chunk 1 (2^bits) | chunk 2 (2^bits) | ...
template <class T>
class ChunkedArray {
 public:
  static constexpr int kBits = 16;

  explicit ChunkedArray(Meter& meter, int bits = kBits) : meter_(&meter), bits_(bits) {}

  std::uint64_t size() const { return size_; }
  T& operator[](std::uint64_t at) { return chunks_[(at >> bits_) - dropped_].items[at & (chunk() - 1)]; }
  T& back() { return (*this)[size_ - 1]; }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }  // keeps the memory

  // False: there is no memory for it.
  bool push_back(const T& item) {
    if (size_ == capacity_ && !grow()) return false;
    (*this)[size_++] = item;
    return true;
  }

  // Items before this one are gone; the others keep their numbers.
  std::uint64_t first() const { return dropped_ << bits_; }

  // Gives back the oldest chunk, if all its items lie before `end`.
  bool drop_chunk(std::uint64_t end) {
    if (first() + chunk() > end) return false;
    chunks_.erase(chunks_.begin());
    ++dropped_;
    return true;
  }

 private:
  static constexpr std::uint64_t kFirst = 64;

  struct Chunk {
    T* items;
    Pages pages;
  };

  std::uint64_t chunk() const { return std::uint64_t{1} << bits_; }

  bool grow() {
    const bool small = capacity_ < chunk();
    const std::uint64_t items = !small ? chunk() : capacity_ ? capacity_ * 2 : std::min(kFirst, chunk());
    Pages pages = Pages::zeroed(items * sizeof(T), *meter_);
    if (!pages.data()) return false;
    T* data = static_cast<T*>(pages.data());
    if (small && capacity_) {
      std::memcpy(static_cast<void*>(data), chunks_[0].items, capacity_ * sizeof(T));
      chunks_.clear();
      capacity_ = 0;
    }
    chunks_.push_back({data, std::move(pages)});
    capacity_ += items;
    return true;
  }

  Meter* meter_;
  int bits_;
  std::vector<Chunk> chunks_;
  std::uint64_t size_ = 0, capacity_ = 0;  // those given back are counted
  std::uint64_t dropped_ = 0;              // chunks
};

}  // namespace unjam
