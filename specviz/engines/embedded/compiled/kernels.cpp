// The decoder's sublayers for a few rows on a CPU, in float32, each in one call.
//
// torch dispatches some 150 small operations for one token of a small model, which takes longer than
// their arithmetic; its products of one row read the weights more slowly than memory gives them. Weights
// that are exact in bfloat16 are read as such.
//
// A row's result does not depend on the rows that are computed with it, bit for bit: every sum is
// made in an order that depends on its own length only. A row of a tree adds the slots that it sees
// in the order in which it would see them in a chain.
//
// Compiled by `library.py`, which declares these functions to Python. All arrays are dense.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr int WIDTH = 8;   // floats in a vector
constexpr int GROUP = 32;  // outputs whose weights are next to each other
constexpr int TALLEST = 6; // rows of a tile
constexpr int AHEAD = 2048; // bytes of weights to ask for early: a layer's do not stay in the L2 cache

typedef float Floats __attribute__((vector_size(4 * WIDTH)));
typedef uint32_t Words __attribute__((vector_size(4 * WIDTH)));

Floats load(const float *from) {
    Floats vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}

void store(float *to, Floats vector) { std::memcpy(to, &vector, sizeof vector); }

float sum(Floats v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

// exp (by Cephes' polynomial); 0 for arguments below -87.
Floats exponential(Floats x) {
    const Floats lowest = Floats{} - 87.0f;
    const Floats highest = Floats{} + 88.0f;
    const Words kept = ~(Words)(x < lowest);  // not a number stays what it is
    x = x < lowest ? lowest : x;
    x = x > highest ? highest : x;
    const float round = 12582912.0f;  // 1.5 * 2^23: adding it leaves no binary places
    Floats power = (x * 1.44269504f + round) - round;
    Floats rest = x - power * 0.693359375f + power * 2.12194440e-4f;
    Floats value = Floats{} + 1.9875691500e-4f;
    for (float factor : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f,
                         5.0000001201e-1f})
        value = value * rest + factor;
    value = value * rest * rest + rest + 1.0f;
    typedef int32_t Integers __attribute__((vector_size(4 * WIDTH)));
    Words exponent = (Words)((__builtin_convertvector(power, Integers) + 127) << 23);
    return (Floats)((Words)(value * (Floats)exponent) & kept);
}

}  // namespace

extern "C" {

// `weights`: [groups, inputs, GROUP]. Halved, they are bfloat16, two to a word: of every 2 * WIDTH
// outputs the first WIDTH are in the lower halves.
struct Matrix {
    const char *weights;
    const float *bias;  // or null
    int64_t inputs, outputs, halved;
};

// New rows. All of them see the slots before `start`, and row r slot start + i where seen[r][i] of
// `width` is not 0. It is at positions[r] and is written to slot first + r.
struct Rows {
    int64_t count, first, start, width;
    const int64_t *positions;
    const uint8_t *seen;
};

// Keys and values of a layer: [KV heads, capacity, head size].
struct Cache {
    float *keys, *values;
    int64_t capacity;
};

struct Attention {
    Matrix qkv, out;
    const float *q_norm, *k_norm;  // or null
    const float *cosine, *sine;    // [positions, head size], the sine's first half negated
    int64_t heads, kv_heads, size;
    float eps;
};

struct Mlp {
    Matrix gate_up, down;
    const float *norm;
    float eps;
};

}  // extern "C"

namespace {

// The weights of outputs WIDTH * column on, of one input.
template <bool HALVED>
Floats unpacked(const char *weights, int column) {
    if (!HALVED) return load((const float *)weights + column * WIDTH);
    Words both;
    std::memcpy(&both, weights + column / 2 * sizeof both, sizeof both);
    return (Floats)(column % 2 ? both & 0xffff0000u : both << 16);
}

// ROWS rows of x [ROWS, inputs] times COLUMNS vectors of outputs: as many sums at once as there
// are registers for. Every sum is made input by input.
template <bool HALVED, int ROWS, int COLUMNS>
void tile(const float *x, int64_t inputs, const char *weights, float (*sums)[GROUP]) {
    Floats total[ROWS][COLUMNS] = {};
    for (int64_t i = 0; i < inputs; i++, weights += GROUP * (HALVED ? 2 : 4)) {
        if (ROWS > 2) __builtin_prefetch(weights + AHEAD);  // fewer rows keep memory busy by themselves
        Floats from_input[COLUMNS];
        for (int c = 0; c < COLUMNS; c++) from_input[c] = unpacked<HALVED>(weights, c);
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < COLUMNS; c++) total[r][c] += from_input[c] * x[r * inputs + i];
    }
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++) store(sums[r] + c * WIDTH, total[r][c]);
}

