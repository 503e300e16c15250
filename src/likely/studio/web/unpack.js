// A document as `packing.py` writes it: deflated; length of the head, head, arrays.

export async function unpack(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return revive(await new Response(stream).arrayBuffer());
}

export function revive(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = new TextDecoder().decode(new Uint8Array(buffer, 8, length));
  return restored(JSON.parse(head), buffer, 8 + length);
}

const INFINITE = { inf: Infinity, "-inf": -Infinity, nan: NaN };

function restored(value, buffer, base) {
  if (Array.isArray(value)) {
    for (let k = 0; k < value.length; k++) value[k] = restored(value[k], buffer, base);
    return value;
  }
  if (value === null || typeof value !== "object") return value;
  if (value.$ !== undefined) return arrayOf(value.$, buffer, base);
  if (value["#"] !== undefined) return INFINITE[value["#"]];
  for (const key of Object.keys(value)) value[key] = restored(value[key], buffer, base);
  return value;
}

function arrayOf(told, buffer, base) {
  const array = READERS[told.as](told, buffer, base);
  array.shape = told.shape;
  return array;
}

const READERS = {
  f64: (told, buffer, base) => new Float64Array(buffer, base + told.at, told.n),
  f32: (told, buffer, base) => new Float32Array(buffer, base + told.at, told.n),
  i32: (told, buffer, base) => new Int32Array(buffer, base + told.at, told.n),
  u8: (told, buffer, base) => new Uint8Array(buffer, base + told.at, told.n),
  u32: (told, buffer, base) => new Uint32Array(buffer, base + told.at, told.n),
  code8: (told, buffer, base) => decoded(told, buffer, base, Uint8Array),
  code16: (told, buffer, base) => decoded(told, buffer, base, Uint16Array),
  planes: (told, buffer, base) => {
    const planes = new Uint8Array(buffer, base + told.at, 8 * told.n);
    const bytes = new Uint8Array(8 * told.n);
    for (let k = 0; k < told.n; k++) for (let b = 0; b < 8; b++) bytes[8 * k + b] = planes[b * told.n + k];
    return new Float64Array(bytes.buffer);
  },
};

function decoded(told, buffer, base, Codes) {
  const values = new Float64Array(buffer, base + told.from, told.values);
  const codes = new Codes(buffer, base + told.at, told.n);
  const out = new Float64Array(told.n);
  for (let k = 0; k < told.n; k++) out[k] = values[codes[k]];
  return out;
}
