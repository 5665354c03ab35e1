// Everything that is done with the spreadsheet library, in a thread of its own: reading a large workbook takes seconds
// and much memory, and ends with the thread when the call ends.
const { parentPort, workerData } = require("node:worker_threads");
const { pathToFileURL } = require("node:url");

const MAX_ROW = 1_048_576;
const MAX_COLUMN = 16_384;
const { library, job } = workerData;

/** Told to the model as it is: what, and what to do. */
class Problem extends Error {}

main().then(
  (answer) => parentPort.postMessage({ answer }, answer.bytes === undefined ? [] : [answer.bytes.buffer]),
  (error) =>
    parentPort.postMessage({
      problem: String(error?.message || error),
      told: error instanceof Problem,
    }),
);

async function main() {
  const hucre = await import(pathToFileURL(library).href);
  const book = await open(hucre);
  if (job.action === "info") return { sheets: book.sheets.map(described) };
  if (job.action === "read") return readPart(hucre, book);
  if (job.action === "query") return { tables: tablesOf(book) };
  if (job.action === "convert")
    return { bytes: await save(hucre, book, sheetOf(book)), sheets: namesOf(book) };
  return change(hucre, book);
}

async function open(hucre) {
  const { bytes, format, text } = job;
  if (text !== undefined) {
    const delimiter = text === "" ? undefined : hucre.detectDelimiter(text);
    const rows = text === "" ? [] : hucre.parseCsv(text, { delimiter: format === "tsv" ? "\t" : delimiter });
    // Cells that are only carried over must stay as they were written.
    const typed = ["read", "query", "convert"].includes(job.action)
      ? rows.map((row) => row.map(typedText))
      : rows;
    return { sheets: [{ name: job.name, rows: typed }], delimiter };
  }
  if (bytes === undefined) return { sheets: [] };
  const keepAll = job.action !== "read" && job.action !== "info" && job.action !== "query";
  let book;
  if (format === "xlsx")
    book = await (keepAll ? hucre.openXlsx(bytes, { readStyles: true }) : hucre.readXlsx(bytes));
  else if (format === "ods") book = await hucre.readOds(bytes, { readStyles: keepAll });
  else book = await hucre.read(bytes);
  for (const sheet of book.sheets) expandShared(hucre, sheet);
  return book;
}

/** What looks like a number and loses nothing as one; everything else is text, also what only looks like a date. */
function typedText(value) {
  if (typeof value !== "string") return value;
  if (value === "") return null;
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?$/.test(value)) return value;
  return value.replace(/\D/g, "").length <= 15 && Number.isFinite(Number(value)) ? Number(value) : value;
}

/** Formulas that many cells share are kept with the first one; each gets its own here, so that all can be changed. */
function expandShared(hucre, sheet) {
  const first = new Map();
  for (const [key, cell] of sheet.cells ?? []) {
    if (cell.formulaType !== "shared") continue;
    const [row, column] = key.split(",").map(Number);
    if (cell.formula) first.set(cell.formulaSharedIndex, hucre.a1ToR1C1(cell.formula, row, column));
    const shared = first.get(cell.formulaSharedIndex);
    if (shared === undefined) continue;
    cell.formula = hucre.r1c1ToA1(shared, row, column);
    delete cell.formulaType;
    delete cell.formulaSharedIndex;
    delete cell.formulaRef;
  }
}

async function save(hucre, book, sheet) {
  const format = job.outputFormat;
  if (format === "csv" || format === "tsv") {
    const delimiter = format === "tsv" ? "\t" : job.format === "csv" ? book.delimiter : undefined;
    const rows = sheet.rows.map((row, at) =>
      row.map((value, column) => csvValue(sheet, [at, column], value)),
    );
    const lineSeparator = job.text?.includes("\r\n") ? "\r\n" : "\n";
    const written = hucre.writeCsv(rows, { ...(delimiter !== undefined && { delimiter }), lineSeparator });
    const ended = written === "" || written.endsWith("\n") ? written : `${written}${lineSeparator}`;
    return new TextEncoder().encode(ended);
  }
  if (format === "ods") return hucre.writeOds(book);
  if (format !== "xlsx")
    throw new Problem(`Files of the kind .${format} can only be read. Write .xlsx, .ods or .csv.`);
  if (job.format === "xlsx" && job.bytes !== undefined) return hucre.saveXlsx(book);
  return hucre.writeXlsx(book);
}

