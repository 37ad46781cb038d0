/**
 * The entry of the route tables whose permission a run flips. It is in a file of its own among those in the
 * store, and has a path that no other entry has.
 */

import { isMap, isScalar, isSeq, parseDocument, stringify } from 'yaml'
import type { TableFiles } from '../../../seats-admin/model/tables-version.ts'
import { CommandFailed } from '../command.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import { activeOf, pendingPush, pushOf } from './active-files.ts'
import { isRefused, Unanswered, type Writer } from './change-writer.ts'
import type { CycleRequest } from './cycle-request.ts'
import type { Credential } from './expected-answers.ts'
import { type MadeObject, type Managing, PREFIX } from './made-objects.ts'
import type { RunRecord } from './run-record.ts'

/** A permission that no Seat of the run holds. */
const NOT_HELD = 'seatgate-verify:never'
/** The most attempts of a push while others push. */
const TRIES = 5

export class CanaryEntry {
  /** The name of its file. */
  readonly file: string
  readonly path: string
  readonly #places: readonly Pick<Managing, 'admin'>[]
  readonly #hosts: readonly string[]
  #turn = 0

  /** Makes an entry, which is not pushed yet. @param hosts the hosts at which it is asked */
  constructor(run: string, places: readonly Pick<Managing, 'admin'>[], hosts: readonly string[]) {
    this.file = `${PREFIX}${run}.yaml`
    this.path = `/${PREFIX}${run}/canary`
    this.#places = places
    this.#hosts = hosts
  }

  /**
   * The push that gives the entry its permission, on the version that is active now.
   *
   * @throws Unanswered, GatewayRefusal, or CommandFailed if no entry can be added to the active tables
   */
  async push(allows: boolean): Promise<CycleRequest> {
    const { files, tag } = await this.#active()
    const { [this.file]: _, ...others } = files
    const { upstream, listed } = settingsOf(others)
    if (Object.values(others).some((text) => text.includes(this.path)))
      throw new CommandFailed(`another file of the route tables has ${this.path}`)
    if (upstream === null)
      throw new CommandFailed(
        '--tables needs route tables in the store: no file of the active version has an upstream',
      )
    const hosts = hostsAmong(listed, this.#hosts)
    const table = {
      upstream,
      ...(hosts.length === 0 ? {} : { hosts }),
      routes: { [`GET ${this.path}`]: allows ? 'canary:read' : NOT_HELD },
    }
    return pushOf({ ...others, [this.file]: stringify(table) }, tag)
  }

  /** The active files, from the first gateway that answers. */
  async #active() {
    let failure: unknown = null
    for (const _ of this.#places) {
      const { admin } = this.#places[this.#turn % this.#places.length] ?? {}
      if (admin === undefined) break
      try {
        return await activeOf(admin)
      } catch (cause) {
        if (cause instanceof GatewayRefusal && isRefused(cause.problem)) throw cause
        failure = cause
        this.#turn++
      }
    }
    throw new Unanswered(failure instanceof Error ? failure.message : 'there is no place')
  }
}

/** The first upstream of the files, and the hosts that their tables list. */
function settingsOf(files: TableFiles) {
  let upstream: string | null = null
  const listed = new Set<string>()
  for (const name of Object.keys(files).toSorted()) {
    const { contents } = parseDocument(files[name] ?? '')
    if (!isMap(contents)) continue
    const own = contents.get('upstream')
    if (typeof own === 'string') upstream ??= own
    for (const key of ['host', 'hosts'])
      for (const host of textsOf(contents.get(key))) listed.add(host.toLowerCase())
  }
  return { upstream, listed }
}

function textsOf(node: unknown): string[] {
  if (typeof node === 'string') return [node]
  return isSeq(node) ? node.items.flatMap((item) => textsOf(isScalar(item) ? item.value : null)) : []
}

/**
 * The hosts of the entry's table. A host that a table lists gets entries of such tables alone, so that the
 * entry must list it too. One that no table lists must stay unlisted: it would lose its entries.
 *
 * @throws CommandFailed if some are listed and others are not
 */
function hostsAmong(listed: ReadonlySet<string>, hosts: readonly string[]): string[] {
  const own = hosts.map((host) => [host, host.replace(/^[^.]+/, '*')].find((pattern) => listed.has(pattern)))
  const patterns = own.filter((pattern) => pattern !== undefined)
  if (patterns.length === 0 || patterns.length === hosts.length) return [...new Set(patterns)]
  const outside = hosts.find((_, at) => own[at] === undefined)
  throw new CommandFailed(
    `--tables asks one entry at all addresses: route tables list ${patterns[0]} and not ${outside}`,
  )
}

interface Pushing {
  readonly writer: Writer<CycleRequest>
  readonly record: RunRecord
  readonly made: Map<string, MadeObject>
  /** The entry; null if the run pushes none. */
  readonly entry: CanaryEntry | null
}

/** Pushes the entry. @throws Unanswered, RunEnded, GatewayRefusal, CommandFailed */
async function pushEntry(
  { writer, made }: Pushing,
  entry: CanaryEntry,
  operation: string,
  allows: boolean,
): Promise<void> {
  const object = { kind: 'tables', id: entry.file, name: entry.file } as const
  for (let tries = 1; ; tries++) {
    const sent = await entry.push(allows)
    const before = made.get(entry.file) ?? object
    made.set(entry.file, { ...object, pending: pendingPush(sent) })
    try {
      await writer.write(operation, sent, () => ({ ...writer.state, allowsEntry: allows }))
      made.set(entry.file, object)
      return
    } catch (cause) {
      // An earlier push without an answer may still take effect.
      if (!(cause instanceof Unanswered)) made.set(entry.file, before)
      const isOvertaken = cause instanceof GatewayRefusal && cause.problem.code === 'precondition_failed'
      if (!isOvertaken || tries === TRIES) throw cause
    }
  }
}

/** Adds the entry to the tables. @throws RunEnded, or CommandFailed with the reason why it cannot be added */
export async function addEntry(parts: Pushing): Promise<void> {
  const { entry } = parts
  if (entry === null) return
  for (;;)
    try {
      return await pushEntry(parts, entry, 'add entry', true)
    } catch (cause) {
      if (cause instanceof GatewayRefusal) throw new CommandFailed(`${needOf(cause)}: ${cause.message}`)
      if (!(cause instanceof Unanswered)) throw cause
    }
}

function needOf({ problem: { status, code } }: GatewayRefusal): string {
  if (code === 'tables_in_files') return '--tables needs gateways that have their route tables in the store'
  if (status === 403) return '--tables needs tables:read and tables:update in the admin space'
  return '--tables cannot push route tables'
}

/** Flips the permission of the entry, which the key is expected to ask from then on. */
export async function flipEntry(
  parts: Pushing,
  name: string,
  key: Extract<Credential, { kind: 'key' }>,
): Promise<void> {
  const { writer, entry, record } = parts
  if (entry === null) return
  try {
    await pushEntry(parts, entry, 'add entry', true)
    writer.expect(name, { ...key, entry: entry.path })
    await pushEntry(parts, entry, 'deny in tables', false)
    await pushEntry(parts, entry, 'allow in tables', true)
  } catch (cause) {
    if (!(cause instanceof GatewayRefusal)) throw cause
    const { code, requestId } = cause.problem
    record.notTested('a push of route tables', `the gateway refuses it: ${code}, request ${requestId}`)
  }
}
