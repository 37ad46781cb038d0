/** The calls that `npm run demo` prints, for a gateway with the shipped configuration and the demo's service. */

import assert from 'node:assert/strict'
import { served } from '../support/served.ts'

/**
 * @param gateway.key the API key of the bootstrap
 * @param gateway.tokenOf a token of a user with these Seats
 * @returns what was answered
 * @throws an `AssertionError` with the first response that is not the demo's
 */
export async function demoCalls(gateway: {
  readonly url: string
  readonly key: string
  tokenOf(sub: string, ...seats: string[]): Promise<string>
}): Promise<string> {
  const ask = async (path: string, headers: Record<string, string>, body?: object) => {
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const all = { 'Content-Type': 'application/json', ...headers }
    const { status } = await served(() => fetch(gateway.url + path, { ...post, headers: all }))
    return status
  }
  const admin = { 'x-api-key': gateway.key, Space: 'admin' }
  const space = 'main'
  const seat = (name: string, permission: string) =>
    ask('/v1/seats', admin, { name, spaces: [space], permissions: [permission] })
  assert.equal(await seat('Viewer', 'trainings:list'), 200)
  assert.equal(await seat('Editor', 'trainings:create'), 200)
  const userOf = async (sub: string, ...seats: string[]) => ({
    ...{ Authorization: `Bearer ${await gateway.tokenOf(sub, ...seats)}`, Space: space },
  })
  const [alice, bob] = [await userOf('alice', 'Viewer'), await userOf('bob', 'Viewer', 'Editor')]
  const training = { title: 'Ladders' }
  const statuses = [
    await ask('/v1/trainings', alice),
    await ask('/v1/trainings', { Space: space }),
    await ask('/v1/trainings', { ...alice, Space: 'other' }),
    await ask('/v1/trainings', alice, training),
    await ask('/v1/trainings', bob, training),
    await ask('/v1/me', alice),
    await ask('/v1/seats', admin),
  ]
  assert.deepEqual(statuses, [200, 401, 403, 403, 201, 200, 200])
  return statuses.join(' ')
}
