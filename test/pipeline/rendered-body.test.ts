/** A body that is rendered in pieces is that of `JSON.stringify`. */

import fc from 'fast-check'
import t from 'tap'
import { RenderedPieces, renderedBody } from '../../src/pipeline/rendered-body.ts'

async function rendered(body: unknown): Promise<string | undefined> {
  const result = await renderedBody(body)
  const bytes = result instanceof RenderedPieces ? Buffer.concat(result.pieces) : result
  return bytes?.toString()
}

t.test('any body', async () => {
  const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(undefined), fc.constant(new Date(0)))
  const many = fc.array(value, { minLength: 10, maxLength: 30 })
  const named = fc.array(fc.tuple(fc.string(), value), { maxLength: 30 })
  const member = fc.oneof(value, many, named.map(Object.fromEntries))
  const body = fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), member, { maxKeys: 4 })
  await fc.assert(
    fc.asyncProperty(fc.oneof(body, many, value), async (each) => {
      return (await rendered(each)) === JSON.stringify(each)
    }),
    { numRuns: 1000 },
  )
})

t.test('a large body has several pieces', async (t) => {
  const changes = Array.from({ length: 5000 }, (_, at) => ({
    name: `Sitz «${at}»`,
    spaces: ['main'],
    was: undefined,
  }))
  const body = { tenant: 'acme', left: undefined, changes, versions: Object.fromEntries(changes.entries()) }
  const result = await renderedBody(body)
  t.ok(result instanceof RenderedPieces && result.pieces.length > 5)
  t.equal(await rendered(body), JSON.stringify(body))
})

t.test('bytes stay as they are, and no body is none', async (t) => {
  const bytes = Buffer.from('{}')
  t.equal(await renderedBody(bytes), bytes)
  t.equal(await renderedBody(undefined), undefined)
})
