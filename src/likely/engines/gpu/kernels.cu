// Counting and scoring rows where they lie on a GPU. One statistic is one or two kernels; `rows.py` says in which order.
//
// Rows are dealt to classes first, chunk by chunk, without changing their order within a class (`deal_rows`). A block of
// threads then reads a piece of one chunk, class by class, so that sums stay in registers and nothing is added
// atomically: the same rows give the same moments, bit for bit. Counts are added atomically, which is exact for whole
// numbers; with fractions as weights or cells, the last digits depend on the order. All sums are in double precision.

typedef long long Int;

// ---- Rows by class -------------------------------------------------------------------------------------------------

// `order` gets the row numbers of each chunk, sorted by class; `starts` (chunks × classes + 1) where each class begins.
// Codes come to shared memory first, where each thread has consecutive rows, a little apart from those of the next so that
// they lie in other banks. `places`, classes × threads, says where the next row of a thread and class goes; a chunk has no
// more rows than such a number can tell.
template <typename Y>
__global__ void deal_rows(const Y* codes, Int n_rows, int n_classes, int chunk, int* order, int* starts) {
    extern __shared__ unsigned short places[];
    const int t = threadIdx.x, threads = blockDim.x, each = (chunk + threads - 1) / threads;
    const int pitch = each + (each * (int)sizeof(Y) / 4 % 2 ? 0 : 4 / (int)sizeof(Y));
    Y* held = (Y*)(places + n_classes * threads + (n_classes * threads) % 2);
    const Int from = (Int)blockIdx.x * chunk;
    const int rows = (int)(n_rows - from < chunk ? n_rows - from : chunk);
    int done = 0;
    if (sizeof(Y) == 1 && each % 4 == 0 && (size_t)codes % 4 == 0) {  // four codes in one go; chunks begin at such places
        const unsigned int* words = (const unsigned int*)(codes + from);
        const int n_words = rows / 4, of_thread = each / 4;
#pragma unroll 8
        for (int k = t; k < n_words; k += threads) {
            *(unsigned int*)(held + (k / of_thread) * pitch + 4 * (k % of_thread)) = words[k];
        }
        done = 4 * n_words;
    }
    for (int k = done + t; k < rows; k += threads) held[(k / each) * pitch + k % each] = codes[from + k];
    for (int c = 0; c < n_classes; ++c) places[c * threads + t] = 0;
    __syncthreads();
    const int first = t * each, last = first + each < rows ? first + each : rows;
    const Y* own = held + t * pitch;
    for (int k = 0; k < last - first; ++k) places[(int)own[k] * threads + t] += 1;
    __syncthreads();
    const int cells = n_classes * threads;  // an exclusive sum over classes, and threads within a class
    const int share = (cells + threads - 1) / threads;
    __shared__ int totals[1024];
    int sum = 0;
    for (int k = t * share; k < (t + 1) * share && k < cells; ++k) sum += places[k];
    totals[t] = sum;
    __syncthreads();
    for (int reach = 1; reach < threads; reach *= 2) {
        const int more = t >= reach ? totals[t - reach] : 0;
        __syncthreads();
        totals[t] += more;
        __syncthreads();
    }
    int before = t ? totals[t - 1] : 0;
    for (int k = t * share; k < (t + 1) * share && k < cells; ++k) {
        const int here = places[k];
        places[k] = (unsigned short)before;
        before += here;
    }
    __syncthreads();
    int* own_starts = starts + (Int)blockIdx.x * (n_classes + 1);
    for (int c = t; c < n_classes; c += threads) own_starts[c] = (int)(from + places[c * threads]);
    if (t == 0) own_starts[n_classes] = (int)(from + rows);
    __syncthreads();
    for (int k = 0; k < last - first; ++k) order[from + places[(int)own[k] * threads + t]++] = (int)(from + first + k);
}

