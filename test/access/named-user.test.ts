/** A user by an address, among very many: the search is bounded, and does not say "not known" of what it has not seen. */

import t from 'tap'
import { namedUser } from '../../src/access/named-user.ts'

t.test('an address among a million users costs 50 calls, and asks for the sub', async (t) => {
  let calls = 0
  const store = {
    readUser: async () => null,
    seatByName: () => Promise.reject(new Error('no Seat is asked for')),
    listUsers: async () => {
      calls++
      return { data: [], hasMore: true, next: `page ${calls}` }
    },
  }
  const scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }
  const answer = await namedUser('nobody@acme.example', { tenant: 'acme', scope }, store)
  t.match(JSON.stringify(answer), 'too many users to find an address')
  t.equal(calls, 50)
})
