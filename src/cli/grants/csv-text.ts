/** Comma-separated values (RFC 4180), as spreadsheet programs read and write them. */

/**
 * A cell that a spreadsheet program would take for a formula, after any number of apostrophes: such a cell
 * gets one more. Otherwise a user could choose a name that is a formula, which runs on the machine of the
 * auditor who opens the file, and sends elsewhere what the file says of others. The wide characters count in
 * some languages.
 */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/

/** The most characters of a file. */
const MAX_TEXT = 64 * 1024 * 1024

/** A line, with its line end. No cell of it is a formula. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

function cellText(cell: string): string {
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return /[",;\r\n\t]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A record of a file. */
export interface CsvRecord {
  /** The number of its first line, from 1. */
  readonly line: number
  readonly cells: readonly string[]
}

export class CsvFault extends Error {}

/**
 * The records of a text. A byte order mark is left out, and so are empty lines. The separator is the comma,
 * or the semicolon or the tab if the first line has no comma: some programs write these.
 *
 * @throws CsvFault for quotation marks that do not enclose a cell, and for a text that is too long
 */
export function csvRecords(file: string): CsvRecord[] {
  if (file.length > MAX_TEXT) throw new CsvFault(`it has more than ${MAX_TEXT} characters`)
  const text = file.replace(/^\ufeff/, '')
  const separator = separatorOf(text)
  const plain = new RegExp(`[^"${separator}\\r\\n]*`, 'y')
  const records: CsvRecord[] = []
  let [line, at] = [1, 0]
  let [first, cells]: [number, string[]] = [line, []]
  for (;;) {
    const end = text[at] === '"' ? endOfQuoted(text, at, line) : endOfPlain(plain, text, at)
    cells.push(valueOf(text.slice(at, end)))
    line += linesIn(text.slice(at, end))
    const [after = ''] = /^\r\n|^./s.exec(text.slice(end, end + 2)) ?? []
    at = end + after.length
    if (after === separator) continue
    if (!/^[\r\n]|^$/.test(after)) throw misquoted(line)
    if (cells.length > 1 || cells[0] !== '') records.push({ line: first, cells })
    if (after === '') return records
    line++
    ;[first, cells] = [line, []]
  }
}

/** The value of a cell as it is written. */
function valueOf(written: string): string {
  const cell = written.startsWith('"') ? written.slice(1, -1).replaceAll('""', '"') : written
  return FORMULA.test(cell) && cell.startsWith("'") ? cell.slice(1) : cell
}

function endOfPlain(plain: RegExp, text: string, start: number): number {
  plain.lastIndex = start
  plain.test(text)
  return plain.lastIndex
}

/** The position after the closing quotation mark. */
function endOfQuoted(text: string, start: number, line: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 2))
    if (text[at + 1] !== '"') return at + 1
  throw misquoted(line)
}

function misquoted(line: number): CsvFault {
  return new CsvFault(`line ${line}: a quotation mark does not enclose a whole cell`)
}

function linesIn(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0
}

function separatorOf(text: string): string {
  const heading = /^[^\r\n]*/.exec(text)?.[0] ?? ''
  return [',', ';', '\t'].find((each) => heading.includes(each)) ?? ','
}