// All outputs of a group.
template <bool HALVED, int ROWS>
void group(const float *x, int64_t inputs, const char *weights, float (*sums)[GROUP]) {
    constexpr int COLUMNS = ROWS <= 2 ? 4 : 2;
    for (int c = 0; c < GROUP / WIDTH; c += COLUMNS)
        tile<HALVED, ROWS, COLUMNS>(x, inputs, weights + c * WIDTH * (HALVED ? 2 : 4),
                                    (float(*)[GROUP])(sums[0] + c * WIDTH));
}

template <bool HALVED>
void group(int64_t rows, const float *x, int64_t inputs, const char *weights,
           float (*sums)[GROUP]) {
    switch (rows) {
        case 1: return group<HALVED, 1>(x, inputs, weights, sums);
        case 2: return group<HALVED, 2>(x, inputs, weights, sums);
        case 3: return group<HALVED, 3>(x, inputs, weights, sums);
        case 4: return group<HALVED, 4>(x, inputs, weights, sums);
        case 5: return group<HALVED, 5>(x, inputs, weights, sums);
        default: return group<HALVED, TALLEST>(x, inputs, weights, sums);
    }
}

// out [rows, outputs] = x · weightsᵀ + bias + residual (or null). To be called by all threads of a
// team; ends with a barrier.
void multiply(const Matrix &matrix, const float *x, int64_t rows, const float *residual,
              float *out) {
    const int64_t inputs = matrix.inputs, outputs = matrix.outputs;
    const int64_t bytes = GROUP * inputs * (matrix.halved ? 2 : 4);
#pragma omp for schedule(static)
    for (int64_t g = 0; g < (outputs + GROUP - 1) / GROUP; g++) {
        const int64_t left = outputs - g * GROUP, width = left < GROUP ? left : GROUP;
        for (int64_t from = 0; from < rows; from += TALLEST) {
            const int64_t count = rows - from < TALLEST ? rows - from : TALLEST;
            float sums[TALLEST][GROUP];
            (matrix.halved ? group<true> : group<false>)(count, x + from * inputs, inputs,
                                                         matrix.weights + g * bytes, sums);
            for (int64_t r = 0; r < count; r++) {
                const int64_t at = (from + r) * outputs + g * GROUP;
                const float *bias = matrix.bias ? matrix.bias + g * GROUP : nullptr;
                for (int64_t o = 0; o < width; o++)
                    out[at + o] = sums[r][o] + (bias ? bias[o] : 0.0f) +
                                  (residual ? residual[at + o] : 0.0f);
            }
        }
    }
}

// x / sqrt(mean(x²) + eps) · weight
void normalise(const float *x, const float *weight, int64_t size, float eps, float *out) {
    Floats squares = {};
    for (int64_t i = 0; i < size; i += WIDTH) squares += load(x + i) * load(x + i);
    const float scale = 1.0f / std::sqrt(sum(squares) / size + eps);
    for (int64_t i = 0; i < size; i += WIDTH)
        store(out + i, load(x + i) * scale * load(weight + i));
}

void normalise_rows(const float *x, const float *weight, int64_t rows, int64_t size, float eps,
                    float *out) {
#pragma omp for schedule(static)
    for (int64_t r = 0; r < rows; r++)
        normalise(x + r * size, weight, size, eps, out + r * size);
}

// Rotate one head of q or k [size] at a position (arXiv 2104.09864); `norm` comes before (Qwen3).
void rotate(const Attention &layer, const float *norm, int64_t position, const float *head,
            float *out) {
    const int64_t size = layer.size, half = size / 2;
    float normed[1024];
    if (norm) normalise(head, norm, size, layer.eps, normed);
    const float *x = norm ? normed : head;
    const float *cosine = layer.cosine + position * size, *sine = layer.sine + position * size;
    for (int64_t i = 0; i < half; i++) out[i] = x[i] * cosine[i] + x[i + half] * sine[i];
    for (int64_t i = half; i < size; i++) out[i] = x[i] * cosine[i] + x[i - half] * sine[i];
}

// What one row sees of a head: calls visit(slot) for every slot, in order.
template <typename Visit>
void each_seen(const Rows &rows, int64_t row, Visit visit) {
    for (int64_t slot = 0; slot < rows.start; slot++) visit(slot);
    for (int64_t i = 0; i < rows.width; i++)
        if (rows.seen[row * rows.width + i]) visit(rows.start + i);
}

// out [VECTORS * WIDTH] = the values of all slots that a row sees, each times its share.
template <int VECTORS>
void add_values(const Rows &rows, int64_t row, const float *shares, const float *values,
                int64_t size, float *out) {
    Floats total[VECTORS] = {};
    each_seen(rows, row, [&](int64_t slot) {
        const float share = *shares++;
        for (int v = 0; v < VECTORS; v++) total[v] += share * load(values + slot * size + v * WIDTH);
    });
    for (int v = 0; v < VECTORS; v++) store(out + v * WIDTH, total[v]);
}

