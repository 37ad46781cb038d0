/** A gateway with workers, which share the store of the primary. */

import t from 'tap'
import { startScim, TOKEN } from './support.ts'

t.test('workers answer the same', async (t) => {
  const own = await startScim(t, { top: ['workers: 2'], globex: false })
  const alice = await own.user('alice')
  const group = await own.group('Viewer', [alice])
  t.same(await own.members(group), [alice])
  const off = await own.patch(`/Users/${alice}`, { op: 'replace', path: 'active', value: false })
  t.match([off.status, off.json.active], [200, false])
  const { json } = await own.world.admin('GET', '/v1/revocations?subject=user:alice')
  t.match(json.data, [{ state: 'closed', instances: [{ how: 'acknowledged', cut: 0 }] }])
  t.equal((await own.send('GET', '/Users', undefined, { authorization: `Bearer ${TOKEN}x` })).status, 401)
})