// Which labels there are between `least` and `least` + `n_values` (excluded); whether one lies outside.
template <typename Y>
__global__ void find_labels(const Y* labels, Int step, Int n_rows, Int least, int n_values, int* there, int* outside) {
    extern __shared__ int seen[];
    for (int k = threadIdx.x; k < n_values; k += blockDim.x) seen[k] = 0;
    __syncthreads();
    const Int stride = (Int)gridDim.x * blockDim.x;
    bool strange = false;
    for (Int row = (Int)blockIdx.x * blockDim.x + threadIdx.x; row < n_rows; row += stride) {
        const Int value = (Int)labels[row * step] - least;
        if (value >= 0 && value < n_values) seen[value] = 1; else strange = true;
    }
    if (strange) *outside = 1;
    __syncthreads();
    for (int k = threadIdx.x; k < n_values; k += blockDim.x) if (seen[k]) there[k] = 1;
}

// ---- Moments -------------------------------------------------------------------------------------------------------

struct Seen {
    double n, mean, squares;
};

__device__ inline Seen joined(Seen a, Seen b) {
    if (b.n <= 0.0) return a;
    if (a.n <= 0.0) return b;
    Seen whole;
    whole.n = a.n + b.n;
    const double share = b.n / whole.n, gap = b.mean - a.mean;
    whole.mean = a.mean + gap * share;
    whole.squares = a.squares + b.squares + gap * gap * share * a.n;
    return whole;
}

// Weight, mean and centred squares of each piece, class by class, in the slot chunk · slots + piece + class: along a
// chunk one of the two grows with every segment. Deviations are taken from a number of the thread's own rows, which
// lies no farther from their mean than the rows themselves are spread.
template <typename T, bool WEIGHTED>
__global__ void observe_pieces(
    const T* x, int row_step, Int column_step, const double* weight, const int* order, const int* starts,
    int n_classes, int piece, int pieces, int slots, int n_columns, int width, double* out
) {
    extern __shared__ double shared[];
    int* rows = (int*)(shared + 3 * blockDim.x);  // those of the piece
    const int groups = blockDim.x / width, group = threadIdx.x / width;
    const int column = blockIdx.y * width + threadIdx.x % width;
    const bool works = group < groups && column < n_columns;
    const int* own = starts + (Int)(blockIdx.x / pieces) * (n_classes + 1);
    const int part = blockIdx.x % pieces;
    const int first = own[0] + part * piece;
    const int last = first + piece < own[n_classes] ? first + piece : own[n_classes];
    if (first >= last) return;
    for (int k = threadIdx.x; k < last - first; k += blockDim.x) rows[k] = order[first + k];
    __syncthreads();
    int c = 0, high = n_classes - 1;  // the class in which the piece begins: the last one that starts at or before it
    while (c < high) {
        const int middle = (c + high + 1) / 2;
        if (own[middle] <= first) c = middle; else high = middle - 1;
    }
    for (; c < n_classes && own[c] < last; ++c) {
        const int low = (own[c] > first ? own[c] : first) - first;
        const int top = (own[c + 1] < last ? own[c + 1] : last) - first;
        if (low >= top) continue;
        Seen seen = {0.0, 0.0, 0.0};
        if (works) {
            const T* cells = x + (Int)column * column_step;
            int i = low + group;
            double shift = 0.0;
            for (; i < top; i += groups) {
                shift = (double)cells[(Int)rows[i] * row_step];
                if (shift == shift) break;
            }
            const int begin = i;
            double n = 0.0, sum = 0.0, squares = 0.0;
            for (; i + 7 * groups < top; i += 8 * groups) {  // as if all were known
                T cell[8];
                double w[8];
#pragma unroll
                for (int k = 0; k < 8; ++k) {
                    const int row = rows[i + k * groups];
                    cell[k] = cells[(Int)row * row_step];
                    if (WEIGHTED) w[k] = weight[row];
                }
#pragma unroll
                for (int k = 0; k < 8; ++k) {
                    const double d = (double)cell[k] - shift;
                    if (WEIGHTED) {
                        n += w[k];
                        sum += w[k] * d;
                        squares += w[k] * d * d;
                    } else {
                        sum += d;
                        squares += d * d;
                    }
                }
            }
            if (!WEIGHTED) n = (i - begin) / groups;
            if (sum != sum) {  // a cell is missing: once more, with care
                i = begin;
                n = sum = squares = 0.0;
            }
            for (; i < top; i += groups) {
                const Int row = rows[i];
                const double step = (double)cells[row * row_step] - shift;
                const double w = WEIGHTED ? weight[row] : 1.0;
                if (step == step) {
                    n += w;
                    sum += w * step;
                    squares += w * step * step;
                }
            }
            if (shift == shift && shift - shift != 0.0) {
                seen.n = 1.0, seen.mean = shift, seen.squares = shift;  // an infinite cell: whoever knows its name refuses it
            } else if (n > 0.0) {
                const double mean = sum / n, rest = squares - sum * mean;
                seen.n = n;
                seen.mean = shift + mean;
                seen.squares = rest > 0.0 ? rest : (rest == rest ? 0.0 : rest);
            }
            double* mine = shared + 3 * threadIdx.x;
            mine[0] = seen.n, mine[1] = seen.mean, mine[2] = seen.squares;
        }
        __syncthreads();
        if (works && group == 0) {
            for (int g = 1; g < groups; ++g) {
                const double* other = shared + 3 * (threadIdx.x + g * width);
                const Seen more = {other[0], other[1], other[2]};
                seen = joined(seen, more);
            }
            const Int slot = (Int)(blockIdx.x / pieces) * slots + part + c;
            double* to = out + (slot * n_columns + column) * 3;
            to[0] = seen.n, to[1] = seen.mean, to[2] = seen.squares;
        }
        __syncthreads();
    }
}

