/** A 403 for want of a Seat, or of a permission, in the space: what the log and the response say of other spaces. */

import t from 'tap'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { changeRead, holdLease } from '../support/held-lease.ts'

t.test('a token: the log and the response name the spaces; an API key: the log alone', async (t) => {
  const world = await startWorld(t)
  await holdLease(t, world)
  const id = await changeRead(world, () => world.seat('Viewer', ['s1', 's2', 's3'], ['trainings:list']))
  const made = await changeRead(world, () =>
    world.admin('POST', '/v1/api-keys', { name: 'machine', seats: ['Viewer'] }),
  )
  t.equal(made.status, 200, made.body)
  const authorization = `Bearer ${await world.token(['s1:Viewer', 's2:Viewer', 's4:Viewer'])}`
  const ask = async (headers: Record<string, string>, method = 'GET') => {
    const {
      status,
      body,
      json,
      headers: received,
    } = await world.client.send(method, '/v1/trainings', headers)
    const line = () => world.log().find((each) => each.request_id === received['x-request-id'])
    await until(
      () => line() !== undefined,
      () => 'the line of the request is not in the log',
    )
    const { code, granted_in, seats } = line() ?? {}
    return { status, body, detail: json.detail, log: { code, granted_in, seats } }
  }
  /** The Seat is in memory then; what is asked of the store is named if it answers in time. */
  const read = async (headers: Record<string, string>, space: string) =>
    t.equal((await world.client.send('GET', '/v1/trainings', { ...headers, space })).status, 200)
  const key = { 'x-api-key': made.json.key, space: 'other' }
  await read({ authorization }, 's1')
  await read(key, 's1')

  const none = 'The credential names no Seat in this space.'
  t.match(await ask({ authorization, space: 'other' }), {
    status: 403,
    detail: `${none} The credential names Seats that hold trainings:list in s1, s2.`,
    log: { code: 'no_seat_in_space', granted_in: ['s1', 's2'], seats: undefined },
  })
  const byKey = await ask(key)
  t.match(byKey, { status: 403, detail: none, log: { granted_in: ['s1', 's2', 's3'] } })
  t.notMatch(byKey.body, /s1|s2|s3/, 'the spaces of a Seat are not told to a key')

  t.match(await ask({ authorization, space: 'other' }, 'POST'), {
    detail: none,
    log: { code: 'no_seat_in_space', granted_in: undefined },
  })
  const denied = await ask({ authorization, space: 's1' }, 'POST')
  t.match(denied, { log: { code: 'permission_denied', granted_in: undefined } })
  t.notMatch(denied.detail, /names Seats/)

  const put = await changeRead(world, () => world.admin('PUT', `/v1/seats/${id}`, { spaces: ['s2'] }))
  t.equal(put.status, 200)
  await read({ authorization }, 's2')
  await read(key, 's2')
  t.same((await ask({ authorization, space: 'other' })).log.granted_in, ['s2'], 'as the Seat is now')
  t.same((await ask(key)).log.granted_in, ['s2'])
})

t.test(
  'Seats in the space without the permission: the spaces of Seats that hold it are named too',
  async (t) => {
    const world = await startWorld(t)
    await holdLease(t, world)
    await changeRead(world, () => world.seat('Viewer', ['s1'], ['trainings:list']))
    await changeRead(world, () => world.seat('Editor', ['s2', 's3'], ['trainings:create']))
    const made = await changeRead(world, () =>
      world.admin('POST', '/v1/api-keys', { name: 'machine', seats: ['Viewer', 'Editor'] }),
    )
    const authorization = `Bearer ${await world.token(['s1:Viewer', 's2:Editor', 's1:Editor'])}`
    const key = { 'x-api-key': made.json.key }
    // The Seats are in memory then.
    for (const headers of [{ authorization }, key])
      for (const [method, space] of [
        ['GET', 's1'],
        ['POST', 's2'],
      ] as const)
        t.equal((await world.client.send(method, '/v1/trainings', { ...headers, space })).status, 200)
    const ask = async (headers: Record<string, string>) => {
      const answer = await world.client.send('POST', '/v1/trainings', { ...headers, space: 's1' })
      const line = () => world.log().find((each) => each.request_id === answer.headers['x-request-id'])
      await until(
        () => line() !== undefined,
        () => 'the line of the request is not in the log',
      )
      return { code: answer.json.code, detail: answer.json.detail, granted: line()?.granted_in }
    }
    const none = "None of the caller's Seats in this space holds trainings:create."
    t.same(await ask({ authorization }), {
      code: 'permission_denied',
      detail: `${none} The credential names Seats that hold trainings:create in s2.`,
      granted: ['s2'],
    })
    t.same(
      await ask(key),
      { code: 'permission_denied', detail: none, granted: ['s2', 's3'] },
      'the spaces of a Seat are not told to a key',
    )
  },
)
