/** The pass over the bytes accepts exactly the field lines and request lines of the grammar. */

import t from 'tap'
import { fieldName } from '../../../src/http/wire/field-name.ts'
import { FieldTable } from '../../../src/http/wire/field-table.ts'
import { fieldTable } from '../../support/field-table.ts'
import { checkLines, checkRequestLines, checkSections, expected, headOf } from './field-table-properties.ts'

t.test('any section', async (t) => checkSections(t, 5000))

t.test('each byte in a name and in a value', async (t) => {
  for (let byte = 0; byte < 256; byte++) {
    const character = String.fromCharCode(byte)
    for (const text of [`x${character}y: v\r\n`, `x: v${character}w\r\n`]) {
      const parsed = FieldTable.parse(headOf(text), 0)
      t.same(parsed?.pairs ?? null, expected(text), JSON.stringify(text))
    }
  }
})

t.test('serialized lines: canonical ones as received, others normalized', async (t) => {
  const text = 'A: 1\r\nB:2\r\nC:  3\r\nD: 4 \r\nE: \r\nF:\r\ng: 7\r\n'
  const fields = FieldTable.parse(headOf(text, 'before', 'after'), 0)
  if (fields === null) throw new Error('malformed')
  t.equal(fields.lines(0, fields.count), 'A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\nE: \r\nF: \r\ng: 7\r\n')
  t.equal(fields.lines(1, 3), 'B: 2\r\nC: 3\r\n')
  t.equal(fields.lines(2, 2), '')
  t.equal(fields.received(3), 'D: 4 \r\n')
  checkLines(2000)
})

t.test('names: case does not matter, another character is another spelling', async (t) => {
  const name = fieldName('x-api-key')
  const fields = fieldTable(
    'X-API-Key',
    '1',
    'x_api_key',
    '2',
    'x-api-keys',
    '3',
    'x-api-key',
    '4',
    'x.api-key',
    '5',
  )
  t.same(fields.values(name), ['1', '4'])
  const rows = [0, 1, 2, 3, 4].map((i) => [fields.is(i, name), fields.isSpelling(i, name), fields.isOdd(i)])
  t.same(rows, [
    [true, true, false],
    [false, true, true],
    [false, false, false],
    [true, true, false],
    [false, true, true],
  ])
  t.equal(fields.values(fieldName('host')), fieldTable().values(name), 'one shared empty list')
  t.throws(() => (fields.values(fieldName('host')) as string[]).push('a'))
})

t.test('names with the same hash are told apart', async (t) => {
  const name = fieldName('host')
  const fields = fieldTable('hxst', 'a')
  t.notOk(fields.is(0, { ...name, hash: fields.hash(0) }))
  t.notOk(fields.isSpelling(0, { ...name, hash: fields.hash(0) }))
  t.ok(fieldTable('Host', 'a').is(0, name))
})

t.test('fields that can not be serialized have no table', async (t) => {
  for (const [name, value] of [
    ['a b', ''],
    ['', 'a'],
    ['a', 'b\r\nc: d'],
    ['a', 'b\n'],
    ['a\r\n', 'b'],
    ['a: b\r\nc', 'd'],
    ['a', '\u0100'],
    ['\u0161', 'a'],
  ] as const)
    t.equal(FieldTable.of([name, value]), null, JSON.stringify([name, value]))
})

t.test('any request line', async (t) => checkRequestLines(t, 5000))
