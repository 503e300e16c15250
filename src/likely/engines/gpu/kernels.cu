// Counting and scoring rows where they lie on a GPU. One statistic is one or two kernels; `rows.py` says in which order.
//
// Rows are dealt to classes first, chunk by chunk, without changing their order within a class (`deal_rows`). A block of
// threads then reads a piece of one chunk, class by class, so that sums stay in registers and nothing is added
// atomically: the same rows give the same moments, bit for bit. Counts are added atomically, which is exact for whole
// numbers; with fractions as weights or cells, the last digits depend on the order. All sums are in double precision.

typedef long long Int;

// ---- What only a GPU has: copies to shared memory that go on while threads work, and products of four bytes each ------

#ifdef __CUDA_ARCH__  // whoever runs this elsewhere has his own
template <int SIZE>
__device__ inline void copy_later(void* to, const void* from, int bytes) {
    const unsigned int at = (unsigned int)__cvta_generic_to_shared(to);
    if (SIZE == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes));
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(SIZE));
    }
}
__device__ inline void end_copies() { asm volatile("cp.async.commit_group;"); }
template <int OPEN>
__device__ inline void await_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(OPEN)); }
__device__ inline unsigned int dot(unsigned int bytes, unsigned int others, unsigned int more) {
    return __dp4a(bytes, others, more);
}
#endif

// Some bytes by all threads of a block, between places that are multiples of sixteen.
__device__ inline void copy_bytes(void* to, const void* from, int bytes) {
    for (int k = 16 * threadIdx.x; k < bytes; k += 16 * blockDim.x) {
        copy_later<16>((char*)to + k, (const char*)from + k, bytes - k < 16 ? bytes - k : 16);
    }
}

// Lines of some bytes by all threads of a block, a warp a line, in units of 1 to 16 bytes between places that are
// multiples of them; units below 4 are copied at once. Steps from line to line are in cells.
template <typename T>
__device__ inline void copy_lines(T* to, const T* from, int lines, int bytes, int pitch, Int step, int unit) {
    const int lanes = blockDim.x < 32 ? blockDim.x : 32;
    for (int r = threadIdx.x / lanes; r < lines; r += blockDim.x / lanes) {
        char* own_to = (char*)(to + (Int)r * pitch);
        const char* own_from = (const char*)(from + r * step);
        for (int k = unit * (threadIdx.x % lanes); k < bytes; k += unit * lanes) {
            if (unit == 16) copy_later<16>(own_to + k, own_from + k, 16);
            else if (unit == 8) copy_later<8>(own_to + k, own_from + k, 8);
            else if (unit == 4) copy_later<4>(own_to + k, own_from + k, 4);
            else for (int b = 0; b < unit; ++b) own_to[k + b] = own_from[k + b];
        }
    }
}

// Cells that a thread reads at once.
template <typename T, int N>
struct alignas(N * sizeof(T)) Run {
    T cell[N];
};

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

// How often each label from `least` to `least` + `n_values` (excluded) comes, and whether one lies outside. Threads side by
// side have `copies` tables of their own, in other banks: few labels would be added one after the other in one table.
template <typename Y>
__global__ void count_labels(
    const Y* labels, Int step, Int n_rows, Int least, int n_values, int copies, unsigned long long* counts,
    unsigned long long* outside
) {
    extern __shared__ unsigned int seen[];  // values × copies
    const int t = threadIdx.x, threads = blockDim.x;
    for (int k = t; k < n_values * copies; k += threads) seen[k] = 0;
    __syncthreads();
    const Int stride = (Int)gridDim.x * threads;
    unsigned int* own = seen + t % copies;
    bool strange = false;
    for (Int begin = (Int)blockIdx.x * threads + t; begin < n_rows; begin += 8 * stride) {
        Int value[8];
#pragma unroll
        for (int k = 0; k < 8; ++k) value[k] = begin + k * stride < n_rows ? (Int)labels[(begin + k * stride) * step] - least : -1;
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            if (value[k] >= 0 && value[k] < n_values) atomicAdd(own + value[k] * copies, 1u);
            else strange |= begin + k * stride < n_rows;
        }
    }
    if (strange) *outside = 1;
    __syncthreads();
    for (int k = t; k < n_values; k += threads) {
        unsigned long long sum = 0;
        for (int copy = 0; copy < copies; ++copy) sum += seen[k * copies + (copy + k) % copies];  // from all banks
        if (sum) atomicAdd(counts + k, sum);
    }
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

