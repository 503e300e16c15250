// What the service refuses, worded from its kind and facts, and what can be done about it in this page.

import { h, short } from "./dom.js";
import { whole } from "./format.js";
import { GERMAN_SERVED } from "./german-served.js";
import { language, t, takeGerman } from "./language.js";
import { offered } from "./offered.js";
import { markName, remediesOf } from "./remedies.js";

function quoted(fact) { return t("“{0}”", short(String(fact), 60)); }
function several(facts) { return facts.map((fact) => quoted(fact)).join(", "); }

// Files that are no tables, by what they are.
const STRANGERS = {
  "a zip archive": () => t("The file is a zip archive. Unpack it, and drop the table that is in it."),
  "packed with bzip2": () => t("The file is packed with bzip2. Unpack it, or pack it with gzip or zstd."),
  "packed with xz": () => t("The file is packed with xz. Unpack it, or pack it with gzip or zstd."),
  "an SQLite database": () => t("The file is an SQLite database. Export the table as CSV or Parquet."),
  "a PDF document": () => t("The file is a PDF document. Export the table as CSV."),
  "a pickle": () => t("The file is a pickle, which is never opened. Write the table as CSV or Parquet."),
  "an old Feather file": () => t("The file is an old Feather file. Write it again with a recent pyarrow."),
};