// The slots of some chunks, added up for each class: one block for a class, some columns, and every `gridDim.z`-th chunk.
__global__ void join_pieces(
    const double* seen, const int* starts, int n_classes, int n_chunks, int piece, int slots, int n_columns, int width,
    double* out
) {
    extern __shared__ double shared[];
    const int c = blockIdx.x, groups = blockDim.x / width, group = threadIdx.x / width;
    const int column = blockIdx.y * width + threadIdx.x % width;
    const bool works = group < groups && column < n_columns;
    Seen sum = {0.0, 0.0, 0.0};
    if (works) {
        for (int chunk = blockIdx.z * groups + group; chunk < n_chunks; chunk += gridDim.z * groups) {
            const int* own = starts + (Int)chunk * (n_classes + 1);
            if (own[c + 1] == own[c]) continue;
            const int from = (own[c] - own[0]) / piece, until = (own[c + 1] - 1 - own[0]) / piece;
            for (int part = from; part <= until; ++part) {
                const double* at = seen + (((Int)chunk * slots + part + c) * n_columns + column) * 3;
                const Seen more = {at[0], at[1], at[2]};
                sum = joined(sum, more);
            }
        }
        double* mine = shared + 3 * threadIdx.x;
        mine[0] = sum.n, mine[1] = sum.mean, mine[2] = sum.squares;
    }
    __syncthreads();
    if (works && group == 0) {
        for (int g = 1; g < groups; ++g) {
            const double* other = shared + 3 * (threadIdx.x + g * width);
            const Seen more = {other[0], other[1], other[2]};
            sum = joined(sum, more);
        }
        double* to = out + (((Int)blockIdx.z * n_classes + c) * n_columns + column) * 3;
        to[0] = sum.n, to[1] = sum.mean, to[2] = sum.squares;
    }
}

// What `join_pieces` left: `parts` tables of classes × columns become the first of `out`, as three tables.
__global__ void join_parts(const double* parts, int n_parts, Int n_cells, double* out) {
    const Int cell = (Int)blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= n_cells) return;
    Seen sum = {0.0, 0.0, 0.0};
    for (int part = 0; part < n_parts; ++part) {
        const double* at = parts + ((Int)part * n_cells + cell) * 3;
        const Seen more = {at[0], at[1], at[2]};
        sum = joined(sum, more);
    }
    out[cell] = sum.n, out[n_cells + cell] = sum.mean, out[2 * n_cells + cell] = sum.squares;
}

// ---- Sums and counts -----------------------------------------------------------------------------------------------

// WIDE neighbouring cells as values from `least` on; what lies outside becomes `n_values`.
template <typename T, int WIDE>
__device__ inline void read_values(const T* at, Int least, int n_values, unsigned int* value) {
    if (WIDE == 2) {
        const unsigned int both = *(const unsigned short*)at;
        value[0] = (unsigned int)(int)(T)(both & 255) - (unsigned int)least;
        value[WIDE - 1] = (unsigned int)(int)(T)(both >> 8) - (unsigned int)least;
    } else if (sizeof(T) < 8) {
        value[0] = (unsigned int)*at - (unsigned int)least;
    } else {
        const unsigned long long far = (unsigned long long)*at - (unsigned long long)least;
        value[0] = far < (unsigned long long)n_values ? (unsigned int)far : (unsigned int)n_values;
    }
    for (int side = 0; side < WIDE; ++side) value[side] = value[side] < n_values ? value[side] : n_values;
}

