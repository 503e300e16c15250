// A text as words, as the package's tokenizer cuts it, and what each known word adds.

const WORD = /[\p{L}\p{N}_]+/gu;

// The words of a text with their places in `text`, which is the text as it was read.
export function wordsIn(given, tokenizer) {
  const composed = tokenizer.normalize ? given.normalize("NFC") : given;
  const lowered = tokenizer.lowercase ? composed.toLowerCase() : composed;
  const stops = new Set(tokenizer.stop_words || []);
  const single = [];
  for (const found of lowered.matchAll(WORD)) {
    if ([...found[0]].length < tokenizer.min_chars || stops.has(found[0])) continue;
    single.push({ word: found[0], start: found.index, end: found.index + found[0].length });
  }
  const [low, high] = tokenizer.ngram_range;
  const words = [];
  for (let n = low; n <= high; n++) {
    for (let k = 0; k + n <= single.length; k++) {
      const some = single.slice(k, k + n);
      words.push({ word: some.map((each) => each.word).join(" "), start: some[0].start, end: some[n - 1].end });
    }
  }
  return { text: lowered.length === composed.length ? composed : lowered, words };
}

// A part that adds a line of weights for every word.
export class WordsPart {
  constructor(told, nClasses) {
    this.columns = told.columns;
    this.k = nClasses;
    this.told = told;
    this.weight = told.weight ?? 1;
    this.places = new Map(told.words.map((word, place) => [word, place]));
  }

  found(cell) {
    if (cell === null || cell === undefined) return { text: "", words: [] };
    const read = wordsIn(String(cell), this.told.tokenizer);
    const words = read.words.filter((each) => this.places.has(each.word));
    return { text: read.text, words: words.map((each) => ({ ...each, place: this.places.get(each.word) })) };
  }

  line(place) {
    return Array.from(this.told.lines.subarray(place * this.k, (place + 1) * this.k), (w) => this.weight * w);
  }

  // What each word adds, for colouring.
  words(row) {
    const read = this.found(row.get(this.columns[0]));
    return { text: read.text, words: read.words.map((each) => ({ ...each, add: this.line(each.place) })) };
  }

  add(row, out) {
    if (this.weight === 0) return;
    const { bias, lines } = this.told;
    for (let c = 0; c < this.k; c++) out[c] += this.weight * bias[c];
    for (const { place } of this.found(row.get(this.columns[0])).words)
      for (let c = 0; c < this.k; c++) out[c] += this.weight * lines[place * this.k + c];
  }
}

// A line of weights for the tf-idf of every word, and one for each of its occurrences.
export class TfIdfPart extends WordsPart {
  // What each known word adds, all its occurrences together: [place, occurrences, sums].
  sums(words) {
    const counts = new Map();
    for (const { place } of words) counts.set(place, (counts.get(place) || 0) + 1);
    const { rarity, lines, counts: own } = this.told;
    const value = (place, n) => (1 + Math.log(n)) * rarity[place];
    let length = 0;
    for (const [place, n] of counts) length += value(place, n) ** 2;
    length = Math.sqrt(length) || 1;
    return [...counts].map(([place, n]) => [place, n, Array.from({ length: this.k }, (_, c) =>
      (value(place, n) / length) * lines[place * this.k + c] + n * own[place * this.k + c])]);
  }

  words(row) {
    const read = this.found(row.get(this.columns[0]));
    const each = new Map(this.sums(read.words).map(([place, n, sum]) => [place, sum.map((log) => log / n)]));
    return { text: read.text, words: read.words.map((word) => ({ ...word, add: each.get(word.place) })) };
  }

  add(row, out) {
    for (const [, , sum] of this.sums(this.found(row.get(this.columns[0])).words))
      for (let c = 0; c < this.k; c++) out[c] += sum[c];
  }
}

// Each known word is in the text or not, and absence speaks, too.
export class PresencePart extends WordsPart {
  constructor(told, nClasses) {
    super({ ...told, lines: told.present }, nClasses);
    this.finite = new Float64Array(nClasses);
    this.infinite = new Int32Array(nClasses);
    told.absent.forEach((log, place) => {
      if (log === -Infinity) this.infinite[place % nClasses]++;
      else this.finite[place % nClasses] += log;
    });
  }

  add(row, out) {
    const held = new Set(this.found(row.get(this.columns[0])).words.map((each) => each.place));
    if (held.size === 0 || this.weight === 0) return;
    const { present, absent } = this.told;
    for (let c = 0; c < this.k; c++) {
      let total = this.finite[c], impossible = this.infinite[c];
      for (const place of held) {
        const log = absent[place * this.k + c];
        if (log === -Infinity) impossible--;
        else total -= log;
        total += present[place * this.k + c];
      }
      out[c] += this.weight * (impossible > 0 ? -Infinity : total);
    }
  }
}
