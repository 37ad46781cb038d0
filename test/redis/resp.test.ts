/** The parser gives the same replies for any chunks of the same bytes, and refuses replies beyond its bounds early. */

import fc from 'fast-check'
import t from 'tap'
import { MAX_REPLY, ProtocolError, type Reply, ReplyReader } from '../../src/redis/resp.ts'

const { reply } = fc.letrec<{ reply: Reply }>((tie) => ({
  reply: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.record({
      type: fc.constantFrom('status' as const, 'error' as const),
      text: fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n]/g, '')),
    }),
    fc.record({ type: fc.constant('integer' as const), value: fc.maxSafeInteger() }),
    fc.record({
      type: fc.constant('bulk' as const),
      bytes: fc.option(fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))),
    }),
    fc.record({
      type: fc.constant('array' as const),
      items: fc.option(fc.array(tie('reply'), { maxLength: 5 })),
    }),
  ),
}))

function write(it: Reply): Buffer {
  const head = (text: string) => Buffer.from(`${text}\r\n`)
  if ('text' in it) return head(`${it.type === 'error' ? '-' : '+'}${it.text}`)
  if (it.type === 'integer') return head(`:${it.value}`)
  if (it.type === 'bulk')
    return it.bytes === null
      ? head('$-1')
      : Buffer.concat([head(`$${it.bytes.length}`), it.bytes, Buffer.from('\r\n')])
  return it.items === null
    ? head('*-1')
    : Buffer.concat([head(`*${it.items.length}`), ...it.items.map(write)])
}

function scan(chunks: readonly Buffer[]): Reply[] {
  const [reader, found] = [new ReplyReader(), [] as Reply[]]
  const passedOn: Buffer[] = []
  for (const chunk of chunks)
    reader.write(chunk, (each, bytes) => {
      found.push(each)
      passedOn.push(bytes)
    })
  // The bytes of each reply are those that came, and stay so when more arrive.
  const came = Buffer.concat(chunks)
  t.ok(Buffer.concat(passedOn).equals(came.subarray(0, Buffer.concat(passedOn).length)))
  return found
}

function cut(bytes: Buffer, offsets: readonly number[]): Buffer[] {
  const at = [0, ...offsets.map((offset) => offset % (bytes.length + 1)), bytes.length].toSorted(
    (a, b) => a - b,
  )
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end))
}

t.test('a serialized reply is parsed back from any chunks', async () => {
  fc.assert(
    fc.property(
      fc.array(reply, { maxLength: 5 }),
      fc.array(fc.nat(), { maxLength: 20 }),
      (replies, offsets) => {
        const bytes = Buffer.concat(replies.map(write))
        t.same(scan(cut(bytes, offsets)), replies)
        t.same(scan([...bytes].map((byte) => Buffer.of(byte))), replies)
      },
    ),
    { numRuns: 300 },
  )
})

t.test('random bytes are parsed or refused, with the same result for any chunks', async () => {
  const result = (chunks: readonly Buffer[]) => {
    try {
      return scan(chunks).length
    } catch (cause) {
      if (cause instanceof ProtocolError) return 'refused'
      throw cause
    }
  }
  const likely = fc.constantFrom(...Buffer.from('+-:$*012\r\nab'))
  const bytes = fc.array(fc.oneof(likely, likely, fc.nat(255)), { maxLength: 60 })
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(), { maxLength: 9 }), (list, offsets) => {
      const whole = Buffer.from(list)
      t.equal(result(cut(whole, offsets)), result([whole]))
    }),
    { numRuns: 3000 },
  )
})

const refused: Readonly<Record<string, string>> = {
  'a bulk string longer than a reply may be': `$${MAX_REPLY}\r\n`,
  'the same within an array': `*2\r\n:1\r\n$${MAX_REPLY - 10}\r\n`,
  'a length that no number holds': '$99999999999999999999\r\n',
  'an array of too many': '*65537\r\n',
  'arrays of too many together': `*2\r\n*40000\r\n${':0\r\n'.repeat(40_000)}*40000\r\n${':0\r\n'.repeat(40_000)}`,
  'arrays nested too deeply': '*1\r\n'.repeat(6),
  'a bulk string without CR LF after it': '$1\r\naX\n',
  'a reply of too long lines': `*2000\r\n${`+${'x'.repeat(4000)}\r\n`.repeat(1100)}`,
  'a line that does not end': '+'.repeat(5000),
  'a type of RESP3': '%1\r\n',
}
for (const [what, bytes] of Object.entries(refused))
  t.test(`refused: ${what}`, async (t) => {
    t.throws(() => scan([Buffer.from(bytes)]), { name: 'ProtocolError' })
  })

t.test('a long reply in single bytes', async (t) => {
  const reader = new ReplyReader()
  const found: Reply[] = []
  const text = 'x'.repeat(30_000)
  for (const byte of Buffer.from(`$30000\r\n${text}\r\n`))
    reader.write(Buffer.of(byte), (each) => found.push(each))
  t.same(found, [{ type: 'bulk', bytes: Buffer.from(text) }])
})