/** A formula is written as such where nobody has calculated it. */
function csvValue(sheet, [row, column], value) {
  const cell = sheet.cells?.get(`${row},${column}`);
  const shown = value ?? cell?.formulaResult;
  if (shown === undefined || shown === null) return cell?.formula ? `=${cell.formula}` : null;
  return shown instanceof Date ? shownDate(shown) : shown;
}

function namesOf(book) {
  return book.sheets.map(({ name }) => name);
}

function sheetOf(book) {
  const [first] = book.sheets;
  if (job.sheet === undefined && first !== undefined) return first;
  const wanted = book.sheets.find(({ name }) => name === job.sheet);
  const near =
    wanted ?? book.sheets.find(({ name }) => name.toLowerCase() === String(job.sheet).toLowerCase());
  if (near !== undefined) return near;
  const names = namesOf(book).map((name) => JSON.stringify(name));
  throw new Problem(
    `There is no sheet ${JSON.stringify(job.sheet)}. There ${names.length === 1 ? "is" : "are"} ${names.join(", ") || "none"}.`,
  );
}

/** A1:C9, B2, A:C, 2:5, also with $ and in any order of the corners. Rows and columns from 0, the end included. */
function rangeOf(hucre, text) {
  const [, column1 = "", row1 = "", column2, row2] =
    /^\$?([A-Z]{0,3})\$?(\d{0,7})(?::\$?([A-Z]{0,3})\$?(\d{0,7}))?$/i.exec(text.trim()) ?? [];
  const corner = (column, row) => ({
    column: column === "" ? undefined : hucre.letterToCol(column.toUpperCase()),
    row: row === "" ? undefined : Number(row) - 1,
  });
  const from = corner(column1, row1);
  const to = column2 === undefined && row2 === undefined ? from : corner(column2 ?? "", row2 ?? "");
  const isRange =
    (from.column !== undefined || from.row !== undefined) &&
    (to.column === undefined) === (from.column === undefined);
  const range = {
    top: Math.min(from.row ?? 0, to.row ?? 0),
    left: Math.min(from.column ?? 0, to.column ?? 0),
    bottom: from.row === undefined || to.row === undefined ? MAX_ROW - 1 : Math.max(from.row, to.row),
    right:
      from.column === undefined || to.column === undefined
        ? MAX_COLUMN - 1
        : Math.max(from.column, to.column),
  };
  if (from.row !== undefined && to.row === undefined) range.top = from.row;
  if (!isRange || range.top < 0 || range.bottom >= MAX_ROW || range.right >= MAX_COLUMN)
    throw new Problem(`${JSON.stringify(text)} is no range. Write it like A1:C9, B2, A:C or 2:5.`);
  return { ...range, single: to === from };
}

/** Rows and columns that hold something. */
function sizeOf(sheet) {
  let rows = 0;
  let columns = 0;
  sheet.rows.forEach((row, at) => {
    let end = row.length;
    while (end > 0 && (row[end - 1] === null || row[end - 1] === undefined || row[end - 1] === "")) end -= 1;
    if (end === 0) return;
    rows = at + 1;
    columns = Math.max(columns, end);
  });
  for (const [key, cell] of sheet.cells ?? []) {
    if (!cell.formula) continue;
    const [row, column] = key.split(",").map(Number);
    rows = Math.max(rows, row + 1);
    columns = Math.max(columns, column + 1);
  }
  return { rows, columns };
}