// How often each value from `least` on came with each class, by column: `counts` is columns × classes × values. Every
// thread has counters of its own in shared memory ([class and value][side][thread]), so nothing is added atomically there;
// they are short, and no thread sees more rows than they can count. A value outside is told by `outside`. WIDE columns are
// read at once, where bytes allow it.
template <typename T, typename Y, int WIDE>
__global__ void count_values(
    const T* x, Int row_step, Int column_step, const Y* codes, Int n_rows, int n_columns, int width, Int least,
    int n_values, int n_classes, unsigned long long* counts, int* outside
) {
    extern __shared__ unsigned short own[];
    const int threads = blockDim.x, t = threadIdx.x, lines = n_values + 1;  // the last one for values outside
    const int groups = threads / width, group = t / width, column = (blockIdx.y * width + t % width) * WIDE;
    const bool works = group < groups && column < n_columns;
    const int across = WIDE * threads;
    for (int k = 0; k < n_classes * lines * WIDE; ++k) own[k * threads + t] = 0;
    if (works) {
        const Int stride = (Int)gridDim.x * groups, far = stride * row_step;
        Int i = (Int)blockIdx.x * groups + group;
        const T* at = x + (Int)column * column_step + i * row_step;
        const Y* code = codes + i;
        unsigned short* mine = own + t;
        for (; i + 7 * stride < n_rows; i += 8 * stride, at += 8 * far, code += 8 * stride) {
            unsigned int value[8][WIDE];
            int c[8];
#pragma unroll
            for (int k = 0; k < 8; ++k) {
                c[k] = (int)code[k * stride];
                read_values<T, WIDE>(at + k * far, least, n_values, value[k]);
            }
#pragma unroll
            for (int k = 0; k < 8; ++k) {
                unsigned short* line = mine + c[k] * lines * across;
#pragma unroll
                for (int side = 0; side < WIDE; ++side) line[value[k][side] * across + side * threads] += 1;
            }
        }
        for (; i < n_rows; i += stride, at += far, code += stride) {
            unsigned int value[WIDE];
            read_values<T, WIDE>(at, least, n_values, value);
            for (int side = 0; side < WIDE; ++side) {
                mine[((int)*code * lines + value[side]) * across + side * threads] += 1;
            }
        }
    }
    __syncthreads();
    for (int k = t; k < n_classes * lines * width * WIDE; k += threads) {
        const int side = k % WIDE, place = k / WIDE % width, line = k / WIDE / width;
        const int to = (blockIdx.y * width + place) * WIDE + side, c = line / lines, value = line % lines;
        if (to >= n_columns) continue;
        unsigned long long sum = 0;
        for (int g = 0; g < groups; ++g) sum += own[(line * WIDE + side) * threads + g * width + place];
        if (!sum) continue;
        if (value == n_values) *outside = 1;
        else atomicAdd(counts + ((Int)to * n_classes + c) * n_values + value, sum);
    }
}

// The same where there are many values, or weights: added atomically.
template <typename T, typename Y, typename W>
__global__ void count_many_values(
    const T* x, Int row_step, Int column_step, const Y* codes, const double* weight, Int n_rows, int n_columns,
    Int least, int n_values, int n_classes, W* counts, int* outside
) {
    const Int cells = (Int)n_rows * n_columns, stride = (Int)gridDim.x * blockDim.x;
    for (Int k = (Int)blockIdx.x * blockDim.x + threadIdx.x; k < cells; k += stride) {
        const Int i = k / n_columns, column = k % n_columns;
        const Int value = (Int)x[i * row_step + column * column_step] - least;
        if (value < 0 || value >= n_values) {
            *outside = 1;
            continue;
        }
        W more = (W)1;
        if (weight) more = (W)weight[i];
        atomicAdd(counts + (column * n_classes + (int)codes[i]) * n_values + value, more);
    }
}