// What sums of deviations from a number say.
__device__ inline Seen seen_around(double shift, double n, double sum, double squares) {
    Seen seen = {0.0, 0.0, 0.0};
    if (shift == shift && shift - shift != 0.0) {
        seen.n = 1.0, seen.mean = shift, seen.squares = shift;  // an infinite cell: whoever knows its name refuses it
    } else if (n > 0.0) {
        const double mean = sum / n, rest = squares - sum * mean;
        seen.n = n;
        seen.mean = shift + mean;
        seen.squares = rest > 0.0 ? rest : (rest == rest ? 0.0 : rest);
    }
    return seen;
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
            seen = seen_around(shift, n, sum, squares);
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

// The same for rows side by side and not too many classes, with nothing dealt before: a tile of rows is on its way to
// shared memory while the one before is counted, class by class by `lists` of its rows. A thread has one column, and M
// classes whose sums never leave its registers; where threads are left, `shares` of them have the same classes. What a
// block has seen is a table of classes × columns for each share, in `out`.
template <typename T, typename Y, bool WEIGHTED, int M, int THREADS>
__global__ void __launch_bounds__(THREADS) observe_tiles(
    const T* x, const double* weight, const Y* codes, Int n_rows, int n_classes, int n_columns, int tile, int slots,
    int shares, double* out
) {
    extern __shared__ double shared[];
    const int t = threadIdx.x, threads = blockDim.x, column = t % n_columns;
    const int slot = t / n_columns % slots, share = t / n_columns / slots, words = tile / 32;
    const int weights_at = tile * n_columns * (int)sizeof(T), codes_at = weights_at + (WEIGHTED ? 8 * tile : 0);
    const int pitch = codes_at + tile * (int)sizeof(Y);
    char* tiles = (char*)shared;
    unsigned short* lists = (unsigned short*)(tiles + 2 * pitch);           // classes × tile
    unsigned int* masks = (unsigned int*)(lists + n_classes * tile);        // classes × words
    int* totals = (int*)(masks + n_classes * words);                        // rows of each class in the tile
    const Int n_tiles = (n_rows + tile - 1) / tile;
    double all_n[M], all_sum[M], all_squares[M], shift[M];
    for (int m = 0; m < M; ++m) all_n[m] = all_sum[m] = all_squares[m] = shift[m] = 0.0;
    auto bring = [&](Int k, char* to) {
        const int here = (int)(n_rows - k * tile < tile ? n_rows - k * tile : tile);
        copy_bytes(to, x + k * tile * n_columns, here * n_columns * (int)sizeof(T));
        if (WEIGHTED) copy_bytes(to + weights_at, weight + k * tile, here * 8);
        copy_bytes(to + codes_at, codes + k * tile, here * (int)sizeof(Y));
    };
    if (blockIdx.x < n_tiles) bring(blockIdx.x, tiles);
    end_copies();
    int side = 0;
    for (Int k = blockIdx.x; k < n_tiles; k += gridDim.x, side ^= 1) {
        if (k + gridDim.x < n_tiles) bring(k + gridDim.x, tiles + (side ^ 1) * pitch);
        end_copies();
        for (int j = t; j < n_classes * words; j += threads) masks[j] = 0;
        await_copies<1>();
        __syncthreads();
        const int here = (int)(n_rows - k * tile < tile ? n_rows - k * tile : tile);
        const char* held = tiles + side * pitch;
        const Y* own_codes = (const Y*)(held + codes_at);
        for (int r = t; r < tile; r += threads) {  // whole warps: a bit for each row of a class
            const int c = r < here ? (int)own_codes[r] : -1;
            const unsigned int same = __match_any_sync(0xffffffffu, c);
            if (c >= 0 && !(same & ((1u << (t % 32)) - 1))) masks[c * words + r / 32] = same;
        }
        __syncthreads();
        for (int c = t; c < n_classes; c += threads) {
            totals[c] = 0;
            for (int w = 0; w < words; ++w) totals[c] += __popc(masks[c * words + w]);
        }
        for (int r = t; r < here; r += threads) {
            const unsigned int* bits = masks + (int)own_codes[r] * words;
            int place = __popc(bits[r / 32] & ((1u << (t % 32)) - 1));
            for (int w = 0; w < r / 32; ++w) place += __popc(bits[w]);
            lists[(int)own_codes[r] * tile + place] = (unsigned short)r;
        }
        __syncthreads();
        const T* cells = (const T*)held + column;
        const double* weights = (const double*)(held + weights_at);
#pragma unroll
        for (int m = 0; m < M; ++m) {
            const int c = slot + m * slots;
            if (c >= n_classes || share >= shares) continue;
            const int rows = totals[c];
            const unsigned short* list = lists + c * tile;
            if (!(all_n[m] > 0.0)) {
                for (int i = 4 * share; i < rows; i += i % 4 == 3 ? 4 * shares - 3 : 1) {
                    shift[m] = (double)cells[list[i] * n_columns];
                    if (shift[m] == shift[m]) break;
                }
            }
            const double about = shift[m];
            double n = 0.0, sum = 0.0, squares = 0.0;
            int i = 4 * share, counted = 0;
            for (; i + 4 <= rows; i += 4 * shares, counted += 4) {  // as if all were known
                const ushort4 four = *(const ushort4*)(list + i);
                const int row[4] = {four.x, four.y, four.z, four.w};
                double d[4];
#pragma unroll
                for (int q = 0; q < 4; ++q) d[q] = (double)cells[row[q] * n_columns] - about;
#pragma unroll
                for (int q = 0; q < 4; ++q) {
                    const double w = WEIGHTED ? weights[row[q]] : 1.0;
                    const double step = WEIGHTED ? w * d[q] : d[q];
                    if (WEIGHTED) n += w;
                    sum += step;
                    squares += step * d[q];
                }
            }
            if (i < rows) {  // the last few, at once as well
                const ushort4 four = *(const ushort4*)(list + i);
                const int row[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
                for (int q = 0; q < 4; ++q) {
                    const int known_row = i + q < rows ? row[q] : row[0];
                    const double w = i + q < rows ? (WEIGHTED ? weights[known_row] : 1.0) : 0.0;
                    const double d = (double)cells[known_row * n_columns] - about;
                    if (WEIGHTED) n += w;
                    sum += w * d;
                    squares += w * d * d;
                }
                counted += rows - i;
            }
            if (!WEIGHTED) n = counted;
            if (sum != sum) {  // a cell is missing: once more, with care
                n = sum = squares = 0.0;
                for (i = 4 * share; i < rows; i += i % 4 == 3 ? 4 * shares - 3 : 1) {
                    const double w = WEIGHTED ? weights[list[i]] : 1.0;
                    const double d = (double)cells[list[i] * n_columns] - about;
                    if (d == d) {
                        n += w;
                        sum += w * d;
                        squares += w * d * d;
                    }
                }
            }
            all_n[m] += n;
            all_sum[m] += sum;
            all_squares[m] += squares;
        }
        __syncthreads();
    }
    if (share >= shares) return;
#pragma unroll
    for (int m = 0; m < M; ++m) {
        const int c = slot + m * slots;
        if (c >= n_classes) continue;
        const Seen seen = seen_around(shift[m], all_n[m], all_sum[m], all_squares[m]);
        double* to = out + (((Int)blockIdx.x * shares + share) * n_classes + c) * n_columns * 3 + column * 3;
        to[0] = seen.n, to[1] = seen.mean, to[2] = seen.squares;
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

// `parts` tables of classes × columns, joined to one, which is `out` (as three tables): a block for each cell.
__global__ void join_parts(const double* parts, int n_parts, Int n_cells, double* out) {
    extern __shared__ double shared[];
    const Int cell = blockIdx.x;
    const int t = threadIdx.x;
    Seen sum = {0.0, 0.0, 0.0};
    for (int part = t; part < n_parts; part += blockDim.x) {
        const double* at = parts + ((Int)part * n_cells + cell) * 3;
        const Seen more = {at[0], at[1], at[2]};
        sum = joined(sum, more);
    }
    double* mine = shared + 3 * t;
    for (int reach = blockDim.x / 2;; reach /= 2) {
        mine[0] = sum.n, mine[1] = sum.mean, mine[2] = sum.squares;
        __syncthreads();
        if (reach == 0) break;
        if (t < reach) {
            const double* other = shared + 3 * (t + reach);
            const Seen more = {other[0], other[1], other[2]};
            sum = joined(sum, more);
        }
        __syncthreads();
    }
    if (t == 0) out[cell] = sum.n, out[n_cells + cell] = sum.mean, out[2 * n_cells + cell] = sum.squares;
}

// ---- Sums and counts -----------------------------------------------------------------------------------------------

// A cell as a value from `least` on; what lies outside becomes `n_values`.
template <typename T>
__device__ inline int read_value(const T* at, Int least, int n_values) {
    const unsigned long long far = (unsigned long long)*at - (unsigned long long)least;
    return far < (unsigned long long)n_values ? (int)far : n_values;
}

// How often each value from `least` on came with each class, by column: `counts` is columns × classes × values. Every
// thread has counters of its own in shared memory ([class and value][thread]), so nothing is added atomically there; they
// are short, and no thread sees more rows than they can count. A value outside is told by `outside`.
template <typename T, typename Y>
__global__ void count_values(
    const T* x, Int row_step, Int column_step, const Y* codes, Int n_rows, int n_columns, int width, Int least,
    int n_values, int n_classes, unsigned long long* counts, int* outside
) {
    extern __shared__ unsigned short own[];
    const int threads = blockDim.x, t = threadIdx.x, lines = n_values + 1;  // the last one for values outside
    const int groups = threads / width, group = t / width, column = blockIdx.y * width + t % width;
    for (int k = 0; k < n_classes * lines; ++k) own[k * threads + t] = 0;
    if (group < groups && column < n_columns) {
        const Int stride = (Int)gridDim.x * groups, far = stride * row_step;
        Int i = (Int)blockIdx.x * groups + group;
        const T* at = x + (Int)column * column_step + i * row_step;
        const Y* code = codes + i;
        for (; i + 7 * stride < n_rows; i += 8 * stride, at += 8 * far, code += 8 * stride) {
            int value[8], c[8];
#pragma unroll
            for (int k = 0; k < 8; ++k) {
                c[k] = (int)code[k * stride];
                value[k] = read_value(at + k * far, least, n_values);
            }
#pragma unroll
            for (int k = 0; k < 8; ++k) own[(c[k] * lines + value[k]) * threads + t] += 1;
        }
        for (; i < n_rows; i += stride, at += far, code += stride) {
            own[((int)*code * lines + read_value(at, least, n_values)) * threads + t] += 1;
        }
    }
    __syncthreads();
    for (int k = t; k < n_classes * lines * width; k += threads) {
        const int place = k % width, line = k / width, to = blockIdx.y * width + place, c = line / lines, value = line % lines;
        if (to >= n_columns) continue;
        unsigned long long sum = 0;
        for (int g = 0; g < groups; ++g) sum += own[line * threads + g * width + place];
        if (!sum) continue;
        if (value == n_values) *outside = 1;
        else atomicAdd(counts + ((Int)to * n_classes + c) * n_values + value, sum);
    }
}

// The same for bytes that lie side by side, with values below `n_values`: a word of four cells is two pairs of columns, and
// a pair is one value more, so that two additions count four cells. Where rows end within words, two rows are read as one
// line. `lanes` words share a warp, in banks of their own. Counters are [class and both values][lane], half of each for
// the first pair of a word and half for the second; no lane sees more lines than half a counter can tell.
template <typename Y, int THREADS>
__global__ void __launch_bounds__(THREADS) count_words(
    const unsigned char* x, const Y* codes, Int n_rows, int n_columns, int lanes, int n_values, int n_classes,
    unsigned long long* counts, int* outside
) {
    extern __shared__ unsigned int both[];
    const int t = threadIdx.x, threads = blockDim.x, side = t % 32, square = n_values * n_values, n_pairs = n_columns / 2;
    const int rows = n_columns % 4 ? 2 : 1, words = rows * n_columns / 4, word = blockIdx.y * lanes + side % lanes;
    for (int k = t; k < n_classes * square * 32; k += threads) both[k] = 0;
    __syncthreads();
    bool strange = false;
    if (word < words) {
        const int first = 2 * word / n_pairs, second = (2 * word + 1) / n_pairs;  // in which row of the line a pair is
        const unsigned int left = n_values | 1u << 8, right = left << 16, beyond = (128 - n_values) * 0x01010101u;
        const Int n_lines = n_rows / rows, stride = (Int)gridDim.x * (threads / lanes);
        const Int start = (Int)blockIdx.x * (threads / lanes) + t / lanes;
        const unsigned int* at = (const unsigned int*)x + start * words + word;
        const Y* code = codes + start * rows;
        auto count = [&](unsigned int four, unsigned int c, unsigned int d) {
            if ((((four & 0x7f7f7f7fu) + beyond) | four) & 0x80808080u) {  // one of them is too large
                strange = true;
            } else {
                atomicAdd(both + 32 * dot(four, left, c * square) + side, 1u);
                atomicAdd(both + 32 * dot(four, right, d * square) + side, 1u << 16);
            }
        };
        Int i = start;
        for (; i + 7 * stride < n_lines; i += 8 * stride) {
            unsigned int four[8], c[8], d[8];
#pragma unroll
            for (int k = 0; k < 8; ++k, at += stride * words, code += stride * rows) {
                four[k] = *at;
                c[k] = d[k] = (unsigned int)code[first];
                if (second != first) d[k] = (unsigned int)code[second];
            }
#pragma unroll
            for (int k = 0; k < 8; ++k) count(four[k], c[k], d[k]);
        }
        for (; i < n_lines; i += stride, at += stride * words, code += stride * rows) {
            count(*at, (unsigned int)code[first], (unsigned int)code[second]);
        }
        for (int half = 0; half < 2; ++half) {  // a last row that no other follows in its line
            const int pair = 2 * word + half;
            if (n_lines * rows == n_rows || start || pair >= n_pairs) continue;
            const unsigned char* two = x + (n_rows - 1) * n_columns + 2 * pair;
            const int line = (int)codes[n_rows - 1] * square + two[0] * n_values + two[1];
            if (two[0] < n_values && two[1] < n_values) atomicAdd(both + 32 * line + side, half ? 1u << 16 : 1u);
            else strange = true;
        }
    }
    if (strange) *outside = 1;
    __syncthreads();
    for (int k = t; k < n_classes * n_values * 4 * lanes; k += threads) {
        const int half = k / 2 % 2, own = k / 4 % lanes, c = k / 4 / lanes / n_values, v = k / 4 / lanes % n_values;
        const int told = blockIdx.y * lanes + own, column = (2 * told + half) % n_pairs * 2 + k % 2;
        if (told >= words) continue;
        unsigned long long sum = 0;
        for (int other = 0; other < n_values; ++other) {
            const unsigned int* cells = both + 32 * (c * square + (k % 2 ? other * n_values + v : v * n_values + other));
            for (int lane = own; lane < 32; lane += lanes) sum += half ? cells[lane] >> 16 : cells[lane] & 0xffffu;
        }
        if (sum) atomicAdd(counts + ((Int)column * n_classes + c) * n_values + v, sum);
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

// Bells of columns side by side: `bells` is columns × classes × 2 (mean, 1 / (deviation √2)), `heights` the logs of their
// heights (columns × classes), and one line more with their sums, for rows in which all is known. NaN says nothing.
// Infinite cells and NaN are told by `odd`. Some rows come to shared memory in one go, and each thread scores two of them;
// there they are `pitch` cells apart, an odd number of what a thread reads at once (N cells), so that threads read from
// other banks. They are copied in units of some bytes, or all at once (0) where they lie as closely before. While one
// block waits for its rows, others on the same multiprocessor score theirs.
template <typename T, int K, typename P, int N>
__global__ void add_bells(
    const T* x, Int row_step, Int n_rows, int n_columns, int n_classes, int first, const double* bells,
    const double* heights, const double* start, const double* prior, double* joint, P* out, int fresh, int finish,
    int pitch, int unit, int* odd
) {
    extern __shared__ double shared[];
    const int threads = blockDim.x, t = threadIdx.x, rows = 2 * threads;
    Run<double, 2>* table = (Run<double, 2>*)shared;  // columns × K
    T* cells = (T*)(table + n_columns * K);
    const int n = n_classes - first < K ? n_classes - first : K;
    for (int k = t; k < n_columns * K; k += threads) {
        const int c = k % K < n ? k % K : 0;
        const double* bell = bells + ((Int)(k / K) * n_classes + first + c) * 2;
        table[k].cell[0] = bell[0], table[k].cell[1] = bell[1];
    }
    auto bring = [&](Int block) {
        const Int base = block * rows;
        const int here = (int)(n_rows - base < rows ? n_rows - base : rows);
        if (!unit) copy_bytes(cells, x + base * row_step, here * pitch * (int)sizeof(T));
        else copy_lines(cells, x + base * row_step, here, n_columns * (int)sizeof(T), pitch, row_step, unit);
        end_copies();
    };
    const Int n_blocks = (n_rows + rows - 1) / rows;
    if (blockIdx.x < n_blocks) bring(blockIdx.x);
    for (Int block = blockIdx.x; block < n_blocks; block += gridDim.x) {
        await_copies<0>();
        __syncthreads();
        double sum[2][K];
        T off[2] = {(T)0, (T)0};
#pragma unroll
        for (int c = 0; c < K; ++c) sum[0][c] = sum[1][c] = 0.0;
        const T* own[2] = {cells + t * pitch, cells + (t + threads) * pitch};
        for (int j = 0; j < n_columns; j += N) {
            const Run<T, N> one = *(const Run<T, N>*)(own[0] + j), two = *(const Run<T, N>*)(own[1] + j);
#pragma unroll
            for (int k = 0; k < N; ++k) {
                const double a = (double)one.cell[k], b = (double)two.cell[k];
                off[0] += one.cell[k] * (T)0, off[1] += two.cell[k] * (T)0;  // NaN if the cell is none, or infinite
#pragma unroll
                for (int c = 0; c < K; ++c) {
                    const Run<double, 2> bell = table[(j + k) * K + c];
                    const double u = (a - bell.cell[0]) * bell.cell[1], v = (b - bell.cell[0]) * bell.cell[1];
                    sum[0][c] -= u * u;
                    sum[1][c] -= v * v;
                }
            }
        }
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const Int row = block * rows + t + r * threads;
            if (row >= n_rows) continue;
            const double* height = heights + (Int)n_columns * n_classes + first;
            const bool known = off[r] == (T)0;
#pragma unroll
            for (int c = 0; c < K; ++c) if (c < n && known) sum[r][c] += height[c];
            if (!known) {
                for (int c = 0; c < K; ++c) sum[r][c] = 0.0;
                for (int j = 0; j < n_columns; ++j) {
                    const double cell = (double)own[r][j];
                    if (cell - cell != 0.0) {
                        odd[cell == cell ? 0 : 1] = 1;
                        continue;
                    }
                    height = heights + (Int)j * n_classes + first;
                    for (int c = 0; c < K; ++c) {
                        const double* bell = table[j * K + c].cell;
                        const double z = (cell - bell[0]) * bell[1];
                        if (c < n) sum[r][c] += height[c] - z * z;
                    }
                }
            }
#pragma unroll
            for (int c = 0; c < K; ++c) if (c < n) sum[r][c] += fresh ? start[first + c] : joint[row * n_classes + first + c];
            write_scores<K, P>(joint, out, row, n_classes, first, sum[r], prior, finish);
        }
        __syncthreads();
        if (block + gridDim.x < n_blocks) bring(block + gridDim.x);
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

// The same for rows side by side and tables that shared memory has room for. All columns have L lines, from the value
// `least` on; the last is that of any other value. `lines` is columns × classes × L, so that the lines of a class lie in
// banks of their own. Rows come as in `add_bells`, one for each thread, which reads N cells at once; what is finished
// leaves through shared memory, in one go.
template <typename T, int K, typename P, int L, int N>
__global__ void add_held_lines(
    const T* x, Int row_step, Int n_rows, int n_columns, int n_classes, int first, const double* lines,
    const double* start, const double* prior, double* joint, P* out, int fresh, int finish, Int least, int pitch, int unit
) {
    extern __shared__ double shared[];
    const int threads = blockDim.x, t = threadIdx.x;
    double* table = shared;
    T* cells = (T*)(table + n_columns * K * L);
    P* told = (P*)((char*)cells + (threads * pitch * (int)sizeof(T) + 15) / 16 * 16);
    const int n = n_classes - first < K ? n_classes - first : K;
    for (int k = t; k < n_columns * K * L; k += threads) {
        const int c = k / L % K;
        table[k] = c < n ? lines[((Int)(k / L / K) * n_classes + first + c) * L + k % L] : 0.0;
    }
    auto bring = [&](Int block) {
        const Int base = block * threads;
        const int here = (int)(n_rows - base < threads ? n_rows - base : threads);
        if (!unit) copy_bytes(cells, x + base * row_step, here * pitch * (int)sizeof(T));
        else copy_lines(cells, x + base * row_step, here, n_columns * (int)sizeof(T), pitch, row_step, unit);
        end_copies();
    };
    const Int n_blocks = (n_rows + threads - 1) / threads;
    if (blockIdx.x < n_blocks) bring(blockIdx.x);
    for (Int block = blockIdx.x; block < n_blocks; block += gridDim.x) {
        const Int row = block * threads + t;
        double sum[K];
#pragma unroll
        for (int c = 0; c < K; ++c) {
            sum[c] = 0.0;
            if (c < n && row < n_rows) sum[c] = fresh ? start[first + c] : joint[row * n_classes + first + c];
        }
        await_copies<0>();
        __syncthreads();
        const T* own = cells + t * pitch;
        const double* column = table;
        for (int j = 0; j < n_columns; j += N) {
            const Run<T, N> some = *(const Run<T, N>*)(own + j);
#pragma unroll
            for (int k = 0; k < N; ++k, column += K * L) {
                int at;
                if (sizeof(T) < 4) {
                    const unsigned int far = (unsigned int)((int)some.cell[k] - (int)least);
                    at = far < L - 1 ? (int)far : L - 1;
                } else {
                    const unsigned long long far = (unsigned long long)(Int)some.cell[k] - (unsigned long long)least;
                    at = far < L - 1 ? (int)far : L - 1;
                }
                const double* line = column + at;
#pragma unroll
                for (int c = 0; c < K; ++c) sum[c] += line[c * L];
            }
        }
        if (finish) {
            if (row < n_rows) write_scores<K, P>(joint, told, t, n_classes, first, sum, prior, finish);
            __syncthreads();
            const int of_row = finish == 3 ? 1 : n_classes;
            const Int base = block * threads;
            const int here = (int)(n_rows - base < threads ? n_rows - base : threads);
            for (int k = t; k < here * of_row; k += threads) out[base * of_row + k] = told[k];
        } else if (row < n_rows) {
            write_scores<K, P>(joint, out, row, n_classes, first, sum, prior, finish);
        }
        __syncthreads();
        if (block + gridDim.x < n_blocks) bring(block + gridDim.x);
    }
}

// Tables over codes of columns (columns × rows, one byte each). A term is up to three columns (−1: none): one column is
// looked up by its code, two by their coarse groups, three by tiny ones, as digits of one number. `groups` is resolutions
// × columns × 256, `widths` resolutions × columns; `begins` says where the table of a term begins (cells × classes).
template <int K, typename P>
__global__ void add_code_tables(
    const unsigned char* codes, Int n_rows, int n_columns, int n_classes, int first, const int* terms,
    const Int* begins, const unsigned char* groups, const int* widths, const double* tables, const double* start,
    const double* prior, double* joint, P* out, int fresh, int finish, int n_terms
) {
    const int n = n_classes - first < K ? n_classes - first : K;
    const Int stride = (Int)gridDim.x * blockDim.x;
    for (Int row = (Int)blockIdx.x * blockDim.x + threadIdx.x; row < n_rows; row += stride) {
        double sum[K];
        for (int c = 0; c < K; ++c) {
            sum[c] = 0.0;
            if (c < n) sum[c] = fresh ? start[first + c] : joint[row * n_classes + first + c];
        }
        for (int t = 0; t < n_terms; ++t) {
            const int* term = terms + 3 * t;
            Int cell = codes[term[0] * n_rows + row];
            if (term[1] >= 0) {
                const int tiny = term[2] >= 0 ? n_columns : 0;
                cell = groups[(tiny + term[0]) * 256 + cell];
                for (int k = 1; k < 3 && term[k] >= 0; ++k) {
                    const int column = tiny + term[k];
                    cell = cell * widths[column] + groups[column * 256 + codes[term[k] * n_rows + row]];
                }
            }
            const double* line = tables + (begins[t] + cell) * n_classes + first;
#pragma unroll
            for (int c = 0; c < K; ++c) if (c < n) sum[c] += line[c];
        }
        write_scores<K, P>(joint, out, row, n_classes, first, sum, prior, finish);
    }
}

// Trees over the same codes: answers to the questions of a tree (`columns`, and `sides` of 256 codes each) are the bits of
// a leaf's number; `leaves` is trees × leaves × classes.
template <int K, typename P>
__global__ void add_code_trees(
    const unsigned char* codes, Int n_rows, int n_columns, int n_classes, int first, const int* columns,
    const unsigned char* sides, const double* leaves, const double* start, const double* prior, double* joint, P* out,
    int fresh, int finish, int n_trees, int n_questions
) {
    const int n = n_classes - first < K ? n_classes - first : K;
    const Int stride = (Int)gridDim.x * blockDim.x;
    for (Int row = (Int)blockIdx.x * blockDim.x + threadIdx.x; row < n_rows; row += stride) {
        double sum[K];
        for (int c = 0; c < K; ++c) {
            sum[c] = 0.0;
            if (c < n) sum[c] = fresh ? start[first + c] : joint[row * n_classes + first + c];
        }
        for (int t = 0; t < n_trees; ++t) {
            Int leaf = t;
            for (int k = t * n_questions; k < (t + 1) * n_questions; ++k) {
                leaf = 2 * leaf + sides[(Int)k * 256 + codes[columns[k] * n_rows + row]];
            }
            const double* line = leaves + leaf * n_classes + first;
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