// By the kind of a refusal, what is wrong; facts come in the order that the package gives them.
const WRONG = {
  // The service.
  busy: () => t("The studio is busy; wait until what was begun is done."),
  "no job": () => t("There is no such work."),
  "no model": () => t("There is no model here yet: drop a table and train one."),
  "no table": () => t("Drop a table first."),
  "no labels": () => t("There are no rows with labels here: start the studio with --data."),
  columns: (most) => t("The table has more than {0} columns.", whole(most)),
  kind: (kind) => t("“{0}” is not a kind of column.", short(kind, 60)),
  failed: () => t("The work failed; the log of the service says why."),
  // The file as a whole.
  empty: () => t("The file is empty."),
  "no rows": () => t("The table has no rows."),
  "nothing after": (lines) => t("There is no text after {0} lines.", whole(lines)),
  closed: () => t("The file cannot be opened."),
  "cut off": () => t("The packed file is damaged or ends too early. Fetch or pack it again."),
  "packed twice": () => t("The file is packed twice. Unpack it once."),
  misnamed: (what) => t("The file does not begin like {0}: it is damaged, or has the wrong name.", t(what)),
  stranger: (what) => STRANGERS[what](),
  "web page": () => t("This is a web page or XML, not a table. Fetch the table itself."),
  unreadable: () => t("The file cannot be read: it is damaged, or of a kind that is not known here. Write it again."),
  "rows lack": (told, found) => t("The file says that it has {0} rows, but {1} were found: it is damaged.", whole(told), whole(found)),
  // Encodings.
  "no text": () => t("The file is no text: it holds zero bytes, as pictures and archives do."),
  "unknown encoding": () => t("The bytes are not UTF-8, and which encoding they have cannot be told. Choose one, or save the file as UTF-8."),
  encoding: (name) => t("The bytes are not in the encoding {0}. Choose another one.", String(name).toUpperCase()),
  "late byte": (byte) => t("The byte {0} is not UTF-8, unlike all before it. Choose an encoding, or mend the line.", byte),
  nul: () => t("There is a NUL byte: the file is damaged, is not text, or has another encoding."),
  // Separators, quotes, lines.
  delimiters: (one, other) => t("Columns may be separated by {0} or by {1}: both fit.", markName(one), markName(other)),
  spaces: () => t("No separator was found, but spaces cut every line alike."),
  "unusual delimiter": (mark) => t("No usual separator was found. It may be {0}.", markName(mark)),
  "rare delimiter": (mark) => t("Some lines have {0}, most have no separator. Cells of a single column belong in quotes.", markName(mark)),
  "mostly bad": (bad, of) => t("{0} of the first {1} lines are bad, so the file is probably written in another way.", whole(bad), whole(of)),
  records: (counted, read) => t("{0} records were counted, but {1} were read.", whole(counted), whole(read)),
  "too short": (cells, columns) => t("Number of cells: {0}, but the header has {1}.", whole(cells), whole(columns)),
  "after quote": (line) => t("Text follows the quote that closes a cell (opened in line {0}). Close the cell, or double a quote inside it.", whole(line)),
  unclosed: (line) => t("The quote opened in line {0} is never closed.", whole(line)),
  "space quote": () => t("Spaces stand before a quote."),
  swallowed: (line) => t("The cell in quotes from line {0} on holds whole lines, as if its quote was never closed.", whole(line)),
  "blank line": () => t("A blank line stands in a single column: it may be a gap or nothing. Write two quotes for a gap, or remove the line."),
  "endless record": (size) => t("A record is longer than {0} MiB, as after a quote that is never closed.", whole(size)),
  // The header.
  preamble: () => t("Whether this line is the header cannot be told: the lines before it are not records."),
  "no header": (texts) => t("The first record looks like data, not like names of columns: {0}.", several(texts)),
  header: () => t("Whether the first record is a header cannot be told."),
  comment: () => t("This line may be the header or a comment."),
  "no names": () => t("No column has a name. Name them in the file."),
  "names twice": (names) => t("Several columns are called {0}. Rename them in the file.", several(names)),
  // Numbers and other cells.
  thousands: (name, cell) => t("The numbers of {0} have marks between thousands, as in {1}. Remove these in the file.", quoted(name), quoted(cell)),
  "thousands and decimals": (points, commas) => t("{0} has points as in 1.500, and {1} has commas.", quoted(points), quoted(commas)),
  "two decimals": (commas, points) => t("{0} has decimal commas, and {1} decimal points.", quoted(commas), quoted(points)),
  "thousands or decimals": (name) => t("The commas of {0} may be decimal ones, or stand between thousands.", quoted(name)),
  "not a number": (name, cell) => t("{0} holds {1}, which is not a number, unlike the cells looked at before.", quoted(name), quoted(cell)),
  "not a whole number": (name, cell) => t("{0} holds {1}, which is not a whole number, unlike the cells looked at before.", quoted(name), quoted(cell)),
  "not true or false": (name, cell) => t("{0} holds {1}, which is not true or false, unlike the cells looked at before.", quoted(name), quoted(cell)),
  "not a date": (name, cell) => t("{0} holds {1}, which is not a date, unlike the cells looked at before.", quoted(name), quoted(cell)),
  "not a time": (name, cell) => t("{0} holds {1}, which is not a time, unlike the cells looked at before.", quoted(name), quoted(cell)),
  "cell too large": (name, cell) => t("{0} holds {1}, which is too large for a number.", quoted(name), quoted(cell)),
  fraction: (name, cell) => t("{0} holds {1}, but only whole numbers before.", quoted(name), quoted(cell)),
  "late cell": (name, line, cell) => t("{0} begins with numbers, but line {1} holds {2}.", quoted(name), whole(line), quoted(cell)),
  "late text": (name) => t("{0} begins with numbers, but later lines hold leading zeros or too many digits.", quoted(name)),
  infinite: (name) => t("{0} holds an infinite number. Leave the cell empty if the value is not known.", quoted(name)),
  "odd number": (name, cell) => t("{0} holds {1}, which this kind of model cannot learn. Mend the cell, or choose another model.", quoted(name), cell),
  "sum too large": (name) => t("The numbers of {0} are so large that they do not add up. Divide them by a constant, or ignore the column.", quoted(name)),
  "too many bits": (name, bits) => t("{0} holds a whole number of {1} bits, which is too large.", quoted(name), whole(bits)),
  "no number": (name, cell) => t("{0} holds {1}, which is not a number. Choose another kind for it, or mend the cell.", quoted(name), quoted(cell)),
  "no numbers": (name) => t("{0} cannot be read as numbers. Choose another kind for it.", quoted(name)),
  nested: (name) => t("{0} holds lists or objects, which cannot be categories. Choose “ignored” for it.", quoted(name)),
  "no text": (name) => t("{0} holds bytes that are not text. Choose “ignored” for it.", quoted(name)),
  "cell no text": () => t("A column of texts has a cell that is not text. Choose another kind for it."),
  "text bytes": () => t("A column of texts holds bytes that are not UTF-8. Choose another kind for it."),
  "long text": (most) => t("A text has more than {0} bytes. Cut it into several.", whole(most)),
  "no dates": (name) => t("{0} cannot be read as dates. Choose another kind for it, or write it as 2025-01-31.", quoted(name)),
  "no date": (name, cell) => t("{0} holds {1}, which is not a date such as 2025-01-31. Choose another kind for it, or mend the cell.", quoted(name), quoted(cell)),
  "far date": (name) => t("{0} holds a date that is too far from our time. Mend the cell, or choose “ignored”.", quoted(name)),
  "endless dates": (name) => t("{0} holds an infinite date. Make it a gap, or choose “ignored”.", quoted(name)),
  "endless values": (name, most) => t("{0} has more than {1} different values, too many for categories. Choose “ignored” for it.", quoted(name), whole(most)),
  // JSON lines.
  deep: () => t("Lists and objects are nested too deeply."),
  "json bytes": () => t("The bytes are not UTF-8."),
  "no json": () => t("This line is not JSON, or does not fit the lines before it."),
  "no object": () => t("Every line must be one object in braces."),
  "two objects": () => t("Every line must hold one object only."),
  "late key": (key) => t("The key {0} is in no line looked at before.", quoted(key)),
  "late value": () => t("A value does not fit those looked at before."),
  "json array": () => t("The file is a JSON array. Write one object per line, without brackets."),
  "no json lines": () => t("Too many of the first lines are not JSON objects of one kind."),
  "long line": (size) => t("A line is longer than {0} MiB.", whole(size)),
  // Workbooks.
  sheets: (names) => t("The workbook has several sheets: {0}.", several(names)),
  "empty sheet": (name) => t("The sheet {0} is empty.", quoted(name)),
  "large workbook": (size) => t("The workbook unpacks to more than {0} GiB. Export the sheet as CSV.", whole(size)),
  "broken workbook": () => t("The workbook cannot be read: it is damaged or too large. Export the sheet as CSV."),
  "no workbooks": () => t("Workbooks cannot be read here: the service lacks python-calamine. Export the sheet as CSV."),
  // The target, and learning.
  "no column": (name) => t("The table has no column “{0}”.", short(name, 60)),
  "no label": () => t("The target is missing in a row."),
  "no labels seen": (name) => t("No row has a value of {0}, which is to be predicted. Choose another target.", quoted(name)),
  "no rows left": () => t("No row is left to learn from."),
  "infinite label": () => t("The target holds an infinite number, which is not a class. Choose another target."),
  quantity: (value) => t("The target holds quantities such as {0}, not classes. Choose another one, or cut the numbers into ranges first.", value),
  "no columns left": () => t("No column is left to learn from: all are ignored or empty. Change a kind, or choose naive Bayes."),
  "few rows": () => t("There are too few rows to evaluate a model."),
  "many rows": (n) => t("{0} rows are too many for this kind of model. Choose another one.", whole(n)),
  "many classes": (n, most) => t("The target has {0} classes, and this kind of model can tell {1} apart at most. Choose another one.", whole(n), whole(most)),
  "no machine": () => t("No support vector machine of finite numbers was found. Choose another model."),
  "too many": () => t("There is too much here. Take fewer rows or columns."),
  "text in a tree": (name) => t("{0} is free text, which a tree cannot ask about. Choose another model, or “ignored” for it.", quoted(name)),
  "word like a column": (name) => t("A word of a text would be called like the column {0}. Rename the column.", quoted(name)),
  "full disk": () => t("The disk for temporary files is full or cannot be written to."),
};
WRONG["too long"] = WRONG["too short"];

// Kinds of errors that have no words of their own: the sentence of the library follows, in English.
const ABOUT = {
  file: () => t("The file cannot be read as a table."), schema: () => t("The table does not fit."),
  settings: () => t("This setting makes no sense here."), data: () => t("The data cannot be learned from."),
};

function refusalText({ error, code, facts = [], place = {} }) {
  if (WRONG[code]) {
    const sentence = WRONG[code](...facts);
    if (place.line) return t("Line {0}: {1}", whole(place.line), sentence);
    return place.row ? t("Row {0}: {1}", whole(place.row), sentence) : sentence;
  }
  const begun = ABOUT[code] && language() !== "en" ? `${ABOUT[code]()} ` : "";
  if (!error) return t("The service did not answer.");
  return begun + (language() === "en" ? error : t("The service says: {0}", error));
}

// A refusal with a button for each way out of it; `act` is told how the file is to be read from then on.
export function refused(found, act) {
  const ways = found ? remediesOf(found) : [];
  return ways.length ? h("div", { class: "row ways" }, ways.map((way) => h("button", { on: { click: () => act(way) } }, way.label))) : null;
}

takeGerman(GERMAN_SERVED);
offered.refusal = refusalText;
