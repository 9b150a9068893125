// Values to bytes and back. What has state names its members once, in `transfer`, which serves both directions.
#pragma once

#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace mechsim {

using Bytes = std::vector<char>;

class Writer {
  public:
    explicit Writer(Bytes& bytes) : bytes_(bytes) { bytes_.clear(); }

    void run(const void* data, std::size_t size) {
        const std::size_t end = bytes_.size();
        bytes_.resize(end + size);
        if (size > 0) std::memcpy(bytes_.data() + end, data, size);
    }
    template <class T>
    void operator()(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        run(&value, sizeof(T));
    }
    template <class T>
    void operator()(const std::vector<T>& values) {
        static_assert(std::is_trivially_copyable_v<T>);
        (*this)(values.size());
        run(values.data(), values.size() * sizeof(T));
    }

  private:
    Bytes& bytes_;
};

class Reader {
  public:
    explicit Reader(const Bytes& bytes) : at_(bytes.data()), left_(bytes.size()) {}

    void run(void* data, std::size_t size) {
        if (size > left_) throw std::invalid_argument("the bytes of a march are too few");
        if (size > 0) std::memcpy(data, at_, size);
        at_ += size;
        left_ -= size;
    }
    template <class T>
    void operator()(T& value) {
        run(&value, sizeof(T));
    }
    template <class T>
    void operator()(std::vector<T>& values) {
        std::size_t count = 0;
        (*this)(count);
        if (count > left_ / sizeof(T)) throw std::invalid_argument("the bytes of a march are too few");
        values.resize(count);
        run(values.data(), count * sizeof(T));
    }

  private:
    const char* at_;
    std::size_t left_;
};

}  // namespace mechsim