// Sums of the cells of a sparse matrix by class (classes × columns). A negative number or one that is none is told.
template <typename T, typename I, typename Y>
__global__ void sum_sparse_rows(
    const T* data, const I* indices, const I* begins, const Y* codes, const double* weight, Int n_rows, Int n_columns,
    double* sums, int* wrong
) {
    const int lanes = 32;
    const Int stride = (Int)gridDim.x * (blockDim.x / lanes);
    for (Int i = (Int)blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes; i < n_rows; i += stride) {
        double* line = sums + (Int)codes[i] * n_columns;
        const double w = weight ? weight[i] : 1.0;
        for (Int k = (Int)begins[i] + threadIdx.x % lanes; k < (Int)begins[i + 1]; k += lanes) {
            const double cell = (double)data[k];
            const Int column = (Int)indices[k];
            if (!(cell >= 0.0) || cell * 0.0 != 0.0 || column < 0 || column >= n_columns) {
                *wrong = 1;
                continue;
            }
            atomicAdd(line + column, w * cell);
        }
    }
}

// ---- Scores --------------------------------------------------------------------------------------------------------

// Each kernel adds what some columns say to the log joint of a row, K classes at a time. A row begins with `start` if
// `joint` has nothing yet (`fresh`); with `finish` the log joint becomes P(class | row) (1), its logarithm (2), or the
// place of the most probable class (3). A row that no class allows keeps the prior.
template <int K, typename P>
__device__ inline void write_scores(
    double* joint, P* out, Int row, int n_classes, int first, double* sum, const double* prior, int finish
) {
    const int n = n_classes - first < K ? n_classes - first : K;
    if (!finish) {
        for (int c = 0; c < K; ++c) if (c < n) joint[row * n_classes + first + c] = sum[c];
        return;
    }
    double top = sum[0];
    int best = 0;
    for (int c = 1; c < K; ++c) {
        if (c < n && sum[c] > top) {
            top = sum[c];
            best = c;
        }
    }
    const double none = -1.0 / 0.0;
    if (finish == 3) {
        if (top == none) for (int c = 1; c < K; ++c) if (c < n && prior[c] > prior[best]) best = c;
        out[row] = (P)best;
        return;
    }
    P* line = out + row * n_classes;
    if (top == none) {
        for (int c = 0; c < K; ++c) if (c < n) line[c] = (P)(finish == 2 ? log(prior[c]) : prior[c]);
        return;
    }
    double total = 0.0;
    for (int c = 0; c < K; ++c) {
        if (c < n) {
            sum[c] -= top;
            const double share = exp(sum[c]);
            total += share;
            if (finish == 1) sum[c] = share;
        }
    }
    const double rest = finish == 2 ? log(total) : 1.0 / total;
    for (int c = 0; c < K; ++c) if (c < n) line[c] = (P)(finish == 2 ? sum[c] - rest : sum[c] * rest);
}

