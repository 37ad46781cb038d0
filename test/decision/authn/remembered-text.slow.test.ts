/** Cached parts of a request do not retain the rest of it: in V8 a substring can keep the whole string alive. */

import t from 'tap'
import { BearerTokens } from '../../../src/decision/authn/bearer.ts'
import { mintToken } from '../../../src/decision/authn/gateway-token.ts'
import { collect } from '../../support/garbage.ts'
import { acme } from './support.ts'

const TIMES = 200
/** Bytes beside each cached part. */
const REST = 64 * 1024

async function grownBy(fill: (textWith: (part: string) => string) => Promise<void>): Promise<number> {
  collect()
  const before = process.memoryUsage().heapUsed
  await fill((part) => {
    const bytes = Buffer.alloc(part.length + REST, 'x')
    bytes.write(part, 'latin1')
    return bytes.toString('latin1').slice(0, part.length)
  })
  collect()
  return process.memoryUsage().heapUsed - before
}

t.test('a verified token', async (t) => {
  const tokens = new BearerTokens({
    tenants: new Map([[acme.id, acme]]),
    defaultTenant: null,
    now: Date.now,
    memory: 2 ** 24,
  })
  const grown = await grownBy(async (textWith) => {
    for (let i = 0; i < TIMES; i++) {
      const token = await mintToken(acme, { sub: `user-${i}`, email: 'a@b.c', hashPerm: [] }, Date.now())
      const caller = await tokens.authenticate(textWith(`Bearer ${token}`))
      if (caller === null || !('user' in caller)) throw new Error('not verified')
    }
  })
  t.ok(grown < (TIMES * REST) / 4, `${grown} bytes`)
})
