/** What a run makes at the gateway, and its deletion. */

import { randomInt } from 'node:crypto'
import { printable } from '../../telemetry/readable.ts'
import type { ApiKeyView, BlockView, SeatView } from '../remote/endpoint-answers.ts'
import { idOf } from '../remote/find.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import { type PendingPush, removeFile } from './active-files.ts'
import type { Pace } from './change-writer.ts'

/** The beginning of the names of all objects, and of the `sub` of the user of its tokens. */
export const PREFIX = 'seatgate-verify-'

const LETTERS = '0123456789abcdefghijklmnopqrstuvwxyz'

/** An id of ten characters, which differs between runs at the same time. */
export function runId(): string {
  return Array.from({ length: 10 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
}

export interface MadeObject {
  /** `tables` is the file of the run among the route tables in the store. */
  readonly kind: keyof typeof PATHS | 'tables'
  readonly id: string
  readonly name: string
  /** The push of the file that has no answer; left out: there is none. */
  readonly pending?: PendingPush
}

/**
 * The paths, in the order of deletion. A user cannot be asked for while blocked, and a key must be revoked
 * while it still holds a Seat that the caller may manage.
 */
const PATHS = { block: '/v1/blocks', 'api-key': '/v1/api-keys', seat: '/v1/seats' } as const
const ORDER = ['tables', ...Object.keys(PATHS)]

/** The clients for a gateway: one for the space of Seats and keys, one for the admin space of blocks. */
export interface Managing {
  /** The name in the report. */
  readonly name: string
  readonly manage: Gateway
  readonly admin: Gateway
  close(): Promise<unknown>
}

/** The objects of a run in force, by name, except those that may not be listed. @throws CommandFailed */
export async function findMade({ manage, admin }: Managing, run: string): Promise<MadeObject[]> {
  const objects: MadeObject[] = []
  const list = async <V extends { readonly id: string }>(
    kind: keyof typeof PATHS,
    nameOf: (item: V) => string | null,
  ) => {
    try {
      for await (const page of (kind === 'block' ? admin : manage).pages<V>(PATHS[kind], idOf))
        for (const item of page) {
          const name = nameOf(item)
          if (name?.startsWith(`${PREFIX}${run}-`)) objects.push({ kind, id: item.id, name })
        }
    } catch (cause) {
      if (!(cause instanceof GatewayRefusal) || cause.problem.status !== 403) throw cause
    }
  }
  await list<BlockView>('block', ({ user }) => user)
  await list<ApiKeyView>('api-key', ({ name, revoked_at: revoked }) => (revoked === undefined ? name : null))
  await list<SeatView>('seat', ({ name }) => name)
  return objects
}

export interface NotRemoved extends MadeObject {
  readonly why: string
}

interface Removing {
  /** The gateways, which are asked in turn, so that one that is away stops nothing. */
  readonly places: readonly Managing[]
  readonly pace: Pace
  readonly signal: AbortSignal
  /** The time in ms without success after which the rest is left. */
  readonly patience: number
  /** The objects by id. Deleted ones are removed from the map. */
  readonly made: Map<string, MadeObject>
}

/**
 * Deletes Seats and blocks, and revokes keys.
 *
 * @returns what is left
 * @throws RunEnded
 */
export async function removeAll(objects: Iterable<MadeObject>, removing: Removing): Promise<NotRemoved[]> {
  const { places, pace, signal, patience, made } = removing
  const left: NotRemoved[] = []
  let waiting = [...objects].toSorted((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind))
  let turn = 0
  let succeeded = performance.now()
  while (waiting.length > 0) {
    const again: NotRemoved[] = []
    for (const object of waiting) {
      await pace.turn(signal)
      const place = places[turn++ % places.length]
      const why = place === undefined ? 'there is no gateway' : await removeAt(place, object)
      if (why === null) {
        succeeded = performance.now()
        made.delete(object.id)
      } else
        (why instanceof GatewayRefusal ? left : again).push({
          ...object,
          why: typeof why === 'string' ? why : why.message,
        })
    }
    if (again.length > 0 && performance.now() - succeeded > patience) return [...left, ...again]
    waiting = again
  }
  return left
}

/** Deletes an object. @returns null if it is gone; a refusal if it stays; a text if it may be tried again */
async function removeAt(
  place: Managing,
  { kind, id, pending }: MadeObject,
): Promise<null | GatewayRefusal | string> {
  try {
    if (kind === 'tables') {
      await removeFile(place.admin, id, pending ?? null)
      return null
    }
    const gateway = kind === 'block' ? place.admin : place.manage
    await gateway.send(`${PATHS[kind]}/${encodeURIComponent(id)}`, { method: 'DELETE' })
    return null
  } catch (cause) {
    if (!(cause instanceof GatewayRefusal)) return cause instanceof Error ? cause.message : String(cause)
    const { status, code } = cause.problem
    // Without this endpoint, the gateway is of an older version.
    if (status === 404 && kind !== 'tables') return null
    // An instance that is frozen refuses tables for as long as it seems to be alive.
    if (code === 'tables_refused') return cause.message
    return status === 403 || status === 409 ? cause : cause.message
  }
}

const HOW = 'seatgate users unblock, keys revoke and seats delete'
const TABLES_HOW =
  ', and the file of the route tables with seatgate tables pull and tables push of a folder without it'

/** The message about what is left, and how to delete it. */
export function leftInWords(left: readonly NotRemoved[]): string {
  const hasTables = left.some(({ kind }) => kind === 'tables')
  const lines = left.map(({ kind, id, name, why }) => `  ${kind} ${name} ${id}: ${why}`)
  return [
    `not deleted: ${left.length}. Delete them with ${HOW}${hasTables ? TABLES_HOW : ''}`,
    ...lines.map(printable),
  ].join('\n')
}