function described(sheet) {
  const formulas = [...(sheet.cells ?? [])].filter(([, cell]) => cell.formula).length;
  const size = sizeOf(sheet);
  return {
    name: sheet.name,
    rows: size.rows,
    columns: size.columns,
    header: (sheet.rows[0] ?? []).slice(0, 50).map(shown),
    ...(formulas > 0 && { formulas }),
    ...((sheet.hidden || sheet.veryHidden) && { hidden: true }),
  };
}

function shownDate(date) {
  const text = date.toISOString();
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text.replace(/\.000Z$/, "").replace(/Z$/, "");
}

function shown(value) {
  if (value === undefined) return null;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : shownDate(value);
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

function readPart(hucre, book) {
  const sheet = sheetOf(book);
  const size = sizeOf(sheet);
  const asked = job.range === undefined ? undefined : rangeOf(hucre, job.range);
  const top = asked?.top ?? 0;
  const left = asked?.left ?? 0;
  const bottom = Math.min(asked?.bottom ?? MAX_ROW, size.rows - 1);
  const right = Math.min(asked?.right ?? MAX_COLUMN, size.columns - 1);
  const rows = [];
  const formulas = {};
  let room = job.maxChars;
  let end = top - 1;
  for (let row = top; row <= bottom && rows.length < job.maxRows; row += 1) {
    const values = [];
    for (let column = left; column <= right; column += 1) {
      const cell = sheet.cells?.get(`${row},${column}`);
      const value = shown(sheet.rows[row]?.[column] ?? (cell?.formula ? cell.formulaResult : undefined));
      if (cell?.formula) formulas[hucre.cellRef(row, column)] = `=${cell.formula}`;
      room -= typeof value === "string" ? value.length + 3 : 8;
      values.push(value);
    }
    if (room < 0) break;
    rows.push(values);
    end = row;
  }
  return {
    sheets: namesOf(book),
    sheet: sheet.name,
    range: end < top || right < left ? undefined : `${hucre.cellRef(top, left)}:${hucre.cellRef(end, right)}`,
    rows,
    total_rows: Math.max(0, bottom - top + 1),
    truncated: end < bottom,
    formulas,
  };
}

function tablesOf(book) {
  const chosen = sheetOf(book);
  return book.sheets.map((sheet) => {
    const size = sizeOf(sheet);
    const header = sheet.rows[0] ?? [];
    const seen = new Set();
    const columns = Array.from({ length: size.columns }, (_, at) => {
      const name = String(shown(header[at]) ?? "").trim() || `column_${at + 1}`;
      let free = name;
      for (let number = 2; seen.has(free.toLowerCase()); number += 1) free = `${name}_${number}`;
      seen.add(free.toLowerCase());
      return free;
    });
    const rows = sheet.rows.slice(1, size.rows).map((row, at) =>
      columns.map((_, column) => {
        const value = shown(row[column] ?? sheet.cells?.get(`${at + 1},${column}`)?.formulaResult);
        return typeof value === "boolean" ? Number(value) : value;
      }),
    );
    return { name: sheet.name, columns, rows, chosen: sheet === chosen };
  });
}

async function change(hucre, book) {
  const sheet = sheetToChange(book);
  if (job.action === "write") {
    sheet.rows = [];
    sheet.cells = new Map();
  }
  const size = sizeOf(sheet);
  const place = job.range === undefined ? undefined : rangeOf(hucre, job.range);
  if (job.action === "update" && place === undefined)
    throw new Problem("update needs a range: where the rows go (A2:C5, or the first cell alone).");
  const top = job.action === "append" ? size.rows : (place?.top ?? 0);
  const left = place?.left ?? 0;
  const header =
    job.action === "append" ? (sheet.rows[0] ?? []).map((value) => String(shown(value) ?? "")) : [];
  const values = valuesOf(job.rows, header);
  const width = Math.max(0, ...values.map((row) => row.length));
  if (place !== undefined && !place.single && job.action === "update") {
    const [high, wide] = [place.bottom - place.top + 1, place.right - place.left + 1];
    if (values.length > high || width > wide)
      throw new Problem(
        `The rows do not fit into ${job.range}: they are ${values.length} × ${width}. Name only the first cell, or a larger range.`,
      );
  }
  if (top + values.length > MAX_ROW || left + width > MAX_COLUMN)
    throw new Problem(
      "The sheet would become larger than a spreadsheet can be (1,048,576 rows, 16,384 columns).",
    );
  sheet.cells ??= new Map();
  values.forEach((row, down) => {
    for (const [along, value] of row.entries()) put(sheet, [top + down, left + along], value);
  });
  const waiting = job.outputFormat === "csv" || job.outputFormat === "tsv" ? 0 : forgetResults(book);
  return {
    bytes: await save(hucre, book, sheet),
    sheets: namesOf(book),
    sheet: sheet.name,
    range:
      width === 0
        ? undefined
        : `${hucre.cellRef(top, left)}:${hucre.cellRef(top + values.length - 1, left + width - 1)}`,
    row_count: values.length,
    waiting,
  };
}

function sheetToChange(book) {
  const isNew = book.sheets.length === 0 || (job.sheet !== undefined && !namesOf(book).includes(job.sheet));
  if (!isNew) return sheetOf(book);
  if (job.action === "update") return sheetOf(book);
  const name = job.sheet ?? (job.outputFormat === "csv" || job.outputFormat === "tsv" ? job.name : "Sheet1");
  if (name.length > 31 || /[:\\/?*[\]]/.test(name) || name === "")
    throw new Problem(
      `${JSON.stringify(name)} cannot be the name of a sheet: at most 31 characters, none of : \\ / ? * [ ].`,
    );
  const sheet = { name, rows: [] };
  book.sheets.push(sheet);
  return sheet;
}

/** Rows as lists. Objects go by the header; of a new sheet they make one. */
function valuesOf(rows, header) {
  if (!rows.some((row) => !Array.isArray(row))) return rows;
  const names = [...header];
  for (const row of rows) {
    if (Array.isArray(row)) throw new Problem("Give all rows as lists, or all as objects.");
    for (const name of Object.keys(row)) {
      if (names.includes(name)) continue;
      if (header.length > 0)
        throw new Problem(
          `There is no column ${JSON.stringify(name)}. There are ${header.map((each) => JSON.stringify(each)).join(", ")}.`,
        );
      names.push(name);
    }
  }
  const lists = rows.map((row) => names.map((name) => row[name] ?? null));
  return header.length > 0 ? lists : [names, ...lists];
}

function put(sheet, [row, column], value) {
  if (value !== null && typeof value === "object")
    throw new Problem(
      "A cell holds text, a number, true, false or null; lists and objects do not fit into one.",
    );
  while (sheet.rows.length <= row) sheet.rows.push([]);
  const cells = sheet.rows[row];
  while (cells.length <= column) cells.push(null);
  const key = `${row},${column}`;
  const style = sheet.cells.get(key)?.style;
  const isFormula = typeof value === "string" && value.length > 1 && value.startsWith("=");
  const isText = job.outputFormat === "csv" || job.outputFormat === "tsv";
  cells[column] = isFormula && !isText ? null : value;
  if (isFormula && !isText)
    sheet.cells.set(key, { value: null, type: "formula", formula: value.slice(1), style });
  else if (style !== undefined) sheet.cells.set(key, { value, type: typeof value, style });
  else sheet.cells.delete(key);
}

/** What was calculated before the change may be wrong now; the program that opens the file calculates it again. */
function forgetResults(book) {
  let count = 0;
  for (const sheet of book.sheets) {
    for (const [key, cell] of sheet.cells ?? []) {
      if (!cell.formula) continue;
      count += 1;
      cell.value = null;
      delete cell.formulaResult;
      const [row, column] = key.split(",").map(Number);
      if (sheet.rows[row] !== undefined && column < sheet.rows[row].length) sheet.rows[row][column] = null;
    }
  }
  return count;
}
