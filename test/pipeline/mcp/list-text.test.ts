/** Items are cut out of the text of a list wherever they stand in it. */

import fc from 'fast-check'
import t from 'tap'
import { cutSteps } from '../../../src/pipeline/mcp/list-text.ts'
import { inShares } from '../../../seats-admin/model/time-share.ts'

const space = fc.constantFrom('', '', ' ', '\n', '\t\r\n ')
const value = fc.jsonValue({ maxDepth: 3 })
const list = fc.array(fc.tuple(value, fc.boolean()), { maxLength: 8 })
const members = fc.dictionary(fc.string({ maxLength: 3 }), value, { maxKeys: 3 })

/** The text of a value, with white space between its tokens. */
function spaced(value: unknown, space: string): string {
  const tokens = JSON.stringify(value).match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^"{}[\],:]+/g) ?? []
  return tokens.map((token) => space + token).join('') + space
}

t.test('any list', async () => {
  await fc.assert(
    fc.asyncProperty(
      list,
      members,
      members,
      space,
      fc.boolean(),
      async (all, before, after, space, isLast) => {
        const tools = all.map(([item]) => item)
        const kept = all.map(([, stays]) => stays)
        const own = isLast
          ? { ...before, cacheScope: 'public', tools }
          : { tools, ...before, cacheScope: [1] }
        const message = isLast ? { ...after, result: own } : { result: own, ...after }
        const text = Buffer.from(spaced(message, space)).toString('latin1')
        const cut = await inShares(cutSteps(text, 'tools', kept))
        const { result, ...others } = JSON.parse(Buffer.from(cut, 'latin1').toString())
        const expected = { ...own, cacheScope: 'private', tools: tools.filter((_, at) => kept[at]) }
        t.same(result, JSON.parse(JSON.stringify(expected)))
        t.same(others, JSON.parse(JSON.stringify(after)))
      },
    ),
    { numRuns: 1000 },
  )
})