// Bells of some columns: `bells` is columns × classes × 2 (mean, 1 / (deviation √2)), `heights` the logs of their
// heights (columns × classes), and one line more with their sums, for rows in which all is known. NaN says nothing.
// Infinite cells and NaN are told by `odd`. A tile of rows comes to shared memory first, then each thread has two rows.
template <typename T, int K, typename P>
__global__ void add_bells(
    const T* x, Int row_step, Int column_step, Int n_rows, int n_columns, int n_classes, int first, const double* bells,
    const double* heights, const double* start, const double* prior, double* joint, P* out, int fresh, int finish,
    int tile, int* odd
) {
    extern __shared__ double shared[];
    double* table = shared;                       // tile columns × K × 2
    T* cells = (T*)(shared + (Int)tile * K * 2);  // 2 · threads × (tile | 1)
    const int threads = blockDim.x, t = threadIdx.x, wide = tile | 1;
    const int n = n_classes - first < K ? n_classes - first : K;
    const Int n_blocks = (n_rows + 2 * threads - 1) / (2 * threads);
    const bool once = n_columns <= tile;
    for (Int block = blockIdx.x; block < n_blocks; block += gridDim.x) {
        const Int base = block * 2 * threads;
        const int here = (int)(n_rows - base < 2 * threads ? n_rows - base : 2 * threads);
        double sum[2][K];
        bool gaps[2] = {false, false};
        for (int r = 0; r < 2; ++r) {
            const Int row = base + t + r * threads;
            for (int c = 0; c < K; ++c) {
                sum[r][c] = 0.0;
                if (c < n && row < n_rows) sum[r][c] = fresh ? start[first + c] : joint[row * n_classes + first + c];
            }
        }
        for (int from = 0; from < n_columns; from += tile) {
            const int some = n_columns - from < tile ? n_columns - from : tile;
            __syncthreads();
            if (!once || block == blockIdx.x) {
                for (int k = t; k < some * K; k += threads) {
                    const int j = k / K, c = k % K;
                    const double* bell = bells + ((Int)(from + j) * n_classes + first + (c < n ? c : 0)) * 2;
                    table[2 * k] = bell[0], table[2 * k + 1] = bell[1];
                }
            }
            const int down = threads / some, right = threads % some;
            const Int far = down * row_step + right * column_step, wrap = row_step - some * column_step;
            const int far_in = down * wide + right, wrap_in = wide - some;
            const T* at = x + (base + t / some) * row_step + (Int)(from + t % some) * column_step;
            int to = (t / some) * wide + t % some;
            for (int r = t / some, j = t % some; r < here;) {
                T some_cells[8];  // on their way at once
                int places[8];
#pragma unroll
                for (int k = 0; k < 8; ++k) {
                    places[k] = r < here ? to : -1;
                    if (r < here) some_cells[k] = *at;
                    r += down, j += right, at += far, to += far_in;
                    if (j >= some) j -= some, ++r, at += wrap, to += wrap_in;
                }
#pragma unroll
                for (int k = 0; k < 8; ++k) if (places[k] >= 0) cells[places[k]] = some_cells[k];
            }
            __syncthreads();
            for (int j = 0; j < some; ++j) {
                const T first_cell = t < here ? cells[t * wide + j] : (T)0;
                const T second_cell = t + threads < here ? cells[(t + threads) * wide + j] : (T)0;
                const double one = (double)first_cell, two = (double)second_cell;
                const T off = (first_cell - first_cell) + (second_cell - second_cell);
                if (off != (T)0) {  // a cell is NaN or infinite
                    for (int r = 0; r < 2; ++r) {
                        const double cell = r ? two : one;
                        if (cell - cell == 0.0) {
                            for (int c = 0; c < K; ++c) {
                                const double z = (cell - table[2 * (j * K + c)]) * table[2 * (j * K + c) + 1];
                                sum[r][c] -= z * z;
                            }
                        } else {
                            odd[cell == cell ? 0 : 1] = 1;
                            gaps[r] = true;
                        }
                    }
                    continue;
                }
                const double* bell = table + 2 * j * K;
#pragma unroll
                for (int c = 0; c < K; ++c) {
                    const double mean = bell[2 * c], precision = bell[2 * c + 1];
                    const double a = (one - mean) * precision, b = (two - mean) * precision;
                    sum[0][c] -= a * a;
                    sum[1][c] -= b * b;
                }
            }
        }
        for (int r = 0; r < 2; ++r) {
            const Int row = base + t + r * threads;
            if (row >= n_rows) continue;
            for (int j = gaps[r] ? 0 : n_columns; j < n_columns + !gaps[r]; ++j) {
                if (gaps[r]) {
                    const double cell = (double)x[row * row_step + (Int)j * column_step];
                    if (cell != cell) continue;
                }
                const double* height = heights + (Int)j * n_classes + first;
                for (int c = 0; c < K; ++c) if (c < n) sum[r][c] += height[c];
            }
            write_scores<K, P>(joint, out, row, n_classes, first, sum[r], prior, finish);
        }
    }
}

