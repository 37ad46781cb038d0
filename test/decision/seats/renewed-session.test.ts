/** A session that another instance has renewed, while the read of another request is in flight. */

import t from 'tap'
import { NO_RESTRICTIONS } from './no-restrictions.ts'
import type { SessionRecord } from '../../../seats-admin/model/session-record.ts'
import { SeatMemory } from '../../../src/decision/seats/memory.ts'

const unused = () => Promise.reject(new Error('not asked'))
const NO_SEATS = {
  grantByName: unused,
  grantById: unused,
  spacesByName: unused,
  seatById: unused,
  apiKeyById: unused,
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

const session = (renewAt: number): SessionRecord => ({
  id: 's',
  tenant: 'acme',
  cookieHash: null,
  user: 'alice',
  email: null,
  hashPerm: [],
  issuedAt: 1,
  renewAt,
  expiresAt: 30,
  endedAt: null,
  revoked: false,
  voidUntil: 0,
})

t.test('it is not taken from a read that began before the renewal', async (t) => {
  let stored = { seq: 1, value: session(10) }
  const answers: (() => void)[] = []
  const readSession = async () => {
    const { seq, value } = stored
    await new Promise<void>((resolve) => answers.push(resolve))
    return { seq, value }
  }
  const direct = { ...NO_RESTRICTIONS, readSession, restrictions: unused, userRestriction: unused }
  const memory = new SeatMemory(NO_SEATS, direct, 2 ** 20)
  const before = memory.sessionById('acme', 's')
  await settled()
  stored = { seq: 2, value: session(20) }
  const renewed = memory.readSession('acme', 's')
  while (answers.length > 0) {
    answers.shift()?.()
    await settled()
  }
  t.equal((await renewed)?.renewAt, 20)
  await before
})
