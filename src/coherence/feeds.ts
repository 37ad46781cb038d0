/** The change feed, of an embedded store with one gateway and of a store that a fleet shares. */

import type {
  CutReport,
  Registry,
  Shown,
  Started,
  TenantSecrets,
} from '../../seats-admin/model/registered-instance.ts'
import type { ChangeReader, Position } from '../../seats-admin/model/change.ts'
import type { Clock } from './clock.ts'
import type { Feed, FeedAnswer } from './follower.ts'

/** The store's list of instances. */
export type InstanceList = Omit<Registry, 'instances' | 'secrets'>

/** What an instance says about itself, for people. */
export interface InstanceIdentity {
  readonly id: string
  /** The host and the process id. */
  readonly name: string
  /** The start of the instance; left out: unknown. */
  readonly started?: Started
  /** Its configuration and address at the moment; left out: unknown. */
  readonly shown?: () => Shown
  /** Its secrets at the moment, the same object while they are the same; left out: they are not shown. */
  readonly secrets?: () => TenantSecrets
  /** What it has cut for the revocations of the last seconds; left out: nothing. */
  readonly cuts?: () => readonly CutReport[]
}

/** The feed of a store with a single gateway, which needs no list. */
export function singleInstanceFeed(source: ChangeReader): Feed {
  return { read: async (position, noted) => ({ ...(await source.changesSince(position)), noted }) }
}

/**
 * The feed of a shared store. Each read is also a sign of life; it gives a lease only while the instance is
 * listed.
 */
export function registeredFeed(
  list: InstanceList,
  clock: Clock,
  { id, name, started, shown, secrets, cuts }: InstanceIdentity,
): Feed {
  let beat = 0
  let registered = false
  /** The secrets that the list has, for as long as the instance is registered; undefined: none. */
  let listedSecrets: TenantSecrets | undefined
  /** The list has the secrets before the sign of life that comes after their change. */
  const follow = async (position: Position | null, applied: number) => {
    const current = secrets?.()
    if (current !== undefined && current !== listedSecrets) await list.showSecrets(id, current)
    listedSecrets = current
    return list.follow(id, ++beat, position, applied, shown?.(), cuts?.())
  }
  /**
   * Registers durably before it reads. An earlier writer did not wait for this instance, and its write is in
   * this reading.
   */
  const registerAndRead = async (position: Position | null, applied: number): Promise<FeedAnswer> => {
    registered = false
    await list.register(id, name, started)
    registered = true
    listedSecrets = undefined
    const noted = clock.now()
    const answer = await follow(position, applied)
    // Writers removed the instance again, as its beat came too late: the store is slower than a lease lasts.
    registered = answer.registered
    return { ...answer, noted, listed: registered }
  }
  return {
    async read(position, noted, applied) {
      if (registered) {
        const answer = await follow(position, applied)
        if (answer.registered) return { ...answer, noted }
      }
      return registerAndRead(position, applied)
    },
  }
}