// One row's query [size] over the slots that it sees.
void attend(const float *query, const float *keys, const float *values, const Rows &rows,
            int64_t row, int64_t size, std::vector<float> &scores, float *out) {
    scores.resize(rows.start + rows.width + WIDTH);
    const float scale = 1.0f / std::sqrt((float)size);
    int64_t count = 0;
    float largest = -INFINITY;
    each_seen(rows, row, [&](int64_t slot) {
        Floats dot = {};
        for (int64_t i = 0; i < size; i += WIDTH)
            dot += load(query + i) * load(keys + slot * size + i);
        const float score = sum(dot) * scale;
        largest = score > largest ? score : largest;
        scores[count++] = score;
    });
    for (int64_t i = 0; i < count; i += WIDTH)
        store(&scores[i], exponential(load(&scores[i]) - largest));
    float total = 0.0f;
    for (int64_t i = 0; i < count; i++) total += scores[i];
    for (int64_t i = 0; i < count; i++) scores[i] /= total;
    constexpr int MOST = 8;
    int64_t i = 0;
    for (; i + MOST * WIDTH <= size; i += MOST * WIDTH)
        add_values<MOST>(rows, row, scores.data(), values + i, size, out + i);
    for (; i < size; i += WIDTH)
        add_values<1>(rows, row, scores.data(), values + i, size, out + i);
}

thread_local std::vector<float> first_scratch, second_scratch, third_scratch;

float *room(std::vector<float> &scratch, int64_t size) {
    if ((int64_t)scratch.size() < size) scratch.resize(size);
    return scratch.data();
}

}  // namespace

extern "C" {

// out [rows, outputs] = x · weightsᵀ + bias
void linear(const Matrix *matrix, const float *x, int64_t rows, float *out, int threads) {
#pragma omp parallel num_threads(threads)
    multiply(*matrix, x, rows, nullptr, out);
}

void rms_norm(const float *x, const float *weight, int64_t rows, int64_t size, float eps,
              float *out) {
    for (int64_t r = 0; r < rows; r++)
        normalise(x + r * size, weight, size, eps, out + r * size);
}

// out = residual + attention of x, normed first unless `norm` is null. Appends keys and values.
void attention(const Attention *layer, const Rows *new_rows, const Cache *cache, const float *norm,
               const float *x, const float *residual, float *out, int threads) {
    const int64_t rows = new_rows->count, size = layer->size, heads = layer->heads;
    const int64_t rotated = heads + layer->kv_heads, all = rotated + layer->kv_heads;
    const int64_t inputs = layer->qkv.inputs;
    float *normed = room(first_scratch, rows * inputs);
    float *qkv = room(second_scratch, rows * all * size);
    float *attended = room(third_scratch, rows * 2 * heads * size);
    float *queries = attended + rows * heads * size;
#pragma omp parallel num_threads(threads)
    {
        if (norm) normalise_rows(x, norm, rows, inputs, layer->eps, normed);
        multiply(layer->qkv, norm ? normed : x, rows, nullptr, qkv);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < rows * all; i++) {
            const int64_t row = i / all, head = i % all, slot = new_rows->first + row;
            const int64_t position = new_rows->positions[row];
            const float *from = qkv + i * size;
            const int64_t key = head - heads, value = head - rotated;
            if (head < heads)
                rotate(*layer, layer->q_norm, position, from, queries + (row * heads + head) * size);
            else if (head < rotated)
                rotate(*layer, layer->k_norm, position, from,
                       cache->keys + (key * cache->capacity + slot) * size);
            else
                std::memcpy(cache->values + (value * cache->capacity + slot) * size, from,
                            size * sizeof *from);
        }
        static thread_local std::vector<float> scores;
#pragma omp for schedule(static)
        for (int64_t i = 0; i < rows * heads; i++) {
            const int64_t head = i % heads * layer->kv_heads / heads * cache->capacity * size;
            attend(queries + i * size, cache->keys + head, cache->values + head, *new_rows, i / heads,
                   size, scores, attended + i * size);
        }
        multiply(layer->out, attended, rows, residual, out);
    }
}

// out = x + SwiGLU (arXiv 2002.05202) of x, normed first.
void mlp(const Mlp *layer, const float *x, int64_t rows, float *out, int threads) {
    const int64_t size = layer->gate_up.inputs, inner = layer->down.inputs;
    float *normed = room(first_scratch, rows * size);
    float *gate_up = room(second_scratch, rows * 2 * inner);
    float *product = room(third_scratch, rows * inner);
#pragma omp parallel num_threads(threads)
    {
        normalise_rows(x, layer->norm, rows, size, layer->eps, normed);
        multiply(layer->gate_up, normed, rows, nullptr, gate_up);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < rows * inner; i += WIDTH) {
            const float *gate = gate_up + i / inner * 2 * inner + i % inner;
            const Floats x = load(gate);
            store(product + i, x / (exponential(-x) + 1.0f) * load(gate + inner));
        }
        multiply(layer->down, product, rows, x, out);
    }
}

}  // extern "C"
