// An array that grows without copying what it holds, except while it is small.
#pragma once

#include <cstring>
#include <vector>

#include "memory.hpp"

namespace unjam {

//   chunk 0 (doubles up to 2^16 items) | chunk 1 (2^16) | chunk 2 (2^16) | ...
template <class T>
class ChunkedArray {
 public:
  explicit ChunkedArray(Meter& meter) : meter_(&meter) {}

  std::uint64_t size() const { return size_; }
  T& operator[](std::uint64_t at) { return chunks_[at >> kBits].items[at & kMask]; }
  T& back() { return (*this)[size_ - 1]; }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }  // keeps the memory

  // False: there is no memory for it.
  bool push_back(const T& item) {
    if (size_ == capacity_ && !grow()) return false;
    (*this)[size_++] = item;
    return true;
  }

 private:
  static constexpr int kBits = 16;
  static constexpr std::uint64_t kChunk = std::uint64_t{1} << kBits;
  static constexpr std::uint64_t kMask = kChunk - 1;
  static constexpr std::uint64_t kFirst = 64;

  struct Chunk {
    T* items;
    Pages pages;
  };

  bool grow() {
    const bool small = capacity_ < kChunk;
    const std::uint64_t items = !small ? kChunk : capacity_ ? capacity_ * 2 : kFirst;
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
  std::vector<Chunk> chunks_;
  std::uint64_t size_ = 0, capacity_ = 0;
};

}  // namespace unjam