// Lines of tables: the value `v` of column j has the line begins[j] + v − least[j], any other value the line that
// follows the last of the column.
template <typename T, int K, typename P>
__global__ void add_lines(
    const T* x, Int row_step, Int column_step, Int n_rows, int n_columns, int n_classes, int first, const Int* begins,
    const Int* least, const Int* sizes, const double* lines, const double* start, const double* prior, double* joint,
    P* out, int fresh, int finish
) {
    const int n = n_classes - first < K ? n_classes - first : K;
    const Int stride = (Int)gridDim.x * blockDim.x;
    for (Int row = (Int)blockIdx.x * blockDim.x + threadIdx.x; row < n_rows; row += stride) {
        double sum[K];
        for (int c = 0; c < K; ++c) {
            sum[c] = 0.0;
            if (c < n) sum[c] = fresh ? start[first + c] : joint[row * n_classes + first + c];
        }
        for (int j = 0; j < n_columns; ++j) {
            const Int code = (Int)x[row * row_step + (Int)j * column_step] - least[j];
            const Int at = code >= 0 && code < sizes[j] ? code : sizes[j];
            const double* line = lines + (begins[j] + at) * n_classes + first;
#pragma unroll
            for (int c = 0; c < K; ++c) if (c < n) sum[c] += line[c];
        }
        write_scores<K, P>(joint, out, row, n_classes, first, sum, prior, finish);
    }
}

// Counts of a sparse matrix, each times the line of its column (columns × classes). 32 threads share a row.
template <typename T, typename I, int K, typename P>
__global__ void add_sparse_counts(
    const T* data, const I* indices, const I* begins, Int n_rows, Int n_columns, int n_classes, int first,
    const double* lines, const double* start, const double* prior, double* joint, P* out, int fresh, int finish,
    int* wrong
) {
    extern __shared__ double sums[];  // K × threads
    const int lanes = 32, lane = threadIdx.x % lanes, own = threadIdx.x / lanes, threads = blockDim.x;
    const int rows = threads / lanes, n = n_classes - first < K ? n_classes - first : K;
    for (Int base = (Int)blockIdx.x * rows; base < n_rows; base += (Int)gridDim.x * rows) {
        const Int row = base + own;
        double sum[K];
        for (int c = 0; c < K; ++c) sum[c] = 0.0;
        if (row < n_rows) {
            for (Int k = (Int)begins[row] + lane; k < (Int)begins[row + 1]; k += lanes) {
                const double cell = (double)data[k];
                const Int column = (Int)indices[k];
                if (cell - cell != 0.0 || column < 0 || column >= n_columns) {
                    *wrong = 1;
                    continue;
                }
                const double* line = lines + column * n_classes + first;
#pragma unroll
                for (int c = 0; c < K; ++c) if (c < n) sum[c] += cell * line[c];
            }
        }
        for (int c = 0; c < K; ++c) sums[c * threads + threadIdx.x] = sum[c];
        for (int reach = lanes / 2; reach > 0; reach /= 2) {
            __syncthreads();
            if (lane < reach) {
                for (int c = 0; c < K; ++c) sums[c * threads + threadIdx.x] += sums[c * threads + threadIdx.x + reach];
            }
        }
        if (lane == 0 && row < n_rows) {
            for (int c = 0; c < K; ++c) {
                sum[c] = 0.0;
                if (c >= n) continue;
                sum[c] = sums[c * threads + threadIdx.x];
                sum[c] += fresh ? start[first + c] : joint[row * n_classes + first + c];
            }
            write_scores<K, P>(joint, out, row, n_classes, first, sum, prior, finish);
        }
        __syncthreads();
    }
}

// The log joint of rows, finished where there are more classes than one thread holds, or nothing to add.
template <typename P>
__global__ void finish_scores(const double* joint, Int n_rows, int n_classes, const double* prior, P* out, int finish) {
    const Int stride = (Int)gridDim.x * blockDim.x;
    const double none = -1.0 / 0.0;
    for (Int row = (Int)blockIdx.x * blockDim.x + threadIdx.x; row < n_rows; row += stride) {
        const double* from = joint + row * n_classes;
        double top = none, total = 0.0;
        for (int c = 0; c < n_classes; ++c) top = from[c] > top ? from[c] : top;
        if (finish == 3) {
            if (top == none) from = prior;
            int best = 0;
            for (int c = 1; c < n_classes; ++c) if (from[c] > from[best]) best = c;
            out[row] = (P)best;
            continue;
        }
        P* line = out + row * n_classes;
        for (int c = 0; c < n_classes; ++c) total += top == none ? 0.0 : exp(from[c] - top);
        const double rest = log(total);
        for (int c = 0; c < n_classes; ++c) {
            const double told = top == none ? log(prior[c]) : from[c] - top - rest;
            line[c] = (P)(finish == 2 ? told : exp(told));
        }
    }
}
