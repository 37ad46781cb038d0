/** `seatgate bootstrap` beside a running fleet. */

import { dirname } from 'node:path'
import type { Test } from 'tap'
import { seatgateHere } from '../cli/in-process.ts'
import { servedCommand, underLoad } from './checker.ts'
import { EMPTY_TENANT, type Fleet } from './fleet.ts'

/** Bootstraps a tenant under load, between writes. */
export async function bootstrapUnderLoad(t: Test, title: string, fleet: Fleet): Promise<void> {
  await underLoad(t, title, fleet, async (load) => {
    await load.written(50)
    await bootstraps(t, fleet)
    await load.written(50)
  })
}

/** The gateways have cached that its Seat is missing when it is created. */
async function bootstraps(t: Test, fleet: Fleet): Promise<void> {
  const token = await fleet.token(['admin:admin'], 'alice', EMPTY_TENANT)
  const bearer = { authorization: `Bearer ${token}`, space: 'admin' }
  t.same(await statuses(fleet, bearer), [403, 403, 403])
  for (let round = 0; round < 2; round++) {
    const args = ['bootstrap', '--tenant', EMPTY_TENANT, '--json', '--config', fleet.first.file]
    // A repetition makes another key.
    const { code, out, err } = await servedCommand(() =>
      seatgateHere(dirname(fleet.first.file), args, { ...fleet.env }),
    )
    t.equal(code, 0, err)
    const [byToken, byKey] = await Promise.all([
      statuses(fleet, bearer),
      statuses(fleet, { 'x-api-key': String(JSON.parse(out).key), space: 'admin' }),
    ])
    t.same(
      [byToken, byKey],
      [
        [200, 200, 200],
        [200, 200, 200],
      ],
      'effective as soon as the key is printed',
    )
  }
}

/** Sends a request to each gateway at once, and returns the statuses. */
function statuses(fleet: Fleet, headers: Record<string, string>): Promise<number[]> {
  return Promise.all(fleet.gateways.map((gateway) => fleet.decidedStatusOf(gateway, headers)))
}
