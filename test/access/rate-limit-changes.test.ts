/** A change of rate limits is a change of limits, whichever key of them it is. */

import t from 'tap'
import { changesOf } from '../../src/access/access-change.ts'
import { differences } from '../../src/access/difference.ts'
import type { Tables } from '../../src/access/tables.ts'
import { methodsOf } from '../../src/config/methods.ts'
import { compileTable } from '../../src/decision/router/table.ts'
import type { RateLimit } from '../../src/model/rate-limit.ts'
import { readLine } from './random-tables.ts'

const WRITES: RateLimit = { name: 'writes', limit: 10, window: 1000, burst: 5, per: 'caller' }
const SLOW: RateLimit = { ...WRITES, name: 'slow' }

function tables(...rateLimits: RateLimit[]): Tables {
  const upstreams = new Map([['plain', { allowSemicolons: false, allowEncodedSlashes: false, basePath: '' }]])
  const { table } = compileTable([{ ...readLine('GET /x: p:q', 0), rateLimits }], upstreams, [])
  return { table, methods: methodsOf({ methods: [] }), upstreams }
}

const kinds = (before: Tables, after: Tables) =>
  changesOf(differences(before, after), null).map(({ kind }) => kind)

t.test('kinds', async (t) => {
  const before = tables(WRITES, SLOW)
  t.same(kinds(before, tables(SLOW, WRITES)), [], 'their order decides nothing')
  t.same(kinds(before, tables(WRITES)), ['limits'])
  t.same(kinds(tables(), tables(WRITES)), ['limits'])
  for (const change of [{ limit: 11 }, { window: 60_000 }, { burst: 6 }, { per: 'tenant' }] as const)
    t.same(kinds(before, tables({ ...WRITES, ...change }, SLOW)), ['limits'], JSON.stringify(change))
})
