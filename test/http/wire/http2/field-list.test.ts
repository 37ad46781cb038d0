/** Fields that HTTP/2 forbids, or that would be others in HTTP/1.1, are refused: one test a rule. */

import fc from 'fast-check'
import t from 'tap'
import { responseFields, trailerFields } from '../../../../src/http/wire/http2/field-list.ts'

class Fault extends Error {}
const fault = (what: string) => new Fault(what)

/** The fault, or null. */
function faultOf(read: () => unknown): string | null {
  try {
    read()
    return null
  } catch (error) {
    if (error instanceof Fault) return error.message
    throw error
  }
}

/** Of a response and of trailers with the field, which are the same. */
function faultOfField(name: string, value: string): string | null {
  const inResponse = faultOf(() => responseFields([':status', '200', 'a', 'b', name, value, 'c', 'd'], fault))
  const inTrailers = faultOf(() => trailerFields(['a', 'b', name, value, 'c', 'd'], fault))
  if (inResponse !== inTrailers) throw new Error(`${inResponse}, ${inTrailers}`)
  return inResponse
}

const NAME = 'a field name is not a token in lower case'
const VALUE = 'a field value has a forbidden byte'
const WHITESPACE = 'a field value begins or ends with whitespace'
const CONNECTION = 'a field is specific to a connection'
const PLACE = 'a pseudo-header field is out of place'

t.test('valid fields pass in their order, as they are', async (t) => {
  const fields = [
    'x-a',
    'b: c',
    "!#$%&'*+-.^_`|~09az",
    '',
    'x-a',
    '\xe4\t "',
    'set-cookie',
    'a',
    'set-cookie',
    'b',
  ]
  t.same(responseFields([':status', '200', ...fields], fault).fields.pairs, fields)
  t.same(trailerFields(fields, fault).pairs, fields)
  t.same(trailerFields([], fault).pairs, [])
})

t.test('a name in upper case', async (t) => {
  for (const name of ['X-a', 'x-A', 'Z']) t.equal(faultOfField(name, 'b'), NAME)
})

t.test('an empty name', async (t) => t.equal(faultOfField('', 'b'), NAME))

t.test('a name with any byte that is not of a token', async (t) => {
  for (let code = 0; code < 256; code++) {
    const character = String.fromCharCode(code)
    const isToken = /[!#$%&'*+.^_`|~0-9a-z-]/.test(character)
    for (const name of [`a${character}`, `a${character}b`])
      t.equal(faultOfField(name, 'b'), isToken ? null : NAME, JSON.stringify(name))
  }
})

t.test('a name that would be another field in HTTP/1.1', async (t) => {
  for (const name of ['a: b', 'a:', 'a: b\r\nc', 'a\r\nc', 'transfer-encoding: chunked\r\nx', 'a '])
    t.equal(faultOfField(name, 'b'), NAME, JSON.stringify(name))
})

t.test('a colon before a name', async (t) => {
  for (const name of [':status', ':path', ':', ':a']) t.equal(faultOfField(name, '200'), PLACE)
})

t.test('a value with any byte that it may not have', async (t) => {
  for (let code = 0; code < 256; code++) {
    const character = String.fromCharCode(code)
    const isValid = code === 9 || (code >= 0x20 && code !== 0x7f)
    t.equal(faultOfField('a', `b${character}c`), isValid ? null : VALUE, `${code}`)
  }
})

t.test('a value that would be further fields in HTTP/1.1', async (t) => {
  for (const value of [
    'b\r\nc: d',
    'b\r\n',
    '\r\nc: d',
    'b\nc: d',
    'b\rc: d',
    'b\r\n c',
    '\r\n\r\nGET / HTTP/1.1',
  ])
    t.equal(faultOfField('a', value), VALUE, JSON.stringify(value))
})

t.test('a value with whitespace around it', async (t) => {
  for (const value of [' ', '\t', ' b', '\tb', 'b ', 'b\t']) t.equal(faultOfField('a', value), WHITESPACE)
})

t.test('connection-specific fields', async (t) => {
  for (const name of ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])
    for (const value of ['', 'close', 'chunked', 'x']) t.equal(faultOfField(name, value), CONNECTION)
})

t.test('te: only trailers', async (t) => {
  t.equal(faultOfField('te', 'trailers'), null)
  for (const value of ['', 'gzip', 'Trailers', 'trailers, gzip', 'trailers, trailers'])
    t.equal(faultOfField('te', value), CONNECTION)
})

t.test('content-length and host in trailers', async (t) => {
  for (const name of ['content-length', 'host'])
    t.equal(
      faultOf(() => trailerFields([name, '1'], fault)),
      'a field is not permitted in trailers',
    )
})

t.test('the status: three digits, once, first', async (t) => {
  const rule = 'the response does not begin with a valid status'
  for (const status of ['', '99', '099', '1000', '2OO', '200 ', ' 200', '+20', '101', '200\r\n'])
    t.equal(
      faultOf(() => responseFields([':status', status], fault)),
      rule,
      JSON.stringify(status),
    )
  t.equal(
    faultOf(() => responseFields([], fault)),
    rule,
  )
  t.equal(
    faultOf(() => responseFields(['a', 'b', ':status', '200'], fault)),
    rule,
  )
  t.equal(
    faultOf(() => responseFields([':path', '/', ':status', '200'], fault)),
    rule,
  )
  t.equal(
    faultOf(() => responseFields([':status', '200', ':status', '200'], fault)),
    PLACE,
  )
  for (const status of ['100', '103', '200', '999'])
    t.equal(responseFields([':status', status], fault).status, Number(status))
})

t.test('the length of a response', async (t) => {
  const read = (...values: string[]) =>
    responseFields([':status', '200', ...values.flatMap((value) => ['content-length', value])], fault)
  t.equal(read().length, null)
  t.equal(read('0').length, 0)
  t.equal(read('12').length, 12)
  for (const value of ['', '-1', '+1', '1,1', '0x1', '1 1', '1'.repeat(30)])
    t.equal(
      faultOf(() => read(value)),
      'the Content-Length is malformed',
      value,
    )
  t.equal(
    faultOf(() => read('1', '1')),
    'more than one Content-Length',
  )
})

t.test('any fields: as they are, or a fault', async (t) => {
  const piece = fc.constantFrom(
    'a',
    'x-b',
    ':',
    ': ',
    ' ',
    '\r\n',
    '\n',
    '\r',
    '\0',
    'host',
    'b: c\r\n',
    'A',
    '\xff',
  )
  const text = fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(''))
  let valid = 0
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), (texts) => {
      const list = texts.length % 2 === 0 ? texts : [...texts, '']
      try {
        const fields = trailerFields(list, fault)
        valid++
        return JSON.stringify(fields.pairs) === JSON.stringify(list)
      } catch (error) {
        if (error instanceof Fault) return true
        throw error
      }
    }),
    { numRuns: 20_000 },
  )
  t.ok(valid > 100, `${valid} are valid`)
})
