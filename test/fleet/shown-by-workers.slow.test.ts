/** `GET /v1/fleet` from a worker, on PostgreSQL without Redis, with an instance of an older version on the list. */

import t from 'tap'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { startFleet } from './fleet.ts'

t.test('a worker shows what its instance knows', async (t) => {
  const fleet = await startFleet(t, { gateways: 2, workers: 2, redis: 'none', proxies: [] })
  const view = async (at: number) => (await served(() => fleet.admin(fleet.at(at), 'GET', '/v1/fleet'))).json
  // As a version without these columns writes it.
  await fleet.query(
    `INSERT INTO seatgate.instances (id, name, beat, applied, seen_at) VALUES ('old', 'gw-old', 5, 0, now())`,
    [],
  )
  const { data } = await view(0)
  t.equal(data.length, 3)
  t.match(
    data.find(({ id }: { id: string }) => id === 'old'),
    { started_at: null, version: null, hash: null, url: null, seq: 0 },
  )
  const ids = async (at: number) => (await view(at)).data.map(({ id }: { id: string }) => id)
  // Each connection may reach the other worker of the gateway.
  for (let round = 0; round < 8; round++) t.same(await ids(round % 2), await ids(0))
  await fleet.query(`DELETE FROM seatgate.instances WHERE id = 'old'`, [])

  await fleet.makeSeat(fleet.at(0), 'A', { spaces: [], permissions: [] })
  const [newest] = (await view(0)).changes
  t.match(newest, { kind: 'seat-name' })
  t.ok(newest.effective_ms > 0, `${newest.effective_ms} ms`)
  await until(
    async () => (await view(1)).changes[0]?.seq === newest.seq,
    () => 'the other gateway does not see the change',
  )
  t.equal((await view(1)).changes[0].effective_ms, null, 'written by another instance')
})
