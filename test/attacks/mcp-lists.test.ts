/** Whatever a server sends and wherever it is split, no reader sees what the caller may not use. */

import fc from 'fast-check'
import t from 'tap'
import { FieldTable } from '../../src/http/wire/field-table.ts'
import { isJsonObject } from '../../src/lib/json.ts'
import { ListBody } from '../../src/pipeline/mcp/list-body.ts'

const listOf = (names: readonly string[], more = '') =>
  `{"jsonrpc":"2.0","id":1,"result":{"tools":[${names.map((name) => `{"name":"${name}","n":1.0}`).join()}]${more}}}`
const both = listOf(['good', 'bad'])
const json = fc.constantFrom(
  both,
  both.replace(',', ',\n'),
  both.replace('bad', 'b\\u0061d'),
  both.replace('"id":1', '"id":2'),
  both.replace('{"jsonrpc"', '{"method":"x","jsonrpc"'),
  listOf(['bad'], ',"cacheScope":"public"'),
  listOf(['good'], ',"Tools":[{"name":"bad"}]'),
  listOf(['good']),
  '{"jsonrpc":"2.0","method":"x"}',
  '{',
)
const end = fc.constantFrom('\n', '\n', '\r\n', '\r')
const fieldName = fc.constantFrom(
  'data: ',
  'data:',
  'Data: ',
  'data : ',
  ' data: ',
  'event: ',
  ': ',
  '',
  '\ufeffdata: ',
)
const line = fc.tuple(fieldName, json, end).map((parts) => parts.join(''))
const event = fc
  .tuple(json, end)
  .map(([text, lf]) => `data: ${text.replaceAll('\n', `${lf}data: `)}${lf}${lf}`)
const stream = fc.array(fc.oneof(event, line, end), { maxLength: 6 }).map((parts) => parts.join(''))

/** The data of events, as readers of several kinds of line ends and of lenient names see it. */
function readings(text: string): string[] {
  const exact = [/\r\n|\n|\r/, /\r?\n/, /\n/].flatMap((lineEnd) => {
    const events: string[][] = [[]]
    for (const each of text.split(lineEnd))
      if (each === '') events.push([])
      else if (/^data(?::|$)/.test(each)) events.at(-1)?.push(each.replace(/^data:? ?/, ''))
    return events.map((lines) => lines.join('\n'))
  })
  return [...exact, ...text.split(/[\r\n]+/).map((each) => each.replace(/^\ufeff?\s*data\s*:/i, ''))]
}

/** The names of the tools, as readers see it that ignore case. */
function namesIn(text: string): unknown[] {
  const member = (value: unknown, name: string) =>
    isJsonObject(value)
      ? Object.entries(value).flatMap(([key, each]) => (key.toLowerCase() === name ? [each] : []))
      : []
  try {
    return member(JSON.parse(text), 'result')
      .flatMap((result) => member(result, 'tools').flat())
      .flatMap((tool) => member(tool, 'name'))
  } catch {
    return []
  }
}

/** The body for the client; null: the answer is 502. */
async function filtered(text: string, sizes: readonly number[]): Promise<string | null> {
  const list = new ListBody({
    ...{ id: 1, items: 'tools', member: 'name', owner: '', isGone: () => false },
    usable: async (names) => names.map((name) => name === 'good'),
  })
  const fields = FieldTable.of(['Content-Type', 'text/event-stream'])
  if (fields === null) throw new Error('malformed')
  try {
    list.begin({ status: 200, phrase: 'OK', fields })
    const bytes = Buffer.from(text)
    for (let at = 0, n = 0, size = 1; at < bytes.length; at += size, n++) {
      size = sizes[n % sizes.length] ?? 1
      if (list.add(bytes.subarray(at, at + size))) break
    }
    return (await list.filtered()).toString()
  } catch {
    return null
  }
}

t.test('streams of events', async (t) => {
  let lists = 0
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 9 })
  await fc.assert(
    fc.asyncProperty(stream, sizes, async (text, some) => {
      const result = await filtered(text, some)
      if (result === null) return true
      lists++
      return !readings(result).flatMap(namesIn).includes('bad')
    }),
    { numRuns: 5000 },
  )
  t.ok(lists > 100, `${lists} lists`)
  const halves = Array.from(both, (_, at) => [at + 1, both.length])
  const whole = await filtered(`data: ${both}\n\n`, [1000])
  for (const some of halves) t.equal(await filtered(`data: ${both}\n\n`, some), whole)
})
