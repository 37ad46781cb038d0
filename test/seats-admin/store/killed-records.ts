/** What a killed process writes: Seats, sessions, or groups of SCIM, each in three steps, and large enough to fill several pages. */

import { createHash } from 'node:crypto'
import type { Store, StoredSession } from '../../../seats-admin/index.ts'
import { amount } from '../../support/thorough.ts'
import { auditFaults, chainOf, faultsOf } from './audit-chain.ts'
import { allSeats, column, done, writer } from './conformance.ts'
import { restriction } from './revocation-conformance.ts'
import { edited, made, memberIds, scim, scimGroup, scimUser } from './scim-records.ts'
import { family, NOW, proofOf, provider } from './session-records.ts'

interface Killed {
  readonly what: string
  /** Writers for each lane; a round of them is as good as another, as the moment of the end is random. */
  readonly rounds: number
  /** The verb of each step of a record, in order. */
  readonly steps: Readonly<Record<string, (store: Store, name: string) => Promise<unknown>>>
  /** The verb of the newest step that the store has, and what it lacks of it. `fed`: kinds and keys in the feed. */
  found(store: Store, name: string, fed: ReadonlySet<string>): Promise<[verb: string, ...lacks: string[]]>
  /** What else is wrong in the store. */
  faults(store: Store, acknowledged: readonly string[]): Promise<string[]>
}

export const KILLED: readonly Killed[] = [
  {
    what: 'Seats',
    rounds: amount({ usual: 3, thorough: 5 }),
    steps: {
      made: async (store, name) => done(await store.createSeat(writer(), seatNamed(name))),
      renamed: async (store, name) =>
        done(await store.updateSeat(writer(), await idOf(store, name), seatNamed(`${name}-renamed`))),
      deleted: async (store, name) =>
        done(await store.deleteSeat(writer(), await idOf(store, `${name}-renamed`))),
    },
    found: foundSeat,
    faults: async (store, all) => [...(await incompleteSeats(store)), ...(await auditFaults(store, all))],
  },
  {
    what: 'sessions',
    rounds: 2,
    steps: {
      created: ({ sessions }, id) => sessions.create(sessionNamed(id)),
      rotated: async ({ sessions }, id) => {
        const rotation = await sessions.rotate(provider(), id, proofOf(sessionNamed(id)), digest(id, 'next'))
        if (rotation.outcome !== 'rotated') throw new Error(rotation.outcome)
      },
      ended: async ({ sessions }, id) => {
        if ((await sessions.end('acme', id, NOW)) === null) throw new Error('no such session')
      },
    },
    found: foundSession,
    faults: async () => [],
  },
  {
    what: 'groups',
    rounds: 2,
    steps: {
      made: async (store, name) => {
        const users = await Promise.all([1, 2].map((at) => scimUser(store, `${name} ${at}`)))
        await scimGroup(store, name, column(users, 'id'))
      },
      halved: async (store, name) => {
        const [group, first] = [await groupNamed(store, name), await userNamed(store, `${name} 1`)]
        const set = { displayName: `${name}-halved` }
        made(await store.updateScimGroup(scim(), group?.id ?? '', [{ remove: [first?.id ?? ''] }, { set }]))
      },
      deactivated: async (store, name) => {
        const user = await userNamed(store, `${name} 2`)
        if (user !== null) await edited(store, user, { active: false })
      },
    },
    found: foundGroup,
    faults: async (store) => faultsOf(await chainOf(store)),
  },
]

async function groupNamed(store: Store, displayName: string) {
  const { data } = await store.listScimGroups('acme', { filter: { displayName }, startIndex: 1, count: 1 })
  return data[0] ?? null
}

async function userNamed(store: Store, userName: string) {
  const { data } = await store.listScimUsers('acme', { filter: { userName }, startIndex: 1, count: 1 })
  return data[0] ?? null
}

async function foundGroup(
  store: Store,
  name: string,
  fed: ReadonlySet<string>,
): Promise<[string, ...string[]]> {
  const plain = await groupNamed(store, name)
  const group = plain ?? (await groupNamed(store, `${name}-halved`))
  const second = await userNamed(store, `${name} 2`)
  if (group === null || second === null) return ['lost']
  const ids = await memberIds(store, group.id)
  const count = plain === null ? 1 : 2
  const blocked = await restriction(store, second.externalId ?? '')
  return [
    plain !== null ? 'made' : second.active ? 'halved' : 'deactivated',
    ...(group.memberCount === count && ids.length === count ? [] : ['the members are of another state']),
    ...(group.activeCount === ids.length - Number(!second.active)
      ? []
      : ['another number of active members']),
    ...((blocked?.block == null) === second.active ? [] : ['the block is of another state']),
    ...(fed.has(`membership ${JSON.stringify([second.externalId, second.userName])}`)
      ? []
      : ['not in the feed']),
  ]
}

function seatNamed(name: string) {
  return { name, spaces: [name], permissions: Array.from({ length: 300 }, (_, at) => `${name}:${at}`) }
}

async function idOf(store: Store, name: string): Promise<string> {
  return (await store.seatByName('acme', name)).value.seat?.id ?? ''
}

async function foundSeat(store: Store, name: string): Promise<[string, ...string[]]> {
  const plain = (await store.seatByName('acme', name)).value
  const renamed = (await store.seatByName('acme', `${name}-renamed`)).value
  if (plain.seat !== null) return ['made']
  const lacks = plain.givenUpAt === null ? ['the name is not marked'] : []
  if (renamed.seat !== null) return ['renamed', ...lacks]
  return ['deleted', ...lacks, ...(renamed.givenUpAt === null ? ['the new name is not marked'] : [])]
}

/** Seats with missing or foreign parts. */
async function incompleteSeats(store: Store): Promise<string[]> {
  const found: string[] = []
  for (const { name, spaces, permissions } of await allSeats(store)) {
    const own = permissions.filter((each) => each.startsWith(`${name}:`))
    if (spaces[0] !== name || own.length !== 300 || permissions.length !== 300) found.push(name)
  }
  return found
}

/** A family with secrets derived from its id. */
function sessionNamed(id: string): StoredSession {
  const secrets = { familyHash: digest(id, 'family'), handleHash: digest(id, 'first') }
  return family({ id, ...secrets, sealed: id.repeat(3000) })
}

function digest(id: string, what: string): Uint8Array {
  return createHash('sha256').update(`${id} ${what}`).digest()
}

async function foundSession(
  { sessions }: Store,
  id: string,
  fed: ReadonlySet<string>,
): Promise<[string, ...string[]]> {
  const session = await sessions.sessionById('acme', id)
  if (session === null) return ['lost']
  const ended = session.endedAt !== null
  const isNext = Buffer.compare(session.handleHash ?? Buffer.of(), digest(id, 'next')) === 0
  return [
    ended ? 'ended' : isNext ? 'rotated' : 'created',
    ...(session.sealed === (ended ? '' : id.repeat(3000)) ? [] : ['of its tokens a part']),
    ...(fed.has(`session ${id}`) === ended ? [] : ['unlike in the feed']),
  ]
}
