/** Records that another instance wrote to Redis. */

import t from 'tap'
import { keyRow } from '../../src/redis/seat-codec.ts'

const key = { id: 'k', tenant: 'acme', hash: 'AAAA', seatIds: ['s'], expiresAt: null, revokedAt: null }

t.test(
  'a key of a version without owners is read from the store: a block of its owner concerns it',
  async (t) => {
    for (const owner of [null, 'alice'])
      t.same(keyRow({ ...key, owner }), { ...key, owner, hash: Buffer.alloc(3) })
    t.equal(keyRow(key), undefined)
    t.equal(keyRow({ ...key, owner: 7 }), undefined)
  },
)
