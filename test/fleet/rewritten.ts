/** Seats that are updated repeatedly, and the check that no acknowledged update is lost and none is applied in part. */

import type { Test } from 'tap'
import { served } from '../support/served.ts'
import type { Fleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'

/** A Seat whose name, space and permission contain the same version. */
export interface Rewritten {
  readonly id: string
  readonly title: string
  /** The newest version sent, and the newest version acknowledged. */
  sent: number
  answered: number
  /** Number of acknowledgements. */
  acknowledged: number
}

export const version = (title: string, number: number) => ({
  name: `${title} ${number}`,
  spaces: [`s${number}`],
  permissions: [`v:${number}`],
})

/** A creation that is refused with 503 may have been made: each has a title of its own. */
export async function makeRewritten(fleet: Fleet, wanted: string, gateway: FleetGateway): Promise<Rewritten> {
  let [title, tries] = [wanted, 0]
  const { status, json } = await served(() => {
    title = `${wanted}, try ${++tries}`
    return fleet.admin(gateway, 'POST', '/v1/seats', version(title, 0))
  })
  if (status !== 200) throw new Error(`${status} ${json.detail}`)
  return { id: json.id, title, sent: 0, answered: 0, acknowledged: 0 }
}

/** Checks that each Seat has one version: the newest acknowledged one, or a later one that was sent. */
export async function whole(
  t: Test,
  fleet: Fleet,
  gateway: FleetGateway,
  seats: readonly Rewritten[],
): Promise<void> {
  let unanswered = 0
  for (const seat of seats) {
    const read = await served(() => fleet.admin(gateway, 'GET', `/v1/seats/${seat.id}`))
    const { name, spaces, permissions } = read.json
    const number = Number(String(name).split(' ').at(-1))
    t.same({ name, spaces, permissions }, version(seat.title, number), `${seat.title} has one version`)
    if (number < seat.answered || number > seat.sent)
      t.fail(`${seat.title} has version ${number}; acknowledged ${seat.answered}, sent ${seat.sent}`)
    if (number > seat.answered) unanswered++
    seat.sent = seat.answered = number
  }
  t.comment(`committed but not acknowledged: ${unanswered} of ${seats.length}`)
}
